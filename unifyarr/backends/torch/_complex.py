"""Elementwise functions of complex numbers where torch has other special values than C99, NumPy and the standard."""

from __future__ import annotations

import cmath
import functools
from collections.abc import Callable

import torch
from torch import Tensor, copysign, isfinite, isinf

from ._shared import by_parts, from_parts, holds, is_plain, parts

# Whole powers below this are products, as in NumPy.
MOST_PRODUCTS = 100
_NAN = complex(float("nan"), float("nan"))


def sign(x: Tensor) -> Tensor:
    real, imag = parts(x)
    lone = isinf(real) != isinf(imag)
    real, imag = (
        torch.where(lone, torch.where(isinf(part), copysign(torch.ones_like(part), part), part.abs() * 0), part)
        for part in (real, imag)
    )
    size = torch.complex(real, imag).abs()
    zero = size == 0
    size = size.masked_fill(zero, 1)
    return torch.complex((real / size).masked_fill(zero, 0), (imag / size).masked_fill(zero, 0))


@functools.cache
def _scales() -> bool:
    """Return whether the engine's inverse is right where squares of numbers overflow, and where they underflow."""
    cases = ((torch.complex128, 1e200), (torch.complex128, 1e-200), (torch.complex64, 1e30), (torch.complex64, 1e-30))
    return all(
        torch.allclose(torch.full((17,), size * (1 + 1j), dtype=dtype).reciprocal() * size, _HALF.to(dtype), atol=0)
        for dtype, size in cases
    )


_HALF = torch.tensor(0.5 - 0.5j)


def reciprocal(x: Tensor) -> Tensor:
    if x.is_cpu and is_plain(x) and _scales():
        found = torch.reciprocal(x)
        # The product is NaN if there are zeros, infinities or NaN.
        if cmath.isfinite(torch.dot(x.reshape(-1), found.reshape(-1)).item()):
            return found
    return _smiths(x)


def _smiths(x: Tensor) -> Tensor:
    # Smith's algorithm, as in NumPy: "Algorithm 116: Complex division", Communications of the ACM 5 (1962).
    real, imag = parts(x)
    swap = real.abs() < imag.abs()
    large, small = torch.where(swap, imag, real), torch.where(swap, real, imag)
    ratio = small / large
    divisor = large + small * ratio
    return torch.complex(torch.where(swap, ratio, 1) / divisor, -torch.where(swap, 1, ratio) / divisor)


def _whole_powers(base: Tensor, exponent: Tensor) -> Tensor:
    """Multiply ``base`` with itself ``exponent`` times, a real whole number."""
    count = exponent.abs().to(torch.int64)
    power = torch.ones_like(base)
    for bit in range(int(count.max()).bit_length()):
        # Not 1 * base, where an infinite part makes the other one NaN; no square without need: it could overflow.
        first, used, more = count & (2**bit - 1) == 0, (count >> bit) & 1 != 0, count >> (bit + 1) != 0
        power = torch.where(used, torch.where(first, base, power * base.masked_fill(first | ~used, 1)), power)
        base = torch.where(more, base * base.masked_fill(~more, 1), base)
    return torch.where(exponent < 0, reciprocal(power), power)


def pow(x1: Tensor, x2: Tensor) -> Tensor:
    x1, x2 = torch.broadcast_tensors(x1, x2)
    zero, exponent = x1 == 0, parts(x2)[0]
    # The engine's exp(x2 * log(x1)) is NaN for zero, and rounds whole powers, which are products.
    whole = (x2 == torch.trunc(exponent)) & (exponent.abs() < MOST_PRODUCTS) & ~zero
    if x2.requires_grad:
        # Products have no derivative by the exponent.
        whole &= ~isfinite(x1)
    result = torch.pow(x1.masked_fill(zero | whole, 1), x2)
    if holds(whole.any(), unknown=True):
        powers = _whole_powers(x1.masked_fill(~whole, 1), exponent.masked_fill(~whole, 0))
        result = torch.where(whole, powers, result)
    # The first power of zero has a derivative, and here no sign.
    of_zero = torch.where(x2 == 1, x1 - x1.detach(), torch.zeros_like(x1).masked_fill(~(exponent > 0), _NAN))
    return torch.where(zero, of_zero, result).masked_fill(x2 == 0, 1)


