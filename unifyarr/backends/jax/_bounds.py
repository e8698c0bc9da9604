"""Indices out of bounds on JAX, which clamps reads and drops writes there."""

from __future__ import annotations

import weakref
from typing import Any

import jax
import numpy as np

from ._compiled import INDEX, is_concrete
from ._memory import fetched
from ._private import ARRAYS

_UNSIGNED = np.dtype(f"u{INDEX.name}")
# The least and the greatest index of arrays that were looked at, by the identity of the array: it never changes.
_known: dict[int, tuple[weakref.ref[Any], int, int]] = {}
_MOST = 1024


def _extent(indices: Any) -> tuple[int, int]:
    found = _known.get(id(indices))
    if found is not None and found[0]() is indices:
        return found[1:]
    values = fetched(indices)
    # Seen as unsigned, a negative index is greater than all others: mostly one look is enough.
    low, high = 0, int(np.maximum.reduce(values.view(_UNSIGNED), None, initial=0))
    if high > np.iinfo(INDEX).max:
        low, high = int(values.min()), int(values.max())
    if len(_known) >= _MOST:
        _known.clear()
    _known[id(indices)] = weakref.ref(indices), low, high
    return low, high


def check_bounds(indices: Any, size: int, axis: int) -> None:
    """Raise what NumPy raises; JAX clamps reads and drops writes that are out of bounds."""
    if type(indices) not in ARRAYS and not is_concrete(indices):
        return
    low, high = _extent(indices)
    if (low < -size or high >= size) and indices.size:
        wrong = low if low < -size else high
        raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {size}")


def check_all_bounds(x: jax.Array, indices: tuple[Any, ...]) -> None:
    for axis, index in enumerate(indices):
        check_bounds(index, x.shape[axis], axis)
