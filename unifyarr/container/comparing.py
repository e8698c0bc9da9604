"""Comparing containers: where their structures differ, and whether their arrays agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.ownership import read
from .._core.engines.tracing import current
from .tree import Tree

# Of these nothing is deeper.
_ARRAYS = frozenset({Array})


def _what(x: Any) -> str:
    if not isinstance(x, Tree):
        return "an array"
    return "a container of names" if x._container_type is dict else f"a {x._container_type.__name__} of length {len(x)}"


def _is_alike(first: Any, second: Any) -> bool:
    # Whether two of one type are surely alike: nodes of arrays alone are told quickly.
    if not isinstance(first, Tree):
        return True
    if first._container_type is not second._container_type:
        return False
    one, other = first._items, second._items
    if one.keys() != other.keys():
        return False
    return _ARRAYS.issuperset(map(type, one.values())) and _ARRAYS.issuperset(map(type, other.values()))


def difference(first: Any, second: Any, path: str) -> tuple[str, str, str] | None:
    """Return the first path at which two nests differ, and a description of the item of each there."""
    if type(first) is type(second) and _is_alike(first, second):
        return None
    inside = isinstance(first, Tree)
    if inside is not isinstance(second, Tree):
        return path, _what(first), _what(second)
    if not inside:
        return None
    if first._container_type is not second._container_type or (
        first._container_type is not dict and len(first) != len(second)
    ):
        return path, _what(first), _what(second)
    for name in sorted(first._items.keys() | second._items.keys()):
        deeper = f"{path}/{name}" if path else name
        if name not in second._items:
            return deeper, _what(first._items[name]), "nothing"
        if name not in first._items:
            return deeper, "nothing", _what(second._items[name])
        found = difference(first._items[name], second._items[name], deeper)
        if found is not None:
            return found
    return None


def agree(first: Array | None, second: Array | None, rtol: float, atol: float) -> bool:
    """Return whether two arrays have one shape, one dtype, and equal values within tolerances; NaN equals NaN."""
    if first is None or second is None or first.shape != second.shape or first.dtype != second.dtype:
        return False
    # A comparison reads values, which derivatives treat as constants.
    one, other = _values(current(first), current(second))
    if one.dtype.kind not in "fc":
        one, other = (x.astype(np.float64) if rtol or atol else x for x in (one, other))
    if not (rtol or atol):
        return bool(np.all((one == other) | ((one != one) & (other != other))))
    return bool(np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True))


def _values(first: Array, second: Array) -> tuple[np.ndarray, np.ndarray]:
    natives, backends = [read(first), read(second)], (first._backend, second._backend)
    if backends[0] is backends[1] and not backends[0].has_values:
        # What they have in common is computed once.
        natives = [*backends[0].compute(natives)]
    one, other = (backend.to_numpy(native) for backend, native in zip(backends, natives, strict=True))
    return one, other
