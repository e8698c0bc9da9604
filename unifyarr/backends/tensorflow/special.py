"""Special functions on TensorFlow."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import by_host, scipy_values, worked_around
from . import _extremes
from ._engine import HALF, cast, from_host, is_traced, raw, scalar, select, tf, unary

_erf = unary("Erf")
erfc = unary("Erfc")


@worked_around("NaN in float64 where the square overflows")
def erf(x: Any, /) -> Any:
    # It is 1 from 6 on, in float64.
    return _erf(_extremes.clipped(x, -6, 6))


def _in(wide: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in another dtype what would be rounded to the arrays' after each step."""

    @functools.wraps(function)
    def kernel(*arrays: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype is wide or (wide is tf.float32 and dtype not in HALF):
            return function(*arrays)
        return cast(function(*(cast(x, wide) for x in arrays)), dtype)

    return kernel


i0 = _in(tf.float32, unary("BesselI0"))
i0e = _in(tf.float32, unary("BesselI0e"))
i1 = _in(tf.float32, unary("BesselI1"))
i1e = _in(tf.float32, unary("BesselI1e"))
ndtri = _in(tf.float32, unary("Ndtri"))


@worked_around("the engine takes half of its least normal numbers for zero")
@functools.partial(_in, tf.float32)
def erfcinv(x: Any, /) -> Any:
    least = scalar(float(np.finfo(x.dtype.as_numpy_dtype).smallest_normal), x)
    is_least = (x >= least) & (x < 2 * least)
    found = raw.Ndtri(x=tf.where(is_least, 2 * x, x) / 2) * -math.sqrt(0.5)

    def corrected() -> Any:
        # There erfc(y) is exp(-y²) / (y sqrt(pi)) times a series in 1 / y²; each step gives three more digits of y.
        log = -tf.math.log(tf.where(is_least, x, least)) - math.log(math.pi) / 2
        y = tf.where(is_least, found, scalar(9, x))
        for _ in range(4):
            t = 0.5 / (y * y)
            series = -t * (1 - t * (3 - t * (15 - t * (105 - t * 945))))
            y = tf.sqrt(log - tf.math.log(y) + tf.math.log1p(series))
        return tf.where(is_least, y, found)

    return tf.cond(tf.reduce_any(is_least), corrected, lambda: found)


@worked_around("of minus infinity it is infinity")
@functools.partial(_in, tf.float32)
def gammaln(x: Any, /) -> Any:
    return select(raw.Equal(x=x, y=scalar(-math.inf, x)), x, raw.Lgamma(x=x))


@worked_around("it loses digits in single precision, and of zero it is NaN")
@functools.partial(_in, tf.float64)
def digamma(x: Any, /) -> Any:
    is_zero = raw.Equal(x=x, y=scalar(0, x))
    found = raw.Digamma(x=select(is_zero, scalar(1, x), x))
    return select(is_zero, raw.RealDiv(x=scalar(-1, x), y=x), found)


@worked_around(
    "where powers of a great number underflow it is 0 or NaN, and of an infinite exponent, or at a pole, NaN"
)
@functools.partial(_in, tf.float64)
def zeta(x: Any, q: Any, /) -> Any:
    one = scalar(1, x)
    x = _extremes.minimum(x, scalar(1e300, x))
    is_great = raw.LogicalAnd(x=raw.Greater(x=q, y=scalar(1e9, q)), y=raw.Greater(x=x, y=one))
    near = raw.Zeta(x=x, q=select(is_great, one, q))
    great = select(is_great, q, scalar(1e9, q))
    exponent = raw.Sub(x=x, y=one)
    # The sum is an integral but for half its first term.
    power = raw.Pow(x=great, y=raw.Neg(x=exponent))
    half = raw.RealDiv(x=power, y=raw.Mul(x=great, y=scalar(2, x)))
    far = raw.AddV2(x=raw.RealDiv(x=power, y=select(is_great, exponent, one)), y=half)
    found = select(is_great, far, near)
    is_pole = raw.LogicalAnd(x=raw.LessEqual(x=q, y=scalar(0, q)), y=raw.Equal(x=q, y=raw.Floor(x=q)))
    found = select(is_pole, scalar(math.inf, x), found)
    # The engine's own looks at q first where XLA compiles it.
    found = select(raw.Less(x=x, y=one), scalar(math.nan, x), found)
    return select(raw.Equal(x=x, y=one), scalar(math.inf, x), found)


def _of_scipy(name: str, slope: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """Return a kernel of arrays of one shape; ``slope`` is the derivative by the last of them, the others have none."""

    def on_host(*arrays: Any) -> np.ndarray:
        return scipy_values(name, *map(np.asarray, arrays))

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def computed(*arrays: Any) -> Any:
        first = arrays[0]
        if is_traced(first):
            result = tf.numpy_function(on_host, arrays, first.dtype, stateful=False)
            result.set_shape(first.shape)
        else:
            result = from_host(on_host(*arrays))

        def gradient(upstream: Any) -> Any:
            return *((None,) * (len(arrays) - 1)), raw.Mul(x=upstream, y=slope(*arrays))

        return result, gradient

    return by_host(reason)(_in(tf.float64, computed))


def _gamma_density(a: Any, x: Any) -> Any:
    return tf.exp(tf.math.xlogy(a - 1, x) - x - tf.math.lgamma(a))


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    factor = tf.math.lgamma(a + b) - tf.math.lgamma(a) - tf.math.lgamma(b)
    return tf.exp(tf.math.xlogy(a - 1, x) + tf.math.xlog1py(b - 1, -x) + factor)


_WRONG = "the engine's is wrong for parameters from about 1e8, and has 12 digits of float64 below"
betainc = _of_scipy("betainc", _beta_density, _WRONG)
gammainc = _of_scipy("gammainc", _gamma_density, _WRONG)
gammaincc = _of_scipy("gammaincc", lambda a, x: -_gamma_density(a, x), _WRONG)
