"""Fast paths of NumPy: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ..._native.tables import by_dtype, into_by_dtype
from . import _direct as np
from . import _pool, elementwise
from ._bfloat16 import BFLOAT16
from ._items import get_copy, get_item, set_item
from ._powers import COMPLEX_POWERS, MANY, power


def _ufunc_of(kernel: Callable[..., Any]) -> Callable[..., Any]:
    # Without ``out=...``, which costs a third of a small call: ``as_native`` makes arrays of scalars.
    return kernel.func if isinstance(kernel, partial) else getattr(kernel, "native", kernel)


_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
# The dtypes of arrays that ufuncs write to by themselves: NumPy's own numbers.
_FLOATS = tuple(map(np.dtype, "efd"))
_KEPT = (*map(np.dtype, "?bhilqBHILQFD"), *_FLOATS)


def _takes_floats(ufunc: Any) -> bool:
    # Whether it computes two floats of one dtype.
    return not {"dd->d", "dd->?"}.isdisjoint(getattr(ufunc, "types", ()))


def _with_scalar(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    if not _takes_floats(ufunc):
        # A Python number is weak beside bfloat16 too, which NumPy's promotion doesn't know.
        return lambda x, value: NotImplemented if x.dtype is BFLOAT16 else ufunc(x, value)

    def fast(x: np.ndarray, value: Any) -> Any:
        dtype = x.dtype
        if dtype is _DOUBLE or dtype is _SINGLE:
            # Of an integer NumPy makes a float itself, in longer time than all else takes.
            return ufunc(x, value if type(value) is float else float(value))
        return NotImplemented if dtype is BFLOAT16 else ufunc(x, value)

    return by_dtype({}, dict.fromkeys((_DOUBLE, _SINGLE), ufunc), fast)


def _reflected(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    if not _takes_floats(ufunc):
        return lambda x, value: NotImplemented if x.dtype is BFLOAT16 else ufunc(value, x)

    def fast(x: np.ndarray, value: Any) -> Any:
        dtype = x.dtype
        if dtype is _DOUBLE or dtype is _SINGLE:
            return ufunc(value if type(value) is float else float(value), x)
        return NotImplemented if dtype is BFLOAT16 else ufunc(value, x)

    return by_dtype({}, dict.fromkeys((_DOUBLE, _SINGLE), ufunc), fast, reflected=True)


# Those that NumPy warns of a third argument by place.
_BY_NAME = frozenset({np.maximum, np.minimum})


def _into_out(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    if not getattr(kernel, "support_native_out", False):
        return lambda x1, x2, target: False
    takes_floats = _takes_floats(ufunc)

    # The ufunc itself refuses read-only arrays and casts, though not of complex numbers to bfloat16, and copies what
    # overlaps; only it would broadcast to out, though not to an operand of its own. By place it takes ``out`` sooner.

    def of_one(x: np.ndarray, _: None, target: Any) -> bool:
        out = target._native
        if (x is not out and x.shape != out.shape) or x.dtype is BFLOAT16 or out.dtype is BFLOAT16:
            return False
        return ufunc(x, out) is out

    def of_two(x1: np.ndarray, x2: Any, target: Any) -> bool:
        out = target._native
        if (x1 is not out and x1.shape != out.shape) or out.dtype is BFLOAT16:
            return False
        if type(x2) is not np.ndarray:
            dtype = x1.dtype
            if takes_floats and (dtype is _DOUBLE or dtype is _SINGLE):
                x2 = float(x2)
            elif dtype is BFLOAT16:
                return False
        return ufunc(x1, x2, out) is out

    def of_floats(x1: np.ndarray, x2: Any, target: Any) -> bool:
        # Integers can fail when some of the result is written, and complex powers to one number are other functions.
        return x1.dtype.kind == "f" and of_two(x1, x2, target)

    def by_name(x1: np.ndarray, x2: Any, target: Any) -> bool:
        out = target._native
        if (x1 is not out and x1.shape != out.shape) or out.dtype is BFLOAT16:
            return False
        if type(x2) is not np.ndarray and x1.dtype is BFLOAT16:
            return False
        return (ufunc(x1, out=out) if x2 is None else ufunc(x1, x2, out=out)) is out

    if not isinstance(ufunc, np.ufunc):
        return by_name
    by_place, dtypes = ufunc not in _BY_NAME, _FLOATS if ufunc is np.pow else _KEPT
    path = by_name if not by_place else of_one if ufunc.nin == 1 else of_floats if ufunc is np.pow else of_two
    floats = frozenset((_DOUBLE, _SINGLE) if takes_floats else ())
    return into_by_dtype(dict.fromkeys(dtypes, ufunc), {}, floats, path, by_place=by_place, reads_first=True)


def _large(kernel: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = _ufunc_of(kernel)
    if not isinstance(ufunc, np.ufunc) or ufunc.nout > 1:
        return lambda *operands: NotImplemented
    return _pool.large(ufunc)


FORMS = {"": _ufunc_of, "scalar": _with_scalar, "reflected": _reflected, "out": _into_out, "large": _large}


def matmul(x1: np.ndarray, x2: np.ndarray) -> Any:
    # NumPy refuses shapes that don't fit, and the general path says why.
    if x1.dtype is x2.dtype is not BFLOAT16 and x1.ndim <= 2 >= x2.ndim:
        return np.matmul(x1, x2)
    return NotImplemented


_finite, _product = math.isfinite, np.vdot


def floor_divide(x1: np.ndarray, x2: np.ndarray) -> Any:
    if x1.dtype is _DOUBLE is x2.dtype and x1.ndim == 1 and x1.shape == x2.shape:
        # Not the method, which warns.
        total = _product(x1, x2)
        if total.__class__ is np.float64 and _finite(total):
            # Two vectors of one length. Of an infinite element the product is infinite, or NaN beside a zero: there
            # NumPy has other quotients.
            return _floor_divide(x1, x2)
    return elementwise.floor_divide(x1, x2)


def remainder(x1: np.ndarray, x2: Any, modulus: Any = True) -> Any:
    if modulus is not True or x1.nbytes >= _pool.LARGE or x1.dtype.kind == "V":
        return NotImplemented
    if type(x2) is np.ndarray and x2.dtype is not x1.dtype:
        return NotImplemented
    return np.remainder(x1, x2)


_floor_divide, _array, _OBJECTS = np.floor_divide, np.array, np.dtype(object)
_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
# The numbers of the dtypes that are NumPy's own; C has two types of 64 bits, one of which engines don't know.
_OWN = frozenset(np.dtype(name).num for name in _NAMES.split())
_NUMBERS = frozenset({bool, int, float, complex})
# A list of more numbers goes to memory that other engines can share.
_FEW = 64


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    if dtype is None is device is copy:
        if type(obj) is np.ndarray:
            return obj if obj.dtype.num in _OWN and obj.dtype.isnative else NotImplemented
        if type(obj) is list and len(obj) < _FEW and _NUMBERS.issuperset(map(type, obj)):
            made = _array(obj)
            # Of numbers alone it may hold objects: integers too large for any dtype.
            return made if made.dtype is not _OBJECTS else NotImplemented
    return NotImplemented


def scalar_floor_divide(x: np.ndarray, value: float) -> Any:
    kind = x.dtype.kind
    if kind in "iu" and type(value) is int:
        return np.floor_divide(x, value)
    return NotImplemented if kind == "V" else elementwise.floor_divide(x, value)


_pow, _square = np.pow, np.square


def scalar_pow(x: np.ndarray, value: float) -> Any:
    kind = x.dtype.kind
    if kind == "f":
        # As ``power`` does, without the call. Of few elements nobody asks for roots.
        if value == 2:
            return _square(x)
        if value == -1 or (value == 0.5 and x.size >= MANY):
            return power(x, value)
        return _pow(x, value if type(value) is float else float(value))
    if kind == "c":
        function = COMPLEX_POWERS.get(value)
        return _pow(x, value) if function is None else function(x)
    return NotImplemented if kind == "V" else power(x, value)


def pow(x1: np.ndarray, x2: np.ndarray) -> Any:
    return _pow(x1, x2) if x1.dtype.kind != "c" else elementwise.pow(x1, x2, out=None)


def _of_reals(ufunc: np.ufunc, kernel: Callable[..., Any]) -> Callable[..., Any]:
    # Of complex numbers alone NumPy has other special values.
    return lambda x: kernel(x) if x.dtype.kind == "c" else ufunc(x)


tan, tanh, expm1 = (_of_reals(getattr(np, name), getattr(elementwise, name)) for name in ("tan", "tanh", "expm1"))


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path
    for path in (*(asarray, get_item, get_copy, set_item, matmul, floor_divide, scalar_floor_divide, pow, scalar_pow),)
} | {
    "scalar_remainder": remainder,
    "get_transpose": operator.attrgetter("T"),
    "tan": tan,
    "tanh": tanh,
    "expm1": expm1,
}
