"""Fast paths of NumPy's indexing: what NumPy does as it is with keys and values that are alike here and there.

They decline by ``NotImplemented``, or ``False`` for a write: the general path takes the rest, and raises the errors.
"""

from __future__ import annotations

from typing import Any

from . import _direct as np
from ._bfloat16 import BFLOAT16

_ITEMS = frozenset({int, slice, type(None), type(Ellipsis)})
# Parts of a key that aren't integers.
_OTHERS = frozenset({slice, type(None), type(Ellipsis), np.ndarray, list})
_INT, _BOOL, _FLOAT = frozenset({int}), frozenset({bool}), frozenset({float})
_SCALARS = {char: np.dtype(char).type for char in "?bBhHiIlLqQefdFD"}
_INTEGERS = frozenset(kind for char, kind in _SCALARS.items() if char in "bBhHiIlLqQ")


class _Takes(dict[type, frozenset[type]]):
    """The types of numbers that go without a loss into arrays, by the type of their elements."""

    def __missing__(self, kind: type) -> frozenset[type]:
        return frozenset()


_TAKES = _Takes({BFLOAT16.type: frozenset({BFLOAT16.type})})
for _char, _kind in _SCALARS.items():
    _taken = {kind for kind in _SCALARS.values() if np.can_cast(kind, _char, "safe")}
    _weak = {"b": (bool,), "i": (bool, int), "u": (bool, int), "f": (bool, int, float)}
    _TAKES[_kind] = frozenset({*_taken, *_weak.get(np.dtype(_char).kind, (bool, int, float, complex))})
# The same by dtype.
TAKES = {np.dtype(kind): taken for kind, taken in _TAKES.items()}
# Dtypes of indices: signed integers and masks.
SELECTING = frozenset(map(np.dtype, ("?", "b", "h", "i", "l", "q")))


def get_item(x: np.ndarray, key: Any) -> Any:
    """Return the view of a basic index, or the scalar at integers for all axes."""
    kind = type(key)
    if kind is tuple:
        return x[key] if _ITEMS.issuperset(map(type, key)) else NotImplemented
    if kind in _ITEMS:
        return x[key]
    return x[int(key)] if kind in _INTEGERS else NotImplemented


def _selects(item: Any) -> bool:
    # An array of integers or bool, or a list of nothing else. A 0-d array of integers is an integer.
    kind = type(item)
    if kind is np.ndarray:
        return item.dtype.kind == "b" or (item.dtype.kind == "i" and item.ndim > 0)
    return kind is list and bool(item) and (_INT.issuperset(map(type, item)) or _BOOL.issuperset(map(type, item)))


def _is_selection(key: Any) -> bool:
    # Whether a key holds at least one array, and otherwise basic items.
    if type(key) is not tuple:
        return _selects(key)
    found = False
    for item in key:
        if type(item) not in _ITEMS:
            if not _selects(item):
                return False
            found = True
    return found


def get_copy(x: np.ndarray, key: Any) -> Any:
    """Return the selection by an index with arrays, which never shares memory with the array."""
    if type(key) is np.ndarray:
        # A 0-d array is left to the general path: of integers it's an integer.
        return x[key] if key.ndim and key.dtype.kind in "bi" else NotImplemented
    return x[key] if _is_selection(key) else NotImplemented


def _are_apart(one: Any, other: np.ndarray) -> bool:
    # Arrays that own their memory share none.
    if type(one) is not np.ndarray or (one.base is None and other.base is None and one is not other):
        return True
    return not np.may_share_memory(one, other)


def set_item(x: np.ndarray, key: Any, value: Any) -> bool:
    """Write a value that the array's dtype takes without a loss: NumPy checks all of an index before it writes."""
    kind = key.__class__
    is_number = type(value) is not np.ndarray and value.__class__ in _TAKES[x.dtype.type]
    if not is_number and not _goes_into(x, key, value):
        return False
    basic = _ITEMS.issuperset(map(type, key)) if kind is tuple else kind in _ITEMS
    if not basic and not _may_select(x, key, value):
        return False
    x[key] = value
    return True


def _goes_into(x: np.ndarray, key: Any, value: Any) -> bool:
    # Whether an array, or a list of floats, can be assigned to elements of the array's dtype; one element takes 0-d
    # arrays only.
    if type(value) is np.ndarray:
        fits = value.dtype is x.dtype or value.dtype.type in _TAKES[x.dtype.type]
        return fits and not (_is_element(x, key) and value.ndim)
    if type(value) is not list or not value or not _FLOAT.issuperset(map(type, value)):
        return False
    return float in _TAKES[x.dtype.type] and not _is_element(x, key)


def _is_element(x: np.ndarray, key: Any) -> bool:
    # Whether a key has an integer for each axis. Most keys have a slice, which keeps an axis.
    if type(key) is not tuple:
        return type(key) is not slice and type(key) not in _OTHERS and x.ndim == 1
    count = 0
    for item in key:
        if type(item) is slice:
            return False
        count += type(item) not in _OTHERS
    return count == x.ndim


def _may_select(x: np.ndarray, key: Any, value: Any) -> bool:
    # Whether an index with arrays can be written directly: the value doesn't overlap the array.
    if type(key) in _INTEGERS:
        return True
    if type(key) is np.ndarray:
        return key.dtype.kind in "bi" and key.ndim > 0 and _are_apart(key, x) and _are_apart(value, x)
    if not _is_selection(key) or not _are_apart(value, x):
        return False
    for item in key if type(key) is tuple else (key,):
        if type(item) is np.ndarray and not (item.ndim and _are_apart(item, x)):
            return False
    return True
