"""How new arrays are divided into chunks: as ``chunks=`` or ``using_chunks`` says, else as dask's own settings do."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask.array.core import normalize_chunks

from ..base.deferring import Chunks, wanted_chunks


def chunks(shape: tuple[int, ...], dtype: np.dtype[Any], previous: Chunks | None = None) -> Chunks:
    """Return the lengths of the chunks along each axis of a new array; ``previous`` are those of a file."""
    if 0 in shape:
        # dask divides by the size.
        return tuple((length,) for length in shape)
    wanted = wanted_chunks()
    if isinstance(wanted, tuple) and len(wanted) != len(shape):
        # For arrays of other ranks, such as a column of weights beside a matrix.
        wanted = "auto"
    return normalize_chunks(wanted, shape=shape, dtype=dtype, previous_chunks=previous)


def lengths(native: da.Array) -> Chunks:
    """Return the lengths of an array's chunks, with ``None`` for those that aren't known."""
    return tuple(tuple(None if each != each else int(each) for each in axis) for axis in native.chunks)  # type: ignore[misc]


def within(wanted: tuple[Any, ...], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Chunks | None:
    """Return the lengths of the chunks where some axes have theirs, and others are ``"auto"``; ``None`` if in doubt."""
    if any(not length or length != length for length in shape):
        return None
    said = wanted_chunks()
    if not isinstance(said, str):
        usual = chunks(shape, dtype)
        wanted = tuple(usual[axis] if each == "auto" else each for axis, each in enumerate(wanted))
    limit = said if isinstance(said, str) and said != "auto" else None
    return normalize_chunks(wanted, shape=shape, limit=limit, dtype=dtype)
