"""The dtypes: singletons that no engine owns and every engine can be translated to.

Each stands on a ``numpy.dtype`` (``bfloat16`` and those that only store on one of ``ml_dtypes``), which NumPy finds in
its attribute ``dtype``: so NumPy's functions take them, and they compare and hash equal to it.
"""

from __future__ import annotations

import builtins
import contextlib
import warnings
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.base.abilities import STORED as NAMES
from ...errors import CastingError, DtypeError
from ..values.arguments import shown
from .handle import Handle, loaded_backends
from .registry import when_loaded

# What a dtype has as NumPy's own.
_OF_NUMPY = frozenset(
    ("alignment", "base", "byteorder", "char", "descr", "fields", "flags", "hasobject", "isalignedstruct", "isbuiltin",
     "isnative", "metadata", "names", "ndim", "newbyteorder", "num", "shape", "str", "subdtype", "type")
)  # fmt: skip
# By NumPy's letter.
_RANKS = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


class DType:
    """A dtype: one object for each, the same for all engines.

    Attributes
    ----------
    name : str
        The standard's name.
    dtype : numpy.dtype
        NumPy's own.
    kind : str
        NumPy's letter: ``b``, ``i``, ``u``, ``f`` (of ``bfloat16`` too) or ``c``.
    itemsize : int
        The bytes of an element.
    stores : bool
        Whether arrays of it only store numbers: they are converted, indexed, written and moved, and computed in another
        dtype.

    Others that NumPy's dtypes have are NumPy's: ``type``, ``char``, ``num``, ``str``, ``byteorder``, ``isnative``,
    ``alignment``, ``newbyteorder()`` and so on. ``isinstance(dtype, numpy.dtype)`` is true, as libraries ask.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.asarray([1.0], dtype="float32").dtype is ua.float32
    True
    """

    __slots__ = ("dtype", "itemsize", "kind", "name", "rank", "stores")

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self.name = dtype.name
        self.kind = dtype.kind
        self.itemsize = dtype.itemsize
        # As ``rank`` says it.
        self.rank = _RANKS[self.kind]
        self.stores = False

    if not TYPE_CHECKING:

        @property
        def __class__(self):
            # For ``isinstance(x.dtype, numpy.dtype)``: xarray asks so wherever it needs a missing value, and
            # ``numpy.isdtype`` is silently false without it. The type itself stays ours.
            return np.dtype

        def __getattr__(self, name):
            # Of a dtype of ``ml_dtypes``, whose ``dtype`` is asked for the first time.
            if name == "dtype":
                return _load(self)
            if name in _OF_NUMPY:
                return getattr(self.dtype, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        if isinstance(other, np.dtype):
            return builtins.bool(self.dtype == other)
        try:
            return as_dtype(other) is self
        except DtypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> builtins.str:
        return f"unifyarr.{self.name}"

    def __str__(self) -> builtins.str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return as_dtype, (self.name,)

    if TYPE_CHECKING:
        # Last, since two of them have the names of builtins.
        @property
        def alignment(self) -> int: ...
        @property
        def byteorder(self) -> builtins.str: ...
        @property
        def char(self) -> builtins.str: ...
        @property
        def isnative(self) -> builtins.bool: ...
        @property
        def num(self) -> int: ...
        def newbyteorder(self, new_order: object = "S", /) -> np.dtype[Any]: ...
        @property
        def str(self) -> builtins.str: ...
        @property
        def type(self) -> builtins.type[np.generic]: ...


def _of_ml_dtypes(name: str, itemsize: int, *, stores: builtins.bool = False) -> DType:
    # Importing that package takes a tenth of what ``import unifyarr`` would, and it's needed where there are arrays.
    made = DType.__new__(DType)
    made.name, made.itemsize, made.stores = name, itemsize, stores
    made.kind = "f" if "float" in name else "u" if name.startswith("u") else "i"
    made.rank = _RANKS[made.kind]
    return made


bool = DType(np.dtype("bool"))
int8 = DType(np.dtype("int8"))
int16 = DType(np.dtype("int16"))
int32 = DType(np.dtype("int32"))
int64 = DType(np.dtype("int64"))
uint8 = DType(np.dtype("uint8"))
uint16 = DType(np.dtype("uint16"))
uint32 = DType(np.dtype("uint32"))
uint64 = DType(np.dtype("uint64"))
float16 = DType(np.dtype("float16"))
bfloat16 = _of_ml_dtypes("bfloat16", 2)
float32 = DType(np.dtype("float32"))
float64 = DType(np.dtype("float64"))
complex64 = DType(np.dtype("complex64"))
complex128 = DType(np.dtype("complex128"))

ALL = (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, complex64, complex128,
)  # fmt: skip
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in ALL}
# What engines keep weights in. No function computes in them: engines differ in which ones they compute and how they
# round, and sums of such numbers are wrong without a word.
STORED: dict[str, DType] = {name: _of_ml_dtypes(name, 1, stores=True) for name in NAMES}

