"""Sums with weights along axes on torch, as of interpolated images, by its sums of the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ..kernels import declines, worked_around
from ._constants import is_passing
from ._shared import DTYPES, WIDE, is_plain

_MOST = 256
_COMPLEX = {torch.complex64: torch.float32, torch.complex128: torch.float64}
# The places of all sums behind each other, where those of each begin, and the weights, unless all are one.
_Bags = tuple[Tensor, Tensor, Tensor | None]


@worked_around("the engine's own have weights of single precision, and slower derivatives")
@declines(lambda x, *, samplings: DTYPES[x.dtype] not in WIDE and DTYPES[x.dtype] not in _COMPLEX)
def resample(x: Tensor, /, *, samplings: Sequence[Any]) -> Any:
    dtype = x.dtype
    if dtype in _COMPLEX:
        parts = resample(torch.view_as_real(x), samplings=(*samplings, None))
        return torch.view_as_complex(parts.contiguous())
    if dtype not in WIDE:
        return NotImplemented
    first, is_fast = x.dim() - len(samplings), x.numel() and is_plain(x)
    order, given = list(range(x.dim())), x
    # From the last axis on, each comes first and stays there. The axes are put in order once, in the end.
    for axis, sampling in zip(reversed(range(first, x.dim())), reversed(samplings), strict=True):
        if sampling is None:
            continue
        now = order.index(axis)
        places, starts, weights = _bags_on(sampling, dtype, x.device)
        if weights is None and not sampling.transposed:
            x = x.index_select(now, places)
        elif is_fast:
            order = [axis, *order[:now], *order[now + 1 :]]
            rows = _in_front(x, now)
            found = torch.embedding_bag(rows, places, starts, False, 0, False, weights)[0]
            x = found.view(sampling.made, *x.shape[:now], *x.shape[now + 1 :])
        else:
            x = _added_up(x, now, places, starts, weights)
    x = _in_order(x, order)
    return x.clone(memory_format=torch.contiguous_format) if x is given else x.contiguous()


def _in_front(x: Tensor, axis: int) -> Tensor:
    """Return the elements along an axis as rows of a matrix, in C order."""
    if axis == x.dim() - 1:
        # The engine transposes matrices in blocks, which is sooner than other orders.
        return x.reshape(-1, x.shape[axis]).t().contiguous()
    return x.movedim(axis, 0).reshape(x.shape[axis], -1)


def _in_order(x: Tensor, order: list[int]) -> Tensor:
    """Return an array whose axes have come into an order with these in the first one."""
    behind = order.index(0)
    back = [order.index(axis) for axis in range(len(order))]
    if not behind or order[behind:] + order[:behind] != sorted(order):
        return x.permute(back)
    return x.reshape(math.prod(x.shape[:behind]), -1).t().contiguous().view([x.shape[axis] for axis in back])


def _added_up(x: Tensor, axis: int, places: Tensor, starts: Tensor, weights: Tensor | None) -> Tensor:
    """Do the same by functions that all of the engine's transformations pass."""
    taken = x.index_select(axis, places)
    if weights is not None:
        taken = taken * weights.reshape(-1, *(1,) * (x.dim() - axis - 1))
    owners = torch.searchsorted(starts, torch.arange(len(places), device=x.device), right=True) - 1
    shape = (*x.shape[:axis], len(starts), *x.shape[axis + 1 :])
    return taken.new_zeros(shape).index_add(axis, owners, taken)


def _bags_on(sampling: Any, dtype: torch.dtype, device: torch.device) -> _Bags:
    return (_made if is_passing(device) else _kept)(sampling, dtype, device)


@lru_cache(_MOST)
def _kept(sampling: Any, dtype: torch.dtype, device: torch.device) -> _Bags:
    # Inference tensors couldn't serve derivatives later.
    with torch.inference_mode(False):
        return _made(sampling, dtype, device)


def _made(sampling: Any, dtype: torch.dtype, device: torch.device) -> _Bags:
    places, starts, weights = sampling.bags()
    return (
        torch.tensor(places, dtype=torch.int64, device=device),
        torch.tensor(starts, dtype=torch.int64, device=device),
        None if weights is None else torch.tensor(weights, dtype=dtype, device=device),
    )
