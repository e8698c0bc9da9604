"""Division, remainders and powers on TensorFlow, where integers raise, floats round and complex numbers overflow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import fills_gaps
from . import _complex
from ._engine import (
    COMPLEX,
    FLOAT,
    HALF,
    SIGNED,
    UNSIGNED,
    binary,
    cast,
    from_fresh,
    is_traced,
    may_record,
    on_host,
    plain_on_host,
    raw,
    scalar,
    select,
    tf,
    truth,
    via,
    with_sign,
)

Kernel = Callable[..., Any]

_subtract, _multiply, _divide = binary("Sub"), binary("Mul"), binary("RealDiv")
_floor_mod, _right_shift = binary("FloorMod"), binary("RightShift")


def _integer_division(op: str) -> Kernel:
    function = binary(op)

    def kernel(x1: Any, x2: Any, /) -> Any:
        if not is_traced(x1) and not is_traced(x2) and "CPU" in x2.device:
            try:
                return function(x1, x2)
            except (tf.errors.InvalidArgumentError, tf.errors.InternalError):
                pass  # There is a 0 in x2, and NumPy answers 0.
        zero = raw.Equal(x=x2, y=raw.ZerosLike(x=x2))
        result = function(x1, select(zero, scalar(1, x2), x2))
        return select(zero, raw.ZerosLike(x=result), result)

    return kernel


def _quotient(x1: Any, x2: Any) -> Any:
    """Divide after subtracting the remainder, so that rounding never reaches the next integer."""
    return raw.Round(x=_divide(_subtract(x1, _floor_mod(x1, x2)), x2))


def _has_signs(result: Any, sign_of: Callable[..., Any], *arrays: Any) -> bool:
    """Return whether the host sees that each zero has the sign that it should; nothing else is ever wrong."""
    values, *others = map(on_host, (result, *arrays))
    if values is None or any(each is None for each in others):
        return False
    return bool(((values != 0) | (np.signbit(values) == sign_of(*map(np.signbit, others)))).all())


# Up to how many elements NumPy divides sooner than the engine takes the steps.
_FEW = 1024
# And up to how many Python does so sooner than NumPy.
_LISTED = 16
_NORMAL = float(np.finfo(np.float64).smallest_normal)


def _are_finite(values: np.ndarray) -> bool:
    # In half the time of ``all``, where there are few.
    return np.count_nonzero(np.isfinite(values)) == values.size


def _few_floor_divided(x1: Any, x2: Any) -> Any:
    """Return the floored quotients of a few normal numbers by Python, ``None`` of others and where one isn't finite.

    They are NumPy's, whose function begins in more time than Python takes for all of them.
    """
    first, second = on_host(x1), on_host(x2)
    if first is None or second is None or may_record() or first.shape != second.shape:
        return None
    if not 0 < first.size <= _LISTED or first.dtype.char != "d":
        return None
    dividends, divisors = first.ravel().tolist(), second.ravel().tolist()
    if not min(map(abs, divisors)) >= _NORMAL <= min(map(abs, dividends)) or not math.isfinite(sum(divisors)):
        return None
    found = [one // other for one, other in zip(dividends, divisors, strict=True)]
    return from_fresh(np.array(found).reshape(first.shape)) if math.isfinite(sum(found)) else None


def _float_floor_divide(x1: Any, x2: Any) -> Any:
    few = _few_floor_divided(x1, x2)
    if few is not None:
        return few
    first = plain_on_host(x1)
    second = None if first is None or first.size > _FEW else plain_on_host(x2)
    if second is not None and second.size <= _FEW:
        with np.errstate(all="ignore"):
            found = np.floor_divide(first, second)
        # Beside infinities, and by zero, the standard wants another result than NumPy gives.
        if _are_finite(found) and _are_finite(second):
            return from_fresh(found)
    quotient = _quotient(x1, x2)
    values = on_host(quotient)
    if values is not None and np.isfinite(values).all() and _has_signs(quotient, np.not_equal, x1, x2):
        return quotient
    # Where that is 0 it may have the wrong sign; where it isn't finite the standard wants the plain quotient.
    plain = raw.Equal(x=raw.RealDiv(x=quotient, y=quotient), y=scalar(1.0, quotient))
    return select(plain, quotient, raw.Floor(x=_divide(x1, x2)))


def _float_remainder(x1: Any, x2: Any) -> Any:
    result = _floor_mod(x1, x2)
    if _has_signs(result, np.asarray, x2):
        return result
    zero = scalar(0.0, result)
    return select(raw.Equal(x=result, y=zero), _divide(zero, x2), result)


_HALF, _BRAIN = tf.float16, tf.bfloat16
_half_floor_divide = via(tf.float32, _float_floor_divide)
_half_remainder = via(tf.float32, _float_remainder)


@fills_gaps(_integer_division("FloorDiv"), FLOAT, "the op rounds the quotient before it takes the floor")
def floor_divide(x1: Any, x2: Any, /) -> Any:
    # By identity: the engine's dtypes are slow to hash.
    return (_half_floor_divide if x1.dtype is _HALF or x1.dtype is _BRAIN else _float_floor_divide)(x1, x2)


@fills_gaps(_integer_division("FloorMod"), FLOAT, "the op gives 0 the wrong sign")
def remainder(x1: Any, x2: Any, /) -> Any:
    return (_half_remainder if x1.dtype in HALF else _float_remainder)(x1, x2)


_WIDER = {tf.int8: tf.int32, tf.int16: tf.int32}


@fills_gaps(
    _integer_division("TruncateMod"), {*_WIDER, *UNSIGNED, *FLOAT}, "kernels only for 32 and 64 bits, no gradient"
)
def fmod(x1: Any, x2: Any, /) -> Any:
    """Divide absolute values, where the truncated remainder is that of the floor, and give it the sign of ``x1``."""
    if x1.dtype in _WIDER:
        return via(_WIDER[x1.dtype], fmod)(x1, x2)
    if x1.dtype in UNSIGNED:
        return remainder(x1, x2)
    return with_sign(_floor_mod(raw.Abs(x=x1), raw.Abs(x=x2)), x1)


def _is_half(x: Any) -> bool:
    """Return whether a tensor is known to be the number 1/2."""
    if x.ndim:
        return False
    values = tf.get_static_value(x) if is_traced(x) else on_host(x)
    return values is not None and bool(values == 0.5)


def _power(x1: Any, x2: Any, /) -> Any:
    # By the number 1/2 NumPy takes the square root, which differs from the power at -0.0 and minus infinity.
    if _is_half(x2):
        return raw.Sqrt(x=x1)
    try:
        return _pow(x1, x2)
    except tf.errors.InvalidArgumentError as error:
        if x1.dtype in SIGNED:
            raise ValueError("integers to negative integer powers are not allowed") from error
        raise


_pow = binary("Pow")


@fills_gaps(_power, UNSIGNED | COMPLEX, "no kernel for unsigned integers; wrong for a complex 0")
def pow(x1: Any, x2: Any, /) -> Any:
    if x1.dtype in COMPLEX:
        return _complex.pow(x1, x2)
    base, exponent = cast(x1, tf.int64), cast(x2, tf.int64)
    if x1.dtype != tf.uint64:
        return cast(_pow(base, exponent), x1.dtype)
    # An exponent above 2**63 is negative as int64: half of it isn't.
    one = scalar(1, x2)
    half = _pow(base, cast(_right_shift(x2, one), tf.int64))
    odd = truth(binary("BitwiseAnd")(x2, one))
    once = select(odd, base, tf.constant(np.int64(1)))
    return cast(_multiply(raw.Square(x=half), once), tf.uint64)
