"""The dtypes: NumPy's own dtype objects, which no engine owns and every one of them can be translated to.

They are singletons, compare equal to strings and scalar types, print well and pickle. ``bfloat16`` comes from
``ml_dtypes``.
"""

from __future__ import annotations

import builtins
from functools import cache
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from ..errors import CastingError, DtypeError

if TYPE_CHECKING:
    from ..typing import DType

bool = np.dtype("bool")
int8 = np.dtype("int8")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
uint16 = np.dtype("uint16")
uint32 = np.dtype("uint32")
uint64 = np.dtype("uint64")
float16 = np.dtype("float16")
bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

BY_NAME: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
        float16, bfloat16, float32, float64, complex64, complex128,
    )
}  # fmt: skip

SIGNED = (int8, int16, int32, int64)
UNSIGNED = (uint8, uint16, uint32, uint64)
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

_RANK: dict[object, int] = {
    bool: 0,
    **dict.fromkeys(SIGNED + UNSIGNED, 1),
    **dict.fromkeys(REAL_FLOATING, 2),
    complex64: 3,
    complex128: 3,
}
_SCALAR_RANK: dict[type, int] = {builtins.bool: 0, int: 1, float: 2, complex: 3}
SCALARS = (builtins.bool, int, float, complex)


def as_dtype(dtype: object) -> DType:
    """Return the dtype for a dtype, a name, a Python or NumPy scalar type or an engine's own dtype."""
    if isinstance(dtype, str):
        found = BY_NAME.get(dtype)
        if found is not None:
            return found
    if not isinstance(dtype, np.dtype):
        from .selection import loaded_backends

        for backend in loaded_backends():
            own: DType | None = backend.as_dtype(dtype)
            if own is not None:
                return own
    try:
        # A scalar type, a character code; not None, which NumPy would read as float64.
        converted = np.dtype(dtype).newbyteorder("=") if dtype is not None else None  # type: ignore[call-overload]
    except TypeError:
        converted = None
    if converted is not None and converted in _RANK:
        return BY_NAME[converted.name]
    raise DtypeError(f"{dtype!r} is not a dtype: use one of {', '.join(BY_NAME)}")


def is_kind(dtype: DType, kind: object) -> builtins.bool:
    """Say whether ``dtype`` is of a kind: a dtype, one of the standard's names, or a tuple of them."""
    if isinstance(kind, tuple):
        return any(is_kind(dtype, each) for each in kind)
    if isinstance(kind, str) and kind in KINDS:
        return dtype in KINDS[kind]
    return builtins.bool(dtype == as_dtype(kind))


def rank(dtype_or_type: object) -> int:
    """Return 0 for bool, 1 for integers, 2 for real and 3 for complex floating-point, of a dtype or a scalar type."""
    if isinstance(dtype_or_type, np.dtype):
        return _RANK[dtype_or_type]
    return _SCALAR_RANK[dtype_or_type]  # type: ignore[index]


def can_cast(source: object, target: DType) -> builtins.bool:
    """Say whether a dtype, or a Python scalar's type, casts to ``target`` under ``same_kind``, as NumPy has it."""
    if isinstance(source, np.dtype) and bfloat16 not in (source, target):
        return np.can_cast(source, target, "same_kind")
    # Python scalars are weak, and bfloat16, which NumPy doesn't know by itself, is a floating-point type like any.
    return rank(source) <= rank(target)


def check_cast(source: object, target: DType, what: str) -> None:
    """Raise ``CastingError`` unless ``source`` casts to ``target`` under ``same_kind``."""
    if not can_cast(source, target):
        name = source if isinstance(source, np.dtype) else f"Python {source.__name__}"  # type: ignore[attr-defined]
        raise CastingError(
            f"{what} has dtype {target}, which {name} can't be cast to under 'same_kind': cast it first, with astype()"
        )


def real_of(dtype: DType) -> DType:
    """Return the dtype of a complex dtype's parts, any other dtype itself."""
    if dtype == complex64:
        return float32
    return float64 if dtype == complex128 else dtype


@cache
def loop(ufunc: np.ufunc, *operands: object) -> tuple[DType, ...]:
    """Return the dtypes in which NumPy computes a ufunc for dtypes and Python scalar types: inputs, then output."""
    if bfloat16 not in operands:
        return tuple(as_dtype(dtype) for dtype in _resolve(ufunc, operands))
    # NumPy's promotion doesn't know bfloat16: it stands in for float16, and beside float16 both are float32.
    stand_in, back = (float32, {}) if float16 in operands else (float16, {float16: bfloat16})
    resolved = _resolve(ufunc, tuple(stand_in if each == bfloat16 else each for each in operands))
    return tuple(back.get(as_dtype(dtype), as_dtype(dtype)) for dtype in resolved)


def _resolve(ufunc: np.ufunc, operands: tuple[object, ...]) -> tuple[np.dtype[Any], ...]:
    # A bool operand is weak too, which NumPy says by its dtype.
    given = tuple(bool if each is builtins.bool else each for each in operands)
    try:
        if all(each in (int, float, complex) for each in given):
            # NumPy takes weak types only beside a dtype.
            given = tuple(np.result_type(each) for each in given)  # type: ignore[arg-type]
        return ufunc.resolve_dtypes((*given, None))  # type: ignore[arg-type]
    except TypeError as error:
        names = ", ".join(str(each) if isinstance(each, np.dtype) else each.__name__ for each in operands)  # type: ignore[attr-defined]
        raise DtypeError(f"{ufunc.__name__}() has no loop for {names}") from error


@cache
def _promote(operands: tuple[object, ...]) -> DType:
    if bfloat16 in operands:
        stand_in = float32 if float16 in operands else float16
        found = _promote(tuple(stand_in if each == bfloat16 else each for each in operands))
        return bfloat16 if found == float16 else found
    examples: list[Any] = [each if isinstance(each, np.dtype) else each(1) for each in operands]  # type: ignore[operator]
    return as_dtype(np.result_type(*examples))


def promote(*operands: object) -> DType:
    """Return the dtype that dtypes and Python scalar types (weak) promote to together, as ``numpy.result_type``."""
    return _promote(operands)
