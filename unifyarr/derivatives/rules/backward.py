"""Kernels that compute a derivative at once, where an engine has them; elsewhere it's composed of other kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernels import kernels_of
from ..reverse import pull
from ..rule import joint_rule
from ..tape import tape_of


def backward(name: str, composed: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``function(k, *operands, **static)``, which calls the kernel of a name, or composes what that gives.

    ``composed`` takes the same, and returns the kernel's result or its tuple of results. The kernel's own derivative is
    that of the composition, which is recorded for that.
    """

    @joint_rule(name)
    def _(k: Any, needs: Sequence[bool], g: Any, out: Any, *operands: Any, **static: Any) -> Sequence[Any]:
        tape = tape_of(k.handle)
        leaves, natives = tape.leaves(operands)
        found = composed(kernels_of(tape), *natives, **static)
        pairs = zip(found, k.whole(g, out), strict=True) if type(found) is tuple else [(found, g)]
        return pull(k, k, list(pairs), leaves, operands, True)

    def call(k: Any, *operands: Any, **static: Any) -> Any:
        return getattr(k, name)(*operands, **static) if k.has(name) else composed(k, *operands, **static)

    return call
