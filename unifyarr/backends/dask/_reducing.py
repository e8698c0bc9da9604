"""Reductions in a tree: of each chunk, then of some results together, until one is left."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, ChunkTask


class Reduce(ChunkTask):
    """A reduction of NumPy's for one chunk, or for results of several, over some of its axes.

    Before the last step an axis without elements stays one: other chunks may have some.
    """

    def __init__(self, file: str, name: str, last: bool, static: dict[str, Any]) -> None:
        self.file, self.name, self.last, self.static = file, name, last, static

    def __call__(self, x: Any, axis: Any = None, keepdims: bool = True) -> Any:
        """Return the reduced chunk."""
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        if not self.last:
            axes = tuple(each for each in axes if x.shape[each])
        return Chunk(self.file, self.name, axis=axes, keepdims=keepdims, **self.static)(x)


def reduced(
    x: da.Array, file: str, name: str, axis: tuple[int, ...], keepdims: bool, gives: Any, **static: Any
) -> da.Array:
    """Return a reduction whose results can be reduced again; over no axis it is that of each element."""
    if not axis:
        return da.core.elemwise(Chunk(file, name, axis=(), keepdims=keepdims, **static), x, dtype=gives)
    meta = np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axis)), gives)
    step, last = Reduce(file, name, False, static), Reduce(file, name, True, static)
    return da.reduction(
        x, step, last, combine=step, axis=axis, keepdims=keepdims, dtype=gives, concatenate=True, meta=meta
    )


class Moments(ChunkTask):
    """The number, mean and sum of squared deviations of the elements of a chunk, or of those of several chunks."""

    def __call__(self, x: Any, axis: Any = None, keepdims: bool = True) -> Any:
        """Return the three of a chunk."""
        count = np.asarray(math.prod(x.shape[each] for each in axis), x.dtype)
        with np.errstate(all="ignore"):
            mean = np.add.reduce(x, axis, keepdims=True) / np.maximum(count, 1)
            return count, mean, np.add.reduce(np.square(x - mean), axis, keepdims=True)


class Merge(ChunkTask):
    """Merges the moments of chunks beside each other; the last step makes a variance of them."""

    def __init__(self, correction: float | None) -> None:
        self.correction = correction

    def __call__(self, parts: Any, axis: Any = None, keepdims: bool = True) -> Any:
        """Return the three of all chunks, or the variance."""
        parts = _flat(parts)
        with np.errstate(all="ignore"):
            count, mean, squares = parts[0]
            for more, other, spread in parts[1:]:
                total = np.maximum(count + more, 1)
                apart = other - mean
                # A chunk without elements has no mean that counts.
                squares = squares + spread + np.square(apart) * (count * more / total)
                mean, count = mean + apart * (more / total), count + more
            if self.correction is None:
                return count, mean, squares
            divisor = np.maximum(count - self.correction, 0).astype(squares.dtype)
            found = squares / divisor
        return found if keepdims else found.reshape([n for each, n in enumerate(found.shape) if each not in axis])


def _flat(parts: Any) -> list[Any]:
    # Nested lists for several axes, or no list.
    return [each for part in parts for each in _flat(part)] if isinstance(parts, list) else [parts]


def merged_moments(x: da.Array, axis: tuple[int, ...], keepdims: bool, correction: float) -> da.Array:
    """Return the variance over some axes, from one look at each chunk."""
    meta = np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axis)), x.dtype)
    return da.reduction(
        x,
        Moments(),
        Merge(correction),
        combine=Merge(None),
        axis=axis,
        keepdims=keepdims,
        dtype=x.dtype,
        concatenate=False,
        meta=meta,
    )
