"""Functions of functions: derivatives, and one call for a whole batch."""

from .batching import vmap
from .gradients import grad, jvp, value_and_grad, vjp
from .jacobians import hessian, jacobian

__all__ = ["grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp", "vmap"]
