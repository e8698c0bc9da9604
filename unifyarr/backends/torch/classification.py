"""The losses of classifiers on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import declines, worked_around
from ._indices import limits_of
from ._shared import DTYPES, WIDE, is_plain


@worked_around("classes out of bounds would cost the process its device, and its zero is negative")
@declines(lambda x, target, *_, **__: DTYPES[x.dtype] not in WIDE or 0 in x.shape, transformed=True)
def nll_loss(x: Tensor, target: Tensor, /, *weight: Tensor, axis: int, ignore_index: int, reduction: str) -> Any:
    if x.dtype not in WIDE or not x.numel() or not all(map(is_plain, (x, *weight))):
        return NotImplemented
    shape, classes, target = target.shape, x.shape[axis], target.long()
    _check(target, classes, ignore_index)
    if axis != 1 or x.dim() > 4:
        # The engine has the classes at 1, if they aren't the only axis.
        x, target = x.movedim(axis, -1).reshape(-1, classes), target.reshape(-1)
    by_class = weight[0] if weight else None
    loss = functional.nll_loss(x, target, by_class, ignore_index=ignore_index, reduction=reduction)
    # The engine's zero is negative.
    return loss.view(shape).add_(0.0) if reduction == "none" else loss


def _check(target: Tensor, classes: int, ignore_index: int) -> None:
    """Raise for a class that there isn't: on an accelerator the whole process would lose the device."""
    if _are_within(target, classes):
        return
    if not _are_within(torch.where(target == ignore_index, 0, target), classes):
        raise IndexError(f"an index of target is out of bounds for {classes} classes")


def _are_within(target: Tensor, classes: int) -> bool:
    limits = limits_of([target])
    return limits is None or (limits[0][0] >= 0 and limits[0][1] < classes)
