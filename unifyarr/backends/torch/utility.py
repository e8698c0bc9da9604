"""Tests over whole arrays, and differences of neighbours, on torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import Applied, declines, known_by, support_native_out
from ._shared import COMPLEX, DTYPES, UNSIGNED, Kernel, reducing

Axis = tuple[int, ...]


def _native(x: Tensor) -> Tensor:
    # torch.all and torch.any answer uint8 for uint8.
    return x != 0 if x.dtype is torch.uint8 else x


def _known(native: Kernel) -> Callable[[Kernel], Kernel]:
    def know(x: Tensor, *, axis: Axis, keepdims: bool) -> Any:
        return reducing(native, x, axis, keepdims) if axis and x.dtype is torch.bool else None

    return known_by(know)


@_known(torch.all)
@support_native_out
def all(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
    return torch.all(_native(x), axis, keepdims, out=out)


@_known(torch.any)
@support_native_out
def any(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
    return torch.any(_native(x), axis, keepdims, out=out)


# The engine subtracts these differently, or not at all.
_OTHERWISE = UNSIGNED | COMPLEX


def _know_diff(x: Tensor, *, axis: int) -> Any:
    if x.dtype in _OTHERWISE:
        return None
    # The engine finds the usual arguments sooner by itself.
    return torch.diff if axis == x.dim() - 1 else Applied(torch.diff, 1, axis)


@known_by(_know_diff)
@declines(lambda x, **_: DTYPES[x.dtype] in _OTHERWISE)
@support_native_out
def diff(x: Tensor, /, *, axis: int, out: Tensor | None = None) -> Any:
    return NotImplemented if x.dtype in _OTHERWISE else torch.diff(x, 1, axis, out=out)
