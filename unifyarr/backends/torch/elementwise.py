"""Elementwise functions on torch: the engine's own, mended for the dtypes where it has no kernel or a wrong one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from ..guards import guarded
from ..kernels import (
    Applied,
    bound_by,
    composed_on_host,
    declines,
    fills_gaps,
    known_by,
    support_native_out,
    worked_around,
)
from . import _complex, _integers
from ._constants import known_number
from ._division import floor_divide_floats
from ._offered import off_host
from ._shared import (
    BOOL,
    COMPLEX,
    DTYPES,
    FLOAT,
    HALF,
    INTEGER,
    ODD_POWERS,
    SIGNED_INTEGER,
    UINT8,
    UNSIGNED,
    WIDE,
    Kernel,
    as_signed,
    by_bits,
    by_order,
    by_parts,
    flip_order,
    holds,
    in_order,
    is_finite,
    is_plain,
    parts,
    takes_number,
)

# -- right as they are ----------------------------------------------------------------------------------------------

acosh = torch.acosh
asin = torch.asin
asinh = torch.asinh
atan = torch.atan
atan2 = torch.atan2
atanh = torch.atanh
bitwise_and = torch.bitwise_and
bitwise_or = torch.bitwise_or
bitwise_xor = torch.bitwise_xor
copysign = torch.copysign
cos = torch.cos
divide = torch.div
exp = torch.exp
hypot = torch.hypot
isfinite = torch.isfinite
isinf = torch.isinf
isnan = torch.isnan
log = torch.log
log2 = torch.log2
log10 = torch.log10
logaddexp = torch.logaddexp
multiply = torch.mul
nextafter = torch.nextafter
signbit = torch.signbit
sin = torch.sin
sqrt = torch.sqrt
tan = torch.tan
# torch.positive returns its input.
positive = torch.clone

# -- mended ---------------------------------------------------------------------------------------------------------

Fix = tuple[Iterable[torch.dtype], Kernel, str]

_NO_UNSIGNED = "no kernel for uint16, uint32, uint64"


def _mended(native: Kernel, *fixes: Fix) -> Kernel:
    """Return ``native`` with other functions for some dtypes of the first array."""
    table = {dtype: function for dtypes, function, _ in fixes for dtype in dtypes}

    @fills_gaps(native, table, "; ".join(reason for *_, reason in fixes))
    def kernel(x: Tensor, /, *arrays: Tensor) -> Any:
        return table[x.dtype](x, *arrays)

    return kernel


def _modular(native: Kernel) -> Fix:
    return UNSIGNED, by_bits(native), _NO_UNSIGNED


def _componentwise(native: Kernel, reason: str) -> Fix:
    return COMPLEX, by_parts(native), reason


def _scalar_kernel(native: Kernel, *arrays: Tensor) -> Tensor:
    """Return the result of the scalar kernel of ``native`` for a tensor with gaps in memory, without reading values."""
    shape = torch.broadcast_shapes(*(x.shape for x in arrays))
    result = torch.empty((*shape, 2), dtype=arrays[0].dtype, device=arrays[0].device)[..., 0]
    found: Tensor = native(*arrays, out=result)
    return found


def _exactly(native: Kernel) -> Kernel:
    """Call the scalar kernel of ``native``, which strided operands take, where the vectorised one may overflow."""

    def kernel(*arrays: Tensor) -> Tensor:
        if not arrays[0].is_cpu and all(map(is_plain, arrays)):
            return in_order(_scalar_kernel(native, *arrays).contiguous(), *arrays)
        result = native(*arrays)
        if is_finite(result) or holds(isfinite(result).all(), unknown=False):
            return result
        first, *others = torch.broadcast_tensors(*arrays)
        return in_order(native(torch.stack((first, first), -1)[..., 0], *others), *arrays)

    return kernel


# -- copies, signs, rounding ----------------------------------------------------------------------------------------

abs = _mended(torch.abs, (UNSIGNED | BOOL, torch.clone, f"{_NO_UNSIGNED}, bool"))
bitwise_invert = _mended(torch.bitwise_not, _modular(torch.bitwise_not))
conj = _mended(torch.conj_physical, (INTEGER | BOOL | FLOAT, torch.clone, "returns real arrays themselves"))
ceil, floor, trunc = (
    _mended(function, (BOOL, torch.clone, "no kernel for bool")) for function in (torch.ceil, torch.floor, torch.trunc)
)
negative = _mended(torch.neg, _modular(torch.neg), _componentwise(torch.neg, "loses -0.0"))
round = _mended(torch.round, _componentwise(torch.round, "no kernel for complex numbers"))


sign = _mended(
    torch.sgn,
    (UNSIGNED, lambda x: (x != 0).to(x.dtype), _NO_UNSIGNED),
    (FLOAT, lambda x: torch.where(isnan(x), x, torch.sgn(x)), "NaN becomes 0"),
    (COMPLEX, _complex.sign, "infinite numbers become NaN, NaN becomes 0"),
)

# -- arithmetic -----------------------------------------------------------------------------------------------------

add, subtract = (
    _mended(
        function,
        _modular(function),
        (COMPLEX, _complex.of_sums(function, factor), "an infinite part makes the other one NaN"),
    )
    for function, factor in ((torch.add, 1), (torch.sub, -1))
)
square = _mended(torch.square, (UNSIGNED, lambda x: torch.mul(x, x), _NO_UNSIGNED))


reciprocal = _mended(
    torch.reciprocal,
    (INTEGER, lambda x: torch.reciprocal(x.to(torch.float64)).to(x.dtype), "gives floating-point numbers for integers"),
    (COMPLEX, _complex.reciprocal, "other special values and signs of zero"),
)


_NARROW = frozenset({torch.uint16, torch.uint32})
_UINT64 = frozenset({torch.uint64})


_fmod_floats = _exactly(torch.fmod)


def _remainder_floats(x1: Tensor, x2: Tensor) -> Tensor:
    if not is_plain(x1) or not is_plain(x2):
        pass
    elif x1.is_cpu:
        rest = torch.remainder(x1, x2)
        if is_finite(rest):
            # The engine leaves a zero the sign of x1. At zero, this has no derivative.
            return torch.copysign(rest, x2)
    else:
        return in_order(torch.copysign(_scalar_kernel(torch.remainder, x1, x2), x2), x1, x2)
    return in_order(_mended_remainder(x1, x2), x1, x2)


def _mended_remainder(x1: Tensor, x2: Tensor) -> Tensor:
    rest = _fmod_floats(x1, x2)
    rest = torch.where(((rest < 0) != (x2 < 0)) & (rest != 0), rest + x2, rest)
    zero = copysign(torch.zeros_like(rest), x2)
    if rest.requires_grad:
        # The zero with the sign of x2 has the derivatives of the other one, and subtracting 0.0 keeps its sign.
        zero = zero - (rest.detach() - rest)
    return torch.where(rest == 0, zero, rest)


_BY_ZERO = "integer division by zero raises"
floor_divide = _mended(
    torch.floor_divide,
    (SIGNED_INTEGER | UINT8, _integers.floor_divide, _BY_ZERO),
    (_NARROW, _integers.widened(_integers.floor_divide), _NO_UNSIGNED),
    (_UINT64, _integers.floor_divide_uint64, _NO_UNSIGNED),
    (FLOAT, floor_divide_floats, "NaN and -1 for infinite operands"),
)
remainder = _mended(
    torch.remainder,
    (SIGNED_INTEGER | UINT8, _integers.remainder, _BY_ZERO),
    (_NARROW, _integers.widened(_integers.remainder), _NO_UNSIGNED),
    (_UINT64, _integers.remainder_uint64, _NO_UNSIGNED),
    (FLOAT, _remainder_floats, "loses the sign of zero, NaN for infinite quotients"),
)
fmod = _mended(
    torch.fmod,
    (SIGNED_INTEGER | UINT8, _integers.fmod, _BY_ZERO),
    (_NARROW, _integers.widened(_integers.fmod), _NO_UNSIGNED),
    (_UINT64, _integers.remainder_uint64, _NO_UNSIGNED),
    (FLOAT, _fmod_floats, "NaN for infinite quotients"),
)


_pow = _mended(
    torch.pow,
    (SIGNED_INTEGER, _integers.pow_signed, "answers 0 for negative exponents"),
    (_NARROW, _integers.widened(torch.pow), _NO_UNSIGNED),
    (_UINT64, _integers.pow_uint64, _NO_UNSIGNED),
    (COMPLEX, _complex.pow, "NaN for powers of zero and to zero"),
)


_TO_NUMBERS = frozenset(WIDE) | COMPLEX


@functools.wraps(_pow)
def pow(x1: Tensor, x2: Tensor, /, *, out: Tensor | None = None) -> Any:
    # The engine has functions of their own for powers to numbers: products, and square roots.
    exponent = known_number(x2) if x2.dim() == 0 and x1.dtype in _TO_NUMBERS else None
    if exponent is not None:
        if x1.is_complex():
            powers = _complex.pow_number(x1, exponent)
            return powers if out is None else out.copy_(powers)
        if exponent not in ODD_POWERS:
            return torch.pow(x1, exponent, out=out)
    return _pow(x1, x2, out=out)


def _clipping(*, min: float, max: float) -> Callable[..., Any]:
    taken = frozenset(dtype for dtype in WIDE if takes_number(dtype, min) and takes_number(dtype, max))

    def clipping(x: Tensor, /, *, out: Tensor | None = None) -> Any:
        if out is None and x.dtype in taken and is_plain(x):
            return torch.clamp(x, min, max)
        return clip(x, min=min, max=max, out=out)

    return clipping


def _clamp(x: Tensor, min: float, max: float) -> Any:
    return torch.clamp(x, min, max) if is_plain(x) else NotImplemented


def _know_clipping(x: Tensor, *, min: float, max: float) -> Callable[..., Any] | None:
    if not takes_number(x.dtype, min) or not takes_number(x.dtype, max):
        return None
    return Applied(guarded(torch.clamp, _clamp, "unwatched"), min, max)


@known_by(_know_clipping)
@declines(lambda x, **ends: not all(takes_number(DTYPES[x.dtype], end) for end in ends.values()), transformed=True)
@bound_by(_clipping)
@support_native_out
def clip(x: Tensor, /, *, min: float, max: float, out: Tensor | None = None) -> Any:
    """Limit an array to a range of Python numbers, in its own dtype; any other call declines."""
    # At the ends of the range, where they meet, the derivative is another one than that of maximum and minimum.
    if takes_number(x.dtype, min) and takes_number(x.dtype, max) and is_plain(x):
        return torch.clamp(x, min, max, out=out)
    return NotImplemented


@composed_on_host
@declines(lambda x, **_: DTYPES[x.dtype] not in _TO_NUMBERS, transformed=True)
def nan_to_num(x: Tensor, /, *, nan: float, posinf: float, neginf: float) -> Any:
    if x.dtype not in _TO_NUMBERS or not is_plain(x):
        return NotImplemented
    return torch.nan_to_num(x, nan, posinf, neginf)


@off_host
def sinc(x: Tensor, /) -> Tensor:
    return torch.sinc(x)


@worked_around("the engine has none")
def cbrt(x: Tensor, /) -> Tensor:
    if x.dtype in HALF:
        return cbrt(x.to(torch.float32)).to(x.dtype)
    # Not copysign, which has no derivative at zero.
    sign = torch.where(signbit(x), -1.0, 1.0).to(x.dtype)
    root = torch.pow(x * sign, 1 / 3) * sign
    # One step of Newton's method mends the power of a rounded third; of infinities and zeros it would make NaN.
    regular = isfinite(x) & (x != 0)
    number, guess = (torch.where(regular, each, 1.0) for each in (x, root))
    return root - (guess - number / (guess * guess)) / 3


# -- logic and shifts -----------------------------------------------------------------------------------------------

logical_and, logical_not, logical_or, logical_xor = (
    _mended(f, (UNSIGNED, lambda *arrays, f=f: f(*map(as_signed, arrays)), _NO_UNSIGNED))
    for f in (torch.logical_and, torch.logical_not, torch.logical_or, torch.logical_xor)
)


bitwise_left_shift = _mended(torch.bitwise_left_shift, _modular(torch.bitwise_left_shift))
bitwise_right_shift = _mended(
    torch.bitwise_right_shift,
    (UNSIGNED, _integers.shift_right_unsigned, _NO_UNSIGNED),
)

# -- comparisons ----------------------------------------------------------------------------------------------------


def _comparison(native: Kernel, strict: Kernel | None = None) -> Kernel:
    """Return a comparison that takes int64 beside uint64; an ordering needs its ``strict`` form for complex numbers."""

    def lexicographic(x1: Tensor, x2: Tensor) -> Tensor:
        (real1, imag1), (real2, imag2) = parts(x1), parts(x2)
        return strict(real1, real2) & ~isnan(imag1) & ~isnan(imag2) | (real1 == real2) & native(imag1, imag2)  # type: ignore[misc]

    fixes: list[Fix] = [((), native, "no promotion of int64 beside uint64")]
    if strict is not None:
        fixes += [(UNSIGNED, by_order(native), _NO_UNSIGNED), (COMPLEX, lexicographic, "no kernel for complex numbers")]
    one_dtype = _mended(native, *fixes)

    @functools.wraps(one_dtype)
    def kernel(x1: Tensor, x2: Tensor, /, *, out: Tensor | None = None) -> Any:
        if x1.dtype is x2.dtype:
            return one_dtype(x1, x2, out=out)
        # As signed numbers, those from 2**63 on are negative; they are as far above all int64 as 1 is above 0.
        above1, above2 = (x.dtype is torch.uint64 and as_signed(x) < 0 for x in (x1, x2))
        above = above1 | above2
        return native(torch.where(above, above1, as_signed(x1)), torch.where(above, above2, as_signed(x2)))

    return kernel


equal = _comparison(torch.eq)
not_equal = _comparison(torch.ne)
less = _comparison(torch.lt, torch.lt)
less_equal = _comparison(torch.le, torch.lt)
greater = _comparison(torch.gt, torch.gt)
greater_equal = _comparison(torch.ge, torch.gt)


def _extremum(native: Kernel, wins: Kernel) -> Kernel:
    def unsigned(x1: Tensor, x2: Tensor) -> Tensor:
        return flip_order(native(flip_order(x1), flip_order(x2))).view(x1.dtype)

    def lexicographic(x1: Tensor, x2: Tensor) -> Tensor:
        return torch.where(isnan(x1) | wins(x1, x2), x1, x2)

    fixes = (UNSIGNED, unsigned, _NO_UNSIGNED), (COMPLEX, lexicographic, "no kernel for complex numbers")
    return _mended(native, *fixes)


maximum = _extremum(torch.maximum, greater_equal)
minimum = _extremum(torch.minimum, less_equal)

# -- exponentials and trigonometry ----------------------------------------------------------------------------------


cosh, sinh = (
    _mended(function, (FLOAT, _exactly(function), "infinite a little below the last finite result"))
    for function in (torch.cosh, torch.sinh)
)
acos = _mended(torch.acos, (COMPLEX, _complex.acos, "loses the sign of a zero imaginary part"))
expm1 = _mended(torch.expm1, (COMPLEX, _complex.expm1, "NaN for some infinite numbers"))
log1p = _mended(torch.log1p, (COMPLEX, _complex.log1p, "NaN for some infinite numbers"))
tanh = _mended(torch.tanh, (COMPLEX, _complex.tanh, "the imaginary part oscillates at infinity"))
