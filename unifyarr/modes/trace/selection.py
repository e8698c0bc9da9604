"""Selections: ``x[mask]`` in a trace whose engine compiles the graph as a whole, without arrays of unknown length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..._core.values.lengths import shape_of
from ...graph.core.basic import Constant, Variable
from ..selection import dense
from .traced import Recorder, Traced


class Selection(Traced, dense.DenseSelection):
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


class TracedPlaces(Selection, dense.SelectedPlaces):
    """The places where a mask is true: the indices along the axis ``place`` of an array of some shape.

    ``inside``, if given, is the mask of a selection: the places are those of its elements that ``mask`` has, too.
    """

    __slots__ = ("_count", "inside", "of", "place")

    def __init__(
        self, mask: Traced, of: tuple[object, ...], place: int, inside: Traced | None, count: Callable[[], Traced]
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


_WORDS = "what this engine compiles", "compile for numpy or torch, or do it outside the compiled function"


def refuse(what: str) -> NoReturn:
    """Raise: selected elements are needed one behind the other."""
    dense.refuse(what, *_WORDS)


def dense_in(trace: Recorder) -> dense.Densely:
    """Return what records the calls of kernels on selections."""
    return dense.Densely(trace.handle, Selection, TracedPlaces, *_WORDS)


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
