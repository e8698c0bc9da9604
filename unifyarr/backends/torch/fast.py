"""Fast paths of torch: calls that need none of the general machinery; anything in doubt declines.

A decliner returns ``NotImplemented``, or ``False`` where it would write.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._shared import may_share_memory

_FLOATING = frozenset({torch.float32, torch.float64})
_KEEPS = _FLOATING | {torch.int64, torch.complex64, torch.complex128}


def _is_window(key: Any) -> bool:
    # A basic index that torch has as a view: no negative steps.
    kind = type(key)
    if kind is slice:
        step = key.step
        return step is None or (type(step) is int and step > 0)
    return kind is int or key is None or key is Ellipsis


def _are_windows(key: tuple[Any, ...]) -> bool:
    # torch takes a second ellipsis for a slice.
    return all(map(_is_window, key)) and key.count(Ellipsis) < 2


def get_item(x: Tensor, key: Any) -> Any:
    """Return the view of a basic index that leaves an axis."""
    kind = type(key)
    if kind is slice:
        step = key.step
        return x[key] if (step is None or (type(step) is int and step > 0)) and x.dim() else NotImplemented
    if kind is int:
        return x[key] if x.dim() > 1 else NotImplemented
    if kind is tuple and _are_windows(key):
        # torch gives a view where integers leave no axis.
        return x[key] if sum(type(item) is int for item in key) < x.dim() else NotImplemented
    return NotImplemented


def _may_write(x: Tensor, key: Any) -> bool:
    # Gradients and memory that several elements share want the general path.
    if x.requires_grad or x.is_inference():
        return False
    return _are_windows(key) if type(key) is tuple else _is_window(key)


def _are_one(first: Tensor, second: Tensor) -> bool:
    return first.data_ptr() == second.data_ptr() and first.shape == second.shape and first.stride() == second.stride()


def set_item(x: Tensor, key: Any, value: Tensor) -> bool:
    """Write a value of the tensor's dtype to a basic index."""
    if value.dtype is not x.dtype or value.requires_grad or not _may_write(x, key):
        return False
    if may_share_memory(x, value):
        # ``x[key] += v`` ends with this: the view that was updated is stored where it is.
        part = get_item(x, key)
        return part is not NotImplemented and _are_one(part, value)
    if value.dim() and sum(type(item) is int for item in (key if type(key) is tuple else (key,))) == x.dim():
        # An element takes a 0-d value only.
        return False
    try:
        x[key] = value
    except (RuntimeError, IndexError):
        # The general path says what is wrong.
        return False
    return True


def set_scalar(x: Tensor, key: Any, value: float) -> bool:
    """Write a Python number to a basic index, where the dtype takes it as it is."""
    if not (x.dtype in _FLOATING or (x.dtype is torch.int64 and type(value) is int)):
        return False
    if type(key) is Tensor:
        # A mask of the whole shape; what torch does with others differs.
        if key.dtype is not torch.bool or key.shape != x.shape or not _may_write(x, None) or may_share_memory(x, key):
            return False
    elif not _may_write(x, key):
        return False
    try:
        x[key] = value
    except (RuntimeError, IndexError):
        return False
    return True


def writes_at_once(out: Tensor, x1: Tensor, x2: Tensor) -> bool:
    """Say whether a kernel that reads ``x1`` and ``x2`` may write to ``out``: all alike, compact, and not overlapping.

    What records gradients torch itself refuses, before it writes; an inference tensor only afterwards.
    """
    dtype, shape = out.dtype, out.shape
    if not (x1.dtype is dtype is x2.dtype and x1.shape == shape == x2.shape and out.is_contiguous()):
        return False
    if out.is_inference() or (not shape and not x1.device == out.device == x2.device):
        # Beside 0-d tensors torch takes those of other devices.
        return False
    place, nbytes = out.data_ptr(), out.nbytes
    return (x1 is out or (x1.is_contiguous() and abs(x1.data_ptr() - place) >= nbytes)) and (
        x2 is out or x2 is x1 or (x2.is_contiguous() and abs(x2.data_ptr() - place) >= nbytes)
    )


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


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path for path in (get_item, set_item, set_scalar, mean, matmul)
} | {"sum": _total(torch.sum)}
