"""Kernels that compute a derivative at once, where an engine has them; elsewhere it's composed of other kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..._core.values import above
from ...modes.rule_kernels import kernels_of
from ..rule import joint_rule
from ..walks.reverse import pull

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent

# A native, or a tuple of them.
Result = TypeVar("Result")


def backward(name: str, composed: Callable[..., Result]) -> Callable[..., Result]:
    """Return ``function(k, *operands, **static)``, which calls the kernel of a name, or composes what that gives.

    ``composed`` takes the same, and returns the kernel's result or its tuple of results. The kernel's own derivative is
    that of the composition, which is recorded for that.
    """

    @joint_rule(name)
    def _(
        k: Kernels, needs: Sequence[bool], g: Any, out: Any, *operands: Native, **static: object
    ) -> Sequence[Cotangent | None]:
        tape = above.tape.tape_of(k.handle)
        leaves, natives = tape.leaves(operands)
        found: Any = composed(kernels_of(tape), *natives, **static)
        pairs = zip(found, k.whole(g, out), strict=True) if type(found) is tuple else [(found, g)]
        return pull(k, k, list(pairs), leaves, operands, True)

    return kernel_or(name, composed)


def kernel_or(name: str, composed: Callable[..., Result]) -> Callable[..., Result]:
    """Return ``function(k, *operands, **static)``, which calls a kernel with a rule of its own, or what is composed."""

    def call(k: Kernels, *operands: Native, **static: object) -> Result:
        found: Result = getattr(k, name)(*operands, **static) if k.has(name) else NotImplemented
        return composed(k, *operands, **static) if found is NotImplemented else found

    return call
