"""Windows and index arrays on torch, for kernels that read and write parts of tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from ._shared import has_address

Window = tuple[tuple[int, int, int], ...]


def forward(window: Window) -> tuple[tuple[slice, ...], list[int]]:
    """Return slices with positive steps over the same elements, and the axes that the window traverses backwards."""
    slices, backward = [], []
    for axis, (start, step, length) in enumerate(window):
        if length is None:
            # All of an axis whose length wasn't known.
            slices.append(slice(None))
        elif length == 0:
            slices.append(slice(0, 0))
        elif step > 0 or length == 1:
            slices.append(slice(start, start + abs(step) * (length - 1) + 1, abs(step)))
        else:
            slices.append(slice(start + step * (length - 1), start + 1, -step))
            backward.append(axis)
    return tuple(slices), backward


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


def check_device_bounds(x: Tensor, indices: tuple[Tensor, ...], axis: int = 0) -> None:
    # On the CPU torch raises, unless there is nothing to read. On an accelerator the whole process loses the device.
    if x.device.type != "cpu" or not x.numel():
        for place, index in enumerate(indices, axis):
            check_bounds(index, x.shape[place], place)


def last_writes(x: Tensor, indices: list[Tensor]) -> Tensor:
    """Return which of many index tuples write last to their place in ``x``."""
    places = torch.zeros_like(indices[0])
    for axis, index in enumerate(indices):
        places = places * x.shape[axis] + index % x.shape[axis]
    places, order = torch.sort(places, stable=True)
    return order[torch.cat((places[1:] != places[:-1], torch.ones_like(places[:1], dtype=torch.bool)))]
