"""Functions of functions: derivatives, and one call for a whole batch."""

from .batching import vmap
from .checkpointing import checkpoint
from .custom import custom_jvp, custom_vjp
from .gradients import grad, jvp, value_and_grad, vjp
from .jacobians import hessian, jacobian
from .products import hvp, linearize

__all__ = [
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "linearize",
    "value_and_grad",
    "vjp",
    "vmap",
]
