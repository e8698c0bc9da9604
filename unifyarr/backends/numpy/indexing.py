"""Reading and writing parts of arrays on NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ..base.single import Picks, picks
from ..kernels import bound_by, check_number, support_native_out, with_core
from . import _direct as np

# Start, step (not 0) and length of each axis, in bounds. A window of length 0 may start anywhere.
Window = tuple[tuple[int, int, Any], ...]


def _slices(window: Window) -> Any:
    result = []
    for start, step, length in window:
        if length is None:
            # All of an axis whose length wasn't known.
            result.append(slice(None))
            continue
        stop: int | None = start + step * length
        if length == 0:
            start, stop, step = 0, 0, 1
        elif stop is not None and stop < 0:
            stop = None
        result.append(slice(start, stop, step))
    # The trailing Ellipsis makes a view of a 0-d array too.
    return (*result, ...)


@bound_by(lambda *, window: itemgetter(_slices(window)))
def get_window(x: np.ndarray, /, *, window: Window) -> np.ndarray:
    return x[_slices(window)]


def _writing(*, window: Window) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    slices = _slices(window)

    def write(x: np.ndarray, value: np.ndarray, /) -> np.ndarray:
        x[slices] = value
        return x

    return write


@bound_by(_writing)
def set_window(x: np.ndarray, value: np.ndarray, /, *, window: Window) -> np.ndarray:
    """Write ``value``, of the window's shape and of ``x``'s dtype; return ``x``, or a new array if it can't change."""
    x[_slices(window)] = value
    return x


@with_core(picks)
def gather(x: np.ndarray, /, *indices: np.ndarray) -> np.ndarray:
    """Return ``x[indices]``: index arrays of one shape for the first axes of ``x``."""
    return np.asarray(x[indices])


@with_core(picks)
def scatter(x: np.ndarray, value: np.ndarray, /, *indices: np.ndarray) -> np.ndarray:
    """Write ``value``, of the shape of ``gather(x, *indices)`` and of ``x``'s dtype; of equal indices the last wins."""
    x[indices] = value
    return x


def take_places(x: np.ndarray, places: np.ndarray, /, *, axes: int) -> np.ndarray:
    """Return the elements at 1-d ``places`` of the first ``axes`` axes of ``x``, which count as one, in C order."""
    count = math.prod(x.shape[:axes])
    return x.reshape(count, *x.shape[axes:]).take(places, 0)


def put_places(x: np.ndarray, value: np.ndarray, places: np.ndarray, /, *, axes: int) -> np.ndarray:
    """Write ``value``, of the shape of ``take_places(x, places, axes=axes)`` and of ``x``'s dtype; return ``x``.

    One value along the places is for all of them. No place comes twice.
    """
    check_number(len(places), len(value))
    try:
        x.reshape(math.prod(x.shape[:axes]), *x.shape[axes:], copy=False)[places] = value
    except ValueError:
        # No view has these axes as one.
        x[np.unravel_index(places, x.shape[:axes])] = value
    return x


def put_mask(x: np.ndarray, value: np.ndarray, mask: np.ndarray, /) -> np.ndarray:
    """Write ``value``, broadcastable to ``x`` and of ``x``'s dtype, where ``mask``, of the shape of ``x``, is true."""
    np.copyto(x, value, where=mask)
    return x


@with_core(lambda x, indices, *, axis: None if axis is None else Picks(axis))
@bound_by(lambda *, axis: lambda x, indices, /: np.asarray(x.take(indices, axis)))
@support_native_out
def take(x: np.ndarray, indices: np.ndarray, /, *, axis: int | None, out: np.ndarray | None = None) -> np.ndarray:
    if out is not None:
        # "raise" writes through a buffer of the size of the result; the others wrap or clip.
        length = x.size if axis is None else x.shape[axis]
        if indices.size and not (-length <= indices.min() and indices.max() < length):
            raise IndexError(f"an index is out of bounds for axis {axis or 0} with size {length}")
        return np.take(x, indices, axis=axis, out=out, mode="wrap")
    return np.asarray(x.take(indices, axis))


# Index arrays along all axes are cached for arrays with at most this many elements.
_SMALL = 1 << 12


@lru_cache(256)
def _places(shape: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    return tuple(np.ogrid[tuple(map(slice, shape))])


def take_along_axis(x: np.ndarray, indices: np.ndarray, /, *, axis: int) -> np.ndarray:
    if x.size > _SMALL or x.ndim < 2:
        return np.take_along_axis(x, indices, axis)
    # The same, in a third of the time.
    places = _places(x.shape)
    return np.asarray(x[(*places[:axis], indices, *places[axis + 1 :])])
