"""Convolutions on TensorFlow, and their transposes."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from ._engine import FLOAT, HALF, cast, integers, raw, reshape, tf


def _in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Decline calls that the engine doesn't support, and compute in float32 where it would add up in half precision."""

    @functools.wraps(kernel)
    def call(*arrays: Any, groups: int, dilation: tuple[int, ...], **static: Any) -> Any:
        # On the CPU the engine has gradients for neither groups nor dilation.
        dtype = arrays[0].dtype
        if dtype not in FLOAT or groups != 1 or any(step != 1 for step in dilation):
            return NotImplemented
        if dtype not in HALF:
            return kernel(*arrays, **static)
        return cast(kernel(*(cast(each, tf.float32) for each in arrays), **static), dtype)

    return call


@_in_single
def convolution(
    x: Any, weight: Any, /, *biases: Any, stride: tuple[int, ...], padding: tuple[tuple[int, int], ...]
) -> Any:
    axes = len(stride)
    native = (raw.Conv3D if axes == 3 else raw.Conv2D)(
        input=_last(_padded(x, padding)), filter=_innermost(weight), strides=_strides(stride), padding="VALID"
    )
    return _shifted(_first(native, axes), *biases)


@_in_single
def convolution_transpose(
    y: Any,
    weight: Any,
    /,
    *biases: Any,
    lengths: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
) -> Any:
    axes = len(stride)
    wide = tuple(length + sum(pair) for length, pair in zip(lengths, padding, strict=True))
    native = (raw.Conv3DBackpropInputV2 if axes == 3 else raw.Conv2DBackpropInput)(
        input_sizes=integers(y.shape[0], *_flat(axes), *wide, weight.shape[1]),
        filter=_innermost(weight),
        out_backprop=_last(y),
        strides=_strides(stride),
        padding="VALID",
    )
    result = _first(native, axes)
    if wide != lengths:
        begin = integers(0, 0, *(before for before, _ in padding))
        result = raw.Slice(input=result, begin=begin, size=integers(*result.shape[:2], *lengths))
    return _shifted(result, *biases)


@_in_single
def convolution_weight(
    x: Any,
    y: Any,
    /,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
) -> Any:
    axes = len(stride)
    native = (raw.Conv3DBackpropFilterV2 if axes == 3 else raw.Conv2DBackpropFilter)(
        input=_last(_padded(x, padding)),
        filter_sizes=integers(*_flat(axes), *kernel, x.shape[1], y.shape[1]),
        out_backprop=_last(y),
        strides=_strides(stride),
        padding="VALID",
    )
    flat = len(_flat(axes))
    found = raw.Transpose(x=native, perm=integers(axes + 1 + flat, axes + flat, *range(axes + flat)))
    return reshape(found, shape=(y.shape[1], x.shape[1], *kernel))


def _shifted(x: Any, *biases: Any) -> Any:
    for bias in biases:
        x = raw.AddV2(x=x, y=reshape(bias, shape=(-1, *(1 for _ in x.shape[2:]))))
    return x


def _padded(x: Any, padding: tuple[tuple[int, int], ...]) -> Any:
    if not any(itertools.chain(*padding)):
        return x
    return raw.Pad(input=x, paddings=reshape(integers(0, 0, 0, 0, *itertools.chain(*padding)), shape=(x.ndim, 2)))


# -- the engine's CPU kernels take channels last, and two axes or three -----------------------------------------------


def _flat(axes: int) -> tuple[int, ...]:
    """Return the lengths of the axes that sequences have more as images."""
    return (1,) if axes == 1 else ()


def _strides(stride: tuple[int, ...]) -> list[int]:
    return [1, *_flat(len(stride)), *stride, 1]


def _as_images(x: Any) -> Any:
    return reshape(x, shape=(*x.shape[:2], 1, x.shape[2])) if x.ndim == 3 else x


def _last(x: Any) -> Any:
    """Return images, or sequences as images, with channels last."""
    x = _as_images(x)
    return raw.Transpose(x=x, perm=integers(0, *range(2, x.ndim), 1))


def _innermost(weight: Any) -> Any:
    """Return a weight with the inputs and the outputs last."""
    weight = _as_images(weight)
    return raw.Transpose(x=weight, perm=integers(*range(2, weight.ndim), 1, 0))


def _first(native: Any, axes: int) -> Any:
    """Return the engine's result with channels first, as sequences if they have one axis."""
    found = raw.Transpose(x=native, perm=integers(0, native.ndim - 1, *range(1, native.ndim - 1)))
    return reshape(found, shape=(*found.shape[:2], found.shape[3])) if axes == 1 else found
