"""How NumPy computes plain calls: by ufuncs, which promote and cast by themselves."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from ..base.plain import NUMPYS_OWN, Beside, Plain, of_numbers
from ..guards import guarded
from . import _direct as np
from . import _pool, elementwise
from ._bfloat16 import BFLOAT16
from ._items import get_copy, get_item, set_item
from ._powers import COMPLEX_POWERS, power

_DOUBLE, _SINGLE = np.dtype(np.float64), np.dtype(np.float32)
# Functions for which NumPy deprecates a third positional argument.
_BY_NAME = frozenset({np.maximum, np.minimum})
# A Python number is weak beside bfloat16 too, which NumPy's promotion doesn't know, and casts complex numbers to it.
_NOT_BFLOAT16 = {BFLOAT16: None}


def _ufunc_of(kernel: Callable[..., Any]) -> Any:
    # Without ``out=...``, which costs a third of a small call: ``as_native`` makes arrays of scalars.
    return kernel.func if isinstance(kernel, partial) else getattr(kernel, "native", kernel)


def plain(name: str, kernel: Callable[..., Any]) -> Plain:
    """Return how plain calls of an elementwise function are computed."""
    ufunc = _ufunc_of(kernel)
    is_ufunc = isinstance(ufunc, np.ufunc)
    beside: dict[Any, Any] = dict(_NOT_BFLOAT16)
    if not {"dd->d", "dd->?"}.isdisjoint(getattr(ufunc, "types", ())):
        # NumPy takes far longer to convert an integer to a float itself.
        beside |= dict.fromkeys((_DOUBLE, _SINGLE), Beside(ufunc, passed_as=float))
    into = ufunc if getattr(kernel, "support_native_out", False) else None
    right, rest_right = _BESIDE.get(name, (beside, Beside(ufunc)))
    # Integers can fail when some of the result is written, and complex powers to one number are other functions.
    of_floats = into is not None and ufunc is np.pow
    return Plain(
        kernels=_OF_KINDS.get(name, {}),
        kernel=_OF_ARRAYS.get(name, ufunc),
        right=_NOT_BFLOAT16 | right,
        rest_right=rest_right,
        left=beside,
        rest_left=Beside(ufunc),
        into=_of("efd", ufunc) if of_floats else _NOT_BFLOAT16,
        into_any=None if of_floats else into,
        by_place=is_ufunc and ufunc not in _BY_NAME,
        large=_pool.large(ufunc) if is_ufunc and ufunc.nout == 1 else None,
    )


_finite, _product, _floor_divide = math.isfinite, np.vdot, np.floor_divide


def _divide_doubles(x1: np.ndarray, x2: np.ndarray) -> Any:
    if x1.ndim == 1 and x1.shape == x2.shape:
        # Not the method, which warns.
        total = _product(x1, x2)
        if total.__class__ is np.float64 and _finite(total):
            # Two vectors of one length. An infinite element makes the product infinite, or NaN beside a zero: there
            # NumPy's quotients differ.
            return _floor_divide(x1, x2)
    return elementwise.floor_divide(x1, x2)


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    """Return a native of data that needs no more than that; decline all others."""
    if dtype is None is device is copy:
        if type(obj) is np.ndarray:
            return obj if obj.dtype.num in NUMPYS_OWN and obj.dtype.isnative else NotImplemented
        made = of_numbers(obj)
        return NotImplemented if made is None else made
    return NotImplemented


_pow = np.pow
_integer_quotient = guarded(_floor_divide, elementwise.floor_divide, "beside integers")


def _complex_power_to(x: np.ndarray, value: float) -> Any:
    function = COMPLEX_POWERS.get(value)
    return _pow(x, value) if function is None else function(x)


def _power(x1: np.ndarray, x2: np.ndarray) -> Any:
    return _pow(x1, x2) if x1.dtype.kind != "c" else elementwise.pow(x1, x2, out=None)


def _of(codes: str, kernel: Beside | Callable[..., Any]) -> dict[Any, Any]:
    return dict.fromkeys(map(np.dtype, codes), kernel)


# NumPy's special values differ only for complex numbers.
_OF_KINDS: dict[str, dict[Any, Any]] = {
    **{name: _of("FD", getattr(elementwise, name)) for name in ("tan", "tanh", "expm1")},
    "floor_divide": {_DOUBLE: guarded(np.floor_divide, _divide_doubles, "finite")},
}
_OF_ARRAYS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("tan", "tanh", "expm1")},
    "pow": _power,
    "floor_divide": elementwise.floor_divide,
}
_BESIDE: dict[str, tuple[dict[Any, Any], Callable[..., Any]]] = {
    "floor_divide": (_of("bhilqBHILQ", _integer_quotient), elementwise.floor_divide),
    # In half precision the operator rounds powers to 0.5 differently from the ufunc.
    "pow": (_of("fd", Beside(operator.pow, passed_as=float)) | _of("FD", _complex_power_to), power),
}
# Functions that aren't elementwise.
OTHERS = {"asarray": Plain(kernel=asarray), "matmul": Plain(_of("?bhilqBHILQefdFD", np.matmul))}
ITEMS: dict[str, Callable[..., Any]] = {
    "get_item": get_item,
    "get_copy": get_copy,
    "set_item": set_item,
    "get_transpose": operator.attrgetter("T"),
}
