"""Sorting on dask: the axis that is sorted comes into one chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, joining, whole


def _along(name: str, dtype: Any) -> Any:
    def kernel(x: da.Array, /, *, axis: int, descending: bool, stable: bool) -> da.Array:
        if x.numblocks[axis] > 1:
            joining(name, x)
        chunk = Chunk("sorting", name, axis=axis, descending=descending, stable=stable)
        return whole(x, (axis,)).map_blocks(chunk, dtype=dtype or x.dtype)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


sort, argsort = _along("sort", None), _along("argsort", np.int64)
