"""Linear algebra on dask: products by chunks, factorizations of whole matrices, of stacks in chunks."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, ChunkTask, core, dtype_of
from ._layout import chunks
from ._reducing import reduced
from .statistical import sum as _total


def matmul(x1: da.Array, x2: da.Array, /) -> da.Array:
    wide = np.dtype(np.float32) if x1.dtype.name in ("float16", "bfloat16") else x1.dtype
    if not x1.size or not x2.size or not x1.shape[-1]:
        shape = np.matmul(np.empty((1,) * 0 + x1.shape, bool), np.empty(x2.shape, bool)).shape
        return da.zeros(shape, dtype=x1.dtype, chunks=chunks(shape, x1.dtype))
    if wide.kind in "biu":
        found = _by_blocks(x1, x2)
    else:
        found = da.matmul(x1.astype(wide), x2.astype(wide))
    return found.astype(x1.dtype)


def _by_blocks(x1: da.Array, x2: da.Array) -> da.Array:
    return da.matmul(x1, x2)


def vecdot(x1: da.Array, x2: da.Array, /, *, axis: int) -> da.Array:
    """Sum ``conj(x1) * x2`` over ``axis``, which counts in the broadcast shape of both."""
    product = (x1.conj() if x1.dtype.kind == "c" else x1) * x2
    return _total(product.astype(x1.dtype), axis=(axis % product.ndim,), dtype=x1.dtype, keepdims=False)


def solve(x1: da.Array, x2: da.Array, /) -> da.Array:
    """Solve ``x1 @ x = x2``; only a 1-d ``x2`` is a vector, all others are stacks of matrices."""
    if x2.ndim == 1:
        return core(Chunk("linalg", "solve"), "(m,m),(m,n)->(m,n)", x1, x2[:, None])[..., 0]
    return core(Chunk("linalg", "solve"), "(m,m),(m,n)->(m,n)", x1, x2)


def diagonal(x: da.Array, /, *, offset: int) -> da.Array:
    return da.diagonal(x, offset, -2, -1)


def cross(x1: da.Array, x2: da.Array, /, *, axis: int) -> da.Array:
    """Return the cross product along ``axis`` (negative: it counts from the end), where both have 3 elements."""
    x1, x2 = (da.moveaxis(x, axis, -1) for x in (x1, x2))
    found = core(Chunk("linalg", "cross", axis=-1), "(k),(k)->(k)", x1, x2, output_dtypes=[x1.dtype])
    return da.moveaxis(found, -1, axis)


def vector_norm(x: da.Array, /, *, axis: tuple[int, ...], keepdims: bool, ord: float) -> da.Array:
    """Return the norm over ``axis``, several of which count as one flattened axis."""
    chunk = Chunk("linalg", "vector_norm", axis=axis, keepdims=keepdims, ord=ord)
    dtype = dtype_of(Chunk("linalg", "vector_norm", axis=tuple(axis), keepdims=True, ord=ord), x)
    if not axis:
        return da.core.elemwise(chunk, x, dtype=dtype)
    size = da.core.elemwise(Chunk("elementwise", "abs"), x, dtype=dtype)
    if ord in (np.inf, -np.inf):
        return reduced(size, "statistical", "max" if ord > 0 else "min", axis, keepdims, dtype)
    if ord == 0:
        counted = (size != 0).astype(dtype)
        return _total(counted, axis=axis, dtype=dtype, keepdims=keepdims)
    powers = size * size if ord == 2 else size if ord == 1 else size**ord
    found = _total(powers.astype(dtype), axis=axis, dtype=dtype, keepdims=keepdims)
    return (da.sqrt(found) if ord == 2 else found if ord == 1 else found ** (1 / ord)).astype(dtype)


class Square(ChunkTask):
    """Matrices squared as often as their counts say."""

    def __call__(self, x: Any, counts: Any) -> Any:
        """Return them for one chunk."""
        for count in range(int(counts.max(initial=0))):
            x = np.where(counts > count, x @ x, x)
        return x


def square_repeatedly(x: da.Array, counts: da.Array, /) -> da.Array:
    """Square each matrix as often as its count says, which has axes of length 1 in the places of the matrix's."""
    return da.apply_gufunc(Square(), "(m,m),(i,j)->(m,m)", x, counts, output_dtypes=x.dtype, allow_rechunk=True)
