"""Division of floating-point numbers on torch."""

from __future__ import annotations

import torch
from torch import Tensor

from ._shared import are_finite, is_plain


def floor_divide_floats(x1: Tensor, x2: Tensor) -> Tensor:
    """Return ``floor(x1 / x2)`` of numbers of one dtype, which the engine gets wrong beside infinities."""
    # The one that the engine takes sooner has no derivative.
    if is_plain(x1) and not x2.requires_grad:
        quotient = x1.floor_divide(x2)
    else:
        quotient = torch.div(x1, x2, rounding_mode="floor")
    # Of an infinite dividend the quotient isn't finite.
    if are_finite(quotient, x2):
        return quotient
    return torch.where(torch.isinf(x1) | torch.isinf(x2), torch.floor(x1 / x2), quotient)
