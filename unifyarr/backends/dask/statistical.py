"""Reductions on dask."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, ChunkTask, whole
from ._elementwise import elementwise
from ._reducing import merged_moments, reduced
from .data_type import astype

_add, _divide, _sqrt = (elementwise("elementwise", name) for name in ("add", "divide", "sqrt"))

Axis = tuple[int, ...]
# Added up in single precision, and rounded at the end.
_HALF = ("float16", "bfloat16")
_SINGLE = np.dtype(np.float32)


def _wider(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return _SINGLE if dtype.name in _HALF else dtype


def _widened(x: da.Array, dtype: np.dtype[Any]) -> da.Array:
    # The elements are of the dtype that is asked for, though they're added up in a wider one.
    wide = _wider(dtype)
    return x if wide == dtype else astype(astype(x, dtype=dtype), dtype=wide)


def sum(x: da.Array, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> da.Array:
    wide = _wider(dtype)
    total = reduced(_widened(x, dtype), "statistical", "sum", axis, keepdims, wide, dtype=wide)
    return total if wide == dtype else total.astype(dtype)


def prod(x: da.Array, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> da.Array:
    wide = _wider(dtype)
    total = reduced(_widened(x, dtype), "statistical", "prod", axis, keepdims, wide, dtype=wide)
    return total if wide == dtype else total.astype(dtype)


def max(x: da.Array, /, *, axis: Axis, keepdims: bool) -> da.Array:
    return reduced(x, "statistical", "max", axis, keepdims, x.dtype)


def min(x: da.Array, /, *, axis: Axis, keepdims: bool) -> da.Array:
    return reduced(x, "statistical", "min", axis, keepdims, x.dtype)


def _count(x: da.Array, axis: Axis) -> Any:
    """Return how many elements there are over ``axis``: an array of dask's where a length isn't known."""
    count = math.prod(x.shape[each] for each in axis)
    if count == count:
        return count
    flat = x[tuple(slice(None) if each in axis else slice(1) for each in range(x.ndim))]
    return da.ones_like(flat, dtype=np.float64).sum().astype(_wider(x.dtype))


def mean(x: da.Array, /, *, axis: Axis, keepdims: bool) -> da.Array:
    """Return the mean of a floating-point array; without elements it is NaN."""
    wide = _wider(x.dtype)
    count = _count(x, axis)
    total = sum(x.astype(wide), axis=axis, dtype=wide, keepdims=keepdims)
    if isinstance(count, da.Array):
        return _divide(total, count.astype(wide)).astype(x.dtype)
    with np.errstate(all="ignore"):
        factor = np.asarray(count if count else np.nan, wide)
    return (total / factor).astype(x.dtype)


def var(x: da.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> da.Array:
    """Return the variance of a floating-point array, real also where ``x`` is complex."""
    if x.dtype.kind == "c":
        parts = (var(part, axis=axis, correction=correction, keepdims=keepdims) for part in (x.real, x.imag))
        return _add(*parts)
    if not axis:
        chunk = Chunk("statistical", "var", axis=(), correction=correction, keepdims=keepdims)
        return da.core.elemwise(chunk, x, dtype=x.dtype)
    # In one pass over the chunks, whose moments are merged: a second one would keep all of them in memory.
    found = merged_moments(x.astype(_wider(x.dtype)), axis, keepdims, correction)
    return found.astype(x.dtype)


def std(x: da.Array, /, *, axis: Axis, correction: float, keepdims: bool) -> da.Array:
    return _sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _cumulative(name: str, binary: Callable[..., Any], start: int) -> Callable[..., da.Array]:
    def kernel(x: da.Array, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> da.Array:
        wide = _wider(dtype)
        given = astype(_widened(x, dtype), dtype=wide)
        if x.size != x.size:
            # dask's own needs the lengths of the other axes.
            given = whole(given, (axis,), name)
            step = Accumulate(name, dtype=wide, include_initial=include_initial)
            lengths = tuple(length + include_initial for length in given.chunks[axis])
            own = (*given.chunks[:axis], lengths, *given.chunks[axis + 1 :])
            return given.map_blocks(step, axis=axis, dtype=wide, chunks=own, meta=given._meta).astype(dtype)
        step = Accumulate(name, dtype=wide, include_initial=False)
        found = da.reductions.cumreduction(step, binary, start, given, axis=axis, dtype=wide)
        found = found if wide == dtype else found.astype(dtype)
        if include_initial:
            shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
            chunks = (*x.chunks[:axis], (1,), *x.chunks[axis + 1 :])
            found = da.concatenate([da.full(shape, start, dtype=dtype, chunks=chunks), found], axis)
        return found

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


class Accumulate(ChunkTask):
    """A cumulative function of one chunk."""

    def __init__(self, name: str, **static: Any) -> None:
        self.name, self.static = name, static

    def __call__(self, x: Any, axis: int = 0, **_: Any) -> Any:
        """Return that of the chunk alone."""
        return Chunk("statistical", self.name, axis=axis, **self.static)(x)


cumulative_sum = _cumulative("cumulative_sum", np.add, 0)
cumulative_prod = _cumulative("cumulative_prod", np.multiply, 1)


def _bounds(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind in "biu":
        return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return -math.inf, math.inf


def _running(name: str, ufunc: np.ufunc) -> Callable[..., da.Array]:
    def kernel(x: da.Array, /, *, axis: int) -> da.Array:
        step = Accumulate(name)
        if x.size != x.size or 0 in x.shape:
            return whole(x, (axis,), name).map_blocks(step, axis=axis, dtype=x.dtype, meta=x._meta)
        start = _bounds(x.dtype)[ufunc is np.minimum]
        return da.reductions.cumreduction(step, ufunc, start, x, axis=axis, dtype=x.dtype)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


cumulative_max = _running("cumulative_max", np.maximum)
cumulative_min = _running("cumulative_min", np.minimum)