(
    float8_e3m4, float8_e4m3, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz,
    int4, uint4,
) = STORED.values()  # fmt: skip


class _ByNumpy(dict[np.dtype[Any], DType]):
    """The dtypes by NumPy's, in native byte order.

    Those of ``ml_dtypes`` are in it from when they're first used: bfloat16 from when a backend is loaded.
    """

    def __missing__(self, dtype: np.dtype[Any]) -> DType:
        found = STORED.get(getattr(dtype, "name", ""))
        if found is None or found.dtype != dtype:
            raise KeyError(dtype)
        return found

    def __contains__(self, dtype: object) -> builtins.bool:
        return super().__contains__(dtype) or (isinstance(dtype, np.dtype) and find(dtype) is not None)


BY_NUMPY = _ByNumpy({dtype.dtype: dtype for dtype in ALL if dtype is not bfloat16})
# NumPy's dtypes of those that only store, as far as the process has used them: until then no call looks for one.
USED: set[np.dtype[Any]] = set()
_when_used: list[Callable[[], None]] = []


def when_used(do: Callable[[], None]) -> Callable[[], None]:
    """Have a function called when the process uses its first dtype that only stores."""
    _when_used.append(do)
    return do


def _load(dtype: DType) -> np.dtype[Any]:
    import ml_dtypes

    kind = getattr(ml_dtypes, dtype.name, None)
    if kind is None:
        raise DtypeError(f"this version of ml_dtypes has no {dtype.name}: install a later one")
    dtype.dtype = np.dtype(kind)
    if dtype.stores:
        USED.add(dtype.dtype)
        for do in _when_used:
            do()
    # Last: who finds it here is past what had to be done.
    BY_NUMPY[dtype.dtype] = dtype
    return dtype.dtype


@when_loaded
def _know_bfloat16(backend: Handle) -> None:
    _load(bfloat16)


def find(dtype: np.dtype[Any]) -> DType | None:
    """Return the dtype that stands on one of NumPy's, in native byte order, ``None`` if there's none."""
    try:
        return BY_NUMPY[dtype]
    except KeyError:
        return None


def check_computes(name: str, *operands: object) -> None:
    """Raise ``DtypeError`` where a function would compute in a dtype that only stores."""
    for each in operands:
        if isinstance(each, DType) and each.stores:
            wide = "float32" if each.rank == 2 else "int32"
            raise DtypeError(
                f"{name}() isn't computed in {each}, which only stores numbers: convert first, x.astype('{wide}'), and "
                f"store the result, y.astype('{each}')"
            )


SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
# Sums and products of many of these lose most of their few bits.
HALVES = (float16, bfloat16)
REAL_FLOATING = (float16, bfloat16, float32, float64)
COMPLEX_FLOATING = (complex64, complex128)
# The standard's names for groups of dtypes.
KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool,),
    "signed integer": SIGNED,
    "unsigned integer": UNSIGNED,
    "integral": SIGNED + UNSIGNED,
    "real floating": REAL_FLOATING,
    "complex floating": COMPLEX_FLOATING,
    "numeric": SIGNED + UNSIGNED + REAL_FLOATING + COMPLEX_FLOATING,
}

