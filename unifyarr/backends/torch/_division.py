"""Division of floating-point numbers on torch."""

from __future__ import annotations

from math import isfinite

import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._private import peek_interpreter_stack
from ._shared import FEW, are_finite, in_order


def floor_divide_floats(x1: Tensor, x2: Tensor) -> Tensor:
    """Return ``floor(x1 / x2)`` of numbers of one dtype, which the engine gets wrong beside infinities."""
    # The one that the engine takes sooner has no derivative. As ``is_plain`` does, without the call.
    if x1.requires_grad or x2.requires_grad or forward_ad._current_level >= 0 or peek_interpreter_stack() is not None:
        quotient = torch.div(x1, x2, rounding_mode="floor")
    else:
        quotient = x1.floor_divide(x2)
        # Of an infinite dividend the quotient isn't finite. As ``are_finite`` does, without the calls.
        is_short = quotient.dim() == 1 == x2.dim() and quotient.numel() <= FEW and quotient.is_cpu
        if is_short and isfinite(sum(quotient.tolist() + x2.tolist())):
            return quotient
    if are_finite(quotient, x2):
        return quotient
    if quotient.is_cpu:
        mended = torch.where(torch.isinf(x1) | torch.isinf(x2), torch.floor(x1 / x2), quotient)
    else:
        # Fewer launches: 0 * x of an infinite operand is NaN, and its quotient is whole.
        mended = torch.where(torch.isnan(torch.add(x1 * 0, x2, alpha=0)), x1 / x2, quotient)
    return in_order(mended, x1, x2)
