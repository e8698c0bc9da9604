"""Complex functions in real parts, for the elements where the engine's own complex kernels go wrong.

Those are right where their result is an ordinary number, and wrong around infinities, NaN, overflow and the sign of
zero. So a kernel tries the engine's first, looks at the result (which costs little: the host shares the CPU's memory),
and uses the formula here only where something special came out, or where it can't look: on a GPU and in a graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._engine import binary, broadcast_arrays, cast, join, on_host, parts, raw, scalar, select, tf, with_sign

_add, _subtract, _multiply, _divide = binary("AddV2"), binary("Sub"), binary("Mul"), binary("RealDiv")
_or, _and = binary("LogicalOr"), binary("LogicalAnd")


def _is_ordinary(result: Any) -> bool:
    values = on_host(result)
    if values is None:
        return False
    values = values.reshape(-1).view(values.real.dtype)
    return bool(np.isfinite(values).all() and values.all())


def checked(native: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Use ``native`` where its result is ordinary, the decorated formula elsewhere."""

    def decorate(formula: Callable[..., Any]) -> Callable[..., Any]:
        def kernel(*arrays: Any) -> Any:
            result = native(*arrays)
            return result if _is_ordinary(result) else formula(*arrays)

        return kernel

    return decorate


def _log_abs(a: Any, b: Any, a_squared_minus_1: Any) -> Any:
    """Return the logarithm of hypot(a, b), exact near 1 and without overflow; infinite where one of the two is."""
    infinite = _or(raw.IsInf(x=a), raw.IsInf(x=b))
    a, b = raw.Abs(x=a), raw.Abs(x=b)
    one, half = scalar(1.0, a), scalar(0.5, a)
    first = raw.GreaterEqual(x=a, y=b)
    large, small = raw.SelectV2(condition=first, t=a, e=b), raw.SelectV2(condition=first, t=b, e=a)
    b_squared_minus_1 = raw.Mul(x=raw.Sub(x=b, y=one), y=raw.AddV2(x=b, y=one))
    near = raw.AddV2(x=raw.SelectV2(condition=first, t=a_squared_minus_1, e=b_squared_minus_1), y=raw.Square(x=small))
    nothing = raw.Equal(x=large, y=raw.ZerosLike(x=large))
    ratio = raw.RealDiv(x=small, y=raw.SelectV2(condition=nothing, t=raw.OnesLike(x=large), e=large))
    is_near = _and(raw.Greater(x=large, y=half), raw.Less(x=large, y=scalar(2.0, a)))
    # The branch that isn't taken gets an argument without a singularity, so that its gradient stays finite.
    squares = raw.SelectV2(condition=is_near, t=near, e=raw.Square(x=ratio))
    scale = raw.SelectV2(condition=is_near, t=raw.OnesLike(x=large), e=large)
    result = raw.AddV2(x=raw.Log(x=scale), y=raw.Mul(x=half, y=raw.Log1p(x=squares)))
    return raw.SelectV2(condition=infinite, t=raw.Fill(dims=raw.Shape(input=a), value=scalar(math.inf, a)), e=result)


@checked(lambda x: raw.Log(x=x))
def log(x: Any) -> Any:
    a, b = parts(x)
    one = scalar(1.0, a)
    near = raw.Mul(x=raw.Sub(x=a, y=one), y=raw.AddV2(x=a, y=one))
    return join(_log_abs(a, b, near), raw.Atan2(y=b, x=a))


@checked(lambda x: raw.Log1p(x=x))
def log1p(x: Any) -> Any:
    a, b = parts(x)
    moved = raw.AddV2(x=a, y=scalar(1.0, a))
    return join(_log_abs(moved, b, raw.Mul(x=a, y=raw.AddV2(x=a, y=scalar(2.0, a)))), raw.Atan2(y=b, x=moved))


def scaled_log(base: float) -> Callable[[Any], Any]:
    """Return the logarithm to a base: both parts of the natural one, scaled."""

    def kernel(x: Any) -> Any:
        real, imag = parts(log(x))
        factor = scalar(1 / math.log(base), real)
        return join(raw.Mul(x=real, y=factor), raw.Mul(x=imag, y=factor))

    return kernel


def exp(x: Any) -> Any:
    # The kernel for complex128 is right.
    return cast(raw.Exp(x=cast(x, tf.complex128)), x.dtype)


