"""The methods of an array that compute: NumPy's, with its signatures, and the standard's keywords beside them.

A plain call goes to the function of the main namespace. What only NumPy has goes to the function of ``unifyarr.numpy``.
"""

# What a function found by its name returns isn't known to mypy.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..engines.dtypes import as_dtype
from ..values import above
from ..values.arguments import as_integer
from .protocols import Protocols

if TYPE_CHECKING:
    from ...typing import ArrayLike, DTypeLike

# What NumPy's signatures have where nothing was passed.
NO_VALUE: object = np._NoValue


class Methods(Protocols):
    """The methods of arrays that are functions, which say what each does."""

    __slots__ = ()

    # -- reductions -------------------------------------------------------------------------------------------------

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        initial: object = NO_VALUE,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``sum``."""
        if out is None and initial is NO_VALUE and where is True:
            return above.functions.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return above.numpy.sum(self, axis, dtype, out, keepdims, initial, where)

    def prod(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        initial: object = NO_VALUE,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``prod``."""
        if out is None and initial is NO_VALUE and where is True:
            return above.functions.prod(self, axis=axis, dtype=dtype, keepdims=keepdims)
        return above.numpy.prod(self, axis, dtype, out, keepdims, initial, where)

    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``mean``."""
        if dtype is None and out is None and where is True:
            return above.functions.mean(self, axis=axis, keepdims=keepdims)
        return above.numpy.mean(self, axis, dtype, out, keepdims, where=where)

    def max(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        initial: object = NO_VALUE,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``max``."""
        if out is None and initial is NO_VALUE and where is True:
            return above.functions.max(self, axis=axis, keepdims=keepdims)
        return above.numpy.max(self, axis, out, keepdims, initial, where)

    def min(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        initial: object = NO_VALUE,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``min``."""
        if out is None and initial is NO_VALUE and where is True:
            return above.functions.min(self, axis=axis, keepdims=keepdims)
        return above.numpy.min(self, axis, out, keepdims, initial, where)

    def all(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``all``."""
        if out is None and where is True:
            return above.functions.all(self, axis=axis, keepdims=keepdims)
        return above.numpy.all(self, axis, out, keepdims, where=where)

    def any(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: Self | None = None,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
    ) -> Self:
        """See the function ``any``."""
        if out is None and where is True:
            return above.functions.any(self, axis=axis, keepdims=keepdims)
        return above.numpy.any(self, axis, out, keepdims, where=where)

    def std(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Self | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: object = NO_VALUE,
        correction: object = NO_VALUE,
    ) -> Self:
        """See the function ``std``; ``ddof`` and ``correction`` mean the same."""
        if dtype is None and out is None and where is True and mean is NO_VALUE:
            return above.functions.std(self, axis=axis, correction=_correction(ddof, correction), keepdims=keepdims)
        return above.numpy.std(self, axis, dtype, out, _correction(ddof, correction), keepdims, where=where, mean=mean)

    def var(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: Self | None = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: object = NO_VALUE,
        correction: object = NO_VALUE,
    ) -> Self:
        """See the function ``var``; ``ddof`` and ``correction`` mean the same."""
        if dtype is None and out is None and where is True and mean is NO_VALUE:
            return above.functions.var(self, axis=axis, correction=_correction(ddof, correction), keepdims=keepdims)
        return above.numpy.var(self, axis, dtype, out, _correction(ddof, correction), keepdims, where=where, mean=mean)

    def argmax(self, axis: int | None = None, out: Self | None = None, *, keepdims: bool = False) -> Self:
        """See the function ``argmax``."""
        return above.functions.argmax(self, axis=axis, keepdims=keepdims, out=out)

    def argmin(self, axis: int | None = None, out: Self | None = None, *, keepdims: bool = False) -> Self:
        """See the function ``argmin``."""
        return above.functions.argmin(self, axis=axis, keepdims=keepdims, out=out)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Self | None = None) -> Self:
        """Return cumulative sums, without an axis those of all elements; see ``unifyarr.numpy.cumsum``."""
        return above.numpy.cumsum(self, axis, dtype, out)

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Self | None = None) -> Self:
        """Return cumulative products, without an axis those of all elements; see ``unifyarr.numpy.cumprod``."""
        return above.numpy.cumprod(self, axis, dtype, out)

    # -- numbers ----------------------------------------------------------------------------------------------------

    def clip(
        self, min: ArrayLike | None = None, max: ArrayLike | None = None, out: Self | None = None, **kwargs: object
    ) -> Self:
        """See the function ``clip``."""
        if kwargs:
            return above.numpy.clip(self, min, max, out, **kwargs)
        return above.functions.clip(self, min, max, out=out)

    def round(self, decimals: int = 0, out: Self | None = None) -> Self:
        """Return the elements rounded to so many decimals; see ``unifyarr.numpy.round``."""
        if decimals == 0:
            return above.functions.round(self, out=out)
        return above.numpy.round(self, decimals, out)

    def conj(self, out: Self | None = None) -> Self:
        """See the function ``conj``; an array of real numbers is returned itself, as by NumPy's method."""
        if out is None and self.dtype.rank < 3:
            return self
        return above.functions.conj(self, out=out)

    def conjugate(self, out: Self | None = None) -> Self:
        """See ``conj``."""
        return self.conj(out)

    def dot(self, b: ArrayLike, out: Self | None = None) -> Self:
        """Return the product of arrays; see ``unifyarr.numpy.dot``."""
        return above.numpy.dot(self, b, out)

    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None, out: Self | None = None
    ) -> Self:
        """Return the sum of a diagonal; see ``unifyarr.numpy.trace``."""
        return above.numpy.trace(self, offset, axis1, axis2, dtype, out)

    def __divmod__(self, other: ArrayLike, /) -> tuple[Self, Self]:
        """Return ``(self // other, self % other)``."""
        return above.functions.floor_divide(self, other), above.functions.remainder(self, other)

    def __rdivmod__(self, other: ArrayLike, /) -> tuple[Self, Self]:
        """Return ``(other // self, other % self)``."""
        return above.functions.floor_divide(other, self), above.functions.remainder(other, self)

    # -- sorting and searching --------------------------------------------------------------------------------------

    def sort(
        self,
        axis: int = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> None:
        """Sort the elements in place, along an axis; see ``unifyarr.numpy.sort``."""
        if kind is None and order is None and stable is None and not descending:
            above.functions.sort(self, axis=axis, out=self)
        else:
            above.inplace.update(self, above.numpy.sort(self, axis, kind, order, stable=stable, descending=descending))

    def argsort(
        self,
        axis: int | None = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool | None = None,
    ) -> Self:
        """Return the indices that sort the array; see ``unifyarr.numpy.argsort``."""
        return above.numpy.argsort(self, axis, kind, order, stable=stable, descending=descending)

    def partition(self, kth: ArrayLike, axis: int = -1, kind: str = "introselect", order: None = None) -> None:
        """Move the ``kth`` elements to their place in sorted order, in place; see ``unifyarr.numpy.partition``."""
        above.inplace.update(self, above.numpy.partition(self, kth, as_integer(axis, "an axis"), kind, order))

    def argpartition(
        self, kth: ArrayLike, axis: int | None = -1, kind: str = "introselect", order: None = None
    ) -> Self:
        """Return the indices that partition the array; see ``unifyarr.numpy.argpartition``."""
        return above.numpy.argpartition(self, kth, axis, kind, order)

    def searchsorted(self, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Self:
        """Return where to insert elements so that the order stays; see ``unifyarr.numpy.searchsorted``."""
        return above.numpy.searchsorted(self, v, side, sorter)

    def nonzero(self) -> tuple[Self, ...]:
        """See the function ``nonzero``."""
        return above.functions.nonzero(self)

    # -- elements ---------------------------------------------------------------------------------------------------

    def take(self, indices: ArrayLike, axis: int | None = None, out: Self | None = None, mode: str = "raise") -> Self:
        """Return elements by indices; see ``unifyarr.numpy.take``."""
        if mode == "raise":
            return above.functions.take(self, indices, axis=axis, out=out)
        return above.numpy.take(self, indices, axis, out, mode)

    def put(self, indices: ArrayLike, values: ArrayLike, mode: str = "raise") -> None:
        """Write elements, by their indices in the flattened array; see ``unifyarr.numpy.put``."""
        above.numpy.put(self, indices, values, mode)

    def repeat(self, repeats: ArrayLike, axis: int | None = None) -> Self:
        """See the function ``repeat``."""
        return above.functions.repeat(self, repeats, axis=axis)

    def choose(self, *choices: ArrayLike, out: Self | None = None, mode: str = "raise") -> Self:
        """Return elements of the choices, one sequence or several arrays, that the elements count; see ``choose``."""
        return above.numpy.choose(self, choices[0] if len(choices) == 1 else choices, out, mode)

    def compress(self, condition: ArrayLike, axis: int | None = None, out: Self | None = None) -> Self:
        """Return the slices for which a condition is true; see ``unifyarr.numpy.compress``."""
        return above.numpy.compress(condition, self, axis, out)

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """Return a diagonal, as a read-only view; see ``unifyarr.numpy.diagonal``."""
        return above.numpy.diagonal(self, offset, axis1, axis2)

    # -- shapes and types -------------------------------------------------------------------------------------------

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Self:
        """See the function ``squeeze``."""
        return above.functions.squeeze(self, axis)

    def swapaxes(self, axis1: int, axis2: int, /) -> Self:
        """See the function ``swapaxes``."""
        return above.functions.swapaxes(self, axis1, axis2)

    def astype(
        self, dtype: object, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Self:
        """See the function ``astype``; a ``casting`` other than ``"unsafe"`` restricts it as NumPy does."""
        if not copy and dtype is self.dtype:
            return self
        if casting != "unsafe":
            _check_cast(self.dtype, as_dtype(dtype), casting)
        return above.functions.astype(self, dtype, copy=copy)


def _correction(ddof: object, correction: object) -> object:
    return ddof if correction is NO_VALUE else correction


def _check_cast(source: Any, target: Any, casting: str) -> None:
    if not np.can_cast(source.dtype, target.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"{source} can't be cast to {target} under {casting!r}: pass casting='unsafe'")
