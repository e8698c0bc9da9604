"""Windows as columns on torch, and columns added up."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import composed_on_host, for_derivatives, worked_around
from ._shared import WIDE, as_dtype, as_signed, is_plain

_by_views = worked_around("the engine's own are of two axes, and slower")


@for_derivatives
@_by_views
def unfold(x: Tensor, /, *, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Tensor:
    axes, first = len(window), x.ndim - len(window)
    for axis, (length, step, apart) in enumerate(zip(window, stride, dilation, strict=True), first):
        x = x.unfold(axis, apart * (length - 1) + 1, step)
        if apart > 1:
            x = x[..., ::apart]
    order = (*range(first), *range(first + axes, first + 2 * axes), *range(first, first + axes))
    return x.permute(order).clone(memory_format=torch.contiguous_format)


@composed_on_host
@_by_views
def fold(x: Tensor, /, *, lengths: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Tensor:
    axes = len(lengths)
    window, count = x.shape[-2 * axes : -axes], x.shape[-axes:]
    if axes == 2 and not x.is_cpu and x.dtype in WIDE and x.numel() and is_plain(x):
        # There the engine's own is one launch.
        leading = x.shape[:-4]
        columns = x.reshape(-1, math.prod(window), math.prod(count))
        return functional.fold(columns, lengths, window, dilation, 0, stride).reshape(*leading, *lengths)
    dtype, x = x.dtype, as_signed(x)
    total = x.new_zeros((*x.shape[: -2 * axes], *lengths))
    # Then each element has one place at most.
    is_apart = all(d * (size - 1) < s for size, s, d in zip(window, stride, dilation, strict=True))
    every = (slice(None),) * axes
    for place in itertools.product(*map(range, window)):
        each = zip(place, count, stride, dilation, strict=True)
        key = [slice(i * apart, i * apart + step * (n - 1) + 1, step) for i, n, step, apart in each]
        part, more = total[(..., *key)], x[(..., *place, *every)]
        part.copy_(more) if is_apart else part.add_(more)
    return as_dtype(total, dtype)
