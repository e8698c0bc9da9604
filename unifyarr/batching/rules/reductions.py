"""Reductions, accumulations and Fourier transforms: the axes that they name are one further."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..calls import Call
from ..natives import Batched
from ..rule import rule


def _over(call: Call, x: Batched, *, axis: Sequence[int], **static: Any) -> Any:
    return call(x.value, axis=tuple([each + 1 for each in axis]), **static)


rule("sum prod mean max min var std all any count_nonzero vector_norm root_mean_square", _over)


def _accumulated(call: Call, x: Batched, *, axis: int, **static: Any) -> Any:
    return call(x.value, axis=axis + 1, **static)


rule("cumulative_sum cumulative_prod fft ifft rfft irfft hfft ihfft", _accumulated)


def _over_axes(call: Call, x: Batched, *, axes: Sequence[int], **static: Any) -> Any:
    return call(x.value, axes=tuple([each + 1 for each in axes]), **static)


rule("fftn ifftn rfftn irfftn", _over_axes)


def _place(call: Call, x: Batched, *, axis: int | None, keepdims: bool) -> Any:
    if axis is not None:
        return call(x.value, axis=axis + 1, keepdims=keepdims)
    shape = call.shape(x)
    flat = call.k.reshape(x.value, (call.size, math.prod(shape)))
    found = call(flat, shape=(call.size,), axis=1, keepdims=False)
    return call.k.reshape(found, (call.size, *(1,) * (len(shape) if keepdims else 0)))


rule("argmax argmin", _place)
