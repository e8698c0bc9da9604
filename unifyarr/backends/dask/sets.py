"""Sets on dask: their number is a value, so that all is computed; ``isin`` isn't."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk


def isin(x1: da.Array, x2: da.Array, /, *, invert: bool) -> da.Array:
    places, other = tuple(range(x1.ndim)), tuple(range(x1.ndim, x1.ndim + x2.ndim))
    return da.blockwise(
        Chunk("sets", "isin", invert=invert),
        places,
        x1,
        places,
        x2.rechunk(-1),
        other,
        dtype=bool,
        concatenate=True,
        meta=np.empty((0,) * x1.ndim, bool),
    )


def _unique(name: str) -> Any:
    def kernel(x: da.Array, /) -> Any:
        found = Chunk("sets", name)(x.compute())
        return tuple(map(da.from_array, found)) if isinstance(found, tuple) else da.from_array(found)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


unique_all, unique_counts, unique_inverse = map(_unique, ("unique_all", "unique_counts", "unique_inverse"))
unique_values = _unique("unique_values")
