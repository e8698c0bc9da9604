"""How new arrays are divided into chunks: as ``chunks=`` or ``using_chunks`` says, else as dask's own settings do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from dask.array.core import normalize_chunks

_chunks: ContextVar[Any] = ContextVar("unifyarr_dask_chunks", default="auto")


@contextmanager
def using_chunks(wanted: Any) -> Iterator[None]:
    """Divide the arrays that are made in this block into chunks as dask's ``chunks=`` says."""
    token = _chunks.set(wanted)
    try:
        yield
    finally:
        _chunks.reset(token)


def chunks(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of the chunks along each axis of a new array."""
    if 0 in shape:
        # dask divides by the size.
        return tuple((length,) for length in shape)
    wanted = _chunks.get()
    if isinstance(wanted, tuple) and len(wanted) != len(shape):
        # For arrays of other ranks, such as a column of weights beside a matrix.
        wanted = "auto"
    return normalize_chunks(wanted, shape=shape, dtype=dtype)  # type: ignore[no-any-return]
