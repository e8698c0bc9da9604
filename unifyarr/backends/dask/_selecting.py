"""Selections by masks, of lengths that aren't known before the masks are computed, and writes of them."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from ..kernels import check_number
from ._chunks import from_host, joining
from ._dividing import divided_as
from .manipulation import reshape


def select(x: da.Array, mask: da.Array, /) -> da.Array:
    """Return ``x[mask]``, for a mask of the leading axes: of a known length if the mask came from the host."""
    known = from_host(mask)
    x, mask = _led(x, mask)
    if known is not None:
        return x[np.flatnonzero(known)]
    # What one mask selects, of any arrays, has the same chunks: without lengths nothing else fits together.
    return divided_as(x, {-x.ndim: mask.chunks[0]})[mask]


def put_selected(x: da.Array, value: da.Array, mask: da.Array, /) -> da.Array:
    """Return ``x`` with ``value`` where ``mask`` is true, in C order: each chunk takes its part of all values."""
    shape = x.shape
    known = from_host(mask)
    if known is not None:
        _check_number(int(np.count_nonzero(known)), value.shape[0])
    x, mask = _led(x, mask)
    mask = mask.rechunk((x.chunks[0],))
    counts = mask.map_blocks(_counted, dtype=np.int64, chunks=((1,) * mask.numblocks[0],))
    if value.npartitions > 1:
        joining("x[mask] = values", x)
    places = tuple(range(x.ndim))
    found = da.blockwise(
        _put_part,
        places,
        x,
        places,
        mask,
        (0,),
        value.rechunk(dict(enumerate(x.chunks[1:], 1))) if x.ndim > 1 else value,
        (x.ndim, *places[1:]),
        counts.rechunk(-1),
        (x.ndim + 1,),
        da.from_array(np.arange(mask.numblocks[0]), chunks=1),
        (0,),
        dtype=x.dtype,
        concatenate=True,
        align_arrays=False,
        meta=x._meta,
    )
    return found if found.ndim == len(shape) else reshape(found, shape=shape)


def _led(x: da.Array, mask: da.Array) -> tuple[da.Array, da.Array]:
    # The axes of the mask as one, which C order goes through.
    if mask.ndim == 1:
        return x, mask
    count = math.prod(mask.shape)
    return reshape(x, shape=(count, *x.shape[mask.ndim :])), reshape(mask, shape=(count,))


def _check_number(selected: int, given: float) -> None:
    # A number that isn't known is NaN.
    if given == given:
        check_number(selected, int(given))


def _counted(mask: Any) -> Any:
    return np.asarray([np.count_nonzero(mask)])


def _put_part(x: Any, mask: Any, value: Any, counts: Any, place: Any) -> Any:
    _check_number(int(counts.sum()), len(value))
    start = int(counts[: int(place[0])].sum())
    result = np.array(x)
    result[mask] = value if len(value) == 1 else value[start : start + int(counts[int(place[0])])]
    return result
