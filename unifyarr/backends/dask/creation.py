"""Creation functions on dask: chunks are made where they are needed."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, ChunkTask, filled
from ._layout import chunks


def empty(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> da.Array:
    return da.empty(shape, dtype=dtype, chunks=chunks(shape, dtype))


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> da.Array:
    return da.zeros(shape, dtype=dtype, chunks=chunks(shape, dtype))


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: object) -> da.Array:
    return da.ones(shape, dtype=dtype, chunks=chunks(shape, dtype))


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: object) -> da.Array:
    value = np.empty((), dtype)
    np.copyto(value, fill_value, casting="unsafe")
    if not shape:
        # Numbers are known without computing.
        return filled(value, ())
    return da.full(shape, value[()], dtype=dtype, chunks=chunks(shape, dtype))


class Triangle(ChunkTask):
    """The part of a chunk on one side of a diagonal of the whole array."""

    def __init__(self, name: str, k: int, starts: tuple[list[int], list[int]]) -> None:
        self.name, self.k, self.starts = name, k, starts

    def __call__(self, x: Any, block_id: tuple[int, ...]) -> Any:
        """Return the chunk with zeros on the other side."""
        rows, columns = (starts[place] for starts, place in zip(self.starts, block_id[-2:], strict=True))
        return Chunk("creation", self.name, k=self.k + rows - columns)(x)


def _triangle(x: da.Array, name: str, k: int) -> da.Array:
    rows, columns = (np.cumsum([0, *lengths[:-1]]).tolist() for lengths in x.chunks[-2:])
    return x.map_blocks(Triangle(name, k, (rows, columns)), dtype=x.dtype, meta=x._meta)


def tril(x: da.Array, /, *, k: int) -> da.Array:
    return _triangle(x, "tril", k)


def triu(x: da.Array, /, *, k: int) -> da.Array:
    return _triangle(x, "triu", k)
