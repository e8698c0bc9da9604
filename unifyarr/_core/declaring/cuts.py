"""Kernels of users' operations that lose the derivative that is taken through their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...errors import LostDerivativeError
from ..arrays.array import Array
from ..arrays.leaving import carries_derivative
from ..engines import dtypes

if TYPE_CHECKING:
    from ..engines.handle import Handle
    from .user_ops import OpFacts


class KernelCut(Exception):
    """A kernel lost the derivative that is taken through its arguments, or failed where one is: the body serves."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def without_body(self, operation: OpFacts, backend: Handle, operands: Sequence[Array]) -> Exception:
        """Return what is raised if there's no body."""
        if self.error is not None and not any(map(carries_derivative, operands)):
            return self.error
        lost = "loses the" if self.error is None else f"fails ({type(self.error).__name__}: {self.error}) beside a"
        return LostDerivativeError(
            f"the kernel of {operation.name}() for {backend.name!r} {lost} derivative that is taken through its "
            f"arguments: declare it with @{operation.name}.vjp, let the kernel compute with functions that the engine "
            "differentiates, write a body of functions of unifyarr, or pass ua.stop_gradient(x) if the result is a "
            "constant"
        )


def is_cut(backend: Handle, results: Sequence[Any]) -> bool:
    """Return whether no result carries a derivative, though one that could is among them."""
    # Integers have no derivative.
    floating = [native for native in results if dtypes.rank(dtypes.BY_NUMPY[backend.dtype(native)]) > 1]
    return bool(floating) and not any(map(backend.carries_derivative, floating))
