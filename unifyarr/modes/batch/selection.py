"""Selections of a batch: each element selects another number of elements, so that they are whole arrays and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._core.engines.handle import Handle
from ..selection import dense
from .natives import Batched

_WORDS = "a batch", "or do it outside of vmap()"


class BatchedSelection(Batched, dense.DenseSelection):
    """A native of a batch that is a selection."""

    __slots__ = ("_dense", "axis", "mask")

    def __init__(self, whole: Batched | None, mask: Batched, axis: int) -> None:
        self._dense, self.mask, self.axis = whole, mask, axis
        self.is_constant, self.layout = False, None

    @property
    def dense(self) -> Batched:
        """The whole array."""
        assert self._dense is not None
        return self._dense

    @property
    def value(self) -> Any:
        """The value of an array that has only these elements, which there is none of."""
        dense.refuse("what vmap() returns, and what a loop or branch carries in it,", *_WORDS)


class BatchedPlaces(BatchedSelection, dense.SelectedPlaces):
    """The places where a mask of a batch is true."""

    __slots__ = ("_count", "inside", "of", "place")

    def __init__(
        self, mask: Batched, of: tuple[Any, ...], place: int, inside: Batched | None, count: Callable[[], Batched]
    ) -> None:
        super().__init__(None, mask, 0)
        self.of, self.place, self.inside, self._count = of, place, inside, count

    @property
    def dense(self) -> Batched:
        """The index that each element has, if it's selected."""
        if self._dense is None:
            self._dense = self._count()
        return self._dense


def entered(native: Any) -> Batched:
    """Return a native of the backend of the values as that of each element: a selection as one of the batch."""
    if not isinstance(native, dense.DenseSelection):
        return Batched(native, True)
    mask = Batched(native.mask, True)
    if not isinstance(native, dense.SelectedPlaces):
        return BatchedSelection(Batched(native.dense, True), mask, native.axis)
    inside = None if native.inside is None else Batched(native.inside, True)
    return BatchedPlaces(mask, native.of, native.place, inside, lambda: Batched(native.dense, True))


def dense_in(handle: Handle) -> dense.Densely:
    """Return what calls kernels on selections of a batch."""
    return dense.Densely(handle, BatchedSelection, BatchedPlaces, *_WORDS)
