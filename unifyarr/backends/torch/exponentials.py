"""Softmax and its logarithms on torch, which takes one pass for each."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import support_native_out

_HALF = (torch.float16, torch.bfloat16)


@support_native_out
def log_softmax(x: Tensor, /, *, axis: int, out: Any = None) -> Any:
    if x.dtype in _HALF:
        # A sum beyond the greatest float16 is infinite.
        return NotImplemented
    return torch.log_softmax(x, axis) if out is None else torch.log_softmax(x, axis, out=out)


@support_native_out
def softmax(x: Tensor, /, *, axis: int, out: Any = None) -> Any:
    if x.dtype in _HALF:
        return NotImplemented
    return torch.softmax(x, axis) if out is None else torch.softmax(x, axis, out=out)