_RANK: dict[object, int] = {builtins.bool: 0, int: 1, float: 2, complex: 3}
SCALARS = (builtins.bool, int, float, complex)


# NumPy's long double, which is as long as the machine has it.
_LONG = {"g": float64, "G": complex128}


def as_dtype(dtype: object) -> DType:
    """Return the dtype for a dtype, a name, a Python or NumPy scalar type or an engine's own dtype."""
    if isinstance(dtype, str):
        found = BY_NAME.get(dtype) or STORED.get(dtype)
        if found is not None:
            return found
    if isinstance(dtype, DType):
        return dtype
    if not isinstance(dtype, np.dtype):
        for backend in loaded_backends():
            own = backend.as_dtype(dtype)
            if own is not None:
                return BY_NUMPY[own]
    if isinstance(dtype, (str, type)):
        # A scalar type or a character code; NumPy parses any text, and fails on it in several ways.
        with contextlib.suppress(TypeError, ValueError, SyntaxError):
            dtype = np.dtype(dtype)
    if isinstance(dtype, np.dtype):
        found = find(dtype) or (None if dtype.isnative else find(dtype.newbyteorder("=")))
        if found is None and dtype == bfloat16.dtype:
            found = bfloat16
        if found is not None:
            return found
        if dtype.char in _LONG:
            warnings.warn(
                f"no engine has {dtype.name}: arrays of it are of {_LONG[dtype.char]}, as where C has no longer double",
                stacklevel=3,
            )
            return _LONG[dtype.char]
    raise DtypeError(f"{shown(dtype)} is not a dtype: use one of {', '.join(BY_NAME)}")


def is_kind(dtype: DType, kind: object) -> builtins.bool:
    """Return whether ``dtype`` is of a kind: a dtype, one of the standard's names, or a tuple of them."""
    if isinstance(kind, tuple):
        return any(is_kind(dtype, each) for each in kind)
    if isinstance(kind, str) and kind in KINDS:
        return dtype in KINDS[kind]
    return dtype is as_dtype(kind)


def rank(dtype_or_type: object) -> int:
    """Return 0 for bool, 1 for integers, 2 for real and 3 for complex floating-point, of a dtype or a scalar type."""
    if isinstance(dtype_or_type, DType):
        return dtype_or_type.rank
    try:
        return as_dtype(dtype_or_type).rank if isinstance(dtype_or_type, np.dtype) else _RANK[dtype_or_type]
    except (KeyError, TypeError, DtypeError):
        # What is made of something else than numbers.
        raise DtypeError(f"{shown(dtype_or_type)} is neither a dtype nor a type of numbers") from None


def can_cast(source: object, target: DType) -> builtins.bool:
    """Return whether a dtype, or a Python scalar's type, casts to ``target`` under ``same_kind``, as NumPy has it."""
    if source is target:
        return True
    if isinstance(source, DType) and not (source.stores or target.stores) and bfloat16 not in (source, target):
        return np.can_cast(source.dtype, target.dtype, "same_kind")
    # Python scalars are weak, and what NumPy doesn't know by itself is of its kind like any.
    return rank(source) <= rank(target)


def check_cast(source: DType | type, target: DType, what: str) -> None:
    """Raise ``CastingError`` unless ``source`` casts to ``target`` under ``same_kind``."""
    if not can_cast(source, target):
        name = source if isinstance(source, DType) else f"Python {source.__name__}"
        raise CastingError(
            f"{what} has dtype {target}, which {name} can't be cast to under 'same_kind': cast it first, with astype()"
        )


