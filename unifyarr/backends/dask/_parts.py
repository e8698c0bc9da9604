"""Windows of arrays in any chunks: a task takes of the chunks beside its own no more than it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise, product
from typing import Any

import dask.array as da
import numpy as np
from dask import base
from dask.highlevelgraph import HighLevelGraph
from dask.layers import ArrayBlockIdDep

from ._chunks import ChunkTask
from ._private import call, data

Chunks = Sequence[tuple[int, ...]]
# Where each chunk begins and ends along an axis of the array that it's a part of.
Spans = list[tuple[int, int]]


class Parts:
    """The part of an array that each chunk of a window covers; each axis of the window has start, step and length."""

    def __init__(self, x: da.Array, window: Sequence[tuple[int, int, int]], spans: Sequence[Spans]) -> None:
        self.x, self.spans = x, dict(enumerate(spans))
        self.steps = [step for _, step, _ in window]
        own = [_own(lengths) for lengths in x.chunks]
        # Axes along which a chunk has elements of those beside its own.
        self.joined = {axis: each for axis, each in self.spans.items() if not all(map(_within, each, own[axis]))}

    @property
    def key(self) -> Any:
        """A key that is equal for windows whose chunks can be parts of the same joined ones."""
        alone = (each for axis, each in self.spans.items() if axis not in self.joined)
        return self.x.name, tuple(self.joined), tuple(map(tuple, alone))

    def widen(self, other: Parts) -> None:
        """Join what another window needs, too."""
        for axis, spans in other.joined.items():
            pairs = zip(self.joined[axis], spans, strict=True)
            self.joined[axis] = [(min(one[0], each[0]), max(one[1], each[1])) for one, each in pairs]

    def made(self, wide: Parts) -> da.Array:
        """Return the window, of chunks that are joined as those of another one are."""
        alone = {axis: _own(lengths) for axis, lengths in enumerate(self.x.chunks) if axis not in self.joined}
        joined = _joined(self.x, wide.joined, lambda x: self._cut(x, alone))
        return self._cut(joined, wide.joined)

    def _cut(self, x: da.Array, there: Mapping[int, Spans]) -> da.Array:
        """Return the part along some axes, where ``there`` says which elements chunks have."""
        slices, lengths = {}, {}
        for axis, has in there.items():
            step = self.steps[axis]
            if step == 1 and self.spans[axis] == has:
                continue
            pairs = zip(self.spans[axis], has, strict=True)
            slices[axis] = [slice(begin - start, end - start, step) for (begin, end), (start, _) in pairs]
            lengths[axis] = tuple(len(range(begin, end, step)) for begin, end in self.spans[axis])
        return (
            _blockwise(ChunkPart({axis: _once(each) for axis, each in slices.items()}), [x], lengths) if slices else x
        )


def parts(x: da.Array, window: Sequence[tuple[int, int, int]], chunks: Chunks) -> Parts | None:
    """Return the parts of certain chunks; ``None`` where one of them isn't in a chunk and those beside it."""
    found = []
    for lengths, (start, step, _), wanted in zip(x.chunks, window, chunks, strict=True):
        ends = [0, *accumulate(lengths)]
        if len(lengths) != len(wanted) or 0 in wanted:
            return None
        spans = [(start + step * begin, start + step * (end - 1) + 1) for begin, end in _own(wanted)]
        for place, (begin, end) in enumerate(spans):
            if begin < ends[max(place - 1, 0)] or end > ends[min(place + 2, len(lengths))]:
                return None
        found.append(spans)
    return Parts(x, window, found)


def _own(lengths: tuple[int, ...]) -> Spans:
    return list(pairwise([0, *accumulate(lengths)]))


def _within(span: tuple[int, int], own: tuple[int, int]) -> bool:
    return own[0] <= span[0] and span[1] <= own[1]


def _of(chunk: tuple[int, int], begin: int, end: int) -> slice:
    """Return where in a chunk those of some elements are that are in it."""
    start, stop = chunk
    return slice(max(begin, start) - start, max(min(end, stop) - start, 0))


def _once(slices: list[slice]) -> list[slice]:
    return slices[:1] if all(each == slices[0] for each in slices) else slices


