"""Searching on torch."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor

from ..guards import guarded
from ..kernels import Applied, known_by, lowered_by, support_native_out, worked_around
from ._indices import noting
from ._order import ranks
from ._shared import FEW, UNSIGNED, WIDE, as_signed, flip_order, has_accelerator, has_address, holds, is_plain
from ._shared import are_few_finite as _are_few_finite

# From how many elements on bits are chosen sooner than elements: the engine's loop takes a branch for each.
_MANY = 4096
_AS_BITS = {torch.float32: torch.int32, torch.float64: torch.int64}


def _know_where(condition: Tensor, x1: Tensor, x2: Tensor) -> Any:
    return torch.where if condition.numel() < _MANY else None


@support_native_out
@lowered_by(torch.where)
@known_by(_know_where)
@worked_around("slow where one of two is zero and the condition has no pattern")
def where(condition: Tensor, x1: Tensor, x2: Tensor, /, *, out: Tensor | None = None) -> Tensor:
    if condition.numel() >= _MANY and condition.is_cpu:
        for kept, other, is_kept in ((x1, x2, True), (x2, x1, False)):
            if kept.dtype in _AS_BITS and _is_zero(other, kept.dtype) and _are_plain(kept, condition):
                return _with_zeros(condition, kept, is_kept, out)
    if out is None:
        return torch.where(condition, x1, x2)
    return torch.where(condition, x1, x2, out=out)


def _is_zero(x: Tensor, dtype: torch.dtype) -> bool:
    return not x.dim() and x.dtype is dtype and x.is_cpu and is_plain(x) and str(x.item()) == "0.0"


def _are_plain(x: Tensor, condition: Tensor) -> bool:
    return x.dim() == condition.dim() and x.is_cpu and is_plain(x) and is_plain(condition) and has_address(x)


def _with_zeros(condition: Tensor, x: Tensor, is_kept: bool, out: Tensor | None) -> Tensor:
    """Return elements where a condition is true, or where it isn't, and zeros elsewhere."""
    bits, flags = _AS_BITS[x.dtype], condition.view(torch.int8)
    # All bits of a number that's kept, none of another one.
    mask = flags.neg() if is_kept else flags.sub(1)
    if out is None:
        return mask.bitwise_and(x.view(bits)).view(x.dtype)
    torch.bitwise_and(mask, x.view(bits), out=out.view(bits))
    return out


_ORDERED = WIDE | {torch.int64}


def _sortable(x: Tensor, *, nan: int) -> Tensor:
    """Return an array of the same order that torch compares, with the rank ``nan`` for all complex NaN."""
    if x.dtype in UNSIGNED:
        return flip_order(x)
    if x.is_complex():
        return ranks(x)[0].masked_fill(torch.isnan(x), nan)
    return x.view(torch.uint8) if x.dtype is torch.bool else x


def _argument(native: Any, name: str, nan: int) -> Any:
    def know(x: Tensor, *, axis: int | None, keepdims: bool) -> Any:
        if x.dtype not in _ORDERED or keepdims or not x.numel():
            return None
        if has_accelerator():
            return partial(kernel, axis=axis, keepdims=keepdims)
        return native if axis is None else Applied(native, axis)

    @known_by(know)
    @worked_around("no kernel for bool, uint16, uint32, uint64 and complex numbers")
    def kernel(x: Tensor, /, *, axis: int | None, keepdims: bool) -> Tensor:
        if (x.numel() if axis is None else x.shape[axis]) == 0:
            raise ValueError(f"{name} of an array without elements has no value")
        return noting(search, partial(_last, axis=axis))(x, axis=axis, keepdims=keepdims)

    def search(x: Tensor, /, *, axis: int | None, keepdims: bool) -> Tensor:
        result: Tensor
        if x.dtype in _ORDERED and not keepdims:
            result = native(x) if axis is None else native(x, axis)
            return result
        result = native(_sortable(x, nan=nan), axis, keepdims and axis is not None)
        return result.reshape((1,) * x.ndim) if axis is None and keepdims else result

    return kernel


def _last(x: Tensor, *, axis: int | None) -> int:
    return (x.numel() if axis is None else x.shape[axis]) - 1


# A NaN wins, whatever is searched.
argmax = _argument(torch.argmax, "argmax", torch.iinfo(torch.int64).max)
argmin = _argument(torch.argmin, "argmin", -1)


def _know_nonzero(x: Tensor) -> Any:
    return None if x.dtype in UNSIGNED else noting(partial(torch.nonzero, as_tuple=True), _lasts)


def _lasts(x: Tensor) -> list[int]:
    return [length - 1 for length in x.shape] or [0]


@known_by(_know_nonzero)
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    return tuple(noting(partial(torch.nonzero, as_tuple=True), _lasts)(as_signed(x)))


def _ends_finite(x: Tensor) -> bool:
    if not is_plain(x):
        return False
    size = x.numel()
    return not size or math.isfinite(x.tolist()[-1] if size <= FEW else x[-1].item())


def _know_search(x1: Tensor, x2: Tensor, *sorter: Tensor, side: Any) -> Any:
    if sorter or x1.dtype not in WIDE or not 0 < x1.numel() <= FEW:
        return None
    # The side that the engine takes by itself.
    arguments = {} if side == "left" else {"side": side}

    def searching(x1: Tensor, x2: Tensor, /) -> Tensor:
        is_told = _are_few_finite(x1) or (x1.is_contiguous() and math.isfinite(x1.tolist()[-1]))
        if is_told and x2.is_contiguous():
            return torch.searchsorted(x1, x2, **arguments)
        return searchsorted(x1, x2, side=side)

    return guarded(torch.searchsorted, searching, "finite") if side == "left" else searching


@known_by(_know_search)
@worked_around("no kernel for bool, uint16, uint32, uint64 and complex numbers; NaN is not above all numbers")
def searchsorted(x1: Tensor, x2: Tensor, /, *sorter: Tensor, side: Any) -> Tensor:
    if x1.dtype in WIDE and not sorter and x1.is_cpu and _ends_finite(x1):
        # Where it finds no NaN, the engine takes one for the greatest.
        pass
    elif x1.is_floating_point() or x1.is_complex():
        last = x1[sorter[0][-1:]] if sorter else x1[-1:]
        if x1.is_complex() or holds(torch.isnan(last).any() | torch.isnan(x2).any(), unknown=True):
            x1, x2 = ranks(x1, x2)
    else:
        x1, x2 = _sortable(x1, nan=0), _sortable(x2, nan=0)
    # The engine warns about strides.
    order = sorter[0].contiguous() if sorter else None
    search = noting(torch.searchsorted, torch.numel)
    return search(x1.contiguous(), x2.contiguous(), side=side, sorter=order)


def _know_count(x: Tensor, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return torch.count_nonzero if len(axis) == x.dim() and not keepdims and x.dtype not in UNSIGNED else None


@known_by(_know_count)
def count_nonzero(x: Tensor, /, *, axis: tuple[int, ...], keepdims: bool) -> Tensor:
    if len(axis) == x.dim() and not keepdims:
        return torch.count_nonzero(as_signed(x))
    return torch.sum(as_signed(x) != 0, axis, keepdims) if axis else (as_signed(x) != 0).to(torch.int64)
