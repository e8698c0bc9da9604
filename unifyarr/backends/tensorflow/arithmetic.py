"""Elementwise functions on TensorFlow that the standard lacks: formulas of its ops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..kernels import worked_around
from . import elementwise as _elementwise
from ._engine import COMPLEX, FLOAT, HALF, broadcast_arrays, cast, raw, scalar, select, tf, via
from ._extremes import maximum as _maximum

Kernel = Callable[..., Any]
_NONE = "the engine has none"


def _scaled(factor: float) -> Kernel:
    @worked_around(_NONE)
    def kernel(x: Any, /) -> Any:
        return raw.Mul(x=x, y=scalar(factor, x))

    return kernel


deg2rad = _scaled(math.pi / 180)
rad2deg = _scaled(180 / math.pi)


@worked_around(_NONE)
def exp2(x: Any, /) -> Any:
    if x.dtype in HALF:
        return via(tf.float32, exp2)(x)
    if x.dtype in COMPLEX:
        return _elementwise.exp(_elementwise.multiply(x, scalar(math.log(2), x)))
    return raw.Pow(x=scalar(2.0, x), y=x)


def _extremum(wins: Kernel) -> Kernel:
    @worked_around(_NONE)
    def kernel(x1: Any, x2: Any, /) -> Any:
        x1, x2 = broadcast_arrays(x1, x2)
        first = wins(x1, x2)
        if x1.dtype in FLOAT or x1.dtype in COMPLEX:
            first = raw.LogicalOr(x=first, y=_elementwise.isnan(x2))
        return select(first, x1, x2)

    return kernel


fmax = _extremum(_elementwise.greater_equal)
fmin = _extremum(_elementwise.less_equal)


@worked_around(_NONE)
def heaviside(x1: Any, x2: Any, /) -> Any:
    x1, x2 = broadcast_arrays(x1, x2)
    zero = raw.ZerosLike(x=x1)
    step = select(raw.Equal(x=x1, y=zero), x2, cast(raw.Greater(x=x1, y=zero), x1.dtype))
    return select(raw.IsNan(x=x1), x1, step)


@worked_around(_NONE)
def logaddexp2(x1: Any, x2: Any, /) -> Any:
    x1, x2 = broadcast_arrays(x1, x2)
    if x1.dtype in HALF:
        return via(tf.float32, logaddexp2)(x1, x2)
    factor = scalar(math.log(2), x1)
    difference = raw.Abs(x=raw.Sub(x=x1, y=x2))
    # The difference of two equal infinities is NaN, and has a NaN for its derivative.
    unknown = raw.IsNan(x=difference)
    difference = select(unknown, scalar(math.inf, x1), difference)
    added = raw.Log1p(x=raw.Exp(x=raw.Neg(x=raw.Mul(x=difference, y=factor))))
    larger = select(unknown, raw.AddV2(x=x1, y=x2), _maximum(x1, x2))
    return raw.AddV2(x=larger, y=raw.RealDiv(x=added, y=factor))


# -- whole numbers ----------------------------------------------------------------------------------------------------


def _size(x: Any) -> Any:
    # The size of the least integer is an unsigned one.
    return x if x.dtype == tf.uint64 else cast(raw.Abs(x=cast(x, tf.int64)), tf.uint64)


def _euclid(x1: Any, x2: Any) -> Any:
    zero = scalar(0, x1)

    def goes_on(_: Any, second: Any) -> Any:
        return tf.reduce_any(raw.NotEqual(x=second, y=zero))

    def step(first: Any, second: Any) -> tuple[Any, Any]:
        done = raw.Equal(x=second, y=zero)
        return select(done, first, second), _elementwise.remainder(first, second)

    return tf.while_loop(goes_on, step, (x1, x2))[0]


@worked_around(_NONE)
def gcd(x1: Any, x2: Any, /) -> Any:
    return cast(_euclid(*map(_size, broadcast_arrays(x1, x2))), x1.dtype)


@worked_around(_NONE)
def lcm(x1: Any, x2: Any, /) -> Any:
    first, second = map(_size, broadcast_arrays(x1, x2))
    factor = _elementwise.floor_divide(first, _euclid(first, second))
    return cast(raw.Mul(x=factor, y=second), x1.dtype)
