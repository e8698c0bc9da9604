"""Where tensors lie in memory, and whether a write to one may change another."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from ..base.abilities import is_numpys
from ..kernels import EFFORT
from ._private import base_of
from ._shared import NUMPY_DTYPES, beneath, has_address

# Views of one array have one or two ways in which their windows may meet. Where there are more, NumPy decides.
_MOST_LEFT = 4


def span(x: Tensor) -> int:
    """Return how many bytes lie between the first and the end of the last element in memory."""
    last = 0
    for length, step in zip(x.shape, x.stride(), strict=True):
        if not length:
            return 0
        last += (length - 1) * step
    return (last + 1) * x.itemsize


def extent(x: Tensor) -> tuple[int, int]:
    """Return the addresses between which a tensor lies; without one, it stands for itself alone."""
    try:
        if (start := x.data_ptr()) and x.is_contiguous():
            return start, start + x.nbytes
    except RuntimeError:
        pass
    # Inside a transformation a tensor lies where the one does that it stands for.
    x = beneath(x)
    start = x.data_ptr() if has_address(x) else id(x)
    return start, start + span(x)


class _Layout:
    """Where the elements of a tensor lie, told to NumPy, which never reads them."""

    def __init__(self, x: Tensor) -> None:
        dtype = NUMPY_DTYPES.get(x.dtype)
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str if dtype is not None and is_numpys(dtype) else f"|V{x.itemsize}",
            "shape": tuple(x.shape),
            "strides": tuple(step * x.itemsize for step in x.stride()),
            "data": (x.data_ptr(), True),
        }


def layout(x: Tensor) -> np.ndarray:
    """Return an array of NumPy's that lies where a tensor with an address does, and must not be read."""
    return np.asarray(_Layout(x))


def overlap(first: Tensor, second: Tensor) -> bool:
    """Return whether the ranges of memory of two tensors overlap; one without an address raises ``RuntimeError``."""
    start, other = first.data_ptr(), second.data_ptr()
    # ``span`` is as much as ``nbytes``, of any tensor, and takes longer.
    if start <= other:
        return other < start + (first.nbytes if first.is_contiguous() else span(first))
    return start < other + (second.nbytes if second.is_contiguous() else span(second))


def may_share_memory(first: Tensor, second: Tensor) -> bool:
    """Return whether two tensors have an address in common: ``from_numpy`` gives one memory several storages."""
    if first is second:
        return True
    try:
        if not overlap(first, second):
            return False
    except RuntimeError:  # As ``has_address`` says.
        return True
    if first.is_meta or second.is_meta:
        return base_of(first) is base_of(second)
    # Tensors of different devices have no ranges in common.
    met = meet(first, second)
    # Where the strides differ, NumPy solves the equation of the addresses.
    return np.may_share_memory(layout(first), layout(second), EFFORT) if met is None else met  # type: ignore[arg-type]


def meet(first: Tensor, second: Tensor) -> bool | None:
    """Return whether windows of the same strides, as two rows have, share an element; ``None`` where it isn't told.

    Both have addresses, on one device.
    """
    gap, size, steps = second.data_ptr() - first.data_ptr(), first.itemsize, first.stride()
    if not gap:
        # That of their first elements, or there's none.
        return bool(first.numel() and second.numel())
    if steps != second.stride() or size != second.itemsize or gap % size:
        return None
    distance = gap // size
    if len(steps) == 1 and steps[0]:
        count, rest = divmod(distance, steps[0])
        return not rest and -len(second) < count < len(first)
    if len(steps) == 2:
        row, step = steps
        (rows, columns), (others, others_columns) = first.shape, second.shape
        if step and row > step * (max(columns, others_columns) - 1):
            # Rows don't meet within one of the two: only those that begin next to each other may.
            for count in (distance // row, distance // row + 1):
                place, rest = divmod(distance - count * row, step)
                if not rest and -others < count < rows and -others_columns < place < columns:
                    return True
            return False
    axes = sorted(zip(steps, first.shape, second.shape, strict=True), reverse=True)
    # Element ``i`` of the first one is element ``j`` of the second one if the steps of all axes, taken ``i - j`` times
    # each, add up to the distance. The steps of the axes that are left reach from ``least`` to ``most``.
    least = sum([step * (1 - after) for step, _, after in axes])
    most = sum([step * (before - 1) for step, before, _ in axes])
    left = [distance]
    for step, before, after in axes:
        if not step:
            break
        least += step * (after - 1)
        most -= step * (before - 1)
        left = [
            each - count * step
            for each in left
            for count in range(max(1 - after, -((most - each) // step)), min(before - 1, (each - least) // step) + 1)
        ]
        if len(left) > _MOST_LEFT:
            return None
    return bool(left)


def is_same_window(first: Tensor, second: Tensor) -> bool:
    """Return whether two tensors of one dtype show the same elements of one array, in the same order."""
    return first.is_set_to(second) and first.is_conj() == second.is_conj() and first.is_neg() == second.is_neg()


def independent(value: Tensor, target: Tensor) -> Tensor:
    """Return ``value``, as a copy where writing to ``target`` may change it."""
    return value.clone() if may_share_memory(value, target) else value
