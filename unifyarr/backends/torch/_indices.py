"""Windows and index arrays on torch, for kernels that read and write parts of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ._private import base_of, version_of
from ._shared import has_accelerator, has_address, is_plain

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


def note_bounds(index: Tensor, low: int, high: int, /) -> None:
    """Remember that the indices of an accelerator lie between two numbers, as long as nothing is written there."""
    if not index.is_cpu and not index.is_inference():
        index.noted_bounds = version_of(index), low, high


def noting(kernel: Callable[..., Any], most: Callable[[Tensor], int | Sequence[int]]) -> Callable[..., Any]:
    """Return a kernel that makes indices from 0 on, and notes on accelerators how great they are at most.

    ``most`` tells it of the first array: of the result, or of each of several.
    """
    if not has_accelerator():
        return kernel

    def noted(x: Tensor, /, *others: Any, **static: Any) -> Any:
        found = kernel(x, *others, **static)
        if not x.is_cpu and is_plain(x):
            limits = most(x)
            if isinstance(limits, int):
                note_bounds(found, 0, limits)
            else:
                for index, last in zip(found, limits, strict=True):
                    note_bounds(index, 0, last)
        return found

    return noted


def _noted(index: Tensor) -> tuple[int, int] | None:
    noted = getattr(index, "noted_bounds", None)
    if noted is None:
        # A view has the noted bounds of its base, since both are written together.
        noted = getattr(base_of(index), "noted_bounds", None)
    return noted[1:] if noted is not None and noted[0] == version_of(index) else None


def check_bounds(indices: Sequence[Tensor], sizes: Sequence[int], axis: int = 0) -> bool:
    """Raise where an index into axes of these sizes is out of bounds; return whether one may be negative.

    The host waits for an accelerator once. Values are unknown inside ``vmap``.
    """
    seen = {place: index for place, index in enumerate(indices) if index.numel()}
    limits = limits_of(list(seen.values()))
    if limits is None:
        return True
    for place, (low, high) in zip(seen, limits, strict=True):
        if low < -sizes[place] or high >= sizes[place]:
            raise IndexError(f"an index is out of bounds for axis {axis + place} with size {sizes[place]}")
    return any(low < 0 for low, _ in limits)


def _both_ends(index: Tensor) -> Tensor:
    """Return the least and the greatest element in one tensor."""
    if not is_plain(index):
        return torch.stack(torch.aminmax(index))
    both = index.new_empty(2)
    torch.aminmax(index, out=both.unbind())
    return both


def limits_of(indices: Sequence[Tensor]) -> list[Sequence[int]] | None:
    """Return the least and the greatest of each of several arrays with elements, ``None`` where ``vmap`` hides them.

    An accelerator is waited for once, and not again until the indices are written.
    """
    noted = list(map(_noted, indices))
    read = [index for index, bounds in zip(indices, noted, strict=True) if bounds is None]
    try:
        if all(index.is_cpu for index in read):
            found = [[*map(int, torch.aminmax(index))] for index in read]
        else:
            several = list(map(_both_ends, read))
            found = (torch.stack(several) if len(several) > 1 else several[0][None]).tolist()
    except RuntimeError:
        if all(map(has_address, read)):
            raise
        return None
    for index, (low, high) in zip(read, found, strict=True):
        note_bounds(index, low, high)
    rest = iter(found)
    return [next(rest) if bounds is None else bounds for bounds in noted]


def check_device_bounds(x: Tensor, indices: Sequence[Tensor], axis: int = 0) -> None:
    # On the CPU torch raises, unless there is nothing to read. On an accelerator the whole process loses the device.
    if x.device.type != "cpu" or not x.numel():
        check_bounds(indices, x.shape[axis:], axis)


def _sorted_places(x: Tensor, indices: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Return the places in ``x`` of many index tuples in ascending order, and which tuples they are of."""
    places = torch.zeros_like(indices[0])
    for axis, index in enumerate(indices):
        places = places * x.shape[axis] + index % x.shape[axis]
    places, order = torch.sort(places, stable=True)
    return places, order


def last_values(x: Tensor, indices: list[Tensor], value: Tensor) -> Tensor:
    """Return for each of many index tuples the value that is written last to its place in ``x``.

    So the order of writes doesn't count, and no number of writes is waited for.
    """
    places, order = _sorted_places(x, indices)
    last = torch.searchsorted(places, places, right=True) - 1
    return value[torch.empty_like(order).index_copy_(0, order, order[last])]


def last_writes(x: Tensor, indices: list[Tensor]) -> Tensor:
    """Return which of many index tuples write last to their place in ``x``."""
    places, order = _sorted_places(x, indices)
    return order[torch.cat((places[1:] != places[:-1], torch.ones_like(places[:1], dtype=torch.bool)))]
