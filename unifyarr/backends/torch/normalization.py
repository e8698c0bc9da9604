"""What normalisation needs on torch."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from ..kernels import declines, scaled_root_mean_square, worked_around
from ._shared import has_address


@declines(lambda x, *, axis, eps: not axis, transformed=True)
@worked_around("torch's norm of a vector has another gradient at zero, and its squares overflow")
def root_mean_square(x: Tensor, /, *, axis: tuple[int, ...], eps: float) -> Any:
    if not has_address(x) or (x.requires_grad and torch.is_grad_enabled()) or not axis:
        return NotImplemented
    # On an accelerator it would take time to look at values, and not each has float64.
    if x.device.type == "cpu":
        norm = torch.linalg.vector_norm(x, 2, axis, keepdim=True, dtype=torch.float64)
        if not norm.isinf().any():
            root = norm / math.sqrt(math.prod(x.shape[each] for each in axis) or math.nan)
            return torch.hypot(root, root.new_tensor(math.sqrt(eps))).to(x.dtype)
    return scaled_root_mean_square(torch, x, axis, eps)


def detach(x: Tensor, /) -> Tensor:
    return x.detach()
