"""Searching on dask."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, from_host, whole
from ._elementwise import elementwise
from .manipulation import reshape
from .statistical import sum as _total

where = elementwise("searching", "where")


def _extreme(name: str) -> Any:
    def kernel(x: da.Array, /, *, axis: int | None, keepdims: bool) -> da.Array:
        ndim = x.ndim
        if axis is None and ndim != 1:
            # In C order, as the first of several is wanted.
            x = reshape(x, shape=(int(np.prod(x.shape)),))
        if x.shape[axis or 0] != x.shape[axis or 0]:
            return _of_unknown(name, x, axis or 0, keepdims)
        wide = x.dtype.name == "bfloat16"
        found = getattr(da, name)(x.astype(np.float32) if wide else x, axis=axis or 0, keepdims=keepdims)
        if axis is None and keepdims:
            found = found.reshape((1,) * ndim)
        return found.astype(np.int64)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def _of_unknown(name: str, x: da.Array, axis: int, keepdims: bool) -> da.Array:
    # Chunks whose lengths aren't known can't tell where they begin: they come into one.
    places = tuple(range(x.ndim))
    kept = (*places[:axis], *places[axis + 1 :])
    chunk = Chunk("searching", name, axis=axis, keepdims=False)
    found = da.blockwise(
        chunk,
        kept,
        whole(x, (axis,), name),
        places,
        concatenate=True,
        dtype=np.int64,
        meta=np.empty((0,) * len(kept), np.int64),
    )
    return da.expand_dims(found, axis) if keepdims else found


argmax, argmin = _extreme("argmax"), _extreme("argmin")


def nonzero(x: da.Array, /) -> tuple[da.Array, ...]:
    """Return an int64 array for each axis, in C order: of a length that isn't known before they are computed."""
    values = from_host(x) if x.size else np.empty(x.shape, bool)
    if values is not None:
        return tuple(da.from_array(each, -1) for each in values.nonzero())
    return tuple(da.nonzero(x))


def searchsorted(x1: da.Array, x2: da.Array, /, *sorter: da.Array, side: Any) -> da.Array:
    """Return where to insert ``x2``, of any shape, into the 1-d ``x1`` (sorted by ``sorter``, if given), as int64."""
    places = tuple(range(x2.ndim))
    operands: list[Any] = [whole(x1, (0,), "searchsorted"), (x2.ndim,), x2, places]
    for each in sorter:
        operands += [whole(each, (0,), "searchsorted"), (x2.ndim,)]
    return da.blockwise(
        Chunk("searching", "searchsorted", side=side),
        places,
        *operands,
        dtype=np.int64,
        concatenate=True,
        meta=np.empty((0,) * x2.ndim, np.int64),
    )


def count_nonzero(x: da.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> da.Array:
    """Return how many elements over ``axis`` aren't zero, as int64."""
    return _total(x != 0, axis=axis, dtype=np.dtype(np.int64), keepdims=keepdims)
