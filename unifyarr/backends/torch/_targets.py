"""Checks before plain calls of torch that write to a tensor, or share memory with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._overlap import independent, is_same_window, span
from ._private import peek_interpreter_stack, refuse_inference
from ._shared import WIDE, has_accelerator, takes_number

_INTEGERS = frozenset({torch.int64, torch.int32})
# The pairs of a target's dtype and another one that torch casts as NumPy does, and takes in place.
_CAST = frozenset(
    {(torch.float64, each) for each in (*_INTEGERS, torch.bool)}
    | {(torch.float32, torch.bool), (torch.int64, torch.bool)}
)


def writes_at_once(out: Tensor, x1: Tensor, x2: Tensor) -> bool:
    """Return whether a kernel may read ``x1`` and ``x2`` and write to ``out``: they fit, and don't overlap it.

    torch itself refuses tensors that record gradients, and memory that several elements share, before it writes; it
    refuses inference tensors only afterwards.
    """
    refuse_inference(out)
    dtype, shape = out.dtype, out.shape
    try:
        start = out.data_ptr()
    except RuntimeError:
        # Inside a transformation, and after it, there's no address.
        return False
    if x1 is not out:
        if x1.dtype is not dtype or x1.shape != shape:
            return False
        # As ``overlap`` does, without the call.
        place = x1.data_ptr()
        if place < start:
            if place + (x1.nbytes if x1.is_contiguous() else span(x1)) > start:
                return False
        elif place < start + (out.nbytes if out.is_contiguous() else span(out)) and not is_same_window(x1, out):
            return False
    if x2 is out or x2 is x1:
        return True
    # An integer beside float64 becomes one here and there.
    if x2.dtype is not dtype and not (dtype is torch.float64 and x2.dtype in _INTEGERS):
        return False
    other = x2.shape
    if other != shape:
        if len(other) > len(shape) or not _broadcasts(other, shape):
            return False
        if not other and not x1.device == out.device == x2.device:
            # Beside 0-d tensors torch takes those of other devices.
            return False
    place = x2.data_ptr()
    if place < start:
        return bool(place + (x2.nbytes if x2.is_contiguous() else span(x2)) <= start)
    return bool(place >= start + (out.nbytes if out.is_contiguous() else span(out))) or (
        other == shape and x2.dtype is dtype and is_same_window(x2, out)
    )


def memory_of(x: Tensor) -> np.ndarray | None:
    """Return the memory of a tensor that NumPy may write as torch does, ``None`` in doubt."""
    # The result of ``expand`` has several elements at one address.
    if forward_ad._current_level >= 0 or peek_interpreter_stack() is not None or 0 in x.stride():
        return None
    try:
        memory: np.ndarray = x.numpy()
    except (RuntimeError, TypeError):
        # It records gradients, is conjugated lazily, lies on another device, or is of a dtype that NumPy lacks.
        return None
    return memory


def borrow(x: Tensor, array: np.ndarray) -> Any:
    """Return a tensor in the memory of ``array``, for one call beside ``x``; decline where something may keep it."""
    # The engine warns of memory that mustn't be written; derivatives keep operands.
    if not array.flags.writeable or x.requires_grad or not x.is_cpu:
        return NotImplemented
    if forward_ad._current_level >= 0 or peek_interpreter_stack() is not None:
        return NotImplemented
    try:
        return torch.from_numpy(array)
    except (TypeError, ValueError):
        # It has no negative strides, nor all dtypes.
        return NotImplemented


def is_recorded(*operands: object) -> bool:
    """Return whether torch may record gradients through tensors among some operands."""
    return any(x.requires_grad for x in operands if isinstance(x, Tensor))


def _broadcasts(shape: torch.Size, to: torch.Size) -> bool:
    return all(length in (1, wanted) for length, wanted in zip(reversed(shape), reversed(to), strict=False))


def into(name: str, *others: torch.dtype) -> dict[str, Any]:
    """Return how a function of torch's writes to a target, as ``Plain`` has it."""
    native, in_place = getattr(torch, name), getattr(Tensor, f"{name}_")
    dtypes = frozenset((*WIDE, *others))
    # torch subtracts no masks.
    casts = frozenset(pair for pair in _CAST if name != "sub" or torch.bool not in pair)
    # For each dtype, whether there may be tensors on several devices.
    several: dict[torch.dtype, bool] = {}

    def fast(x1: Tensor, x2: Any, out: Tensor) -> bool:
        dtype = out.dtype
        is_several = several.get(dtype)
        if is_several is None:
            if dtype not in dtypes:
                return False
            is_several = several[dtype] = has_accelerator()
        if x1 is out and type(x2) is Tensor:
            # torch looks at the shapes itself, before it writes.
            given = x2.dtype
            if given is not dtype and (dtype, given) not in casts:
                return False
            # As ``writes_at_once`` does, where memory alone is left to look at.
            refuse_inference(out)
            if x2 is not out:
                try:
                    start, place = out.data_ptr(), x2.data_ptr()
                except RuntimeError:
                    return False
                if place < start:
                    overlaps = place + (x2.nbytes if x2.is_contiguous() else span(x2)) > start
                else:
                    overlaps = place < start + (out.nbytes if out.is_contiguous() else span(out))
                if overlaps:
                    x2 = independent(x2, out)
                # On the meta device there's no address.
                if (is_several or not place) and not x2.dim() and x2.device != out.device:
                    return False
            # It records the same gradients as the assignment of a sum.
            in_place(out, x2)
            return True
        if type(x2) is not Tensor:
            if not takes_number(dtype, x2) or not writes_at_once(out, x1, x1):
                return False
            # Beside floats the engine is slower with an integer.
            x2 = float(x2) if dtype in WIDE else x2
        elif not writes_at_once(out, x1, x2):
            return False
        if x1 is out:
            in_place(out, x2)
            return True
        try:
            native(x1, x2, out=out)
        except RuntimeError:
            # Before it writes: through ``out=`` no gradient is recorded, but an assignment records them.
            if is_recorded(out, x1, x2):
                return False
            raise
        return True

    kernels, updates = dict.fromkeys(dtypes, native), dict.fromkeys((*dtypes, *casts), in_place)
    return {"into": kernels, "in_place": updates, "into_otherwise": fast}


def is_watched(*tensors: Tensor) -> bool:
    """Return whether a derivative may be taken through plain tensors."""
    if forward_ad._current_level >= 0 or peek_interpreter_stack() is not None:
        return True
    # Sooner than ``any``, which makes a generator.
    return True in [x.requires_grad for x in tensors]
