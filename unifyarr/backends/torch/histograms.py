"""Counting on torch."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..kernels import declines
from ._shared import DTYPES, WIDE, is_plain

# With so few bins, rounding takes an element at most to the bin beside its own.
_FEW = 1 << 20


@declines(lambda x, *weights, **_: any(DTYPES[weight.dtype] not in WIDE for weight in weights), transformed=True)
def bincount(x: Tensor, /, *weights: Tensor, length: int) -> Any:
    if not weights:
        return torch.bincount(x, minlength=length) if is_plain(x) else NotImplemented
    [weight] = weights
    # The engine has no derivative by the weights.
    if weight.dtype not in WIDE or not is_plain(weight):
        return NotImplemented
    return torch.bincount(x, weight.to(torch.float64), minlength=length).to(weight.dtype)


# Types don't tell whether the range of evenly spaced edges is finite.
@declines(lambda x, edges, *weights, uniform: bool(weights) or uniform or DTYPES[x.dtype] not in WIDE, transformed=True)
def count_between(x: Tensor, edges: Tensor, /, *weights: Tensor, uniform: bool) -> Any:
    if weights or x.dtype not in WIDE or not is_plain(x):
        return NotImplemented
    if uniform and x.dtype is torch.float64 and len(edges) < _FEW:
        return _count_evenly(x, edges)
    # NaN sorts after the last edge, and elements equal to that edge belong to the last bin.
    counts = torch.bincount(torch.bucketize(x, edges, right=True), minlength=len(edges) + 1)[1:-1].clone()
    counts[-1] += torch.count_nonzero(x == edges[-1])
    return counts


def _count_evenly(x: Tensor, edges: Tensor) -> Any:
    first, last, count = float(edges[0]), float(edges[-1]), len(edges) - 1
    width = (last - first) / count
    if not 0 < width < math.inf:
        return NotImplemented
    place = ((x - first) / width).to(torch.int64).clamp_(0, count - 1)
    place -= (x < edges[place]).to(torch.int64)
    # The last bin has no neighbour behind it, and the one before the first doesn't count.
    place += (x >= edges[1:][place]).to(torch.int64)
    place.clamp_(0, count - 1).masked_fill_(~((x >= first) & (x <= last)), count)
    return torch.bincount(place, minlength=count + 1)[:-1].clone()
