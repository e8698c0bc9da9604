"""Reductions in a tree: of each chunk, then of some results together, until one is left."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, Task


class Reduce(Task):
    """A reduction of NumPy's for one chunk, or for results of several, over some of its axes."""

    def __init__(self, file: str, name: str, **static: Any) -> None:
        self.file, self.name, self.static = file, name, static

    def __call__(self, x: Any, axis: Any = None, keepdims: bool = True) -> Any:
        """Return the reduced chunk."""
        axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
        return Chunk(self.file, self.name, axis=axes, keepdims=keepdims, **self.static)(x)


def reduced(
    x: da.Array, file: str, name: str, axis: tuple[int, ...], keepdims: bool, gives: Any, **static: Any
) -> da.Array:
    """Return a reduction whose results can be reduced again; over no axis it is that of each element."""
    step = Reduce(file, name, **static)
    if not axis:
        return da.core.elemwise(Chunk(file, name, axis=(), keepdims=keepdims, **static), x, dtype=gives)
    return da.reduction(
        x, step, step, axis=axis, keepdims=keepdims, dtype=gives, concatenate=True, meta=np.empty((0,) * x.ndim, gives)
    )
