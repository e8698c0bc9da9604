"""Comparing containers: where their structures differ, and whether their arrays agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.ownership import read
from .._core.engines.tracing import current
from .tree import Tree, order_of

# Leaves, which nothing is nested in.
_ARRAYS = frozenset({Array})


def _what(x: Any, types: bool) -> str:
    if not isinstance(x, Tree):
        return f"{x.dtype} {x.shape}" if types else "an array"
    return "a container of names" if x._container_type is dict else f"a {x._container_type.__name__} of length {len(x)}"


def _is_alike(first: Any, second: Any) -> bool:
    # A quick check whether two objects of one type are surely alike, for nodes that hold arrays only.
    if not isinstance(first, Tree):
        return True
    if first._container_type is not second._container_type:
        return False
    one, other = first._items, second._items
    if one.keys() != other.keys():
        return False
    return _ARRAYS.issuperset(map(type, one.values())) and _ARRAYS.issuperset(map(type, other.values()))


def differences(first: Any, second: Any, path: str = "", *, types: bool = False) -> Iterator[tuple[str, str, str]]:
    """Yield the paths at which two nests differ, and a description of the item of each there.

    With ``types``, arrays of different shapes or dtypes differ too, and missing parts are reported leaf by leaf.
    """
    if not types and type(first) is type(second) and _is_alike(first, second):
        return
    if not (isinstance(first, Tree) and isinstance(second, Tree) and _is_one_node(first, second, types)):
        one, other = _what(first, types), _what(second, types)
        if one != other:
            yield path, one, other
        return
    for name in sorted(first._items.keys() | second._items.keys()):
        deeper = f"{path}/{name}" if path else name
        if name not in second._items:
            yield from ((place, what, "nothing") for place, what in _told(first._items[name], deeper, types))
        elif name not in first._items:
            yield from ((place, "nothing", what) for place, what in _told(second._items[name], deeper, types))
        else:
            yield from differences(first._items[name], second._items[name], deeper, types=types)


def difference(first: Any, second: Any, path: str) -> tuple[str, str, str] | None:
    """Return the first path at which two nests differ, and a description of the item of each there."""
    return next(differences(first, second, path), None)


def _is_one_node(first: Tree, second: Tree, types: bool) -> bool:
    # Whether two nodes are compared item by item.
    if first._container_type is not second._container_type:
        return False
    return types or first._container_type is dict or len(first) == len(second)


def _told(x: Any, path: str, types: bool) -> Iterator[tuple[str, str]]:
    # The value at a path, or at each leaf below it.
    if not types or not isinstance(x, Tree) or not x._items:
        yield path, _what(x, types)
        return
    for name in order_of(x):
        yield from _told(x._items[name], f"{path}/{name}", types)


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
        # Common parts of lazy arrays are computed once.
        natives = [*backends[0].compute(natives)]
    one, other = (backend.to_numpy(native) for backend, native in zip(backends, natives, strict=True))
    return one, other
