"""Views by strides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array, owner
from .._core.arrays.recipes import geometry, is_recipe, root_of, seen_in
from .._core.arrays.views import Broadcast, Diagonal, Protection, Reshape, Window
from .._core.values.shapes import c_strides
from ..typing import Shape

# The steps of views whose places in the memory NumPy tells.
_PLACED = (Broadcast, Diagonal, Protection, Reshape, Window)


def memory_of(x: Array) -> tuple[Array, int] | None:
    """Return all elements of the memory that an array lies in, as they lie, and at which of them it begins.

    ``None`` if the memory has gaps, or where in it the array lies isn't known.
    """
    base, root = owner(x), root_of(x)
    if base.dtype is not x.dtype or (is_recipe(x) and not all(type(step) in _PLACED for step in x._steps)):
        return None
    if x._backend.mutable:
        memory, here = (x._backend.layout(each._native) for each in (base, root))
    else:
        memory = here = geometry(base) if root is base else None
    flat = _flat(base)
    if flat is None or memory is None or here is None:
        return None
    start, rest = divmod(_address(seen_in(here, x)) - _first(memory), x.dtype.itemsize)
    return None if rest or not 0 <= start <= flat.size else (flat, start)


def _address(memory: np.ndarray) -> int:
    return int(memory.__array_interface__["data"][0])


def _first(memory: np.ndarray) -> int:
    # The lowest address of an array of NumPy's.
    steps = zip(memory.shape, memory.strides, strict=True)
    return _address(memory) + sum((length - 1) * stride for length, stride in steps if stride < 0 < length)


def _flat(x: Array) -> Array | None:
    # A view of all elements in the order in which they lie; ``None`` where some lie apart, or several are one.
    strides = geometry(x).strides
    order = sorted(range(x.ndim), key=lambda axis: (-abs(strides[axis]), x.shape[axis] == 1))
    turned = tuple(slice(None, None, -1) if stride < 0 else slice(None) for stride in strides)
    lying = ua.permute_dims(x[(*turned, ...)], tuple(order))
    steps = [abs(strides[axis]) for axis in order]
    wanted = c_strides(lying.shape, x.dtype.itemsize)
    if any(length > 1 and step != right for length, step, right in zip(lying.shape, steps, wanted, strict=True)):
        return None
    return ua.reshape(lying, (x.size,), copy=False)


def strided(flat: Array, start: int, lengths: Shape, strides: Sequence[int], what: str) -> Array:
    """Return the elements that lie so many bytes apart from a first one, along each axis.

    It's a view where slices of a reshaped array can express it; a read-only array of the values otherwise.
    """
    steps = [stride // flat.dtype.itemsize for stride in strides]
    moves = [step * (length - 1) for step, length in zip(steps, lengths, strict=True)]
    first, last = start + sum(min(move, 0) for move in moves), start + sum(max(move, 0) for move in moves)
    if 0 in lengths:
        return ua.reshape(flat[:0], lengths)
    apart = any(stride % flat.dtype.itemsize for stride, length in zip(strides, lengths, strict=True) if length > 1)
    if apart or first < 0 or last >= flat.size:
        raise ValueError(
            f"strides {tuple(strides)} and shape {lengths} lead to memory that isn't of {what}: elements {first} to "
            f"{last}, where there are {flat.size} of {flat.dtype.itemsize} bytes"
        )
    along = [axis for axis, length in enumerate(lengths) if length > 1 and steps[axis]]
    along.sort(key=lambda axis: -abs(steps[axis]))
    box = _box(flat, first, [lengths[axis] for axis in along], [abs(steps[axis]) for axis in along])
    if box is None:
        places = np.full((1,) * len(lengths), start)
        for axis, (length, step) in enumerate(zip(lengths, steps, strict=True)):
            places = places + (np.arange(length) * step).reshape(
                [-1 if axis == other else 1 for other in range(len(lengths))]
            )
        return ua.broadcast_to(ua.reshape(flat[places.reshape(-1)], lengths), lengths)
    box = box[(*(slice(None, None, -1 if steps[axis] < 0 else None) for axis in along), ...)]
    box = ua.permute_dims(box, tuple(int(axis) for axis in np.argsort(along)))
    box = box[(*(slice(None) if axis in along else None for axis in range(len(lengths))), ...)]
    return box if box.shape == lengths else ua.broadcast_to(box, lengths)


def _box(flat: Array, first: int, lengths: list[int], steps: list[int]) -> Array | None:
    # The view of the elements from a first one on whose axes have those steps, falling; ``None`` where there's none.
    if len(lengths) < 2:
        return flat[first : first + sum(lengths[:1]) * sum(steps[:1]) : steps[0]] if lengths else flat[first, ...]
    if any(step % finer for step, finer in itertools.pairwise(steps)):
        return None
    sizes = [step // finer for step, finer in zip(steps, [*steps[1:], 1], strict=True)]
    rows = lengths[0] * steps[0]
    # Rows that begin at the first element, that are those of the whole, or that end with the last one.
    for before in (0, first % steps[0], max(first + rows - flat.size, 0)):
        begin = first - before
        if begin < 0 or begin + rows > flat.size:
            continue
        digits = [before % step // finer for step, finer in zip(steps, [*steps[1:], 1], strict=True)]
        taken = [*lengths[1:], 1]
        if all(digit + length <= size for digit, length, size in zip(digits, taken, sizes, strict=True)):
            rest = [slice(digit, digit + length) for digit, length in zip(digits[:-1], lengths[1:], strict=True)]
            matrix = ua.reshape(flat[begin : begin + rows], (lengths[0], *sizes), copy=False)
            return matrix[(slice(None), *rest, digits[-1])]
    return None