@checked(lambda x: raw.Expm1(x=x))
def expm1(x: Any) -> Any:
    a, b = parts(x)
    zero = raw.ZerosLike(x=a)
    half_sine = raw.Sin(x=raw.Mul(x=b, y=scalar(0.5, b)))
    real = raw.Sub(x=raw.Mul(x=raw.Expm1(x=a), y=raw.Cos(x=b)), y=raw.Mul(x=scalar(2.0, a), y=raw.Square(x=half_sine)))
    # The standard has +0 for either zero.
    real = raw.SelectV2(condition=raw.Equal(x=real, y=zero), t=zero, e=real)
    imag = raw.Mul(x=raw.Exp(x=a), y=raw.Sin(x=b))
    # inf * 0 has no value, and an infinite or unknown angle leaves the radius.
    imag = raw.SelectV2(condition=raw.Equal(x=b, y=zero), t=b, e=imag)
    adrift = _and(raw.LogicalNot(x=raw.IsFinite(x=b)), raw.IsInf(x=a))
    real = raw.SelectV2(condition=adrift, t=raw.Expm1(x=a), e=real)
    imag = raw.SelectV2(condition=_and(adrift, raw.Less(x=a, y=zero)), t=zero, e=imag)
    return join(real, imag)


@checked(lambda x: raw.Tanh(x=x))
def tanh(x: Any) -> Any:
    real, imag = parts(raw.Tanh(x=x))
    # At infinity the engine loses the sign of the imaginary 0.
    a, b = parts(raw.StopGradient(input=x))
    beyond = _and(raw.IsInf(x=a), raw.IsFinite(x=b))
    return join(real, raw.SelectV2(condition=beyond, t=with_sign(raw.ZerosLike(x=b), b), e=imag))


@checked(lambda x: raw.Sqrt(x=x))
def sqrt(x: Any) -> Any:
    result = raw.Sqrt(x=x)
    real, imag = parts(result)
    # These values are limits or branch points: they have no gradient.
    a, b = parts(raw.StopGradient(input=x))
    zero = raw.ZerosLike(x=a)
    infinity = raw.Fill(dims=raw.Shape(input=a), value=scalar(math.inf, a))
    right, root = raw.GreaterEqual(x=a, y=zero), raw.Sqrt(x=raw.Abs(x=a))
    flat = _or(_and(raw.Equal(x=b, y=zero), raw.Equal(x=a, y=a)), raw.IsInf(x=a))
    tall = raw.IsInf(x=b)
    real = raw.SelectV2(
        condition=flat, t=raw.SelectV2(condition=right, t=root, e=raw.Mul(x=zero, y=raw.Abs(x=b))), e=real
    )
    imag = raw.SelectV2(
        condition=flat, t=raw.SelectV2(condition=right, t=raw.Mul(x=zero, y=b), e=with_sign(root, b)), e=imag
    )
    return join(raw.SelectV2(condition=tall, t=infinity, e=real), raw.SelectV2(condition=tall, t=b, e=imag))


@checked(binary("Mul"))
def multiply(x1: Any, x2: Any) -> Any:
    (a, b), (c, d) = parts(x1), parts(x2)
    return join(
        _subtract(_multiply(a, c), _multiply(b, d)),
        _add(_multiply(a, d), _multiply(b, c)),
    )


def square(x: Any) -> Any:
    return multiply(x, x)


@checked(binary("RealDiv"))
def divide(x1: Any, x2: Any) -> Any:
    """Divide as NumPy does: Smith's method (Communications of the ACM 5, 1962), and by 0 part by part."""
    x1, x2 = broadcast_arrays(x1, x2)
    (a, b), (c, d) = parts(x1), parts(x2)
    wide = raw.GreaterEqual(x=raw.Abs(x=c), y=raw.Abs(x=d))
    large, small = select(wide, c, d), select(wide, d, c)
    p, q = select(wide, a, b), select(wide, b, a)
    by_zero = raw.Equal(x=large, y=raw.ZerosLike(x=large))
    divisor = select(by_zero, raw.OnesLike(x=large), large)
    ratio = raw.RealDiv(x=small, y=divisor)
    scale = raw.Reciprocal(x=raw.AddV2(x=divisor, y=raw.Mul(x=small, y=ratio)))
    real = raw.Mul(x=raw.AddV2(x=p, y=raw.Mul(x=q, y=ratio)), y=scale)
    turned = raw.Mul(x=p, y=ratio)
    imag = raw.Mul(x=select(wide, raw.Sub(x=q, y=turned), raw.Sub(x=turned, y=q)), y=scale)
    nothing = raw.Abs(x=c)
    return join(select(by_zero, raw.RealDiv(x=a, y=nothing), real), select(by_zero, raw.RealDiv(x=b, y=nothing), imag))


