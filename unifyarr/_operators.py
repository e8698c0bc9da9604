"""The operators of arrays and containers: each is the function that the standard names for it."""

# ``Operators`` is mixed into ``Array`` and ``Container``; what is data on the other side becomes an array.
# mypy: disable-error-code="arg-type,return-value"

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from ._core.declare import operator
from ._core.nests import Nest
from ._core.selection import backend_of_native
from ._core.wrapper import Wrapper
from .functions import (
    abs,
    add,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    divide,
    equal,
    floor_divide,
    greater,
    greater_equal,
    less,
    less_equal,
    matmul,
    multiply,
    negative,
    not_equal,
    positive,
    pow,
    remainder,
    subtract,
)

if TYPE_CHECKING:
    from .array import Array
    from .typing import ArrayLike

_DATA = (Wrapper, Nest, np.ndarray, np.generic, list, tuple)


class _Operands(set[type]):
    """The types that operators take; what is no array or data may know by itself how to deal with an array."""

    def accept(self, other: object) -> bool:
        """Say whether an operand of a type not met before is taken, and remember its type."""
        accepted = isinstance(other, _DATA) or backend_of_native(other) is not None
        if accepted:
            self.add(type(other))
        return accepted


_OPERANDS = _Operands((bool, int, float, complex))


class Operators:
    """Arithmetic, bitwise operators and comparisons; the in-place ones write to the array or the container itself."""

    __slots__ = ()

    @operator(negative)
    def __neg__(self) -> Array:
        return negative(self)

    @operator(positive)
    def __pos__(self) -> Array:
        return positive(self)

    @operator(abs)
    def __abs__(self) -> Array:
        return abs(self)

    @operator(bitwise_invert)
    def __invert__(self) -> Array:
        return bitwise_invert(self)

    @operator(add)
    def __add__(self, other: ArrayLike, /) -> Array:
        return add(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(subtract)
    def __sub__(self, other: ArrayLike, /) -> Array:
        return subtract(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(multiply)
    def __mul__(self, other: ArrayLike, /) -> Array:
        return multiply(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(divide)
    def __truediv__(self, other: ArrayLike, /) -> Array:
        return divide(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(floor_divide)
    def __floordiv__(self, other: ArrayLike, /) -> Array:
        return floor_divide(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(remainder)
    def __mod__(self, other: ArrayLike, /) -> Array:
        return remainder(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(pow)
    def __pow__(self, other: ArrayLike, /) -> Array:
        return pow(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(matmul)
    def __matmul__(self, other: ArrayLike, /) -> Array:
        return matmul(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(bitwise_and)
    def __and__(self, other: ArrayLike, /) -> Array:
        return bitwise_and(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(bitwise_or)
    def __or__(self, other: ArrayLike, /) -> Array:
        return bitwise_or(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(bitwise_xor)
    def __xor__(self, other: ArrayLike, /) -> Array:
        return bitwise_xor(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(bitwise_left_shift)
    def __lshift__(self, other: ArrayLike, /) -> Array:
        return (
            bitwise_left_shift(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    @operator(bitwise_right_shift)
    def __rshift__(self, other: ArrayLike, /) -> Array:
        return (
            bitwise_right_shift(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    @operator(less)
    def __lt__(self, other: ArrayLike, /) -> Array:
        return less(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(less_equal)
    def __le__(self, other: ArrayLike, /) -> Array:
        return less_equal(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(greater)
    def __gt__(self, other: ArrayLike, /) -> Array:
        return greater(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(greater_equal)
    def __ge__(self, other: ArrayLike, /) -> Array:
        return greater_equal(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(equal)
    def __eq__(self, other: ArrayLike, /) -> Array:  # type: ignore[override]
        return equal(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    @operator(not_equal)
    def __ne__(self, other: ArrayLike, /) -> Array:  # type: ignore[override]
        return not_equal(self, other) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __radd__(self, other: ArrayLike, /) -> Array:
        return add(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rsub__(self, other: ArrayLike, /) -> Array:
        return subtract(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rmul__(self, other: ArrayLike, /) -> Array:
        return multiply(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rtruediv__(self, other: ArrayLike, /) -> Array:
        return divide(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rfloordiv__(self, other: ArrayLike, /) -> Array:
        return floor_divide(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rmod__(self, other: ArrayLike, /) -> Array:
        return remainder(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rpow__(self, other: ArrayLike, /) -> Array:
        return pow(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rmatmul__(self, other: ArrayLike, /) -> Array:
        return matmul(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rand__(self, other: ArrayLike, /) -> Array:
        return bitwise_and(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __ror__(self, other: ArrayLike, /) -> Array:
        return bitwise_or(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rxor__(self, other: ArrayLike, /) -> Array:
        return bitwise_xor(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __rlshift__(self, other: ArrayLike, /) -> Array:
        return (
            bitwise_left_shift(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __rrshift__(self, other: ArrayLike, /) -> Array:
        return (
            bitwise_right_shift(other, self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __iadd__(self, other: ArrayLike, /) -> Self:
        return add(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __isub__(self, other: ArrayLike, /) -> Self:
        return (
            subtract(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __imul__(self, other: ArrayLike, /) -> Self:
        return (
            multiply(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __itruediv__(self, other: ArrayLike, /) -> Self:
        return divide(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __ifloordiv__(self, other: ArrayLike, /) -> Self:
        return (
            floor_divide(self, other, out=self)
            if type(other) in _OPERANDS or _OPERANDS.accept(other)
            else NotImplemented
        )

    def __imod__(self, other: ArrayLike, /) -> Self:
        return (
            remainder(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __ipow__(self, other: ArrayLike, /) -> Self:
        return pow(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __imatmul__(self, other: ArrayLike, /) -> Self:
        return matmul(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented

    def __iand__(self, other: ArrayLike, /) -> Self:
        return (
            bitwise_and(self, other, out=self)
            if type(other) in _OPERANDS or _OPERANDS.accept(other)
            else NotImplemented
        )

    def __ior__(self, other: ArrayLike, /) -> Self:
        return (
            bitwise_or(self, other, out=self) if type(other) in _OPERANDS or _OPERANDS.accept(other) else NotImplemented
        )

    def __ixor__(self, other: ArrayLike, /) -> Self:
        return (
            bitwise_xor(self, other, out=self)
            if type(other) in _OPERANDS or _OPERANDS.accept(other)
            else NotImplemented
        )

    def __ilshift__(self, other: ArrayLike, /) -> Self:
        return (
            bitwise_left_shift(self, other, out=self)
            if type(other) in _OPERANDS or _OPERANDS.accept(other)
            else NotImplemented
        )

    def __irshift__(self, other: ArrayLike, /) -> Self:
        return (
            bitwise_right_shift(self, other, out=self)
            if type(other) in _OPERANDS or _OPERANDS.accept(other)
            else NotImplemented
        )
