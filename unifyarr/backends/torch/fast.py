"""Fast paths of torch: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ..._native.tables import by_dtype
from . import _together, elementwise
from ._complex import pow_number
from ._division import floor_divide_floats
from ._items import get_copy, get_item, get_transpose, set_item
from ._private import count_modes, foreach_in_place, peek_interpreter_stack
from ._shared import (
    COMPLEX,
    FLOAT,
    INTEGER,
    NUMPY_DTYPES,
    ODD_POWERS,
    SIGNED_INTEGER,
    WIDE,
    Kernel,
    as_method,
    takes_number,
)
from ._targets import into, into_several

_CPU = torch.device("cpu")
_INTEGERS = frozenset({torch.int64, torch.int32})
_FLOATING = frozenset({torch.float32, torch.float64})

_PYTHONS = frozenset({bool, int, float, complex})
# A list of more numbers goes to memory of its own kind.
_MOST_PYTHONS = 64
# The codes of the dtypes that torch shares with NumPy. C has two types of 64 bits, one of which it knows.
_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
_CODES = frozenset(np.dtype(name).char for name in _NAMES.split())


def _with_number(native: Callable[..., Tensor], *, to_floats: bool = False) -> Callable[..., Any]:
    def fast(x: Tensor, value: Any) -> Any:
        dtype = x.dtype
        if dtype in _FLOATING:
            # Beside floats the engine is slower with an integer.
            return native(x, float(value)) if type(value) is float or -128 <= value <= 127 else NotImplemented
        if type(value) is not int or not -128 <= value <= 127:
            return NotImplemented
        if to_floats:
            return native(x.to(torch.float64), float(value)) if dtype in _INTEGERS else NotImplemented
        return native(x, value) if dtype in SIGNED_INTEGER else NotImplemented

    return by_dtype({}, dict.fromkeys(_FLOATING, native), fast)


_NUMBERS = {
    "add": _with_number(torch.add),
    "subtract": _with_number(torch.sub),
    "multiply": _with_number(torch.mul),
    "divide": _with_number(torch.div, to_floats=True),
    "equal": _with_number(Tensor.eq),
    "not_equal": _with_number(Tensor.ne),
    "less": _with_number(Tensor.lt),
    "less_equal": _with_number(Tensor.le),
    "greater": _with_number(Tensor.gt),
    "greater_equal": _with_number(Tensor.ge),
}

# What the engine casts as the standard does, beside each other: 0-d arrays aside, which count less there.
_NARROWER = torch.float32, torch.int64, torch.int32
_PROMOTED = frozenset(pair for other in _NARROWER for pair in ((torch.float64, other), (other, torch.float64)))


def _with_masks(*dtypes: torch.dtype) -> frozenset[tuple[torch.dtype, torch.dtype]]:
    """Return the pairs of ``_PROMOTED``, and some dtypes beside masks."""
    return _PROMOTED | {pair for each in dtypes for pair in ((each, torch.bool), (torch.bool, each))}


def _arithmetic(kernel: Kernel, *others: torch.dtype, promoted: frozenset[Any] = _PROMOTED) -> Callable[..., Any]:
    native = as_method(getattr(kernel, "native", kernel))
    gaps = getattr(kernel, "gaps", ())
    ways = {dtype: kernel if dtype in gaps else native for dtype in (*FLOAT, *COMPLEX, *others)}

    def fast(x1: Tensor, x2: Tensor) -> Any:
        dtype = x1.dtype
        if x2.dtype is dtype:
            way = ways.get(dtype)
            return NotImplemented if way is None else way(x1, x2)
        if (dtype, x2.dtype) not in promoted or not x1.dim() or not x2.dim():
            return NotImplemented
        return native(x1, x2)

    return by_dtype(ways, {}, fast)


def scalar_remainder(x: Tensor, value: int) -> Any:
    # As of the quotient, which has the sign of the divisor here and there.
    fits = x.dtype in SIGNED_INTEGER and type(value) is int and 0 < value <= 127
    return x.remainder(value) if fits else NotImplemented


def floor_divide(x1: Tensor, x2: Tensor) -> Any:
    dtype = x1.dtype
    return floor_divide_floats(x1, x2) if x2.dtype is dtype and dtype in _FLOATING else NotImplemented


def matmul(x1: Tensor, x2: Tensor) -> Any:
    # The engine refuses shapes that don't fit, and the general path says why.
    dtype = x1.dtype
    return x1.matmul(x2) if x2.dtype is dtype and dtype in _FLOATING else NotImplemented


def power(x1: Tensor, x2: Tensor) -> Any:
    # By one number the kernel may take a root.
    dtype = x1.dtype
    return x1.pow(x2) if x2.dtype is dtype and dtype in _FLOATING and x2.dim() else NotImplemented


def scalar_pow(x: Tensor, value: float) -> Any:
    if x.dtype is torch.int64:
        return x.pow(value) if type(value) is int and 0 <= value < 1 << 31 else NotImplemented
    if x.dtype in COMPLEX:
        return pow_number(x, value)
    return x.pow(value) if x.dtype in WIDE and value not in ODD_POWERS else NotImplemented


def reflected_divide(x: Tensor, value: float) -> Any:
    # The engine's own operator multiplies the reciprocal, which rounds twice.
    if x.dtype not in WIDE or not (type(value) is float or -128 <= value <= 127):
        return NotImplemented
    if value == 1:
        return x.reciprocal()
    # A number on the CPU meets tensors of all devices, where one on the default device doesn't.
    return torch.div(torch.scalar_tensor(value, dtype=x.dtype, device=_CPU), x)


def scalar_floor_divide(x: Tensor, value: int) -> Any:
    # One that isn't positive has errors of its own.
    fits = x.dtype in SIGNED_INTEGER and type(value) is int and 0 < value <= 127
    return x.floor_divide(value) if fits else NotImplemented


def _limited(native: Callable[..., Tensor]) -> Callable[..., Any]:
    def fast(x: Tensor, value: float) -> Any:
        dtype = x.dtype
        fits = -128 <= value <= 127 if dtype in _FLOATING else takes_number(dtype, value)
        # Where both are equal, the engine's derivative is another one than that of the maximum of arrays: as
        # ``is_plain`` does, without the call.
        if not fits or x.requires_grad or forward_ad._current_level >= 0 or peek_interpreter_stack() is not None:
            return NotImplemented
        return native(x, value)

    return fast


scalar_maximum, scalar_minimum = _limited(torch.clamp_min), _limited(torch.clamp_max)


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    if dtype is not None or device is not None or copy is not None:
        return NotImplemented
    kind = type(obj)
    if kind is Tensor:
        is_plain = obj.layout is torch.strided and not obj.is_nested and obj.dtype in NUMPY_DTYPES
        return obj if is_plain else NotImplemented
    if count_modes():
        # The default device may be another one.
        return NotImplemented
    if kind is np.ndarray:
        # Another order of bytes the engine refuses.
        return torch.from_numpy(obj.copy()) if obj.dtype.char in _CODES else NotImplemented
    if kind is list and len(obj) < _MOST_PYTHONS and _PYTHONS.issuperset(map(type, obj)):
        made = np.asarray(obj)
        return torch.from_numpy(made) if made.dtype.char in _CODES else NotImplemented
    return NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path
    for path in (
        *(get_item, get_copy, get_transpose, set_item, floor_divide, matmul, asarray),
        *(scalar_pow, reflected_divide, scalar_floor_divide, scalar_remainder),
    )
} | {
    **{f"scalar_{name}": path for name, path in _NUMBERS.items()},
    "reflected_add": _NUMBERS["add"],
    "reflected_multiply": _NUMBERS["multiply"],
    "out_add": into("add", torch.int64),
    "out_subtract": into("sub", torch.int64),
    "out_multiply": into("mul", torch.int64, *COMPLEX),
    "out_divide": into("div"),
    **{f"several_{name}": into_several(update) for name, update in foreach_in_place.items() if update},
    "add": _arithmetic(elementwise.add, torch.bool, *INTEGER, promoted=_with_masks(*_FLOATING, torch.int64)),
    # The engine subtracts no masks.
    "subtract": _arithmetic(elementwise.subtract, *INTEGER),
    "multiply": _arithmetic(elementwise.multiply, torch.bool, *INTEGER, promoted=_with_masks(*_FLOATING, torch.int64)),
    # Integers and masks it divides as float32.
    "divide": _arithmetic(elementwise.divide, promoted=_with_masks(*_FLOATING)),
    **dict.fromkeys(("scalar_maximum", "reflected_maximum"), scalar_maximum),
    **dict.fromkeys(("scalar_minimum", "reflected_minimum"), scalar_minimum),
    "pow": power,
    **_together.PATHS,
}
