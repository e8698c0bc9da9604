"""Elementwise functions on TensorFlow: raw ops, and formulas for the dtypes that they lack or get wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import fills_gaps, state, worked_around
from . import _complex, _extremes
from ._division import floor_divide as floor_divide
from ._division import fmod as fmod
from ._division import pow as pow
from ._division import remainder as remainder
from ._engine import (
    BOOL,
    COMPLEX,
    FLOAT,
    HALF,
    INTEGER,
    NUMPY_DTYPES,
    REAL,
    SIGNED,
    UNSIGNED,
    binary,
    broadcast_arrays,
    cast,
    direct,
    is_traced,
    join,
    parts,
    raw,
    scalar,
    select,
    sign_bit,
    tf,
    truth,
    unary,
    via,
    with_sign,
)
from ._items import into_window

Kernel = Callable[..., Any]


def _identity(x: Any, /) -> Any:
    return x


# -- one array --------------------------------------------------------------------------------------------------------

acos = unary("Acos")
acosh = unary("Acosh")
asin = unary("Asin")
asinh = unary("Asinh")
atan = unary("Atan")
atanh = unary("Atanh")
cos = unary("Cos")
cosh = unary("Cosh")
positive = unary("Identity")
sin = unary("Sin")
sinh = unary("Sinh")
tan = unary("Tan")

exp = fills_gaps(unary("Exp"), {tf.complex64}, "wrong at infinities in complex64")(_complex.exp)
expm1 = fills_gaps(unary("Expm1"), COMPLEX, "wrong at infinities and for large numbers")(_complex.expm1)
log = fills_gaps(unary("Log"), COMPLEX, "overflows in the absolute value")(_complex.log)
log1p = fills_gaps(unary("Log1p"), COMPLEX, "wrong at -1, infinities and large numbers")(_complex.log1p)
sqrt = fills_gaps(unary("Sqrt"), COMPLEX, "wrong at infinities, and loses the sign of zero")(_complex.sqrt)
tanh = fills_gaps(unary("Tanh"), COMPLEX, "loses the sign of zero at infinity")(_complex.tanh)
square = fills_gaps(unary("Square"), COMPLEX, "invents infinities from NaN")(_complex.square)

_ceil, _floor = unary("Ceil"), unary("Floor")
_ROUNDS_INTEGERS = "no kernel for integers, which are round"
ceil = fills_gaps(_ceil, BOOL | INTEGER, _ROUNDS_INTEGERS)(_identity)
floor = fills_gaps(_floor, BOOL | INTEGER, _ROUNDS_INTEGERS)(_identity)


def _trunc(x: Any, /) -> Any:
    return raw.TruncateDiv(x=x, y=scalar(1.0, x))


trunc = fills_gaps(_trunc, BOOL | INTEGER, _ROUNDS_INTEGERS)(_identity)


@fills_gaps(unary("Round"), BOOL | INTEGER | COMPLEX, "no kernel for some integers, which are round, and for complex")
def round(x: Any, /) -> Any:
    if x.dtype not in COMPLEX:
        return x
    real, imag = parts(x)
    return join(raw.Round(x=real), raw.Round(x=imag))


@fills_gaps(unary("Abs"), BOOL | UNSIGNED | COMPLEX, "no kernel for unsigned integers, and another op for complex")
def abs(x: Any, /) -> Any:
    return _extremes.magnitude(x, REAL[x.dtype]) if x.dtype in COMPLEX else x


conj = fills_gaps(unary("Conj"), BOOL | INTEGER | FLOAT, "the op takes only complex")(_identity)


def _classify(op: str, joined: str, of_integers: str) -> Kernel:
    native, join_parts = unary(op), binary(joined)

    @fills_gaps(native, BOOL | INTEGER | COMPLEX, "the op takes only real floating-point numbers")
    def kernel(x: Any, /) -> Any:
        if x.dtype in COMPLEX:
            return raw.NotEqual(x=x, y=x) if op == "IsNan" else join_parts(*map(native, parts(x)))
        return getattr(raw, of_integers)(x=x, y=x)

    return kernel


isfinite = _classify("IsFinite", "LogicalAnd", "Equal")
isinf = _classify("IsInf", "LogicalOr", "NotEqual")
isnan = _classify("IsNan", "LogicalOr", "NotEqual")


def _logarithm(base: float) -> Kernel:
    factor = math.log(base)

    def native(x: Any, /) -> Any:
        return raw.RealDiv(x=raw.Log(x=x), y=scalar(factor, x))

    complex_log, half_log = _complex.scaled_log(base), via(tf.float32, native)

    @fills_gaps(native, HALF | COMPLEX, "the engine has only the natural logarithm")
    def kernel(x: Any, /) -> Any:
        return complex_log(x) if x.dtype in COMPLEX else half_log(x)

    return kernel


log2 = _logarithm(2.0)
log10 = _logarithm(10.0)


@fills_gaps(unary("LogicalNot"), INTEGER | FLOAT | COMPLEX, "the op takes only bool")
def logical_not(x: Any, /) -> Any:
    return raw.LogicalNot(x=truth(x))


bitwise_invert = fills_gaps(unary("Invert"), BOOL, "the op takes only integers")(lambda x: raw.LogicalNot(x=x))


@fills_gaps(unary("Neg"), UNSIGNED, "no kernel for unsigned integers")
def negative(x: Any, /) -> Any:
    # Not 0 - x: in a graph TensorFlow makes that a negation, which has no kernel.
    return raw.AddV2(x=raw.Invert(x=x), y=scalar(1, x))


@fills_gaps(unary("Sign"), UNSIGNED | COMPLEX, "no kernel for unsigned integers, wrong for complex infinities")
def sign(x: Any, /) -> Any:
    return _complex.sign(x) if x.dtype in COMPLEX else cast(truth(x), x.dtype)


@worked_around("the engine has none that sees -0.0")
def signbit(x: Any, /) -> Any:
    return sign_bit(x)


@worked_around("the engine has none")
def cbrt(x: Any, /) -> Any:
    if x.dtype in HALF:
        return via(tf.float32, cbrt)(x)
    one = scalar(1.0, x)
    # Not the absolute value, whose derivative at zero is zero.
    sign = select(sign_bit(x), scalar(-1.0, x), one)
    root = raw.Mul(x=raw.Pow(x=raw.Mul(x=x, y=sign), y=scalar(1 / 3, x)), y=sign)
    # One step of Newton's method mends the power of a rounded third; of infinities and zeros it would make NaN.
    regular = raw.LogicalAnd(x=raw.IsFinite(x=x), y=raw.NotEqual(x=x, y=raw.ZerosLike(x=x)))
    number, guess = (select(regular, each, one) for each in (x, root))
    step = raw.Sub(x=guess, y=raw.RealDiv(x=number, y=raw.Mul(x=guess, y=guess)))
    return raw.Sub(x=root, y=raw.RealDiv(x=step, y=scalar(3.0, x)))


@fills_gaps(unary("Reciprocal"), INTEGER | COMPLEX, "no kernel for integers, wrong signs of zero for complex")
def reciprocal(x: Any, /) -> Any:
    if x.dtype in COMPLEX:
        return _complex.reciprocal(x)
    # Only 1 and -1 have one that isn't cut to 0; what C makes of 1 / 0 NumPy says.
    with np.errstate(all="ignore"):
        of_zero = tf.constant(np.reciprocal(np.zeros((), NUMPY_DTYPES[x.dtype])))
    zero = raw.ZerosLike(x=x)
    return select(raw.Equal(x=x, y=zero), of_zero, select(raw.Equal(x=x, y=sign(x)), x, zero))


# -- arithmetic of two arrays -----------------------------------------------------------------------------------------

_and, _or = binary("LogicalAnd"), binary("LogicalOr")
_add, _subtract, _multiply, _divide = binary("AddV2"), binary("Sub"), binary("Mul"), binary("RealDiv")
_equal, _not_equal = binary("Equal"), binary("NotEqual")


subtract = _subtract
state(subtract, into_window=into_window(raw.TensorScatterSub))
atan2 = binary("Atan2")
add = fills_gaps(_add, BOOL, "no kernel for bool")(_or)
state(add, into_window=into_window(raw.TensorScatterAdd))


@fills_gaps(_multiply, BOOL | COMPLEX, "no kernel for bool; in complex it invents infinities from NaN")
def multiply(x1: Any, x2: Any, /) -> Any:
    return _complex.multiply(x1, x2) if x1.dtype in COMPLEX else _and(x1, x2)


@fills_gaps(_divide, INTEGER | COMPLEX, "no kernel for integers; in complex it is wrong at 0 and infinities")
def divide(x1: Any, x2: Any, /) -> Any:
    return _complex.divide(x1, x2) if x1.dtype in COMPLEX else _divide(cast(x1, tf.float64), cast(x2, tf.float64))


@worked_around("the engine has none")
def copysign(x1: Any, x2: Any, /) -> Any:
    return with_sign(x1, x2)


@worked_around("the engine has none")
def hypot(x1: Any, x2: Any, /) -> Any:
    x1, x2 = broadcast_arrays(x1, x2)
    if x1.dtype in HALF:
        return via(tf.float32, hypot)(x1, x2)
    return _extremes.magnitude(join(x1, x2), x1.dtype)


@worked_around("the engine has none")
def logaddexp(x1: Any, x2: Any, /) -> Any:
    x1, x2 = broadcast_arrays(x1, x2)
    if x1.dtype in HALF:
        return via(tf.float32, logaddexp)(x1, x2)
    first = raw.GreaterEqual(x=x1, y=x2)
    large, small = select(first, x1, x2), select(first, x2, x1)
    difference = raw.Sub(x=small, y=large)
    # The difference of two equal infinities is NaN: the sum is that infinity, or the NaN operand.
    result = raw.AddV2(x=large, y=raw.Log1p(x=raw.Exp(x=difference)))
    return select(raw.IsNan(x=difference), raw.AddV2(x=x1, y=x2), result)


@fills_gaps(binary("NextAfter"), HALF, "no kernel for 16 bits")
def nextafter(x1: Any, x2: Any, /) -> Any:
    x1, x2 = broadcast_arrays(x1, x2)
    dtype = x1.dtype
    bits = raw.Bitcast(input=x1, type=tf.int16)
    one, zero = raw.OnesLike(x=bits), raw.ZerosLike(x=x1)
    # Away from 0 the bits count up, towards it down.
    away = raw.Equal(x=raw.Greater(x=x2, y=x1), y=raw.Greater(x=x1, y=zero))
    step = raw.Bitcast(input=raw.AddV2(x=bits, y=select(away, one, raw.Neg(x=one))), type=dtype)
    smallest = copysign(raw.Bitcast(input=one, type=dtype), x2)
    step = select(raw.Equal(x=x1, y=zero), smallest, step)
    step = select(raw.Equal(x=x1, y=x2), x2, step)
    return select(_or(raw.IsNan(x=x1), raw.IsNan(x=x2)), raw.AddV2(x=x1, y=x2), step)


# -- bits and truth ---------------------------------------------------------------------------------------------------

_BITS = "the op takes only integers"
bitwise_and = fills_gaps(binary("BitwiseAnd"), BOOL, _BITS)(_and)
bitwise_or = fills_gaps(binary("BitwiseOr"), BOOL, _BITS)(_or)
bitwise_xor = fills_gaps(binary("BitwiseXor"), BOOL, _BITS)(_not_equal)
_left_shift, _right_shift = binary("LeftShift"), binary("RightShift")


def _in_range(shift: Any) -> tuple[Any, Any]:
    """Return which shifts are less than the width, a power of 2; also return the largest of those."""
    largest = tf.constant(np.array(shift.dtype.size * 8 - 1, shift.dtype.as_numpy_dtype))
    return raw.Equal(x=shift, y=raw.BitwiseAnd(x=shift, y=largest)), largest


@worked_around("the op clamps the shift to the width")
def bitwise_left_shift(x1: Any, x2: Any, /) -> Any:
    shifted = _left_shift(x1, x2)
    return select(_in_range(x2)[0], shifted, raw.ZerosLike(x=shifted))


@worked_around("the op clamps the shift to the width")
def bitwise_right_shift(x1: Any, x2: Any, /) -> Any:
    inside, largest = _in_range(x2)
    if x1.dtype in SIGNED:
        return _right_shift(x1, select(inside, x2, largest))
    shifted = _right_shift(x1, x2)
    return select(inside, shifted, raw.ZerosLike(x=shifted))


def _logical(op: Kernel) -> Kernel:
    @fills_gaps(op, INTEGER | FLOAT | COMPLEX, "the op takes only bool")
    def kernel(x1: Any, x2: Any, /) -> Any:
        return op(truth(x1), truth(x2))

    return kernel


logical_and = _logical(_and)
logical_or = _logical(_or)
logical_xor = _logical(_not_equal)


# -- comparisons ------------------------------------------------------------------------------------------------------


def _mixed(op: Kernel, x1: Any, x2: Any) -> Any:
    """Compare int64 with uint64: what int64 can't hold is larger than all that it can."""
    low, high = tf.constant(np.int64(0)), tf.constant(np.int64(1))
    if x1.dtype == tf.int64:
        unsigned, beyond = cast(x2, tf.int64), op(low, high)
        result = op(x1, unsigned)
    else:
        unsigned, beyond = cast(x1, tf.int64), op(high, low)
        result = op(unsigned, x2)
    return select(raw.Less(x=unsigned, y=low), beyond, result)


