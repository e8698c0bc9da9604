"""Selections: ``x[mask]`` in a trace whose engine compiles the graph as a whole, and has no arrays of unknown length.

A selection is the whole array and the mask. What is computed of it is computed for all elements. What isn't selected
is replaced before each function by a number for which that is harmless: so it can't raise, warn, or make a NaN, not in
derivatives either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, NoReturn

import numpy as np

from ..._core.declaring.types import ArrayType
from ..._core.engines.handle import Handle
from ..._core.values.caller import where
from ..._core.values.lengths import shape_of
from ...errors import TraceError
from ..core.basic import Constant, Variable
from .traced import Recorder, Traced

_BOOL = np.dtype(bool)


class Selection(Traced):
    """The elements of ``dense`` where ``mask``, which is 1-d, is true along an axis."""

    __slots__ = ("_dense", "axis", "mask")

    def __init__(self, dense: Traced | None, mask: Traced, axis: int = 0) -> None:
        self._dense, self.mask, self.axis, self.device, self.layout = dense, mask, axis, mask.device, None

    @property
    def dense(self) -> Traced:
        """The whole array."""
        assert self._dense is not None
        return self._dense

    @property
    def type(self) -> ArrayType:
        """The shape, of which one length isn't known, and dtype."""
        shape, axis = self.dense.shape, self.axis
        return ArrayType(shape_of((*shape[:axis], None, *shape[axis + 1 :])), self.dense.dtype)

    @property
    def shape(self) -> Any:
        """The shape, of which one length isn't known."""
        return self.type.shape

    @property
    def dtype(self) -> Any:
        """The dtype as NumPy has it."""
        return self.type.dtype

    @property
    def variable(self) -> Variable:  # type: ignore[override]
        """The variable of an array that has only these elements, which there is none of."""
        refuse("this")


class Places(Selection):
    """The places where a mask is true: the indices along the axis ``place`` of an array of some shape.

    ``inside``, if given, is the mask of a selection: the places are those of its elements that ``mask`` has, too.
    """

    __slots__ = ("_count", "inside", "of", "place")

    def __init__(
        self, mask: Traced, of: tuple[Any, ...], place: int, inside: Traced | None, count: Callable[[], Traced]
    ) -> None:
        super().__init__(None, mask)
        self.of, self.place, self.inside, self._count = of, place, inside, count

    @property
    def dense(self) -> Traced:
        """The index that each element has, if it's selected."""
        if self._dense is None:
            self._dense = self._count()
        return self._dense

    @property
    def type(self) -> ArrayType:
        """The shape, of which the length isn't known, and dtype."""
        return ArrayType(shape_of((None,)), np.dtype(np.int64))


def refuse(what: str) -> NoReturn:
    """Raise: selected elements are needed one behind the other."""
    raise TraceError(
        f"{where()}: {what} needs selected elements, such as x[mask] or ua.nonzero(mask), one behind the other, and "
        "what this engine compiles has no arrays of a length that only values decide: reduce them (ua.sum(x[mask])), "
        "write them back by the same mask (x[mask] = ua.exp(x[mask])), choose with ua.where(mask, value, x), compile "
        "for numpy or torch, or do it outside the compiled function"
    )


def outside(native: Traced) -> Traced:
    """Return what a function inside another trace meets, of which it's an input: of what is selected there is none."""
    if isinstance(native, Selection):
        refuse("a loop, branch or transformed function that is passed or captures them")
    return native


def is_same(trace: Recorder, one: Traced, other: Traced) -> bool:
    """Return whether two natives of a trace are computed in the same way from the same."""
    seen: set[tuple[int, int]] = set()
    waiting = [(one.variable, other.variable)]
    while waiting:
        first, second = waiting.pop()
        if first is second or (id(first), id(second)) in seen:
            continue
        seen.add((id(first), id(second)))
        if isinstance(first, Constant) and isinstance(second, Constant):
            if not _are_equal(trace.backend, first, second):
                return False
            continue
        node, twin = first.owner, second.owner
        if node is None or twin is None or node.op != twin.op or first.index != second.index:
            return False
        waiting += zip(node.inputs, twin.inputs, strict=True)
    return True


def _are_equal(backend: Handle, one: Constant, other: Constant) -> bool:
    if one.data is other.data:
        return True
    if one.type != other.type or backend.is_traced(one.data) or backend.is_traced(other.data):
        return False
    return backend.to_numpy(one.data).tobytes() == backend.to_numpy(other.data).tobytes()


