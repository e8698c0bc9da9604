"""Softmax and its logarithms on torch, which takes one pass for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import Applied, bound_by, declines, known_by, support_native_out
from . import _private
from ._shared import DTYPES

_HALF = (torch.float16, torch.bfloat16)


def _along(native: Callable[..., Tensor]) -> Callable[..., Callable[..., Any]]:
    def bind(*, axis: int) -> Callable[..., Any]:
        def along(x: Tensor, /, *, out: Any = None) -> Any:
            if x.dtype in _HALF:
                return NotImplemented
            return native(x, axis) if out is None else native(x, axis, out=out)

        return along

    return bind


def _known_along(native: Callable[..., Tensor]) -> Callable[..., Any]:
    return lambda x, *, axis: None if x.dtype in _HALF else Applied(native, axis)


@known_by(_known_along(torch.log_softmax))
@declines(lambda x, **_: DTYPES[x.dtype] in _HALF)
@bound_by(_along(torch.log_softmax))
@support_native_out
def log_softmax(x: Tensor, /, *, axis: int, out: Any = None) -> Any:
    if x.dtype in _HALF:
        # A sum beyond the greatest float16 is infinite.
        return NotImplemented
    return torch.log_softmax(x, axis) if out is None else torch.log_softmax(x, axis, out=out)


def log_softmax_backward(g: Tensor, result: Tensor, /, *, axis: int) -> Tensor:
    found: Tensor = _private.log_softmax_backward(g, result, axis, result.dtype)
    return found


def softmax_backward(g: Tensor, result: Tensor, /, *, axis: int) -> Tensor:
    found: Tensor = _private.softmax_backward(g, result, axis, result.dtype)
    return found


@known_by(_known_along(torch.softmax))
@declines(lambda x, **_: DTYPES[x.dtype] in _HALF)
@bound_by(_along(torch.softmax))
@support_native_out
def softmax(x: Tensor, /, *, axis: int, out: Any = None) -> Any:
    if x.dtype in _HALF:
        return NotImplemented
    return torch.softmax(x, axis) if out is None else torch.softmax(x, axis, out=out)
