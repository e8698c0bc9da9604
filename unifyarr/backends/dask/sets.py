"""Sets on dask: of a length that isn't known before they are computed, in one task, but for arrays of the host."""

from __future__ import annotations

from typing import Any

import dask
import dask.array as da
import numpy as np

from ._chunks import Chunk, from_host, joining, whole


def isin(x1: da.Array, x2: da.Array, /, *, invert: bool) -> da.Array:
    places, other = tuple(range(x1.ndim)), tuple(range(x1.ndim, x1.ndim + x2.ndim))
    return da.blockwise(
        Chunk("sets", "isin", invert=invert),
        places,
        x1,
        places,
        whole(x2, range(x2.ndim), "isin"),
        other,
        dtype=bool,
        concatenate=True,
        meta=np.empty((0,) * x1.ndim, bool),
    )


def _unique(name: str, count: int, inverse: int | None = None) -> Any:
    def kernel(x: da.Array, /) -> Any:
        values = from_host(x)
        if values is not None:
            made = Chunk("sets", name)(values)
            return da.from_array(made, -1) if count == 1 else tuple(da.from_array(each, -1) for each in made)
        if x.npartitions > 1:
            joining(name, x)
        found = dask.delayed(Chunk("sets", name))(x)
        parts = [found] if count == 1 else [found[place] for place in range(count)]
        dtypes = (x.dtype, *(np.dtype(np.int64),) * 3)
        # The inverse has the shape of ``x``; how many values there are isn't known.
        arrays = [
            da.from_delayed(part, x.shape if place == inverse else (np.nan,), dtype)
            for place, (part, dtype) in enumerate(zip(parts, dtypes, strict=False))
        ]
        return arrays[0] if count == 1 else tuple(arrays)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


unique_all, unique_inverse = _unique("unique_all", 4, inverse=2), _unique("unique_inverse", 2, inverse=1)
unique_counts, unique_values = _unique("unique_counts", 2), _unique("unique_values", 1)
