"""Activation functions on torch."""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor
from torch import sigmoid as sigmoid
from torch.nn import functional

from ..kernels import (
    composed_on_host,
    declines,
    for_derivatives,
    known_by,
    lowered_by,
    support_native_out,
    worked_around,
)
from ._offered import off_host, plainly
from ._shared import BOOL, DTYPES, UNSIGNED, WIDE, is_plain

_WITHOUT = BOOL | UNSIGNED


@declines(lambda x: DTYPES[x.dtype] in _WITHOUT)
@known_by(lambda x: None if x.dtype in _WITHOUT else torch.relu)
@support_native_out
def relu(x: Tensor, /, *, out: Any = None) -> Any:
    if x.dtype in _WITHOUT:
        return NotImplemented
    # With ``out`` there's no gradient, whose value at zero is all that tells the two functions apart.
    return torch.relu(x) if out is None else torch.clamp_min(x, 0, out=out)


@composed_on_host
@declines(lambda g, out: DTYPES[g.dtype] not in WIDE, transformed=True)
def relu_backward(g: Tensor, out: Tensor, /) -> Any:
    if g.dtype not in WIDE or g.dtype is not out.dtype or not (is_plain(g) and is_plain(out)):
        return NotImplemented
    return torch.ops.aten.threshold_backward(g, out, 0)


# Others are computed in float32.
_WIDE = torch.float32, torch.float64
# There and below the probability is 0, and its negative so far above 1: infinity times 0 would be NaN.
_FAR = -40.0
# How many elements of a few arrays a processor keeps in its cache. New memory costs as much as to compute in it.
_PART = 1 << 14
_HALF_ROOT = math.sqrt(0.5)
# The density of the standard normal distribution at zero.
_DENSITY = 1 / math.sqrt(2 * math.pi)


def _gelu_as_one(x: Tensor, /) -> tuple[Tensor, Tensor]:
    return functional.gelu(x), _gelu_as_a_whole(x)[1]


@declines(lambda x: DTYPES[x.dtype] not in _WIDE)
@for_derivatives
@lowered_by(_gelu_as_one)
def gelu_with_slope(x: Tensor, /) -> Any:
    # The engine's own takes the probability from erf(), which has no digits left of small ones.
    if x.dtype not in _WIDE:
        return NotImplemented
    if x.device.type == "cpu" and is_plain(x) and x.is_contiguous():
        return _gelu_in_parts(x)
    return _gelu_as_a_whole(x)


def _gelu_as_a_whole(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clamp_min(_FAR)
    probability = torch.erfc(x * -_HALF_ROOT) * 0.5
    near = x.clamp_max(-_FAR)
    return x * probability, probability + torch.exp(near * near * -0.5) * near * _DENSITY


def _gelu_in_parts(x: Tensor) -> tuple[Tensor, Tensor]:
    """Compute the same in the memory of the results, in parts that stay in the cache of each thread."""
    results = torch.empty_like(x), torch.empty_like(x)
    count = _PART * torch.get_num_threads()
    whole = x.new_empty(min(count, x.numel())), x.new_empty(min(count, x.numel()))
    for part, value, slope in zip(*(each.view(-1).split(count) for each in (x, *results)), strict=True):
        near, density = whole if part.numel() == count else (each[: part.numel()] for each in whole)
        torch.clamp(part, _FAR, -_FAR, out=near)
        # The slope's memory holds the probability first.
        torch.erfc(torch.mul(near, -_HALF_ROOT, out=slope), out=slope).mul_(0.5)
        torch.clamp_min(part, _FAR, out=value).mul_(slope)
        torch.mul(near, near, out=density).mul_(-0.5).exp_().mul_(near)
        slope.add_(density, alpha=_DENSITY)
    return results


# -- the engine's own --------------------------------------------------------------------------------------------------

# There and below the result is -0.0.
_LOW = -1000.0
_nan_far_down = worked_around("it multiplies minus infinity by 0, which is NaN")


# Zero times a negative number would be a negative zero.
@functools.partial(off_host, unless=lambda x, *, alpha: not alpha > 0)
def elu(x: Tensor, /, *, alpha: float) -> Tensor:
    return functional.elu(x, alpha)


@worked_around("it takes the probability from erf(), which has no digits left of small ones")
@off_host
def gelu(x: Tensor, /) -> Tensor:
    x = x.clamp_min(_FAR)
    nothing = torch.scalar_tensor(-0.0, dtype=x.dtype, device="cpu")
    return torch.addcmul(nothing, x, torch.mul(x, -_HALF_ROOT).erfc_(), value=0.5)


@worked_around("it multiplies before it divides, which overflows, and is NaN at minus infinity")
@off_host
def hardswish(x: Tensor, /) -> Tensor:
    bounded = x.clamp_min(-3)
    return functional.hardsigmoid(bounded).mul_(bounded)


@_nan_far_down
@off_host
def mish(x: Tensor, /) -> Tensor:
    return functional.mish(x.clamp_min(_LOW))


@off_host
def selu(x: Tensor, /) -> Tensor:
    return functional.selu(x)


@_nan_far_down
@off_host
def silu(x: Tensor, /) -> Tensor:
    return functional.silu(x.clamp_min(_LOW))


@composed_on_host
@plainly
def hardsigmoid(x: Tensor, /) -> Tensor:
    return functional.hardsigmoid(x)


@composed_on_host
@plainly
def leaky_relu(x: Tensor, /, *, negative_slope: float) -> Tensor:
    return functional.leaky_relu(x, negative_slope)
