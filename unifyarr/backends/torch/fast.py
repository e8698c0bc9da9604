"""Fast paths of torch: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._items import get_copy, get_item, get_pair, set_item
from ._shared import ODD_POWERS, WIDE, is_plain, overlap, takes_number

_INTEGERS = frozenset({torch.int64, torch.int32})
_FLOATING = frozenset({torch.float32, torch.float64})
_KEEPS = _FLOATING | {torch.int64, torch.complex64, torch.complex128}


def writes_at_once(out: Tensor, x1: Tensor, x2: Tensor) -> bool:
    """Return whether a kernel may read ``x1`` and ``x2`` and write to ``out``: they fit, and don't overlap it.

    What records gradients, and memory that several elements share, torch itself refuses, before it writes; an inference
    tensor only afterwards.
    """
    dtype, shape, other = out.dtype, out.shape, x2.shape
    if x1.dtype is not dtype or x1.shape != shape or out.is_inference():
        return False
    # An integer beside float64 becomes one here and there.
    if x2.dtype is not dtype and not (dtype is torch.float64 and x2.dtype in _INTEGERS):
        return False
    if other != shape and (len(other) > len(shape) or not _broadcasts(other, shape)):
        return False
    if not other and not x1.device == out.device == x2.device:
        # Beside 0-d tensors torch takes those of other devices.
        return False
    # Inside a transformation there's no address, which raises.
    out.data_ptr()
    return (x1 is out or not overlap(x1, out)) and (x2 is out or x2 is x1 or not overlap(x2, out))


def _broadcasts(shape: torch.Size, to: torch.Size) -> bool:
    return all(length in (1, wanted) for length, wanted in zip(reversed(shape), reversed(to), strict=False))


def _total(native: Callable[..., Tensor]) -> Callable[..., Any]:
    def fast(x: Tensor, axis: Any, dtype: Any, keepdims: Any) -> Any:
        if dtype is not None or x.dtype not in _KEEPS:
            return NotImplemented
        if axis is None:
            return NotImplemented if keepdims else native(x)
        return native(x, axis, keepdims) if type(axis) is int and -x.dim() <= axis < x.dim() else NotImplemented

    return fast


def mean(x: Tensor, axis: Any, keepdims: Any) -> Any:
    if x.dtype not in _FLOATING:
        return NotImplemented
    if axis is None:
        return NotImplemented if keepdims else torch.mean(x)
    return torch.mean(x, axis, keepdims) if type(axis) is int and -x.dim() <= axis < x.dim() else NotImplemented


def matmul(x1: Tensor, x2: Tensor) -> Any:
    if x1.dtype is x2.dtype and x1.dtype in _FLOATING and x1.dim() == x2.dim() == 2 and x1.shape[1] == x2.shape[0]:
        return torch.matmul(x1, x2)
    return NotImplemented


def scalar_pow(x: Tensor, value: float) -> Any:
    if x.dtype is torch.int64:
        return torch.pow(x, value) if type(value) is int and 0 <= value < 1 << 31 else NotImplemented
    return torch.pow(x, value) if x.dtype in WIDE and value not in ODD_POWERS else NotImplemented


def scalar_maximum(x: Tensor, value: float) -> Any:
    # Where both are equal, the engine's derivative is another one than that of the maximum of arrays.
    return torch.clamp_min(x, value) if takes_number(x.dtype, value) and is_plain(x) else NotImplemented


def scalar_minimum(x: Tensor, value: float) -> Any:
    return torch.clamp_max(x, value) if takes_number(x.dtype, value) and is_plain(x) else NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path
    for path in (
        *(get_item, get_pair, get_copy, set_item, mean, matmul),
        *(scalar_pow, scalar_maximum, scalar_minimum),
    )
} | {"sum": _total(torch.sum), "reflected_maximum": scalar_maximum, "reflected_minimum": scalar_minimum}
