"""Convolutions on TensorFlow."""

from __future__ import annotations

import itertools
from typing import Any

from ._engine import FLOAT, HALF, cast, integers, raw, reshape, tf


def convolution(
    x: Any,
    weight: Any,
    /,
    *biases: Any,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Any:
    # On the CPU the engine has gradients for neither groups nor dilation.
    if x.dtype not in FLOAT or groups != 1 or any(step != 1 for step in dilation):
        return NotImplemented
    dtype = x.dtype
    if dtype in HALF:
        # The engine adds up in half precision.
        x, weight, *biases = (cast(each, tf.float32) for each in (x, weight, *biases))  # type: ignore[assignment]
    if any(itertools.chain(*padding)):
        x = raw.Pad(input=x, paddings=reshape(integers(0, 0, 0, 0, *itertools.chain(*padding)), shape=(x.ndim, 2)))
    result = _channels_last(x, weight, stride)
    for bias in biases:
        result = raw.AddV2(x=result, y=reshape(bias, shape=(-1, *(1 for _ in stride))))
    return cast(result, dtype) if dtype in HALF else result


def _channels_last(x: Any, weight: Any, stride: tuple[int, ...]) -> Any:
    # The engine's CPU kernels take channels last, and two axes or three.
    axes = len(stride)
    if axes == 1:
        x, weight = (reshape(each, shape=(*each.shape[:2], 1, *each.shape[2:])) for each in (x, weight))
        return reshape(result := _channels_last(x, weight, (1, *stride)), shape=(*result.shape[:2], result.shape[3]))
    spatial = range(2, axes + 2)
    native = (raw.Conv2D if axes == 2 else raw.Conv3D)(
        input=raw.Transpose(x=x, perm=integers(0, *spatial, 1)),
        filter=raw.Transpose(x=weight, perm=integers(*spatial, 1, 0)),
        strides=[1, *stride, 1],
        padding="VALID",
    )
    return raw.Transpose(x=native, perm=integers(0, axes + 1, *range(1, axes + 1)))
