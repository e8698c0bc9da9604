"""Maxima and minima that keep NaN on TensorFlow.

XLA's own on the CPU drop a NaN that they compare second. Only flags of the whole process change that, so compiled
functions select the NaN by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..kernels import facts_of, state
from ._engine import FLOAT, EagerTensor, binary, constant, integers, raw, scalar, select
from ._private import is_for_xla

_or = binary("LogicalOr")


def _drops_nan(x: Any) -> bool:
    return type(x) is not EagerTensor and x.dtype in FLOAT and is_for_xla()


def _of_two(op: str, order: str) -> Callable[[Any, Any], Any]:
    function, wins = binary(op), binary(order)

    def kernel(x1: Any, x2: Any, /) -> Any:
        if not _drops_nan(x1) and not _drops_nan(x2):
            return function(x1, x2)
        return select(_or(wins(x1, x2), raw.IsNan(x=x1)), x1, x2)

    kernel.__name__ = kernel.__qualname__ = op
    state(kernel, plain=facts_of(function)["plain"])
    return kernel


maximum = _of_two("Maximum", "GreaterEqual")
minimum = _of_two("Minimum", "LessEqual")


def _of_axes(op: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        axes = integers(*axis)
        found = op(input=x, axis=axes, keep_dims=keepdims)
        if not _drops_nan(x):
            return found
        has_nan = raw.Any(input=raw.IsNan(x=x), axis=axes, keep_dims=keepdims)
        return select(has_nan, constant(math.nan, x.dtype), found)

    return reduce


greatest = _of_axes(raw.Max)
least = _of_axes(raw.Min)


def clipped(x: Any, low: float, high: float) -> Any:
    """Return numbers limited to a range; NaN stays."""
    found = raw.ClipByValue(t=x, clip_value_min=scalar(low, x), clip_value_max=scalar(high, x))
    return select(raw.IsNan(x=x), x, found) if _drops_nan(x) else found


def magnitude(x: Any, real: Any) -> Any:
    """Return the absolute value of complex numbers, whose real dtype is given: infinity beside an infinite part."""
    found = raw.ComplexAbs(x=x, Tout=real)
    if type(x) is EagerTensor or not is_for_xla():
        return found
    a, b = raw.Real(input=x, Tout=real), raw.Imag(input=x, Tout=real)
    unknown = select(_or(raw.IsNan(x=a), raw.IsNan(x=b)), constant(math.nan, real), found)
    return select(_or(raw.IsInf(x=a), raw.IsInf(x=b)), constant(math.inf, real), unknown)
