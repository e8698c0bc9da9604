"""Sets on torch: values in ascending order, each NaN a value of its own, -0.0 and 0.0 one value."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import declines, worked_around
from ._order import ranks
from ._shared import COMPLEX, DTYPES, UNSIGNED, WIDE, as_signed, is_plain
from .sorting import argsort, sort

_DIRECT = WIDE | {torch.int64}
_OTHERS = COMPLEX | UNSIGNED


@worked_around("no kernel for bool, uint16, uint32, uint64 and complex numbers, errors for some strides")
def isin(x1: Tensor, x2: Tensor, /, *, invert: bool) -> Tensor:
    if x1.dtype in _DIRECT and x1.is_contiguous() and x2.is_contiguous():
        return torch.isin(x1, x2, invert=invert)
    shape = x1.shape
    x1, x2 = x1.reshape(-1), x2.reshape(-1)
    if x1.is_complex():
        # A NaN is in no set: below all ranks stands what only x1 has.
        own, x2 = ranks(x1, x2)
        x1 = own.masked_fill(torch.isnan(x1), -1)
    elif x1.dtype is torch.bool:
        x1, x2 = x1.view(torch.uint8), x2.view(torch.uint8)
    return torch.isin(as_signed(x1), as_signed(x2), invert=invert).reshape(shape)


def _starts(values: Tensor) -> Tensor:
    """Return which elements of a sorted 1-d array differ from the one before."""
    return torch.cat((torch.ones_like(values[:1], dtype=torch.bool), values[1:] != values[:-1]))


@worked_around("torch.unique has no first indices, and no kernel for complex numbers")
def unique_all(x: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    flat = x.reshape(-1)
    order = argsort(flat, axis=0, descending=False, stable=True)
    values = flat[order]
    starts = _starts(values)
    groups = torch.cumsum(starts, 0) - 1
    inverse = torch.empty_like(order)
    inverse[order] = groups
    return values[starts], order[starts], inverse.reshape(x.shape), torch.bincount(groups)


@worked_around("torch.unique has no kernel for complex numbers")
def unique_values(x: Tensor, /) -> Tensor:
    if x.dtype not in _OTHERS and is_plain(x):
        return torch.unique(x)
    values = sort(x.reshape(-1), axis=0, descending=False, stable=True)
    return values[_starts(values)]


@declines(lambda x: DTYPES[x.dtype] in _OTHERS, transformed=True)
@worked_around("torch.unique has no kernel for complex numbers, and no derivative")
def unique_counts(x: Tensor, /) -> Any:
    return torch.unique(x, return_counts=True) if x.dtype not in _OTHERS and is_plain(x) else NotImplemented


@declines(lambda x: DTYPES[x.dtype] in _OTHERS, transformed=True)
@worked_around("torch.unique has no kernel for complex numbers, and no derivative")
def unique_inverse(x: Tensor, /) -> Any:
    if x.dtype in _OTHERS or not is_plain(x):
        return NotImplemented
    found = torch.unique(x, return_inverse=True)
    # torch doesn't define which of several NaNs comes first.
    return unique_all(x)[::2] if bool((found[0][-1:] != found[0][-1:]).any()) else found
