"""Kernels that write, as functions: inside transformations of torch, which refuse many writes in place.

``vmap`` can't write a batched value into an unbatched array, and autograd can't overwrite values it still needs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..kernels import check_number
from ._indices import Window, check_device_bounds, forward, last_writes
from ._shared import as_dtype, as_signed, has_address


def set_window(x: Tensor, value: Tensor, /, *, window: Window) -> Tensor:
    slices, backward = forward(window)
    # A 0-d value may go into one element.
    lengths = [all if length is None else length for all, (_, _, length) in zip(x.shape, window, strict=True)]
    value = as_signed(value).expand(lengths)
    return as_dtype(_inserted(as_signed(x), value.flip(backward) if backward else value, slices, 0), x.dtype)


def _inserted(x: Tensor, value: Tensor, slices: tuple[slice, ...], axis: int) -> Tensor:
    # Axis by axis: torch has no function that inserts a box.
    while axis < len(slices) and slices[axis] in (slice(None), slice(0, x.shape[axis], 1)):
        axis += 1
    if axis == len(slices):
        return value
    box = slices[axis]
    part = x[(slice(None),) * axis + (box,)]
    return torch.slice_scatter(x, _inserted(part, value, slices, axis + 1), axis, box.start, box.stop, box.step or 1)


def scatter(x: Tensor, value: Tensor, /, *indices: Tensor) -> Tensor:
    if not indices:
        return value
    if has_address(indices[0]):
        check_device_bounds(x, indices)
    flat = [index.reshape(-1) for index in indices]
    value = value.reshape(len(flat[0]), *x.shape[len(flat) :])
    if not value.numel():
        return x
    if all(map(has_address, flat)):
        # In the backward pass, values that are overwritten would get a gradient.
        last = last_writes(x, flat)
        flat, value = [index[last] for index in flat], value[last]
    else:
        value = _last_wins(x, value, flat)
    written = torch.index_put(as_signed(x), tuple(flat), as_signed(value))
    return as_dtype(written, x.dtype)


def _last_wins(x: Tensor, value: Tensor, indices: list[Tensor]) -> Tensor:
    # Where the places aren't known, all values for one place are made the last of them, which alone has a gradient.
    places, rows = torch.zeros_like(indices[0]), 1
    for axis, index in enumerate(indices):
        places, rows = places * x.shape[axis] + index % x.shape[axis], rows * x.shape[axis]
    order = torch.arange(len(places), device=places.device)
    winner = torch.zeros(rows, dtype=order.dtype, device=x.device)
    winner = winner.scatter_reduce(0, places, order.expand_as(places), "amax")[places]
    is_last = (winner == order).reshape(-1, *([1] * (value.ndim - 1)))
    return torch.where(is_last, value, value[winner].detach())


def put_places(x: Tensor, value: Tensor, places: Tensor, /, *, axes: int) -> Tensor:
    check_number(len(places), len(value))
    value = as_signed(value).expand(len(places), *x.shape[axes:])
    flat = as_signed(x).reshape(math.prod(x.shape[:axes]), *x.shape[axes:])
    return as_dtype(flat.index_copy(0, places, value).reshape(x.shape), x.dtype)


def put_mask(x: Tensor, value: Tensor, mask: Tensor, /) -> Tensor:
    return as_dtype(torch.where(mask, as_signed(value), as_signed(x)), x.dtype)


def set_real(x: Tensor, value: Tensor, /) -> Tensor:
    return torch.complex(value, torch.imag(x))


def set_imag(x: Tensor, value: Tensor, /) -> Tensor:
    return torch.complex(torch.real(x), value)


KERNELS = {kernel.__name__: kernel for kernel in (set_window, scatter, put_places, put_mask, set_real, set_imag)}