def pow_number(x: Tensor, exponent: complex) -> Tensor:
    """Raise to one number, as ``pow`` does; the square, the inverse and the root are those of ``**`` in NumPy."""
    if exponent == 2:
        return x * x
    if exponent in _FUNCTIONS:
        return _FUNCTIONS[exponent](x)
    if exponent.imag == 0 and exponent.real % 1 == 0 and abs(exponent.real) < MOST_PRODUCTS:
        power = _product(x, int(abs(exponent.real)))
        # The inverse of zero is NaN, and powers of zero have no sign.
        return reciprocal(power) if exponent.real < 0 else _with_zeros(power, x, 0)
    return _with_zeros(torch.pow(x, exponent), x, 0 if exponent.real > 0 else _NAN)


_FUNCTIONS: dict[complex, Callable[[Tensor], Tensor]] = {
    0: torch.ones_like,
    0.5: torch.sqrt,
    1: torch.clone,
    -1: reciprocal,
}


def _product(x: Tensor, count: int) -> Tensor:
    """Multiply ``x`` with itself, at least twice; the order is that of ``_whole_powers``."""
    if count == 3:
        # The same products in one pass.
        return torch.pow(x, 3)
    power = None
    while True:
        if count & 1:
            power = x if power is None else power * x
        count >>= 1
        if not count:
            return x if power is None else power
        x = x * x


def _with_zeros(power: Tensor, x: Tensor, value: complex) -> Tensor:
    """Return powers of ``x`` with a value where ``x`` is zero."""
    return power if x.is_cpu and is_plain(x) and _has_no_zeros(x) else power.masked_fill(x == 0, value)


def _has_no_zeros(x: Tensor) -> bool:
    if x.numel() > _MANY and not x.is_conj():
        numbers = torch.view_as_real(x)
        if int(numbers.count_nonzero()) == numbers.numel():
            return True
    return int(x.count_nonzero()) == x.numel()


# From how many numbers on their parts are counted sooner.
_MANY = 1024


def of_sums(native: Callable[..., Tensor], factor: int) -> Callable[..., Tensor]:
    """Return the sum of arrays by their parts, where the engine multiplies the second one by a complex ``factor``."""
    in_general = by_parts(native)

    def kernel(x1: Tensor, x2: Tensor) -> Tensor:
        if x1.dim() == x2.dim():
            if x1.is_conj() or x2.is_conj():
                return in_general(x1, x2)
            return from_parts(native(torch.view_as_real(x1), torch.view_as_real(x2)))
        if x1.dim() and not x2.dim() and x2.is_cpu and is_plain(x2):
            number = x2.item()
            exact = complex(factor * number.real, factor * number.imag)
            # It mostly loses nothing by that.
            if repr(complex(factor, 0) * number) == repr(exact):
                return native(x1, x2)
        return in_general(x1, x2)

    return kernel


def acos(x: Tensor) -> Tensor:
    real, imag = parts(torch.acos(x))
    return torch.complex(real, copysign(imag, -parts(x)[1]))


def expm1(x: Tensor) -> Tensor:
    (real, imag), (real_exp, imag_exp) = parts(torch.expm1(x)), parts(torch.exp(x))
    finite = isfinite(x)
    # Adding 0.0 turns -0.0 into the 0.0 that the standard wants.
    return torch.complex(torch.where(finite, real + 0.0, real_exp - 1), torch.where(finite, imag, imag_exp))


def log1p(x: Tensor) -> Tensor:
    (real, imag), own = parts(torch.log1p(x)), parts(x)
    real_log, imag_log = parts(torch.log(torch.complex(own[0] + 1, own[1])))
    finite = isfinite(x)
    return torch.complex(torch.where(finite, real + 0.0, real_log), torch.where(finite, imag, imag_log))


def tanh(x: Tensor) -> Tensor:
    (real, imag), own = parts(torch.tanh(x)), parts(x)
    infinite = isinf(own[0])
    return torch.complex(
        torch.where(infinite, copysign(torch.ones_like(real), own[0]), real),
        torch.where(infinite, copysign(torch.zeros_like(imag), own[1]), imag),
    )
