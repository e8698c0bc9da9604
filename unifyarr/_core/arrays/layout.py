"""What NumPy tells of an array's memory, and the methods by which the order of elements in it is chosen.

Strides and flags are facts on engines whose arrays may be written. Elsewhere they are those that NumPy's views of one
C-contiguous array would have: what decides there whether another shape is a view.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...errors import DtypeError
from ..engines import dtypes
from ..engines.tracing import capture, current
from ..values import above
from ..values.arguments import as_integers, shown
from ..values.called import boundary
from .protocols import Protocols
from .views import Bits, Window


class MemoryMethods(Protocols):
    """The memory of arrays, and methods with ``order``."""

    __slots__ = ()

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from an element to the next one, along each axis."""
        return above.recipes.geometry(current(self)).strides  # type: ignore[no-any-return]

    @property
    def flags(self) -> Flags:
        """How the memory lies, and whether it may be written: by name or by key, as NumPy's ``flags``."""
        return Flags(self)

    def reshape(self, *shape: object, order: str = "C", copy: bool | None = None) -> Self:
        """Return the array in another shape, given as one tuple or as several lengths; see ``reshape``.

        With ``order="F"`` the first index changes fastest, with ``"A"`` if it does so in memory.
        """
        lengths = shape[0] if len(shape) == 1 else shape
        if order != "C" and _is_fortran(self, _letter(order, "CFA")):
            reversed_lengths = as_integers(lengths, "a shape")[::-1]
            return above.functions.reshape(self.T, reversed_lengths, copy=copy).T  # type: ignore
        return above.functions.reshape(self, lengths, copy=copy)  # type: ignore[no-any-return]

    def flatten(self, order: str = "C") -> Self:
        """Return the elements as a new 1-d array."""
        return above.functions.reshape(_ordered(self, order), (-1,), copy=True)  # type: ignore[no-any-return]

    def ravel(self, order: str = "C") -> Self:
        """Return the elements as a contiguous 1-d array: a view of a C-contiguous array, a copy of any other.

        With ``order="F"`` the first index changes fastest, with ``"A"`` if it does so in memory, and ``"K"`` is the
        order in memory.
        """
        x = _ordered(self, order)
        whole = above.recipes.geometry(current(x)).flags.c_contiguous
        return above.functions.reshape(x, (-1,), copy=None if whole else True)  # type: ignore[no-any-return]

    def __sizeof__(self) -> int:
        # The memory is counted where it is owned, as NumPy does; a length and a stride have 8 bytes each.
        return object.__sizeof__(self) + 16 * self.ndim + (self.nbytes if current(self)._base is None else 0)

    def view(self, dtype: Any = None, type: Any = None) -> Self:
        """Return a view of the whole array, whose memory is read as another dtype if one is given.

        With numbers of another size the last axis gets longer or shorter; its elements have to lie side by side then.
        Where an engine's arrays can't be written, the bits are computed, and what is written to them is written back.
        As NumPy's plain bytes, ``"V8"``, the values are a read-only array of NumPy's.

        >>> import unifyarr as ua
        >>> x = ua.asarray([1.0, -1.0])
        >>> x.view("uint64")[1] &= 2**63 - 1
        >>> x
        array([1., 1.])
        """
        if _is_void(dtype):
            # Of plain bytes no engine has arrays. zarr compares them so, to tell the two zeros apart.
            values: Any = self.to_numpy().view(dtype)
            values.flags.writeable = False
            return values  # type: ignore[no-any-return]
        x = capture(self)
        is_class = isinstance(dtype, builtin_type) and issubclass(dtype, (np.ndarray, MemoryMethods))
        wanted = x.dtype if dtype is None or is_class else dtypes.as_dtype(dtype)
        if wanted is x.dtype:
            return above.recipes.make_view(x, Window.of_order(x.shape, range(x.ndim)))  # type: ignore[no-any-return]
        if not x._backend.supports_dtype(wanted.dtype, None):
            raise DtypeError(f"backend {x.backend!r} has no {wanted} here: view the memory as a smaller dtype")
        if narrow := [each for each in (x.dtype, wanted) if each.stores and each.kind != "f"]:
            raise DtypeError(f"elements of {narrow[0]} have less than a byte: cast them, x.astype({str(wanted)!r})")
        # NumPy's rule, and its errors.
        above.recipes.geometry(x).view(wanted.dtype)
        return above.recipes.make_view(x, Bits(x.dtype.dtype, wanted.dtype))  # type: ignore[no-any-return]

    def resize(self, *new_shape: object, refcheck: bool = True) -> None:
        """Give the array another shape and size in place: the elements in C order, then zeros.

        It gets memory of its own, so that it may be no view, and may have none. ``refcheck=True`` raises
        ``ValueError`` where anything else refers to the array; with ``False`` the views of an engine that writes in
        place keep the old memory, and those of any other engine are an error. From Python 3.14 on only a local variable
        is known to be the one reference: the check may also refuse an array that a global variable or a list holds, as
        NumPy's does there.

        >>> import unifyarr as ua
        >>> x = ua.asarray([1, 2, 3])
        >>> x.resize(2, 2, refcheck=False)
        >>> x
        array([[1, 2],
               [3, 0]])
        """
        # Here, where the references are those of the caller, of this function and of the call.
        shared = sys.getrefcount(self) > _ALONE or sys.getrefcount(self._native) > _ALONE_IN_SLOT
        if new_shape not in ((), (None,)):
            above.reshaping.resize(self, new_shape[0] if len(new_shape) == 1 else new_shape, refcheck and shared)

    def setflags(self, write: object = None, align: object = None, uic: object = None) -> None:
        """Protect the array from writes with ``write=False``; ``write=True`` allows them again.

        Views that exist keep their own flag, and views that are taken later inherit it. The native array, which may be
        the user's own, isn't changed. A view can be made writeable if its base is; ``broadcast_to`` and
        ``linalg.diagonal`` never can. ``align`` and ``uic`` are there for NumPy's programs: arrays are always aligned,
        and never written back to another one.

        >>> import unifyarr as ua
        >>> x = ua.zeros(2)
        >>> x.setflags(write=False)
        >>> x += 1
        Traceback (most recent call last):
        ...
        unifyarr.errors.ReadOnlyError: the target of the write is read-only: write to a copy of it, x.copy()
        """
        if align is not None and not align:
            raise ValueError("arrays are always aligned: leave out align=, or pass True")
        if uic:
            raise ValueError("no array is written back to another one: leave out uic=, or pass False")
        if write is not None:
            above.protection.set_writeable(self, bool(write))