class Densely:
    """What records the call of a kernel on selections, in a running trace."""

    def __init__(self, trace: Recorder, backend: Handle, record: Callable[..., Any]) -> None:
        self.trace, self._backend, self._record = trace, backend, record

    def kernel(self, name: str, *natives: Traced, gives: Any = None, **static: Any) -> Traced:
        """Return what a kernel gives: of a shape and dtype, or of those that its rule says."""
        gives = None if gives is None else (tuple(gives[0]), np.dtype(gives[1]))
        found: Traced = self._record(self._backend, name, natives, static, gives, False)
        return found

    def number(self, value: Any, like: Traced) -> Traced:
        """Return a number as a 0-d array of the dtype of another one, and where that is."""
        device = self._backend.own_device(like.device)
        found: Traced = self.trace.handle.from_numpy(np.asarray(value, like.dtype), device=device)
        return found

    def mask_of(self, selections: Sequence[Traced | None], what: str) -> Traced:
        """Return the mask of several selections, which has to be one."""
        first, *others = [each.mask for each in selections if isinstance(each, Selection)]
        for other in others:
            if not is_same(self.trace, first, other):
                raise TraceError(
                    f"{where()}: {what} combines elements that two masks select, and what this engine compiles can't "
                    "find out which belong together: use one mask for both, or ua.where(mask, x, 0), compile for "
                    "numpy or torch, or do it outside the compiled function"
                )
        return first

    def chosen(self, mask: Traced, x: Traced, other: Traced, axis: int = 0) -> Traced:
        """Return ``x`` along an axis where the mask is true, and ``other`` elsewhere."""
        spread = self.reshaped(mask, (*mask.shape, *[1] * (len(x.shape) - 1 - axis)))
        return self.kernel("where", spread, x, other, gives=(x.shape, x.dtype))

    def filled(self, x: Selection, value: Any) -> Traced:
        """Return the whole array of a selection, with one number where nothing is selected."""
        dense = x.dense
        return self.chosen(x.mask, dense, self.number(value, dense), x.axis)

    def reshaped(self, x: Traced, shape: tuple[int, ...]) -> Traced:
        """Return an array in another shape."""
        return x if x.shape == shape else self.kernel("reshape", x, shape=shape)

    def flat(self, x: Traced, axes: int) -> Traced:
        """Return an array whose first axes are one."""
        return self.reshaped(x, (prod(x.shape[:axes]), *x.shape[axes:]))

    def both(self, one: Traced, other: Traced) -> Traced:
        """Return where two masks are true."""
        return self.kernel("logical_and", one, other, gives=(one.shape, _BOOL))

    def count(self, mask: Traced) -> Traced:
        """Return how many places a mask selects."""
        return self.kernel("count_nonzero", mask, axis=(0,), keepdims=False, gives=((), np.int64))

    def size(self, x: Selection) -> Traced:
        """Return how many elements a selection has."""
        each = prod(x.dense.shape) // max(x.mask.shape[0], 1)
        count = self.count(x.mask)
        if each == 1:
            return count
        return self.kernel("multiply", count, self.number(each, count), gives=((), count.dtype))

    def ranks(self, mask: Traced) -> Traced:
        """Return for each place that a mask selects how many it selects before."""
        int64 = np.dtype(np.int64)
        numbers, gives = self.kernel("astype", mask, dtype=int64), (mask.shape, int64)
        counted = self.kernel("cumulative_sum", numbers, axis=0, dtype=int64, include_initial=False, gives=gives)
        return self.kernel("subtract", counted, self.number(1, counted), gives=(counted.shape, counted.dtype))

    def places(self, x: Traced) -> tuple[Traced, ...]:
        """Return where an array isn't zero, by the indices along each of its axes."""
        inside = None
        if isinstance(x, Selection):
            if len(x.shape) > 1:
                refuse("nonzero()")
            inside = x.mask
            shape: tuple[Any, ...] = (None,)
            mask = self.both(inside, self._truth(self.filled(x, 0)))
        else:
            shape = tuple(x.shape)
            mask = self.flat(self._truth(x), len(shape))

        def count(axis: int) -> Traced:
            if inside is not None:
                return self.ranks(inside)
            lengths = [length if place == axis else 1 for place, length in enumerate(shape)]
            places = np.broadcast_to(np.arange(shape[axis]).reshape(lengths), shape).reshape(-1)
            device = self._backend.own_device(mask.device)
            found: Traced = self.trace.handle.from_numpy(np.array(places, np.int64), device=device)
            return found

        return tuple([Places(mask, shape, axis, inside, partial(count, axis)) for axis in range(len(shape))])

    def _truth(self, x: Traced) -> Traced:
        if x.dtype == _BOOL:
            return x
        return self.kernel("not_equal", x, self.number(0, x), gives=(x.shape, _BOOL))
