"""The operators of an array: each is the function that the standard names for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import functions
from ._core.selection import backend_of_native
from ._core.wrapper import Wrapper

if TYPE_CHECKING:
    from .array import Array
    from .typing import ArrayLike

_DATA = (Wrapper, bool, int, float, complex, np.ndarray, np.generic, list, tuple)


def _accepts(other: object) -> bool:
    # Anything else may know by itself how to deal with an array.
    return isinstance(other, _DATA) or backend_of_native(other) is not None


class Operators(Wrapper):
    """Arithmetic, bitwise operators and comparisons; the in-place ones write to the array itself."""

    __slots__ = ()

    def __neg__(self) -> Array:
        return functions.negative(self)

    def __pos__(self) -> Array:
        return functions.positive(self)

    def __abs__(self) -> Array:
        return functions.abs(self)

    def __invert__(self) -> Array:
        return functions.bitwise_invert(self)

    def __add__(self, other: ArrayLike, /) -> Array:
        return functions.add(self, other) if _accepts(other) else NotImplemented

    def __sub__(self, other: ArrayLike, /) -> Array:
        return functions.subtract(self, other) if _accepts(other) else NotImplemented

    def __mul__(self, other: ArrayLike, /) -> Array:
        return functions.multiply(self, other) if _accepts(other) else NotImplemented

    def __truediv__(self, other: ArrayLike, /) -> Array:
        return functions.divide(self, other) if _accepts(other) else NotImplemented

    def __floordiv__(self, other: ArrayLike, /) -> Array:
        return functions.floor_divide(self, other) if _accepts(other) else NotImplemented

    def __mod__(self, other: ArrayLike, /) -> Array:
        return functions.remainder(self, other) if _accepts(other) else NotImplemented

    def __pow__(self, other: ArrayLike, /) -> Array:
        return functions.pow(self, other) if _accepts(other) else NotImplemented

    def __matmul__(self, other: ArrayLike, /) -> Array:
        return functions.matmul(self, other) if _accepts(other) else NotImplemented

    def __and__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_and(self, other) if _accepts(other) else NotImplemented

    def __or__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_or(self, other) if _accepts(other) else NotImplemented

    def __xor__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_xor(self, other) if _accepts(other) else NotImplemented

    def __lshift__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_left_shift(self, other) if _accepts(other) else NotImplemented

    def __rshift__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_right_shift(self, other) if _accepts(other) else NotImplemented

    def __lt__(self, other: ArrayLike, /) -> Array:
        return functions.less(self, other) if _accepts(other) else NotImplemented

    def __le__(self, other: ArrayLike, /) -> Array:
        return functions.less_equal(self, other) if _accepts(other) else NotImplemented

    def __gt__(self, other: ArrayLike, /) -> Array:
        return functions.greater(self, other) if _accepts(other) else NotImplemented

    def __ge__(self, other: ArrayLike, /) -> Array:
        return functions.greater_equal(self, other) if _accepts(other) else NotImplemented

    def __eq__(self, other: ArrayLike, /) -> Array:  # type: ignore[override]
        return functions.equal(self, other) if _accepts(other) else NotImplemented

    def __ne__(self, other: ArrayLike, /) -> Array:  # type: ignore[override]
        return functions.not_equal(self, other) if _accepts(other) else NotImplemented

    def __radd__(self, other: ArrayLike, /) -> Array:
        return functions.add(other, self) if _accepts(other) else NotImplemented

    def __rsub__(self, other: ArrayLike, /) -> Array:
        return functions.subtract(other, self) if _accepts(other) else NotImplemented

    def __rmul__(self, other: ArrayLike, /) -> Array:
        return functions.multiply(other, self) if _accepts(other) else NotImplemented

    def __rtruediv__(self, other: ArrayLike, /) -> Array:
        return functions.divide(other, self) if _accepts(other) else NotImplemented

    def __rfloordiv__(self, other: ArrayLike, /) -> Array:
        return functions.floor_divide(other, self) if _accepts(other) else NotImplemented

    def __rmod__(self, other: ArrayLike, /) -> Array:
        return functions.remainder(other, self) if _accepts(other) else NotImplemented

    def __rpow__(self, other: ArrayLike, /) -> Array:
        return functions.pow(other, self) if _accepts(other) else NotImplemented

    def __rmatmul__(self, other: ArrayLike, /) -> Array:
        return functions.matmul(other, self) if _accepts(other) else NotImplemented

    def __rand__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_and(other, self) if _accepts(other) else NotImplemented

    def __ror__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_or(other, self) if _accepts(other) else NotImplemented

    def __rxor__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_xor(other, self) if _accepts(other) else NotImplemented

    def __rlshift__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_left_shift(other, self) if _accepts(other) else NotImplemented

    def __rrshift__(self, other: ArrayLike, /) -> Array:
        return functions.bitwise_right_shift(other, self) if _accepts(other) else NotImplemented

    def __iadd__(self, other: ArrayLike, /) -> Self:
        return functions.add(self, other, out=self) if _accepts(other) else NotImplemented

    def __isub__(self, other: ArrayLike, /) -> Self:
        return functions.subtract(self, other, out=self) if _accepts(other) else NotImplemented

    def __imul__(self, other: ArrayLike, /) -> Self:
        return functions.multiply(self, other, out=self) if _accepts(other) else NotImplemented

    def __itruediv__(self, other: ArrayLike, /) -> Self:
        return functions.divide(self, other, out=self) if _accepts(other) else NotImplemented

    def __ifloordiv__(self, other: ArrayLike, /) -> Self:
        return functions.floor_divide(self, other, out=self) if _accepts(other) else NotImplemented

    def __imod__(self, other: ArrayLike, /) -> Self:
        return functions.remainder(self, other, out=self) if _accepts(other) else NotImplemented

    def __ipow__(self, other: ArrayLike, /) -> Self:
        return functions.pow(self, other, out=self) if _accepts(other) else NotImplemented

    def __imatmul__(self, other: ArrayLike, /) -> Self:
        return functions.matmul(self, other, out=self) if _accepts(other) else NotImplemented

    def __iand__(self, other: ArrayLike, /) -> Self:
        return functions.bitwise_and(self, other, out=self) if _accepts(other) else NotImplemented

    def __ior__(self, other: ArrayLike, /) -> Self:
        return functions.bitwise_or(self, other, out=self) if _accepts(other) else NotImplemented

    def __ixor__(self, other: ArrayLike, /) -> Self:
        return functions.bitwise_xor(self, other, out=self) if _accepts(other) else NotImplemented

    def __ilshift__(self, other: ArrayLike, /) -> Self:
        return functions.bitwise_left_shift(self, other, out=self) if _accepts(other) else NotImplemented

    def __irshift__(self, other: ArrayLike, /) -> Self:
        return functions.bitwise_right_shift(self, other, out=self) if _accepts(other) else NotImplemented