builtin_type = type


class _Counted:
    """Counts of references to an object and to what it holds, taken as ``MemoryMethods.resize`` takes them."""

    __slots__ = ("_native",)

    def __init__(self) -> None:
        self._native = object()

    @boundary
    def count(self, *shape: object, refcheck: bool = True) -> tuple[int, int]:
        return sys.getrefcount(self), sys.getrefcount(self._native)


def _counts() -> tuple[int, int]:
    x = _Counted()
    return x.count(2, 2)


# What is counted where nothing but a local variable of the caller refers to an array: from Python 3.14 on less, since a
# local variable may be read without counting it.
_ALONE, _ALONE_IN_SLOT = _counts()


def _letter(order: object, allowed: str) -> str:
    letter = "C" if order is None else order.upper() if isinstance(order, str) else ""
    if not letter or letter not in allowed:
        raise ValueError(f"order is one of {', '.join(allowed)}, not {shown(order)}")
    return letter


def _is_fortran(x: Any, letter: str) -> bool:
    return letter == "F" or (letter == "A" and above.recipes.geometry(current(x)).flags.fnc)


def _ordered(x: Any, order: object) -> Any:
    # The array whose elements in C order are those of ``x`` in this one.
    letter = _letter(order, "CFAK")
    if letter != "K":
        return x.T if _is_fortran(x, letter) and x.ndim > 1 else x
    strides = above.recipes.geometry(current(x)).strides
    places = sorted(range(x.ndim), key=lambda axis: -abs(strides[axis]))
    return x if places == sorted(places) else above.functions.permute_dims(x, places)


def _of_memory(name: str) -> Callable[[Any], bool]:
    return lambda flags: bool(getattr(above.recipes.geometry(current(flags._array)).flags, name))


def _is_void(dtype: np.dtype[np.generic]) -> bool:
    if isinstance(dtype, str):
        return dtype.lstrip("|")[:1] == "V" and dtype.lstrip("|V").isdigit()
    return isinstance(dtype, np.dtypes.VoidDType) and dtype.names is None


def _flag(key: object) -> str:
    name = key if isinstance(key, str) else ""
    name = _LETTERS.get(name, name.lower())
    if name not in _NAMES:
        raise KeyError(f"a flag is one of {', '.join(map(str.upper, _NAMES))}, not {key!r}")
    return name


class Flags:
    """NumPy's ``flags`` of an array: facts of its memory, and ``writeable``, which can be set."""

    __slots__ = ("_array",)

    _array: Any

    def __init__(self, array: object) -> None:
        object.__setattr__(self, "_array", array)

    c_contiguous = property(_of_memory("c_contiguous"), doc="Whether the last index changes fastest, without gaps.")
    f_contiguous = property(_of_memory("f_contiguous"), doc="Whether the first index changes fastest, without gaps.")
    fnc = property(_of_memory("fnc"), doc="Whether it's f_contiguous and not c_contiguous.")
    forc = property(_of_memory("forc"), doc="Whether it's f_contiguous or c_contiguous.")
    contiguous = c_contiguous
    fortran = f_contiguous
    aligned = property(lambda self: True, doc="Always true.")
    writebackifcopy = property(lambda self: False, doc="Always false.")

    @property
    def owndata(self) -> bool:
        """Whether the array is no view."""
        return self._array.base is None

    @property
    def writeable(self) -> bool:
        """Whether the array may be written."""
        return not above.recipes.is_read_only(current(self._array))

    @property
    def behaved(self) -> bool:
        """Whether the array may be written, since it's always aligned."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Whether it's writeable and c_contiguous."""
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        """Whether it's writeable and fnc."""
        return self.writeable and self.fnc

    def __getitem__(self, key: str) -> bool:
        return getattr(self, _flag(key))  # type: ignore[no-any-return]

    def __setattr__(self, name: str, value: object) -> None:
        if name != "writeable":
            raise ValueError(f"the flag {name!r} is a fact of the memory and can't be set: only 'writeable' can")
        above.protection.set_writeable(self._array, bool(value))

    def __setitem__(self, key: str, value: object) -> None:
        setattr(self, _flag(key), value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flags) and all(self[name] == other[name] for name in _NAMES)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "\n".join(f"  {name.upper()} : {self[name]}" for name in _SHOWN)


_SHOWN = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_NAMES = (*_SHOWN, "contiguous", "fortran", "fnc", "forc", "behaved", "carray", "farray")
# NumPy's short keys.
_LETTERS = {
    "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned",
    "X": "writebackifcopy", "B": "behaved", "CA": "carray", "FA": "farray",
}  # fmt: skip