def _joined(x: da.Array, joined: Mapping[int, Spans], finish: Callable[[da.Array], da.Array]) -> da.Array:
    """Return an array whose chunks cover the spans; ``finish`` is applied to the parts before they're joined."""
    if not joined:
        return finish(x)
    axis, *others = joined
    own = _own(x.chunks[axis])
    spans = list(enumerate(joined[axis]))
    # Edges are copied from existing chunks, so that those need not be kept. Edges of edges are corners.
    before = [None if begin >= own[k][0] else _of(own[k - 1], begin, end) for k, (begin, end) in spans]
    after = [None if end <= own[k][1] else _of(own[k + 1], begin, end) for k, (begin, end) in spans]
    several = (_edges(x, axis, before, -1), x, _edges(x, axis, after, 1))
    rest = {each: joined[each] for each in others}
    slices = [_of(own[k], begin, end) for k, (begin, end) in spans]
    operands = [None if each is None else _joined(each, rest, finish) for each in several]
    task = Join(axis, _once(slices), operands[0] is not None)
    lengths = tuple(end - begin for begin, end in joined[axis])
    return _blockwise(task, [each for each in operands if each is not None], {axis: lengths})


def _blockwise(task: ChunkTask, operands: Sequence[da.Array], lengths: Mapping[int, tuple[int, ...]]) -> da.Array:
    x = operands[0]
    labels = tuple(range(x.ndim))
    given: list[Any] = []
    # The last operand is where a chunk is.
    for each in (*operands, ArrayBlockIdDep(x.chunks)):
        given += [each, labels]
    return da.blockwise(
        task, labels, *given, adjust_chunks=dict(lengths), dtype=x.dtype, meta=x._meta, align_arrays=False
    )


def _edges(x: da.Array, axis: int, slices: list[slice | None], beside: int) -> da.Array | None:
    """Return for each chunk a copy of the edge needed from its neighbour; ``None`` if none is needed."""
    if not any(slices):
        return None
    name = f"edge-{base.tokenize(x.name, axis, slices, beside)}"
    lengths = tuple(each.stop - each.start if each else 0 for each in slices)
    chunks = (*x.chunks[:axis], lengths, *x.chunks[axis + 1 :])
    graph: dict[Any, Any] = {}
    for place in product(*map(range, x.numblocks)):
        key, here = (name, *place), place[axis]
        edge = slices[here]
        if edge is None:
            shape = [each[number] for each, number in zip(chunks, place, strict=True)]
            graph[key] = data(key, np.empty(shape, x.dtype))
        else:
            origin = (x.name, *place[:axis], here + beside, *place[axis + 1 :])
            graph[key] = call(key, Halo(axis, edge), origin)
    layers = HighLevelGraph.from_collections(name, graph, dependencies=[x])
    return da.Array(layers, name, chunks, dtype=x.dtype, meta=x._meta)


class ChunkPart(ChunkTask):
    """A part of each chunk: for each axis a slice for each of its chunks, or one for all."""

    def __init__(self, slices: dict[int, list[slice]]) -> None:
        self.slices = slices

    def __call__(self, x: Any, place: tuple[int, ...]) -> Any:
        """Return the part, a view."""
        for axis, slices in self.slices.items():
            x = x[_along(axis, slices[place[axis] if len(slices) > 1 else 0])]
        return x


class Halo(ChunkTask):
    """The edge of a chunk that its neighbour needs, copied so that the chunk itself can be freed."""

    def __init__(self, axis: int, edge: slice) -> None:
        self.axis, self.edge = axis, edge

    def __call__(self, x: Any) -> Any:
        """Return the copy."""
        return np.array(x[_along(self.axis, self.edge)])


class Join(ChunkTask):
    """Parts of chunks, between the edges of those before and after them."""

    # Also where the edges have no elements.
    makes_new = True

    def __init__(self, axis: int, slices: list[slice], before: bool) -> None:
        self.axis, self.slices, self.before = axis, slices, before

    def __call__(self, *chunks: Any) -> Any:
        """Return them joined."""
        *several, place = chunks
        own = self.slices[place[self.axis] if len(self.slices) > 1 else 0]
        several[self.before] = several[self.before][_along(self.axis, own)]
        return np.concatenate(several, axis=self.axis)


def _along(axis: int, key: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (key,)
