"""Selections by masks, of lengths that aren't known before the masks are computed, and writes of them."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import numpy as np

from ..kernels import check_number
from ._chunks import from_host, whole
from ._dividing import divided, divided_as, selected_by, selected_with
from ._windows import spread
from .manipulation import reshape


def select(x: da.Array, mask: da.Array, /) -> da.Array:
    """Return ``x[mask]``, for a mask of the leading axes: of a known length if the mask came from the host."""
    known = from_host(mask)
    x, mask = _led(x, mask)
    if known is not None:
        return x[np.flatnonzero(known)]
    # Selections by one mask have the same chunks, for any arrays: chunks of unknown lengths match no others.
    return selected_with(divided_as(x, {-x.ndim: mask.chunks[0]})[mask], mask.name)


def put_selected(x: da.Array, value: da.Array, mask: da.Array, /) -> da.Array:
    """Return ``x`` with ``value`` where ``mask`` is true, in C order: each chunk takes its part of all values."""
    shape, own = x.shape, x.chunks
    known = from_host(mask)
    if known is not None:
        _check_number(int(np.count_nonzero(known)), value.shape[0])
    x, mask = _led(x, mask)
    if value.shape[0] != 1 and known is not None:
        value = _parted(value, np.split(known.ravel(), np.cumsum(x.chunks[0])[:-1]))
        found = _put(_put_own, x, mask.rechunk((x.chunks[0],)), value)
    elif selected_by(value) == mask.name:
        # It has a chunk for each of the mask. To join those would take memory for all that is written.
        found = _put(_put_own, divided_as(x, {-x.ndim: mask.chunks[0]}), mask, value)
    else:
        found = _put_anywhere(x, value, mask.rechunk((x.chunks[0],)))
    # The result is divided as ``x`` is, as after every write.
    return divided(found if found.ndim == len(shape) else reshape(found, shape=shape), own)


def _led(x: da.Array, mask: da.Array) -> tuple[da.Array, da.Array]:
    # The axes of the mask as one, which C order goes through.
    if mask.ndim == 1:
        return x, mask
    count = math.prod(mask.shape)
    return reshape(x, shape=(count, *x.shape[mask.ndim :])), reshape(mask, shape=(count,))


def _parted(value: da.Array, masks: list[np.ndarray]) -> da.Array:
    """Return a value with a chunk for each part of a mask, of as many elements as that selects."""
    counts = tuple([int(np.count_nonzero(mask)) for mask in masks])
    value = value.rechunk({0: tuple(filter(None, counts)) or (0,)})
    return spread(value, (counts, *value.chunks[1:])) if any(counts) else value


def _put(step: Any, x: da.Array, mask: da.Array, value: da.Array) -> da.Array:
    """Apply a step to chunks of each along the first axis, which have equal numbers of chunks."""
    places = tuple(range(x.ndim))
    operands = (x, places, mask, (0,), _beside(value, x), places)
    return da.blockwise(step, places, *operands, dtype=x.dtype, align_arrays=False, meta=x._meta)


def _put_anywhere(x: da.Array, value: da.Array, mask: da.Array) -> da.Array:
    """Return an array with values in chunks of their own: each chunk takes its part of all, as the counts say."""
    counts = mask.map_blocks(_counted, dtype=np.int64, chunks=((1,) * mask.numblocks[0],))
    places = tuple(range(x.ndim))
    return da.blockwise(
        _put_part,
        places,
        x,
        places,
        mask,
        (0,),
        _beside(whole(value, (0,), "x[mask] = values"), x),
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


def _beside(value: da.Array, x: da.Array) -> da.Array:
    # Along the axes that the mask doesn't take.
    return value.rechunk(dict(enumerate(x.chunks[1:], 1))) if x.ndim > 1 else value


def _check_number(selected: int, given: float) -> None:
    # A number that isn't known is NaN.
    if given == given:
        check_number(selected, int(given))


def _counted(mask: Any) -> Any:
    return np.asarray([np.count_nonzero(mask)])


def _put_own(x: Any, mask: Any, value: Any) -> Any:
    result = np.array(x)
    result[mask] = value
    return result


def _put_part(x: Any, mask: Any, value: Any, counts: Any, place: Any) -> Any:
    _check_number(int(counts.sum()), len(value))
    start = int(counts[: int(place[0])].sum())
    result = np.array(x)
    result[mask] = value if len(value) == 1 else value[start : start + int(counts[int(place[0])])]
    return result