@checked(lambda x: raw.Reciprocal(x=x))
def reciprocal(x: Any) -> Any:
    """Return 1 / x as NumPy does, which differs from the division in the signs of zeros."""
    c, d = parts(x)
    wide = raw.LessEqual(x=raw.Abs(x=d), y=raw.Abs(x=c))
    large, small = select(wide, c, d), select(wide, d, c)
    ratio = raw.RealDiv(x=small, y=large)
    scale = raw.AddV2(x=large, y=raw.Mul(x=small, y=ratio))
    one = raw.OnesLike(x=scale)
    return join(
        raw.RealDiv(x=select(wide, one, ratio), y=scale),
        raw.RealDiv(x=raw.Neg(x=select(wide, ratio, one)), y=scale),
    )


@checked(lambda x: raw.Sign(x=x))
def sign(x: Any) -> Any:
    a, b = parts(x)
    zero = raw.ZerosLike(x=a)
    size = raw.ComplexAbs(x=x, Tout=a.dtype)
    # An infinite part is the whole direction; of two there is none.
    direction = [raw.SelectV2(condition=raw.IsInf(x=size), t=_infinite_part(part), e=part) for part in (a, b)]
    size = raw.ComplexAbs(x=join(*direction), Tout=a.dtype)
    nothing = raw.Equal(x=size, y=zero)
    safe = raw.SelectV2(condition=nothing, t=raw.OnesLike(x=size), e=size)
    unknown = _or(_or(raw.IsNan(x=a), raw.IsNan(x=b)), _and(raw.IsInf(x=a), raw.IsInf(x=b)))
    nan = raw.Fill(dims=raw.Shape(input=a), value=scalar(math.nan, a))
    result = [
        raw.SelectV2(condition=unknown, t=nan, e=raw.SelectV2(condition=nothing, t=zero, e=raw.RealDiv(x=part, y=safe)))
        for part in direction
    ]
    return join(*result)


def _infinite_part(part: Any) -> Any:
    return raw.SelectV2(condition=raw.IsInf(x=part), t=raw.Sign(x=part), e=raw.ZerosLike(x=part))


@checked(binary("Pow"))
def pow(x1: Any, x2: Any) -> Any:
    """Raise as NumPy does: to 0, -3 to 3 and of 0 by rule, otherwise through the logarithm."""
    x1, x2 = broadcast_arrays(x1, x2)
    zero, one = raw.ZerosLike(x=x1), raw.OnesLike(x=x1)
    real, imag = parts(raw.StopGradient(input=x2))
    size, none = raw.Abs(x=real), raw.ZerosLike(x=real)
    of_nothing = raw.Equal(x=x1, y=zero)
    result = raw.Pow(x=select(of_nothing, one, x1), y=x2)

    # A product of the base's parts keeps values that the logarithm of an infinity loses.
    base = select(raw.Greater(x=real, y=none), x1, multiply(one, x1))
    power = square(x1)
    power = select(raw.Equal(x=size, y=scalar(1.0, size)), base, power)
    power = select(raw.Equal(x=size, y=scalar(3.0, size)), multiply(base, square(x1)), power)
    small = _and(raw.Equal(x=raw.Round(x=size), y=size), raw.LessEqual(x=size, y=scalar(3.0, size)))
    small = _and(small, raw.Equal(x=imag, y=none))
    power = select(raw.Less(x=real, y=none), divide(one, power), power)
    result = select(small, power, result)

    nan = raw.Fill(dims=raw.Shape(input=real), value=scalar(math.nan, real))
    result = select(of_nothing, select(raw.Greater(x=real, y=none), zero, join(nan, nan)), result)
    return select(raw.Equal(x=x2, y=zero), one, result)


def ordered(op: str) -> Callable[[Any, Any], Any]:
    """Return a comparison in NumPy's order: by real part, then by imaginary part, and never with NaN."""
    strict, whole = binary(op.removesuffix("Equal")), binary(op)
    equal = binary("Equal")

    def kernel(x1: Any, x2: Any) -> Any:
        (a, b), (c, d) = parts(x1), parts(x2)
        known = _and(raw.Equal(x=b, y=b), raw.Equal(x=d, y=d))
        return _or(_and(strict(a, c), known), _and(equal(a, c), whole(b, d)))

    return kernel


def extremum(op: str) -> Callable[[Any, Any], Any]:
    """Return the maximum or minimum in that order; NaN wins, the first one's first."""
    wins = ordered(op)

    def kernel(x1: Any, x2: Any) -> Any:
        a, b = parts(x1)
        return select(_or(wins(x1, x2), _or(raw.IsNan(x=a), raw.IsNan(x=b))), x1, x2)

    return kernel