def _comparison(op: str) -> Kernel:
    function = binary(op)

    def native(x1: Any, x2: Any, /) -> Any:
        try:
            return function(x1, x2)
        except (tf.errors.InvalidArgumentError, TypeError):
            if x1.dtype == x2.dtype:
                raise
            return _mixed(function, x1, x2)

    state(native, plain=direct(op))
    if op in ("Equal", "NotEqual"):
        return native
    of_complex = _complex.ordered(op)

    @fills_gaps(native, BOOL | COMPLEX, "no kernel for bool and complex")
    def kernel(x1: Any, x2: Any, /) -> Any:
        if x1.dtype in COMPLEX:
            return of_complex(x1, x2)
        return function(cast(x1, tf.uint8), cast(x2, tf.uint8))

    return kernel


equal = _comparison("Equal")
not_equal = _comparison("NotEqual")
less = _comparison("Less")
less_equal = _comparison("LessEqual")
greater = _comparison("Greater")
greater_equal = _comparison("GreaterEqual")


def _extremum(of_real: Kernel, of_bool: Kernel, order: str) -> Kernel:
    of_complex = _complex.extremum(order)

    @fills_gaps(of_real, BOOL | COMPLEX, "no kernel for bool and complex")
    def kernel(x1: Any, x2: Any, /) -> Any:
        return of_complex(x1, x2) if x1.dtype in COMPLEX else of_bool(x1, x2)

    return kernel


maximum = _extremum(_extremes.maximum, _or, "GreaterEqual")
minimum = _extremum(_extremes.minimum, _and, "LessEqual")


def clip(x: Any, /, *, min: float, max: float) -> Any:
    """Limit an array to a range of Python numbers, in its own dtype; any other call declines."""
    if not (min < max and _holds(x.dtype, min) and _holds(x.dtype, max)):
        return NotImplemented
    low, high = scalar(min, x), scalar(max, x)
    if not is_traced(x):
        return raw.ClipByValue(x, low, high)
    # XLA's clamp drops NaN, and chooses between zeros by their signs.
    x = select(raw.Less(x=x, y=low), low, x)
    return select(raw.Greater(x=x, y=high), high, x)


def _holds(dtype: Any, value: float) -> bool:
    if dtype in FLOAT:
        return type(value) is float or type(value) is int
    return dtype in INTEGER and type(value) is int and dtype.min <= value <= dtype.max
