"""Integer arithmetic where torch raises, or has no kernel: division by zero, unsigned numbers of 64 bits."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._constants import known_number
from ._shared import Kernel, as_signed, flip_order, holds, in_order


def _divisor(x: Tensor) -> Tensor:
    # Divided by 1 instead of 0, the remainder is the 0 that NumPy answers.
    return x + (x == 0)


def _unless_by_zero(native: Kernel, mended: Kernel) -> Kernel:
    """Call ``native``, and ``mended`` where it raises for a zero among the divisors: on the CPU only it does."""

    def kernel(x1: Tensor, x2: Tensor) -> Any:
        if x1.is_cpu:
            try:
                return native(x1, x2)
            except RuntimeError:
                pass
        elif known_number(x2):
            return native(x1, x2)
        return in_order(mended(x1, x2), x1, x2)

    return kernel


floor_divide = _unless_by_zero(
    torch.floor_divide, lambda x1, x2: torch.floor_divide(x1, _divisor(x2)).masked_fill(x2 == 0, 0)
)
remainder = _unless_by_zero(torch.remainder, lambda x1, x2: torch.remainder(x1, _divisor(x2)))
fmod = _unless_by_zero(torch.fmod, lambda x1, x2: torch.fmod(x1, _divisor(x2)))


def _divide_uint64(x1: Tensor, x2: Tensor) -> tuple[Tensor, Tensor]:
    """Return quotient and remainder of the bits of unsigned numbers, as signed ones."""
    x1, x2 = x1.view(torch.int64), _divisor(x2.view(torch.int64))
    # Half of x1 is positive: twice its quotient is the quotient or 1 less. A divisor from 2**63 on fits once or never.
    quotient = torch.where(x2 < 0, 0, ((x1 >> 1) & torch.iinfo(torch.int64).max) // x2.clamp(min=1) * 2)
    remainder = x1 - quotient * x2
    more = flip_order(remainder) >= flip_order(x2)
    return quotient + more, remainder - x2 * more


def floor_divide_uint64(x1: Tensor, x2: Tensor) -> Tensor:
    return _divide_uint64(x1, x2)[0].masked_fill(x2 == 0, 0).view(torch.uint64)


def remainder_uint64(x1: Tensor, x2: Tensor) -> Tensor:
    return _divide_uint64(x1, x2)[1].view(torch.uint64)


def widened(function: Kernel) -> Kernel:
    """Compute in int64, which holds all values of uint16 and uint32."""

    def kernel(x1: Tensor, x2: Tensor) -> Tensor:
        return function(x1.to(torch.int64), x2.to(torch.int64)).to(x1.dtype)

    return kernel


def pow_signed(x1: Tensor, x2: Tensor) -> Tensor:
    if x2.numel() and holds(x2.amin() < 0, unknown=False):
        raise ValueError("integers to negative integer powers are not allowed: cast to floating point first")
    return torch.pow(x1, x2)


def pow_uint64(x1: Tensor, x2: Tensor) -> Tensor:
    power = x2.view(torch.int64)
    # Modulo 2**64 the powers of odd numbers repeat after 2**62 steps, and those of even ones stay 0 from 64 on.
    power = torch.where((power < 0) | (power >= 2**62), power & (2**62 - 1) | 2**62, power)
    return torch.pow(x1.view(torch.int64), power).view(torch.uint64)


def shift_right_unsigned(x1: Tensor, x2: Tensor) -> Tensor:
    dtype, bits = x1.dtype, x1.itemsize * 8
    x1, x2 = as_signed(x1), as_signed(x2)
    # The copies of the sign that come in from the left are masked away, except where nothing moves.
    mask = ~torch.bitwise_left_shift(torch.full_like(x2, -1), bits - x2)
    moved = torch.bitwise_right_shift(x1, x2) & mask
    return torch.where(x2 == 0, x1, torch.where((x2 < 0) | (x2 >= bits), 0, moved)).to(x1.dtype).view(dtype)
