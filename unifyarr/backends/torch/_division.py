"""Division of floating-point numbers on torch."""

from __future__ import annotations

import torch
from torch import Tensor

from ._shared import are_few_finite, are_finite, in_order, is_plain, is_unwatched


def floor_divide_floats(x1: Tensor, x2: Tensor) -> Tensor:
    """Return ``floor(x1 / x2)`` of numbers of one dtype, which the engine gets wrong beside infinities."""
    # The one that the engine takes sooner has no derivative.
    if is_unwatched(x1) and is_unwatched(x2):
        quotient = torch.floor_divide(x1, x2)
        # The quotient of an infinite dividend isn't finite. As ``are_finite`` does, without the calls.
        if are_few_finite(quotient) and are_few_finite(x2):
            return quotient
    elif is_plain(x1) and is_plain(x2):
        quotient = torch.floor_divide(x1, x2)
    else:
        quotient = torch.div(x1, x2, rounding_mode="floor")
    if are_finite(quotient, x2):
        return quotient
    if quotient.is_cpu:
        mended = torch.where(torch.isinf(x1) | torch.isinf(x2), torch.floor(x1 / x2), quotient)
    else:
        # Fewer launches: 0 * x of an infinite operand is NaN, and its quotient is whole.
        mended = torch.where(torch.isnan(torch.add(x1 * 0, x2, alpha=0)), x1 / x2, quotient)
    return in_order(mended, x1, x2)
