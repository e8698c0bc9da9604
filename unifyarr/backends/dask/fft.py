"""Fourier transforms on dask: the axes that are transformed come into one chunk."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from ._chunks import Chunk, dtype_of, whole


def _transform(name: str) -> Any:
    def one(x: da.Array, /, *, n: int, axis: int, norm: Any) -> da.Array:
        length = {"rfft": n // 2 + 1, "ihfft": n // 2 + 1}.get(name, n)
        return _along(name, x, {axis: length}, n=n, axis=axis, norm=norm)

    def several(x: da.Array, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> da.Array:
        lengths = dict(zip(axes, s, strict=True))
        if name == "rfftn":
            lengths[axes[-1]] = s[-1] // 2 + 1
        return _along(name, x, lengths, s=s, axes=axes, norm=norm)

    kernel = several if name.endswith("n") else one
    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def _along(name: str, x: da.Array, lengths: dict[int, int], **static: Any) -> da.Array:
    x = whole(x, lengths, name)
    chunk = Chunk("fft", name, **static)
    chunks = tuple((lengths[axis],) if axis in lengths else each for axis, each in enumerate(x.chunks))
    return x.map_blocks(
        chunk, dtype=dtype_of(chunk, x), chunks=chunks, meta=np.empty((0,) * x.ndim, dtype_of(chunk, x))
    )


fft, ifft, rfft, irfft, hfft, ihfft = map(_transform, ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"))
fftn, ifftn, rfftn, irfftn = map(_transform, ("fftn", "ifftn", "rfftn", "irfftn"))
