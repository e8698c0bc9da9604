"""Elementwise functions on torch that the standard lacks."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..kernels import fills_gaps, worked_around
from . import _integers
from . import elementwise as _elementwise
from ._shared import COMPLEX, HALF, SIGNED_INTEGER, UNSIGNED, Kernel, is_plain

deg2rad = torch.deg2rad
rad2deg = torch.rad2deg


@fills_gaps(torch.exp2, COMPLEX, "loses infinities and the sign of zero")
def exp2(x: Tensor, /) -> Tensor:
    return torch.exp(_elementwise.multiply(x, torch.tensor(math.log(2), dtype=x.dtype, device=x.device)))


def _extremum(native: Kernel, wins: Kernel) -> Kernel:
    @fills_gaps(native, UNSIGNED | COMPLEX, "no kernel for uint16, uint32, uint64 and complex numbers")
    def kernel(x1: Tensor, x2: Tensor, /) -> Tensor:
        first = wins(x1, x2)
        if x1.dtype in COMPLEX:
            first = first | torch.isnan(x2)
        return torch.where(first, x1, x2)

    return kernel


fmax = _extremum(torch.fmax, _elementwise.greater_equal)
fmin = _extremum(torch.fmin, _elementwise.less_equal)


@worked_around("NaN counts as negative")
def heaviside(x1: Tensor, x2: Tensor, /) -> Tensor:
    if is_plain(x1) and is_plain(x2):
        return torch.where(torch.isnan(x1), x1, torch.heaviside(x1, x2))
    step = torch.where(x1 == 0, x2, (x1 > 0).to(x1.dtype))
    return torch.where(torch.isnan(x1), x1, step)


@worked_around("of equal numbers the sum is rounded")
def logaddexp2(x1: Tensor, x2: Tensor, /) -> Tensor:
    if x1.dtype in HALF:
        return logaddexp2(x1.to(torch.float32), x2.to(torch.float32)).to(x1.dtype)
    larger, difference = torch.maximum(x1, x2), torch.abs(x1 - x2)
    # The difference of two equal infinities is NaN, and has a NaN for its derivative.
    known = ~torch.isnan(difference)
    return torch.where(known, larger, x1 + x2) + torch.log1p(
        torch.exp2(-difference.masked_fill(~known, math.inf))
    ) / math.log(2)


# -- whole numbers ----------------------------------------------------------------------------------------------------


def _gcd_uint64(x1: Tensor, x2: Tensor) -> Tensor:
    # The rest of the larger one by the smaller is less than 2**63, and so is the rest of the smaller by that.
    larger, smaller = _elementwise.maximum(x1, x2), _elementwise.minimum(x1, x2)
    rest = _integers.remainder_uint64(larger, smaller)
    second = _integers.remainder_uint64(smaller, rest)
    common = torch.gcd(rest.view(torch.int64), second.view(torch.int64))
    whole = torch.where(smaller.view(torch.int64) == 0, larger.view(torch.int64), smaller.view(torch.int64))
    return torch.where(rest.view(torch.int64) == 0, whole, common).view(torch.uint64)


def _lcm_uint64(x1: Tensor, x2: Tensor) -> Tensor:
    factor = _integers.floor_divide_uint64(x1, _gcd_uint64(x1, x2))
    return (factor.view(torch.int64) * x2.view(torch.int64)).view(torch.uint64)


def _gcd(x1: Tensor, x2: Tensor) -> Tensor:
    # The engine takes absolute values first. The least integer is its own absolute value, so remainders may have the
    # wrong sign.
    return torch.abs(torch.gcd(x1, x2))


def _lcm(x1: Tensor, x2: Tensor) -> Tensor:
    common = _gcd(x1, x2)
    # The quotient is exact. Products wrap around as those of unsigned numbers do.
    quotient = torch.div(x1, common + (common == 0), rounding_mode="trunc")
    return torch.abs(quotient) * torch.abs(x2)


def _integer(native: Kernel, of_signed: Kernel, of_uint64: Kernel) -> Kernel:
    widened = _integers.widened(of_signed)

    @fills_gaps(native, SIGNED_INTEGER | UNSIGNED, "no kernel for uint16, uint32, uint64; wrong for the least integer")
    def kernel(x1: Tensor, x2: Tensor, /) -> Tensor:
        if x1.dtype not in UNSIGNED:
            return of_signed(x1, x2)
        return of_uint64(x1, x2) if x1.dtype is torch.uint64 else widened(x1, x2)

    return kernel


gcd = _integer(torch.gcd, _gcd, _gcd_uint64)
lcm = _integer(torch.lcm, _lcm, _lcm_uint64)


# -- scaling by powers of two -----------------------------------------------------------------------------------------

# For float64: bits of the fraction, exponent of 1.0, shift that takes the least number beyond the greatest.
_FRACTION, _ONE, _MOST = 52, 1023, 2148


@worked_around("the engine's raises two to a power, which overflows before the product does")
def ldexp(x: Tensor, exponent: Tensor, /) -> Any:
    if x.device.type == "mps":
        return NotImplemented
    exponent = exponent.to(torch.int64).clamp(-_MOST, _MOST)
    wide = x.to(torch.float64)
    if x.dtype is torch.float64:
        # The part beyond the exponents of one power goes first, in two steps. Then only the last product is rounded.
        last = exponent.clamp(1 - _ONE, _ONE - 1)
        rest = exponent - last
        half = rest >> 1
        wide, exponent = wide * _power(half) * _power(rest - half), last
    else:
        # Further away these are infinities and zeros.
        exponent = exponent.clamp(1 - _ONE, _ONE - 1)
    return (wide * _power(exponent)).to(x.dtype)


def _power(exponent: Tensor) -> Tensor:
    return ((exponent + _ONE) << _FRACTION).view(torch.float64)


def frexp(x: Tensor, /) -> tuple[Tensor, Tensor]:
    fraction, exponent = torch.frexp(x)
    return fraction, exponent
