"""Elements of arrays: 0-d arrays that hold a number until somebody asks for their memory.

A loop over elements makes 0-d arrays that live for one operation. An engine's array costs more than all the rest then,
so that the number itself stands for it, which Python computes with at once.
"""

from __future__ import annotations

import linecache
import operator
from textwrap import indent
from typing import Any

import numpy as np

from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import Handle, declines_write
from ..engines.registry import when_loaded
from ..engines.tracing import mode
from ..values.supplying import supply
from .array import Array, blank, blank_array, register
from .leaving import known_position
from .operators import Operators
from .ownership import LOCK
from .recipes import View
from .slots import NO_KEY, Slots

running_mode = mode.get
_FLOAT64 = np.float64
# Under the property of the same name.
_slot_of_native: Any = Slots._native
# With these the arithmetic of numbers is that of arrays, bit for bit; integers overflow with a warning.
FLOATS = frozenset({float, np.float64, np.float32})
# NumPy's compare with a number of Python as arrays do; Python's own would compare exactly with a float.
_INTEGERS = frozenset({np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
REALS = FLOATS | _INTEGERS
_WHOLE = _INTEGERS | {int}
_TRUTHS = frozenset({bool, np.bool_})
# What stands for an array; all else that an engine gives is an array.
_NUMBERS = {bool, int, float, np.longlong, np.ulonglong}


@dtypes.when_used
def _know_stored() -> None:
    _NUMBERS.update(each.type for each in dtypes.USED)


@when_loaded
def _know_numbers(backend: Handle) -> None:
    # Not above: importing the package shall not import bfloat16.
    _NUMBERS.update(each.dtype.type for each in dtypes.ALL)


def element(number: Any, backend: Handle) -> Element:
    """Return the 0-d array of a number, of a type that stands for the engine's array."""
    array = blank_element()
    array._element = number
    array._backend = backend
    array._base = None
    return array


def number_of(other: Any, like: Element) -> Any:
    """Return the number that an operand beside an element stands for, ``None`` if it's none of the same kind."""
    kind = type(other)
    if kind is int or kind is float:
        return other
    if kind is Array and other._backend is like._backend and not other.shape:
        number = like._backend.fast_get_item(other._native, ())
        return number if type(number) is type(like._element) else None
    return other if kind is type(like._element) and kind in REALS else None


# The source of an operator, so that Python computes at once with the numbers.
_BINARY = """
def {name}(self, other, /):
    number = self._element
    if (number.__class__ is _FLOAT64 or number.__class__ in {kinds}) and running_mode() is None:
        backend = self._backend
        if other.__class__ is Element and other._element.__class__ is number.__class__ and other._backend is backend:
            second = other._element
        elif other.__class__ is float:
            second = other
        else:
            second = number_of(other, self)
        try:
            if second is not None:
                result = {expression}
                {result}
        except Exception:
            # 1 / 0, an integer beyond all floats, NumPy's traps: arrays have their own ways there.
            pass
    become_array(self)
    {otherwise}
"""
_NEW = """
array = blank_element()
array._element = result
array._backend = backend
array._base = None
return array
"""
# No call stands between these lines: another thread may have asked for the memory, or written.
_IN_PLACE = """
if self._element is number:
    self._element = result
    return self
"""


def _operator(name: str, symbol: str, kinds: str = "FLOATS") -> Any:
    """Return an operator that is compiled when it's first called."""

    def first(self: Element, other: Any, /) -> Any:
        method = _compiled(name, symbol, kinds)
        setattr(Element, name, method)
        return method(self, other)

    first.__name__ = name
    return first


def _compiled(name: str, symbol: str, kinds: str) -> Any:
    word = name.strip("_")
    reflected, in_place = word[0] == "r", word[0] == "i"
    source = _BINARY.format(
        name=name,
        kinds=kinds,
        expression=f"second {symbol} number" if reflected else f"number {symbol} second",
        result=indent((_IN_PLACE if in_place else _NEW).strip(), " " * 16).lstrip(),
        otherwise=f"self {symbol}= other\n    return self"
        if in_place
        else f"return other {symbol} self"
        if reflected
        else f"return self {symbol} other",
    )
    filename = f"<unifyarr operator {name} of elements>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    defined: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), globals(), defined)
    return defined[name]


def become_array(x: Any) -> Any:
    """Make an element an array of the usual type, and return its native.

    Another thread may do so at any time, also while a method of ``Element`` runs.
    """
    with LOCK:
        _exchange(x)
    return x._native


def _exchange(x: Any) -> None:
    while type(x) is Element:
        number = x._element
        if number is not None:
            _slot_of_native.__set__(x, x._backend.as_native(number))
        # No call stands between these lines: another thread may have written a number.
        if x._element is number:
            x._element = None
            x.__class__ = Array  # type: ignore[assignment]


def _settled(x: Any) -> Any:
    become_array(x)
    return x


def _as_array(name: str) -> Any:
    def method(self: Element, /, *others: Any) -> Any:
        become_array(self)
        return getattr(self, name)(*others)

    method.__name__ = name
    return method


class Element(Array):
    """A 0-d array that holds its number until its native is read: it's an ``Array`` from then on."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Array:
        return self._get_item(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._set_item(key, value)

    @property
    def _native(self) -> Any:
        return become_array(self)

    _become_array = become_array

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return ()

    @shape.setter
    def shape(self, shape: Any) -> None:
        self._set_shape(shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        number = self._element
        return dtypes.BY_NUMPY[np.dtype(type(number))] if number is not None else _settled(self).dtype

    def __float__(self) -> float:
        number = self._element
        return float(number if type(number) in REALS and running_mode() is None else _settled(self))

    def __int__(self) -> int:
        number = self._element
        return int(number if type(number) in _WHOLE and running_mode() is None else _settled(self))

    def __index__(self) -> int:
        number = self._element
        return operator.index(number if type(number) in _WHOLE and running_mode() is None else _settled(self))

    def __bool__(self) -> bool:
        number = self._element
        return bool(number if type(number) in _TRUTHS and running_mode() is None else _settled(self))

    __add__ = _operator("__add__", "+")
    __sub__ = _operator("__sub__", "-")
    __mul__ = _operator("__mul__", "*")
    __truediv__ = _operator("__truediv__", "/")
    __radd__ = _operator("__radd__", "+")
    __rsub__ = _operator("__rsub__", "-")
    __rmul__ = _operator("__rmul__", "*")
    __rtruediv__ = _operator("__rtruediv__", "/")
    __iadd__ = _operator("__iadd__", "+")
    __isub__ = _operator("__isub__", "-")
    __imul__ = _operator("__imul__", "*")
    __itruediv__ = _operator("__itruediv__", "/")
    __lt__ = _operator("__lt__", "<", "REALS")
    __le__ = _operator("__le__", "<=", "REALS")
    __gt__ = _operator("__gt__", ">", "REALS")
    __ge__ = _operator("__ge__", ">=", "REALS")
    __eq__ = _operator("__eq__", "==", "REALS")
    __ne__ = _operator("__ne__", "!=", "REALS")
    # As of every array: with ``__eq__`` Python asks again.
    __hash__ = None


blank_element = blank(Element)

# All other operators are those of arrays.
for _name, _value in vars(Operators).items():
    if callable(_value) and _name not in vars(Element):
        setattr(Element, _name, _as_array(_name))

register(Element)

_PLAIN = frozenset({Array, Element})


def settle(*operands: Any) -> None:
    """Make arrays of those among the operands that are elements."""
    for x in operands:
        if type(x) is Element:
            become_array(x)


def _lowered(key: Any, backend: Handle) -> Any:
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


def _lowered_item(x: Any, backend: Handle) -> Any:
    if x._backend is not backend:
        return x
    if x.__class__ is Element and type(number := x._element) in _WHOLE:
        return int(number)
    return x._native


def _with_integers(key: Any, backend: Handle) -> Any:
    """Return a key with integers in place of 0-d arrays of such; the key itself if it holds none that are known."""
    if key.__class__ is tuple:
        for item in key:
            if item.__class__ in _PLAIN:
                items = [_as_integer(each, backend) for each in key]
                return key if all(map(operator.is_, items, key)) else tuple(items)
        return key
    return _as_integer(key, backend)


def _as_integer(item: Any, backend: Handle) -> Any:
    if item.__class__ is Array and item._backend is backend and backend.mutable:
        # Most are plain, and give their number at once.
        number = backend.fast_get_item(item._native, ())
        if type(number) in _WHOLE:
            return int(number)
    if item.__class__ not in _PLAIN or item._backend is not backend or item.shape or dtypes.rank(item.dtype) != 1:
        return item
    position = known_position(item)
    return item if position is None else position


_FIXED = frozenset({int, type(None), type(Ellipsis)})


def _is_fixed(key: Any) -> bool:
    """Return whether a key of basic indexing means now what it meant before."""
    if key.__class__ is slice:
        start, stop, step = key.start, key.stop, key.step
        return start.__class__ in _FIXED and stop.__class__ in _FIXED and step.__class__ in _FIXED
    return key.__class__ in _FIXED or (key.__class__ is tuple and all(map(_is_fixed, key)))


def _is_stored(x: Array, key: Any, view: Array) -> bool:
    """Return whether a view is ``x[key]``: ``x[key] += v`` ends with storing the view that was updated."""
    taken = getattr(view, "_key", NO_KEY)
    # From Python 3.12 on the slice of the read isn't the one of the write. Bounds that are arrays may equal it by now.
    if taken is not key and not (taken.__class__ is slice is key.__class__ and taken == key and _is_fixed(taken)):
        return False
    if view.__class__ is View:
        return view._root is x and _is_fixed(key)
    return view._from is x._native and _is_fixed(key) and not x._backend.is_read_only(x._native)


def get_item(self: Array, key: Any) -> Array:
    """Return ``x[key]``: at once where the engine takes the key.

    A fast path is read into a local name before it's called, which Python does faster than calling a method.
    """
    if running_mode() is None:
        backend = self._backend
        if type(key) is tuple and len(key) == 2 and type(key[0]) is int is type(key[1]):
            # Of a matrix this is most of what loops do: without a call of another Python function.
            fast = backend.fast_get_pair
            try:
                native = fast(self._native, key)
            except Exception:
                native = NotImplemented
        elif type(key) is Array:
            # No fast path knows it.
            native = NotImplemented
        else:
            fast = backend.fast_get_item
            native = fast(self._native, key)
        if type(native) is _FLOAT64 or (type(native) is not backend.native_type and type(native) in _NUMBERS):
            # As ``element`` does, without the call.
            made = blank_element()
            made._element = native
            made._backend = backend
            made._base = None
            return made
        if native is not NotImplemented:
            array = blank_array()
            array._native = native
            array._backend = backend
            base = self._base
            array._base = self if base is None else base
            array._from = self._native
            array._key = key
            return array
        fast = backend.fast_get_copy
        native = fast(self._native, _lowered(key, backend))
        if native.__class__ in _NUMBERS:
            return element(native, backend)
        if native is not NotImplemented:
            array = blank_array()
            array._native = native
            array._backend = backend
            array._base = None
            return array
        known = _with_integers(key, backend)
        if known is not key:
            return get_item(self, known)
    return self._get_item(key)


def set_item(self: Array, key: Any, value: Any) -> None:
    """Write ``x[key] = value``: at once where the engine takes both."""
    if running_mode() is None:
        backend = self._backend
        if value.__class__ is Element and value._backend is backend:
            native = value._element
        elif value.__class__ is Array and value._backend is backend:
            native = value._native
            if value._base is not None and _is_stored(self, key, value):
                return
        elif value.__class__ is View and _is_stored(self, key, value):
            return
        else:
            native = value
        lowered = key._native if key.__class__ is Array and key._backend is backend else key
        fast = backend.fast_set_item
        if fast(self._native, lowered, native):
            return
        if lowered is key:
            lowered = _lowered(key, backend)
            if lowered is not key and fast(self._native, lowered, native):
                return
        put = backend.fast_set_copy
        if put is not declines_write and self.__class__ is Array and put(self, lowered, native):
            return
        known = _with_integers(key, backend)
        if known is not key:
            set_item(self, known, value)
            return
    self._set_item(key, value)


supply(Array.__getitem__, get_item)
supply(Array.__setitem__, set_item)
