"""Elements of arrays: 0-d arrays that hold a number until somebody asks for their memory.

A loop over elements makes 0-d arrays that live for one operation. An engine's array costs more than all the rest then,
so that the number itself stands for it, which Python computes with at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native import core
from ..engines import dtypes
from ..engines.dtypes import DType
from ..engines.handle import Handle
from ..engines.registry import when_loaded
from ..values import above
from .array import Array, blank, register
from .ownership import LOCK
from .slots import Slots

# Under the property of the same name.
_slot_of_native: Any = Slots._native
# With these the arithmetic of numbers is that of arrays, bit for bit; integers overflow with a warning.
FLOATS = frozenset({float, np.float64, np.float32})
# NumPy's compare with a number of Python as arrays do; Python's own would compare exactly with a float.
_INTEGERS = frozenset({np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
REALS = FLOATS | _INTEGERS
WHOLE = _INTEGERS | {int}
_TRUTHS = frozenset({bool, np.bool_})
# What stands for an array; all else that an engine gives is an array.
NUMBERS: set[type] = {bool, int, float, np.longlong, np.ulonglong}


@dtypes.when_used
def _know_stored() -> None:
    NUMBERS.update(each.type for each in dtypes.USED)


@when_loaded
def _know_numbers(backend: Handle) -> None:
    # Not above: importing the package shall not import bfloat16.
    NUMBERS.update(each.dtype.type for each in dtypes.ALL)


def element(number: object, backend: Handle) -> Element:
    """Return the 0-d array of a number, of a type that stands for the engine's array."""
    array = blank_element()
    array._element = number
    array._backend = backend
    array._base = None
    return array


def number_of(other: Any, like: Element) -> object:
    """Return the number that an operand beside an element stands for, ``None`` if it's none of the same kind."""
    kind = type(other)
    if kind is int or kind is float:
        return other
    if kind is Array and other._backend is like._backend and not other.shape:
        number = like._backend.items["get_item"](other._native, ())
        return number if type(number) is type(like._element) else None
    return other if kind is type(like._element) and kind in REALS else None


def become_array(x: Any) -> object:
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


class Element(Array):
    """A 0-d array that holds its number until its native is read: it's an ``Array`` from then on."""

    __slots__ = ()

    def __getitem__(self, key: object) -> Array:
        return above.indexing.get_item(self, key)

    def __setitem__(self, key: object, value: object) -> None:
        above.indexing.set_item(self, key, value)

    @property
    def _native(self) -> object:
        return become_array(self)

    _become_array = become_array

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return ()

    @shape.setter
    def shape(self, shape: object) -> None:
        above.reshaping.set_shape(self, shape)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        number = self._element
        if number is not None:
            return dtypes.BY_NUMPY[np.dtype(type(number))]
        become_array(self)
        return self.dtype

    # As of every array: with ``__eq__`` Python asks again.
    __hash__ = None


blank_element = blank(Element)


def _put_in() -> None:
    """Have the core compute with the numbers of elements."""
    core.set_up_elements(Element, become_array, number_of, NUMBERS, FLOATS, REALS, WHOLE, _TRUTHS)
    for name in ("__bool__", "__float__", "__int__", "__index__"):
        setattr(Element, name, vars(core.Slots)[name])


if core is not None:
    _put_in()
register(Element)


def settle(*operands: object) -> None:
    """Make arrays of those among the operands that are elements."""
    for x in operands:
        if type(x) is Element:
            become_array(x)
