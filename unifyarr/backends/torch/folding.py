"""Windows as columns on torch, columns added up, and the greatest element of each window."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import composed_on_host, declines, for_derivatives, worked_around
from ._shared import DTYPES, FLOAT, WIDE, as_dtype, as_signed, is_plain

_by_views = worked_around("the engine's own are of two axes, and slower")


def _windows(x: Tensor, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Tensor:
    """Return a view of all windows over the last axes: the axes before, those of windows, and those of their places."""
    first = x.ndim - len(window)
    for axis, (length, step, apart) in enumerate(zip(window, stride, dilation, strict=True), first):
        x = x.unfold(axis, apart * (length - 1) + 1, step)
        if apart > 1:
            x = x[..., ::apart]
    return x


@for_derivatives
@_by_views
def unfold(x: Tensor, /, *, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Tensor:
    axes, first = len(window), x.ndim - len(window)
    order = (*range(first), *range(first + axes, first + 2 * axes), *range(first, first + axes))
    return _windows(x, window, stride, dilation).permute(order).clone(memory_format=torch.contiguous_format)


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
    shape, order = (*x.shape[: -2 * axes], *lengths), (*range(x.ndim - 2 * axes), *_exchanged(x.ndim, axes))
    each = list(zip(window, stride, dilation, strict=True))
    if all(d * (size - 1) < s for size, s, d in each):
        # Each element has one place at most.
        covers = all(size == s and n * s == m for (size, s, _), n, m in zip(each, count, lengths, strict=True))
        total = x.new_empty(shape) if covers else x.new_zeros(shape)
        _windows(total, window, stride, dilation).copy_(x.permute(order))
        return as_dtype(total, dtype)
    total = x.new_zeros(shape)
    every = (slice(None),) * axes
    for place in itertools.product(*map(range, window)):
        slices = [slice(i * d, i * d + s * (n - 1) + 1, s) for i, n, (_, s, d) in zip(place, count, each, strict=True)]
        total[(..., *slices)].add_(x[(..., *place, *every)])
    return as_dtype(total, dtype)


def _exchanged(ndim: int, axes: int) -> tuple[int, ...]:
    """Return the last axes with those of windows and of places exchanged."""
    return *range(ndim - axes, ndim), *range(ndim - 2 * axes, ndim - axes)


# -- the greatest element of each window ------------------------------------------------------------------------------

# Below, windows are written at once.
_SMALL = 2048
# The axes of positions, for windows over so many axes, if these come first.
_PLACES = [tuple(range(axes)) for axes in range(4)]
_of_floats = declines(lambda x, *_, **options: DTYPES[x.dtype] not in FLOAT, transformed=True)


@for_derivatives
@_of_floats
@worked_around("the engine's own gives one of equal elements all of the gradient")
def window_max(x: Tensor, /, **moves: tuple[int, ...]) -> Any:
    if x.dtype not in FLOAT or not is_plain(x):
        return NotImplemented
    return torch.amax(_columns(x, **moves), _PLACES[len(moves["window"])])


@_of_floats
@worked_around("the engine's own gives one of equal elements all of the gradient")
def window_max_backward(g: Tensor, x: Tensor, out: Tensor, /, **moves: tuple[int, ...]) -> Any:
    if x.dtype not in FLOAT or not all(map(is_plain, (g, x, out))):
        return NotImplemented
    axes = len(moves["window"])
    # Ones and zeros of the dtype, which is sooner than bools: the loops of one dtype are vectorised.
    chosen = _columns(x, **moves).eq_(out)
    shares = torch.ops.aten.threshold_backward(g.div(chosen.sum(_PLACES[axes])), chosen, 0.5)
    lengths = x.shape[x.ndim - axes :]
    if _is_divided(lengths, **moves):
        total = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        _put(_divided(total, moves["window"]), shares, axes)
        return total
    last = shares.ndim - axes
    order = (*range(axes, last), *range(axes), *range(last, shares.ndim))
    return fold(shares.permute(order), lengths=lengths, stride=moves["stride"], dilation=moves["dilation"])


def _columns(x: Tensor, window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]) -> Tensor:
    """Return the elements of windows, places in a window first."""
    axes, last = len(window), x.dim()
    if _is_divided(x.shape[last - axes :], window, stride, dilation):
        return _divided(x, window).contiguous()
    order = (*range(last, last + axes), *range(last))
    return _windows(x, window, stride, dilation).permute(order).clone(memory_format=torch.contiguous_format)


def _put(windows: Tensor, shares: Tensor, axes: int) -> None:
    """Write the elements of windows, places in a window first."""
    if not windows.is_cpu or windows.numel() < _SMALL:
        windows.copy_(shares)
        return
    # The engine would write one window after another, whose rows are short.
    pairs = [(windows, shares)]
    for _ in range(axes):
        pairs = [each for one, other in pairs for each in zip(one.unbind(0), other.unbind(0), strict=True)]
    for place, share in pairs:
        place.copy_(share)


def _is_divided(
    lengths: Sequence[int], window: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> bool:
    """Return whether each element is in one window."""
    if window != stride or any(apart != 1 for apart in dilation):
        return False
    return not any(length % size for length, size in zip(lengths, window, strict=True))


def _divided(x: Tensor, window: tuple[int, ...]) -> Tensor:
    """Return a view of the elements of windows that divide an array, places in a window first."""
    first = x.dim() - len(window)
    shape, places, rest = list(x.shape[:first]), [], list(range(first))
    for length, size in zip(x.shape[first:], window, strict=True):
        rest.append(len(shape))
        places.append(len(shape) + 1)
        shape += length // size, size
    return x.view(shape).permute(*places, *rest)
