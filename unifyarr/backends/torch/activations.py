"""Activation functions on torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch import sigmoid as sigmoid

from ..kernels import declines, for_derivatives, known_by, support_native_out
from ._shared import BOOL, DTYPES, UNSIGNED, is_plain

_WITHOUT = BOOL | UNSIGNED


@declines(lambda x: DTYPES[x.dtype] in _WITHOUT)
@known_by(lambda x: None if x.dtype in _WITHOUT else torch.relu)
@support_native_out
def relu(x: Tensor, /, *, out: Any = None) -> Any:
    if x.dtype in _WITHOUT:
        return NotImplemented
    # With ``out`` there's no gradient, whose value at zero is all that tells the two functions apart.
    return torch.relu(x) if out is None else torch.clamp_min(x, 0, out=out)


# Others are computed in float32.
_WIDE = torch.float32, torch.float64
# There and below the probability is 0, and its negative so far above 1: infinity times 0 would be NaN.
_FAR = -40.0
# How many elements of a few arrays a processor keeps in its cache. New memory costs as much as to compute in it.
_PART = 1 << 14


@declines(lambda x: DTYPES[x.dtype] not in _WIDE)
@for_derivatives
def gelu_with_slope(x: Tensor, /) -> Any:
    # The engine's own takes the probability from erf(), which has no digits left of small ones.
    return _in_parts(_gelu_with_slope, x) if x.dtype in _WIDE else NotImplemented


def _gelu_with_slope(x: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clamp_min(_FAR)
    probability = torch.erfc(x * -math.sqrt(0.5)) * 0.5
    near = x.clamp_max(-_FAR)
    return x * probability, probability + torch.exp(near * near * -0.5) * near * (1 / math.sqrt(2 * math.pi))


def _in_parts(function: Callable[[Tensor], tuple[Tensor, ...]], x: Tensor) -> tuple[Tensor, ...]:
    """Return what a function gives of each element, from parts that stay in the cache of each thread."""
    if x.numel() <= _PART or x.device.type != "cpu" or not is_plain(x) or not x.is_contiguous():
        return function(x)
    count = _PART * torch.get_num_threads()
    first, *others = x.view(-1).split(count)
    results = function(first)
    whole = tuple([torch.empty_like(x) for _ in results])
    targets = zip(*(each.view(-1).split(count) for each in whole), strict=True)
    for target, found in zip(targets, chain([results], map(function, others)), strict=True):
        for each, value in zip(target, found, strict=True):
            each.copy_(value)
    return whole
