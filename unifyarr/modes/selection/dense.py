"""Natives that are selections, and what rules of kernels on them have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NoReturn

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.values.caller import where
from ..._core.values.lengths import shape_of
from ..._core.values.native import Native
from ...errors import TraceError

_BOOL = np.dtype(bool)


class DenseSelection(Native):
    """A native of a backend: the elements of ``dense`` where ``mask``, which is 1-d, is true along an axis.

    Both are natives of that backend. Its own classes of selections have the slots.
    """

    __slots__ = ()

    axis: int
    mask: Any

    @property
    def dense(self) -> Any:
        """The whole array."""
        raise NotImplementedError


class SelectedPlaces(DenseSelection):
    """The places where a mask is true: the indices along the axis ``place`` of an array of the shape ``of``.

    ``inside``, if given, is the mask of a selection: the places are those of its elements that ``mask`` has, too.
    """

    __slots__ = ()

    inside: Any
    of: tuple[Any, ...]
    place: int


def refuse(what: str, lacks: str, instead: str) -> NoReturn:
    """Raise: selected elements are needed one behind the other, which something has no arrays for."""
    raise TraceError(
        f"{where()}: {what} needs selected elements, such as x[mask] or ua.nonzero(mask), one behind the other, and "
        f"{lacks} has no arrays of a length that only values decide: reduce them (ua.sum(x[mask])), write them back by "
        f"the same mask (x[mask] = ua.exp(x[mask])), choose with ua.where(mask, value, x), {instead}"
    )


class Densely:
    """What calls kernels on selections of a backend, by calls on the whole arrays.

    ``selection`` and ``places`` make natives of the backend, the latter with a function that returns the indices once
    they are needed. ``lacks`` says what has no arrays of unknown length, ``instead`` what else users can do.
    """

    def __init__(
        self, handle: Handle, selection: Callable[..., Any], places: Callable[..., Any], lacks: str, instead: str
    ) -> None:
        self.handle, self.selection, self._places = handle, selection, places
        self._lacks, self._instead = lacks, instead
        self.shape, self.dtype = handle.shape, handle.dtype

    def refuse(self, what: str) -> NoReturn:
        """Raise: selected elements are needed one behind the other."""
        refuse(what, self._lacks, self._instead)

    def refuse_counts(self) -> NoReturn:
        """Raise: the length is the sum of counts that aren't constant."""
        raise TraceError(
            f"{where()}: repeat() gives an array as long as its counts add up to, and {self._lacks} has no arrays of a "
            "length that only values decide: pass the counts as a list, ua.repeat(x, [2, 0, 1]), if they are the same "
            f"at each call, {self._instead}"
        )

    def call(self, name: str, natives: Sequence[Any], static: dict[str, Any], result: Any, offered: bool) -> Any:
        """Return what a kernel gives for arrays, ``NotImplemented`` if it declines what it's offered."""
        told = {"result": result, "offered": offered} if self.handle.records else {}
        return self.handle.kernel(name)(*natives, **static, **told)

    def kernel(self, name: str, *natives: Any, gives: Any = None, **static: Any) -> Any:
        """Return what a kernel gives: of a shape and dtype, or of those that its rule says."""
        return self.call(name, natives, static, None if gives is None else (tuple(gives[0]), np.dtype(gives[1])), False)

    def array(self, values: np.ndarray, like: Any) -> Any:
        """Return values as an array where another one is."""
        handle = self.handle
        return handle.from_numpy(values, device=handle.own_place(like))

    def number(self, value: Any, like: Any) -> Any:
        """Return a number as a 0-d array of the dtype of another one, and where that is."""
        return self.array(np.asarray(value, self.dtype(like)), like)

    def is_same(self, one: Any, other: Any) -> bool:
        """Return whether two arrays are known to be equal."""
        return self.handle.is_same(one, other)

    def mask_of(self, natives: Sequence[Any], what: str) -> Any:
        """Return the mask of several selections, which has to be one."""
        first, *others = [each.mask for each in natives if isinstance(each, DenseSelection)]
        for other in others:
            if not self.is_same(first, other):
                raise TraceError(
                    f"{where()}: {what} combines elements that two masks select, and {self._lacks} can't find out "
                    f"which belong together: use one mask for both, or ua.where(mask, x, 0), {self._instead}"
                )
        return first

    def chosen(self, mask: Any, x: Any, other: Any, axis: int = 0) -> Any:
        """Return ``x`` along an axis where the mask is true, and ``other`` elsewhere."""
        shape = self.shape(x)
        spread = self.reshaped(mask, (*self.shape(mask), *[1] * (len(shape) - 1 - axis)))
        return self.kernel("where", spread, x, other, gives=(shape, self.dtype(x)))

    def filled(self, x: Any, value: Any) -> Any:
        """Return the whole array of a selection, with one number where nothing is selected."""
        dense = x.dense
        return self.chosen(x.mask, dense, self.number(value, dense), x.axis)

    def whole(self, natives: Sequence[Any], value: Any) -> list[Any]:
        """Return arrays, with those of selections filled with a number."""
        return [self.filled(each, value) if isinstance(each, DenseSelection) else each for each in natives]

    def reshaped(self, x: Any, shape: tuple[int, ...]) -> Any:
        """Return an array in another shape."""
        return x if self.shape(x) == shape else self.kernel("reshape", x, shape=shape)

    def flat(self, x: Any, axes: int) -> Any:
        """Return an array whose first axes are one."""
        shape = self.shape(x)
        return self.reshaped(x, (prod(shape[:axes]), *shape[axes:]))

    def both(self, one: Any, other: Any) -> Any:
        """Return where two masks are true."""
        return self.kernel("logical_and", one, other, gives=(self.shape(one), _BOOL))

    def count(self, mask: Any) -> Any:
        """Return how many places a mask selects."""
        return self.kernel("count_nonzero", mask, axis=(0,), keepdims=False, gives=((), np.int64))

    def size(self, x: Any) -> Any:
        """Return how many elements a selection has."""
        each = prod(self.shape(x.dense)) // max(self.length(x), 1)
        count = self.count(x.mask)
        if each == 1:
            return count
        return self.kernel("multiply", count, self.number(each, count), gives=((), self.dtype(count)))

    def length(self, x: Any) -> int:
        """Return from how many elements a selection selects."""
        found: int = self.shape(x.mask)[0]
        return found

    def shape_of(self, x: Any) -> tuple[Any, ...]:
        """Return the shape of a selection, of which one length isn't known."""
        shape, axis = self.shape(x.dense), x.axis
        return shape_of((*shape[:axis], None, *shape[axis + 1 :]))

    def ranks(self, mask: Any) -> Any:
        """Return for each place that a mask selects how many it selects before."""
        int64 = np.dtype(np.int64)
        numbers, gives = self.kernel("astype", mask, dtype=int64), (self.shape(mask), int64)
        counted = self.kernel("cumulative_sum", numbers, axis=0, dtype=int64, include_initial=False, gives=gives)
        return self.kernel("subtract", counted, self.number(1, counted), gives=gives)

    def places(self, x: Any) -> tuple[Any, ...]:
        """Return where an array isn't zero, by the indices along each of its axes."""
        inside = None
        if isinstance(x, DenseSelection):
            if len(self.shape(x)) > 1:
                self.refuse("nonzero()")
            inside = x.mask
            shape: tuple[Any, ...] = (None,)
            mask = self.both(inside, self._truth(self.filled(x, 0)))
        else:
            shape = tuple(self.shape(x))
            mask = self.flat(self._truth(x), len(shape))

        def count(axis: int) -> Any:
            if inside is not None:
                return self.ranks(inside)
            lengths = [length if place == axis else 1 for place, length in enumerate(shape)]
            places = np.broadcast_to(np.arange(shape[axis]).reshape(lengths), shape).reshape(-1)
            return self.array(np.array(places, np.int64), mask)

        return tuple([self._places(mask, shape, axis, inside, partial(count, axis)) for axis in range(len(shape))])

    def _truth(self, x: Any) -> Any:
        if self.dtype(x) == _BOOL:
            return x
        return self.kernel("not_equal", x, self.number(0, x), gives=(self.shape(x), _BOOL))
