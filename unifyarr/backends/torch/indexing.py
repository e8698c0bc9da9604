"""Reading and writing parts of arrays on torch, which has no negative strides: windows with them are copies."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import torch
from torch import Tensor

from ..base.single import Picks, picks
from ..kernels import bound_by, check_number, declines, known_by, with_core, worked_around
from ._indices import Window, check_bounds, check_device_bounds, forward, last_values, last_writes
from ._overlap import independent
from ._shared import DTYPES, UNSIGNED, WIDE, as_dtype, as_signed, is_plain, writes
from ._shared import is_unwatched as _is_unwatched

# From this many elements on, torch writes with several threads, in no particular order.
_PARALLEL = 32768


def _flip(x: Tensor, axes: list[int]) -> Tensor:
    return as_dtype(as_signed(x).flip(axes), x.dtype)


def _reading(*, window: Window) -> Callable[[Tensor], Tensor]:
    slices, backward = forward(window)
    if backward:
        return partial(get_window, window=window)
    # One slice is taken sooner than a tuple, and a tuple sooner without an ellipsis.
    return itemgetter(slices[0] if len(slices) == 1 else tuple(slices) or ...)


@bound_by(_reading)
def get_window(x: Tensor, /, *, window: Window) -> Tensor:
    slices, backward = forward(window)
    result = x[(*slices, ...)]
    return _flip(result, backward) if backward else result


@writes
def set_window(x: Tensor, value: Tensor, /, *, window: Window) -> Tensor:
    slices, backward = forward(window)
    x[(*slices, ...)] = _flip(value, backward) if backward else independent(value, x)
    return x


def _pick(x: Tensor, indices: tuple[Tensor, ...], axis: int = 0) -> Tensor:
    check_device_bounds(x, indices, axis)
    result = x[(slice(None),) * axis + indices]
    # torch takes a 0-d index for an int, and answers a view.
    return result.clone() if not indices or indices[0].ndim == 0 else result


@with_core(picks)
def gather(x: Tensor, /, *indices: Tensor) -> Tensor:
    return _pick(x, indices)


@with_core(picks)
@worked_around("torch leaves open which value for one place wins, and writes before it finds an index out of bounds")
@writes
def scatter(x: Tensor, value: Tensor, /, *indices: Tensor) -> Tensor:
    value = independent(value, x)
    if not indices:
        return x.copy_(value)
    # torch writes up to the first index out of bounds before it raises.
    check_bounds(indices, x.shape)
    flat = [independent(index.reshape(-1), x) for index in indices]
    value = value.reshape(len(flat[0]), *x.shape[len(flat) :])
    # Without order on several threads; and in the backward pass, overwritten values would get a gradient.
    if value.numel() and not value.requires_grad and not x.is_cpu:
        value = last_values(x, flat, value)
    elif value.numel() and (value.numel() >= _PARALLEL or value.requires_grad):
        last = last_writes(x, flat)
        flat, value = [index[last] for index in flat], value[last]
    as_signed(x)[tuple(flat)] = as_signed(value)
    return x


@worked_around("no kernel for uint16, uint32, uint64")
def take_places(x: Tensor, places: Tensor, /, *, axes: int) -> Tensor:
    # Half as long as ``x[places]``.
    flat = as_signed(x).reshape(math.prod(x.shape[:axes]), *x.shape[axes:])
    return as_dtype(flat.index_select(0, places), x.dtype)


@worked_around("no kernel for uint16, uint32, uint64")
@writes
def put_places(x: Tensor, value: Tensor, places: Tensor, /, *, axes: int) -> Tensor:
    check_number(len(places), len(value))
    target, value = as_signed(x), as_signed(independent(value, x)).expand(len(places), *x.shape[axes:])
    if target.is_contiguous():
        target.view(math.prod(x.shape[:axes]), *x.shape[axes:]).index_copy_(0, places, value)
    else:
        target[torch.unravel_index(places, x.shape[:axes])] = value
    return x


@worked_around("no kernel for uint16, uint32, uint64")
@writes
def put_mask(x: Tensor, value: Tensor, mask: Tensor, /) -> Tensor:
    target, value = as_signed(x), as_signed(independent(value, x))
    if value.ndim == 0:
        target.masked_fill_(mask, value)
    else:
        # Only the chosen elements are written, so that threads may write to disjoint ones.
        chosen = torch.nonzero(mask, as_tuple=True)
        target[chosen] = value.expand(x.shape)[chosen]
    return x


def _know_take(x: Tensor, indices: Tensor, *, axis: int | None) -> Callable[[Tensor, Tensor], Tensor] | None:
    if not indices.dim() or not x.numel() or x.dtype in UNSIGNED or (axis is None and x.dim() != 1):
        return None
    place, lengths = axis or 0, tuple(x.shape)
    shape = None if indices.dim() == 1 else (*lengths[:place], *indices.shape, *lengths[place + 1 :])

    def taking(x: Tensor, indices: Tensor, /) -> Tensor:
        if _is_unwatched(x) or (x.is_cpu and is_plain(x)):
            try:
                if shape is None:
                    return torch.index_select(x, place, indices)
                return torch.index_select(x, place, indices.reshape(-1)).view(shape)
            except (IndexError, RuntimeError):
                pass
        return _pick(x, (indices,), place)

    return taking


@with_core(lambda x, indices, *, axis: None if axis is None else Picks(axis))
@known_by(_know_take)
def take(x: Tensor, indices: Tensor, /, *, axis: int | None) -> Tensor:
    if x.is_cpu and is_plain(x):
        # torch.index_select, which is many times as fast as an index, takes no negative ones: it raises.
        taking = _know_take(x, indices, axis=axis)
        if taking is not None:
            return taking(x, indices)
    return _pick(x.reshape(-1), (indices,)) if axis is None else _pick(x, (indices,), axis)


def _fits(x: Tensor, indices: Tensor, axis: int) -> bool:
    return x.shape == indices.shape or (
        x.dim() == indices.dim() and all(i == axis or n == indices.shape[i] for i, n in enumerate(x.shape))
    )


@worked_around("torch.take_along_dim wraps indices out of bounds, and has no kernel for uint16, uint32, uint64")
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int) -> Tensor:
    if x.dtype not in UNSIGNED and x.is_cpu and is_plain(x) and _fits(x, indices, axis):
        try:
            return torch.gather(x, axis, indices)
        except (IndexError, RuntimeError):
            # Negative indices, or some out of bounds.
            pass
    take = torch.take_along_dim
    if not check_bounds([indices], x.shape[axis:], axis) and _fits(x, indices, axis):
        # That function would take the remainders.
        take = lambda x, indices, axis: torch.gather(x, axis, indices)  # noqa: E731
    return as_dtype(take(as_signed(x), indices, axis), x.dtype)


@declines(lambda g, *_, **static: DTYPES[g.dtype] not in WIDE, transformed=True)
def take_along_axis_backward(g: Tensor, indices: Tensor, /, *, axis: int, length: int) -> Any:
    if g.dtype not in WIDE or not (is_plain(g) and is_plain(indices)):
        return NotImplemented
    total = g.new_zeros((*g.shape[:axis], length, *g.shape[axis + 1 :]))
    if not g.is_cpu:
        wraps = check_bounds([indices], (length,))
        return total.scatter_add_(axis, indices % length if wraps else indices, g)
    try:
        return total.scatter_add_(axis, indices, g)
    except RuntimeError:
        # An index is negative, or out of bounds. Earlier ones may have been added already.
        check_bounds([indices], (length,))
        return total.zero_().scatter_add_(axis, indices % length, g)
