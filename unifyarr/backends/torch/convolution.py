"""Convolutions on torch, and their transposes."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from torch import Tensor
from torch.nn import functional, grad

from ..kernels import declines
from ._shared import DTYPES, FLOAT, Kernel

_BY_AXES = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}
_WEIGHTS = {1: grad.conv1d_weight, 2: grad.conv2d_weight, 3: grad.conv3d_weight}


def _of_floats(function: Kernel) -> Kernel:
    """Decline other dtypes: the engine has few kernels for integers, and its complex one multiplies infinite parts."""

    @declines(lambda x, *_, **options: DTYPES[x.dtype] not in FLOAT)
    @functools.wraps(function)
    def kernel(x: Tensor, /, *arrays: Tensor, **options: Any) -> Any:
        return function(x, *arrays, **options) if x.dtype in FLOAT else NotImplemented

    return kernel


@_of_floats
def convolution(
    x: Tensor,
    weight: Tensor,
    /,
    *biases: Tensor,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    x, around = _padded(x, padding)
    bias = biases[0] if biases else None
    return _BY_AXES[len(stride)](x, weight, bias, stride, around, dilation, groups)


@_of_floats
def convolution_transpose(
    y: Tensor,
    weight: Tensor,
    /,
    *biases: Tensor,
    lengths: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    around = _around(padding)
    each = zip(lengths, padding, stride, dilation, y.shape[2:], weight.shape[2:], strict=True)
    # How many elements lie behind the last window.
    more = [length + sum(pair) - (n - 1) * s - d * (size - 1) - 1 for length, pair, s, d, n, size in each]
    options = 0 if around is None else around, more, groups, dilation
    bias = biases[0] if biases else None
    found = _TRANSPOSED[len(stride)](y, weight, bias, stride, *options)
    if around is not None:
        return found
    for axis, (length, (before, _)) in enumerate(zip(lengths, padding, strict=True), 2):
        found = found.narrow(axis, before, length)
    return found.contiguous()


@_of_floats
def convolution_weight(
    x: Tensor,
    y: Tensor,
    /,
    *,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int,
) -> Tensor:
    x, around = _padded(x, padding)
    shape = (y.shape[1], x.shape[1] // groups, *kernel)
    return _WEIGHTS[len(stride)](x, shape, y, stride, around, dilation, groups)


def _around(padding: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """Return how much the engine pads on both sides of each axis, ``None`` where the sides differ."""
    if any(before != behind for before, behind in padding):
        return None
    return tuple([before for before, _ in padding])


def _padded(x: Tensor, padding: tuple[tuple[int, int], ...]) -> tuple[Tensor, tuple[int, ...] | int]:
    """Return the input, and how much the engine has to pad it on both sides of each axis."""
    around = _around(padding)
    if around is None:
        return functional.pad(x, tuple(itertools.chain(*reversed(padding)))), 0
    return x, around
