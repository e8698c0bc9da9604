"""Items of arrays: ``x[key]`` and ``x[key] = value``, as engines do them at once, and the transpose ``x.T``.

The compiled core serves the keys that an engine takes as NumPy does, and asks ``get_otherwise`` and ``set_otherwise``
for all others.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

from ..._native import core
from ..engines import dtypes
from ..engines.handle import Handle, declines
from ..engines.refusals import is_refusal
from ..engines.tracing import mode
from ..values import above
from .array import Array, marked
from .elements import NUMBERS, WHOLE, Element, element
from .leaving import known_position
from .ownership import LOCK, MANY, rebind
from .recipes import View
from .slots import NO_KEY

running_mode = mode.get
_PLAIN = frozenset({Array, Element})


def _lowered(key: object, backend: Handle) -> object:
    """Return a key with natives in place of arrays of a backend; the key itself if it holds none.

    An element that holds an integer is that.
    """
    if key.__class__ is Array:
        return key._native if key._backend is backend else key
    if key.__class__ is Element:
        return _lowered_item(key, backend)
    if key.__class__ is tuple:
        for item in key:
            if item.__class__ in _PLAIN:
                return tuple([_lowered_item(x, backend) if x.__class__ in _PLAIN else x for x in key])
    return key


def _lowered_item(x: Any, backend: Handle) -> object:
    if x._backend is not backend:
        return x
    if x.__class__ is Element and type(number := x._element) in WHOLE:
        return int(number)
    return x._native


def _with_integers(key: object, backend: Handle) -> Any:
    """Return a key with integers in place of 0-d arrays of such; the key itself if it holds none that are known."""
    if key.__class__ is tuple:
        for item in key:
            if item.__class__ in _PLAIN:
                items = [_as_integer(each, backend) for each in key]
                return key if all(map(operator.is_, items, key)) else tuple(items)
        return key
    return _as_integer(key, backend)


def _as_integer(item: object, backend: Handle) -> object:
    if item.__class__ is Array and item._backend is backend and backend.mutable:
        # Most are plain, and give their number at once.
        number = backend.items["get_item"](item._native, ())
        if type(number) in WHOLE:
            return int(number)
    if item.__class__ not in _PLAIN or item._backend is not backend or item.shape or dtypes.rank(item.dtype) != 1:
        return item
    position = known_position(item)
    return item if position is None else position


_FIXED = frozenset({int, type(None), type(Ellipsis)})


def _is_fixed(key: object) -> bool:
    """Return whether a key of basic indexing means now what it meant before."""
    if key.__class__ is slice:
        start, stop, step = key.start, key.stop, key.step
        return start.__class__ in _FIXED and stop.__class__ in _FIXED and step.__class__ in _FIXED
    return key.__class__ in _FIXED or (key.__class__ is tuple and all(map(_is_fixed, key)))


def _is_stored(x: Array, key: object, view: Array) -> bool:
    """Return whether a view is ``x[key]``: ``x[key] += v`` ends with storing the view that was updated."""
    taken = getattr(view, "_key", NO_KEY)
    # From Python 3.12 on the slice of the read isn't the one of the write. Bounds that are arrays may equal it by now.
    if taken is not key and not (taken.__class__ is slice is key.__class__ and taken == key and _is_fixed(taken)):
        return False
    if view.__class__ is View:
        return view._root is x and _is_fixed(key)
    return view._from is x._native and _is_fixed(key) and not x._backend.is_read_only(x._native)


def _put(x: Array, key: object, value: object) -> bool:
    """Give an array of an engine that can't write its own the native with a value at a key, if the engine makes it."""
    backend, native = x._backend, x._native
    if backend.items["put_copy"] is declines or type(native) is not backend.native_type:
        return False
    if prod(backend.shape(native)) >= MANY:
        return False
    new = _taken("put_copy", backend, native, key, value)
    if type(new) is not backend.native_type:
        return False
    with LOCK:
        return rebind(x, new, instead_of=native)


def _taken(name: str, backend: Handle, *operands: Any) -> Any:
    """Return the result of an engine's way for items, ``NotImplemented`` if it declines or raises its own error."""
    try:
        return backend.items[name](*operands)
    except Exception as error:
        if not is_refusal(error, backend):
            raise
        return NotImplemented


def get_item(self: Array, key: object) -> Array:
    """Return ``x[key]``: at once where the engine takes the key."""
    if running_mode() is None and type(key) is not Array:
        backend, native = self._backend, self._native
        found = _taken("get_item", backend, native, key)
        if type(found) is not backend.native_type and type(found) in NUMBERS:
            return element(found, backend)
        if found is not NotImplemented:
            array = marked(found, backend, None)
            array._base = self if self._base is None else self._base
            array._from, array._key = native, key
            return array
    return get_otherwise(self, key)


def get_otherwise(self: Array, key: Any) -> Array:
    """Return ``x[key]`` for a key that leaves no view, as the engine or the general path does it."""
    if running_mode() is None:
        backend = self._backend
        native = _taken("get_copy", backend, self._native, _lowered(key, backend))
        if type(native) in NUMBERS:
            return element(native, backend)
        if native is not NotImplemented:
            return marked(native, backend, None)
        known = _with_integers(key, backend)
        if known is not key:
            return self[known]
    return above.indexing.get_item(self, key)


def set_item(self: Array, key: object, value: object) -> None:
    """Write ``x[key] = value``: at once where the engine takes both."""
    if running_mode() is None and isinstance(value, Array) and value._base is not None and _is_stored(self, key, value):
        return
    set_otherwise(self, key, value)


def set_otherwise(self: Array, key: Any, value: Any) -> None:
    """Write a value that isn't the view at a key, as the engine or the general path does it."""
    if running_mode() is None and type(self) is Array:
        backend = self._backend
        if type(value) is View and _is_stored(self, key, value):
            return
        native, lowered = _lowered_value(value, backend), _lowered(key, backend)
        if native is not None:
            if _taken("set_item", backend, self._native, lowered, native) is True:
                return
            if not backend.mutable and _put(self, lowered, native):
                return
        known = _with_integers(key, backend)
        if known is not key:
            self[known] = value
            return
    above.indexing.set_item(self, key, value)


def _lowered_value(value: object, backend: Handle) -> object:
    """Return the native, number or data of a value; ``None`` for an array of another kind or backend."""
    if type(value) is Element and value._backend is backend:
        return value._element
    if type(value) is Array and value._backend is backend:
        return value._native
    return None if isinstance(value, Array) else value


def delete_item(self: Array, key: object) -> None:
    """Raise: no elements can be deleted."""
    raise ValueError("elements of an array can't be deleted: take the others, with np.delete(x, key)")


if core is not None:
    _transpose: property = vars(Array)["T"]
    core.set_up_items(get_otherwise, set_otherwise, delete_item, _is_stored, is_refusal, _transpose.fget)
    Array.T = property(core.transpose, doc=_transpose.__doc__)  # type: ignore[assignment,method-assign]
    # Python gives a class the slots of sequences, which pandas and torch ask for, once such a method is a function.
    # They stay when that of the core, which is faster, takes its place.
    for _name, _function in (("getitem", get_item), ("setitem", set_item), ("delitem", delete_item)):
        setattr(Array, f"__{_name}__", _function)
        setattr(Array, f"__{_name}__", vars(core.Slots)[f"__{_name}__"])
