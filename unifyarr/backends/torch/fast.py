"""Fast paths of torch: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from . import elementwise
from ._division import floor_divide_floats
from ._items import get_copy, get_item, get_pair, get_transpose, set_item
from ._shared import (
    COMPLEX,
    FLOAT,
    INTEGER,
    ODD_POWERS,
    SIGNED_INTEGER,
    WIDE,
    Kernel,
    is_plain,
    span,
    takes_number,
)

_INTEGERS = frozenset({torch.int64, torch.int32})
_FLOATING = frozenset({torch.float32, torch.float64})
_KEEPS = _FLOATING | {torch.int64, torch.complex64, torch.complex128}
# The dtypes whose sums and products the engine gives the dtype that the standard does.
_SUMMED = _KEEPS | {torch.bool, torch.int8, torch.int16, torch.int32}
_ORDERED = _FLOATING | {torch.int64}
_INT = frozenset({int})


def writes_at_once(out: Tensor, x1: Tensor, x2: Tensor) -> bool:
    """Return whether a kernel may read ``x1`` and ``x2`` and write to ``out``: they fit, and don't overlap it.

    What records gradients, and memory that several elements share, torch itself refuses, before it writes; an inference
    tensor only afterwards.
    """
    return _fit_at_once(out, out.dtype, x1, x2)


def _fit_at_once(out: Tensor, dtype: torch.dtype, x1: Tensor, x2: Tensor) -> bool:
    shape, other = out.shape, x2.shape
    if out.is_inference() or (x1 is not out and (x1.dtype is not dtype or x1.shape != shape)):
        return False
    # An integer beside float64 becomes one here and there.
    if x2.dtype is not dtype and not (dtype is torch.float64 and x2.dtype in _INTEGERS):
        return False
    if other != shape and (len(other) > len(shape) or not _broadcasts(other, shape)):
        return False
    if not other and not x1.device == out.device == x2.device:
        # Beside 0-d tensors torch takes those of other devices.
        return False
    # Inside a transformation there's no address, which raises.
    start = out.data_ptr()
    return (x1 is out or _is_apart(x1, start, out)) and (x2 is out or x2 is x1 or _is_apart(x2, start, out))


def _is_apart(x: Tensor, start: int, out: Tensor) -> bool:
    # What ``overlap`` denies, for an address that is known.
    distance = x.data_ptr() - start
    return distance >= span(out) if distance >= 0 else -distance >= span(x)


def _broadcasts(shape: torch.Size, to: torch.Size) -> bool:
    return all(length in (1, wanted) for length, wanted in zip(reversed(shape), reversed(to), strict=False))


def _is_one(axis: Any, x: Tensor) -> bool:
    # Whether the engine takes an argument for one axis, as we do.
    return type(axis) is int and -x.dim() <= axis < x.dim()


def sum(x: Tensor, axis: Any, dtype: Any, keepdims: Any) -> Any:
    if dtype is not None or x.dtype not in _SUMMED:
        return NotImplemented
    if axis is None:
        return NotImplemented if keepdims else torch.sum(x)
    # An empty tuple is all axes to the engine.
    several = type(axis) is tuple and axis and _INT.issuperset(map(type, axis))
    return torch.sum(x, axis, keepdims) if several or _is_one(axis, x) else NotImplemented


def prod(x: Tensor, axis: Any, dtype: Any, keepdims: Any) -> Any:
    if dtype is not None or x.dtype not in _SUMMED:
        return NotImplemented
    if axis is None:
        return NotImplemented if keepdims else torch.prod(x)
    return torch.prod(x, axis, keepdims) if _is_one(axis, x) else NotImplemented


def mean(x: Tensor, axis: Any, keepdims: Any) -> Any:
    if x.dtype not in _FLOATING:
        return NotImplemented
    if axis is None:
        return NotImplemented if keepdims else torch.mean(x)
    return torch.mean(x, axis, keepdims) if _is_one(axis, x) else NotImplemented


def _extremum(of_all: Callable[..., Tensor], along: Callable[..., Tensor]) -> Callable[..., Any]:
    def fast(x: Tensor, axis: Any, keepdims: Any) -> Any:
        if x.dtype not in _ORDERED or not x.numel():
            return NotImplemented
        if axis is None:
            # Of a NaN the derivative is another one than that of the kernel.
            return of_all(x) if not keepdims and is_plain(x) else NotImplemented
        return along(x, axis, keepdims) if _is_one(axis, x) else NotImplemented

    return fast


def _truth(native: Callable[..., Tensor]) -> Callable[..., Any]:
    def fast(x: Tensor, axis: Any, keepdims: Any) -> Any:
        if x.dtype is not torch.bool:
            return NotImplemented
        if axis is None:
            return NotImplemented if keepdims else native(x)
        return native(x, axis, keepdims) if _is_one(axis, x) else NotImplemented

    return fast


def _spread(native: Callable[..., Tensor]) -> Callable[..., Any]:
    def fast(x: Tensor, axis: Any, correction: Any, keepdims: Any) -> Any:
        if x.dtype not in _FLOATING or type(correction) not in (int, float):
            return NotImplemented
        if axis is None:
            count = x.dim() and x.numel()
        else:
            count = _is_one(axis, x) and x.numel() and x.shape[axis]
        # The engine warns where the divisor is 0; and the root of a variance of zero has another derivative.
        if not count or not count > correction or not is_plain(x):
            return NotImplemented
        if axis is None:
            return NotImplemented if keepdims else native(x, correction=correction)
        return native(x, axis, correction=correction, keepdim=keepdims)

    return fast


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

    return fast


_NUMBERS = {
    "add": _with_number(torch.add),
    "subtract": _with_number(torch.sub),
    "multiply": _with_number(torch.mul),
    "divide": _with_number(torch.div, to_floats=True),
    "equal": _with_number(torch.eq),
    "not_equal": _with_number(torch.ne),
    "less": _with_number(torch.lt),
    "less_equal": _with_number(torch.le),
    "greater": _with_number(torch.gt),
    "greater_equal": _with_number(torch.ge),
}

# What the engine casts as the standard does, beside each other: 0-d arrays aside, which count less there.
_NARROWER = torch.float32, torch.int64, torch.int32
_PROMOTED = frozenset(pair for other in _NARROWER for pair in ((torch.float64, other), (other, torch.float64)))


def _into(native: Callable[..., Tensor], *others: torch.dtype) -> Callable[..., Any]:
    dtypes = frozenset((*WIDE, *others))

    def fast(x1: Tensor, x2: Any, target: Any) -> bool:
        out = target._native
        dtype = out.dtype
        if dtype not in dtypes:
            return False
        if type(x2) is Tensor:
            if not _fit_at_once(out, dtype, x1, x2):
                return False
        elif not takes_number(dtype, x2) or not _fit_at_once(out, dtype, x1, x1):
            return False
        native(x1, x2, out=out)
        return True

    return fast


def _arithmetic(kernel: Kernel, *others: torch.dtype) -> Callable[..., Any]:
    native = getattr(kernel, "native", kernel)
    gaps = getattr(kernel, "gaps", ())
    ways = {dtype: kernel if dtype in gaps else native for dtype in (*FLOAT, *COMPLEX, *others)}

    def fast(x1: Tensor, x2: Tensor) -> Any:
        dtype = x1.dtype
        if x2.dtype is dtype:
            way = ways.get(dtype)
            return NotImplemented if way is None else way(x1, x2)
        if (dtype, x2.dtype) not in _PROMOTED or not x1.dim() or not x2.dim():
            return NotImplemented
        return native(x1, x2)

    return fast


def floor_divide(x1: Tensor, x2: Tensor) -> Any:
    return floor_divide_floats(x1, x2) if x1.dtype is x2.dtype and x1.dtype in _FLOATING else NotImplemented


def matmul(x1: Tensor, x2: Tensor) -> Any:
    # The engine refuses shapes that don't fit, and the general path says why.
    dtype = x1.dtype
    return torch.matmul(x1, x2) if x2.dtype is dtype and dtype in _FLOATING else NotImplemented


def scalar_pow(x: Tensor, value: float) -> Any:
    if x.dtype is torch.int64:
        return torch.pow(x, value) if type(value) is int and 0 <= value < 1 << 31 else NotImplemented
    return torch.pow(x, value) if x.dtype in WIDE and value not in ODD_POWERS else NotImplemented


def scalar_maximum(x: Tensor, value: float) -> Any:
    # Where both are equal, the engine's derivative is another one than that of the maximum of arrays.
    return torch.clamp_min(x, value) if takes_number(x.dtype, value) and is_plain(x) else NotImplemented


def scalar_minimum(x: Tensor, value: float) -> Any:
    return torch.clamp_max(x, value) if takes_number(x.dtype, value) and is_plain(x) else NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path
    for path in (
        *(get_item, get_pair, get_copy, get_transpose, set_item, sum, prod, mean, floor_divide, matmul),
        *(scalar_pow, scalar_maximum, scalar_minimum),
    )
} | {
    **{f"scalar_{name}": path for name, path in _NUMBERS.items()},
    "reflected_add": _NUMBERS["add"],
    "reflected_multiply": _NUMBERS["multiply"],
    "out_add": _into(torch.add, torch.int64),
    "out_subtract": _into(torch.sub, torch.int64),
    "out_multiply": _into(torch.mul, torch.int64, *COMPLEX),
    "out_divide": _into(torch.div),
    "add": _arithmetic(elementwise.add, torch.bool, *INTEGER),
    "subtract": _arithmetic(elementwise.subtract, *INTEGER),
    "multiply": _arithmetic(elementwise.multiply, torch.bool, *INTEGER),
    "divide": _arithmetic(elementwise.divide),
    "reflected_maximum": scalar_maximum,
    "reflected_minimum": scalar_minimum,
    "max": _extremum(torch.max, torch.amax),
    "min": _extremum(torch.min, torch.amin),
    "all": _truth(torch.all),
    "any": _truth(torch.any),
    "std": _spread(torch.std),
    "var": _spread(torch.var),
}
