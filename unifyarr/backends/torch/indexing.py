"""Reading and writing parts of arrays on torch, which has no negative strides: windows with them are copies."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import itemgetter

import torch
from torch import Tensor

from ..kernels import bound_by, worked_around
from ._shared import as_dtype, as_signed, has_address, independent, writes

Window = tuple[tuple[int, int, int], ...]

# From this many elements on, torch writes with several threads, in no particular order.
_PARALLEL = 32768


def _forward(window: Window) -> tuple[tuple[slice, ...], list[int]]:
    """Return slices with positive steps over the same elements, and the axes that the window traverses backwards."""
    slices, backward = [], []
    for axis, (start, step, length) in enumerate(window):
        if length == 0:
            slices.append(slice(0, 0))
        elif step > 0 or length == 1:
            slices.append(slice(start, start + abs(step) * (length - 1) + 1, abs(step)))
        else:
            slices.append(slice(start + step * (length - 1), start + 1, -step))
            backward.append(axis)
    return tuple(slices), backward


def _flip(x: Tensor, axes: list[int]) -> Tensor:
    return as_dtype(as_signed(x).flip(axes), x.dtype)


def _reading(*, window: Window) -> Callable[[Tensor], Tensor]:
    slices, backward = _forward(window)
    return partial(get_window, window=window) if backward else itemgetter((*slices, ...))


@bound_by(_reading)
def get_window(x: Tensor, /, *, window: Window) -> Tensor:
    slices, backward = _forward(window)
    result = x[(*slices, ...)]
    return _flip(result, backward) if backward else result


@writes
def set_window(x: Tensor, value: Tensor, /, *, window: Window) -> Tensor:
    slices, backward = _forward(window)
    x[(*slices, ...)] = _flip(value, backward) if backward else independent(value, x)
    return x


def check_bounds(indices: Tensor, size: int, axis: int) -> int:
    """Raise where an index is out of bounds; return the least one, 0 of none, and -1 where ``vmap`` hides them."""
    if not indices.numel():
        return 0
    try:
        low, high = map(int, torch.aminmax(indices))
    except RuntimeError:
        if has_address(indices):
            raise
        return -1
    if low < -size or high >= size:
        raise IndexError(f"an index is out of bounds for axis {axis} with size {size}")
    return low


def _check_device_bounds(x: Tensor, indices: tuple[Tensor, ...], axis: int = 0) -> None:
    # On the CPU torch raises, unless there is nothing to read. On an accelerator the whole process loses the device.
    if x.device.type != "cpu" or not x.numel():
        for place, index in enumerate(indices, axis):
            check_bounds(index, x.shape[place], place)


def _pick(x: Tensor, indices: tuple[Tensor, ...], axis: int = 0) -> Tensor:
    _check_device_bounds(x, indices, axis)
    result = x[(slice(None),) * axis + indices]
    # torch takes a 0-d index for an int, and answers a view.
    return result.clone() if not indices or indices[0].ndim == 0 else result


def gather(x: Tensor, /, *indices: Tensor) -> Tensor:
    return _pick(x, indices)


def _last(x: Tensor, indices: list[Tensor]) -> Tensor:
    """Return which of many index tuples write last to their place in ``x``."""
    places = torch.zeros_like(indices[0])
    for axis, index in enumerate(indices):
        places = places * x.shape[axis] + index % x.shape[axis]
    places, order = torch.sort(places, stable=True)
    return order[torch.cat((places[1:] != places[:-1], torch.ones_like(places[:1], dtype=torch.bool)))]


@worked_around("torch leaves open which value for one place wins, and writes before it finds an index out of bounds")
@writes
def scatter(x: Tensor, value: Tensor, /, *indices: Tensor) -> Tensor:
    value = independent(value, x)
    if not indices:
        return x.copy_(value)
    for axis, index in enumerate(indices):
        # torch writes up to the first index out of bounds before it raises.
        check_bounds(index, x.shape[axis], axis)
    flat = [independent(index.reshape(-1), x) for index in indices]
    value = value.reshape(len(flat[0]), *x.shape[len(flat) :])
    # Without order on several threads; and in the backward pass, overwritten values would get a gradient.
    if value.numel() and (value.numel() >= _PARALLEL or value.requires_grad or x.device.type != "cpu"):
        last = _last(x, flat)
        flat, value = [index[last] for index in flat], value[last]
    as_signed(x)[tuple(flat)] = as_signed(value)
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


def take(x: Tensor, indices: Tensor, /, *, axis: int | None) -> Tensor:
    # torch.index_select takes neither negative indices nor several axes of them.
    return _pick(x.reshape(-1), (indices,)) if axis is None else _pick(x, (indices,), axis)


@worked_around("torch.take_along_dim wraps indices out of bounds, and has no kernel for uint16, uint32, uint64")
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int) -> Tensor:
    check_bounds(indices, x.shape[axis], axis)
    return as_dtype(torch.take_along_dim(as_signed(x), indices, axis), x.dtype)
