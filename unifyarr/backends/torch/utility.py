"""Tests over whole arrays on torch."""

from __future__ import annotations

import torch
from torch import Tensor

from ..kernels import support_native_out

Axis = tuple[int, ...]


def _native(x: Tensor) -> Tensor:
    # torch.all and torch.any answer uint8 for uint8.
    return x != 0 if x.dtype is torch.uint8 else x


@support_native_out
def all(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
    return torch.all(_native(x), axis, keepdims, out=out)


@support_native_out
def any(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
    return torch.any(_native(x), axis, keepdims, out=out)