def as_assigned(value: Any, target: DType, what: str) -> object:
    """Return a Python scalar as an assignment to ``target`` takes it, by NumPy's rule: truncated, or as a truth."""
    source = rank(type(value))
    if source <= target.rank:
        return value
    if target.rank == 0:
        return builtins.bool(value)
    if source == 3:
        raise CastingError(f"{what} has dtype {target}, which takes no complex number: assign its real part, v.real")
    if value != value or value in (float("inf"), float("-inf")):
        error = ValueError if value != value else OverflowError
        raise error(f"{what} has dtype {target}, which has no {value}: assign an integer, or cast the array first")
    return int(value)


def check_keeps_imaginary(source: DType, target: DType) -> None:
    """Raise ``CastingError`` for a cast of complex numbers to real ones; as bools they are what isn't zero."""
    if rank(source) == 3 and rank(target) in (1, 2):
        raise CastingError(
            f"{source} can't be cast to {target}, which would lose the imaginary part: take the real part first, with "
            "ua.real(x)"
        )


def single_of(dtype: DType) -> DType:
    """Return the dtype to compute in without losing digits: float32 for half precision, any other dtype itself."""
    return float32 if dtype in HALVES else dtype


def real_of(dtype: DType) -> DType:
    """Return the dtype of a complex dtype's parts, any other dtype itself."""
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype


@cache
def loop(ufunc: np.ufunc, *operands: object) -> tuple[DType, ...]:
    """Return the dtypes in which NumPy computes a ufunc for dtypes and Python scalar types: inputs, then outputs."""
    check_computes(ufunc.__name__, *operands)
    if bfloat16 not in operands:
        return tuple(map(as_dtype, _resolve(ufunc, operands)))
    # NumPy's promotion doesn't know bfloat16: it stands in for float16, and beside float16 both are float32.
    stand_in, back = (float32, {}) if float16 in operands else (float16, {float16: bfloat16})
    resolved = _resolve(ufunc, tuple(stand_in if each == bfloat16 else each for each in operands))
    return tuple(back.get(as_dtype(dtype), as_dtype(dtype)) for dtype in resolved)


def _resolve(ufunc: np.ufunc, operands: tuple[object, ...]) -> tuple[np.dtype[Any], ...]:
    # A bool operand is weak too, which NumPy says by its dtype.
    given = [
        each.dtype if isinstance(each, DType) else bool.dtype if each is builtins.bool else each for each in operands
    ]
    try:
        if not any(isinstance(each, np.dtype) for each in given):
            # NumPy takes weak types only beside a dtype.
            given = [np.result_type(each) for each in given]  # type: ignore[arg-type]
        return ufunc.resolve_dtypes((*given, *(None,) * ufunc.nout))  # type: ignore[arg-type]
    except TypeError as error:
        names = ", ".join(each.__name__ if isinstance(each, type) else str(each) for each in operands)
        raise DtypeError(f"{ufunc.__name__}() has no loop for {names}") from error


@cache
def _promote(operands: tuple[object, ...]) -> DType:
    if stored := [each for each in operands if isinstance(each, DType) and each.stores]:
        return _beside(stored[0], operands)
    if bfloat16 in operands:
        stand_in = float32 if float16 in operands else float16
        found = _promote(tuple(stand_in if each == bfloat16 else each for each in operands))
        return bfloat16 if found == float16 else found
    examples: list[Any] = [each.dtype if isinstance(each, DType) else each(1) for each in operands]  # type: ignore[operator]
    return as_dtype(np.result_type(*examples))


def _beside(stored: DType, operands: tuple[object, ...]) -> DType:
    # Beside one that only stores there's itself, and numbers of Python's of its kind or below.
    if all(each is stored or (not isinstance(each, DType) and rank(each) <= stored.rank) for each in operands):
        return stored
    names = ", ".join(each.__name__ if isinstance(each, type) else str(each) for each in operands)
    raise DtypeError(f"{names} have no common dtype, since {stored} only stores numbers: convert one, with astype()")


def promote(*operands: object) -> DType:
    """Return the dtype that dtypes and Python scalar types (weak) promote to together, as ``numpy.result_type``."""
    first = operands[0]
    if isinstance(first, DType) and operands.count(first) == len(operands):
        return first
    return _promote(operands)
