"""The order of elements on torch, complex ones and NaN included, for sorting, searching and sets."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._shared import UNSIGNED, flip_order, parts


def keys(x: Tensor) -> tuple[Tensor, ...]:
    """Return the sort keys of complex numbers, the least significant first."""
    real, imag = parts(x)
    return imag, real, 2 * torch.isnan(real).to(torch.uint8) + torch.isnan(imag)


def sort_along(x: Tensor, axis: int, descending: bool) -> Any:
    """Return the sorted values of real numbers, and their indices."""
    return torch.sort(x, dim=axis, descending=descending, stable=True)


def order_of(x: Tensor, axis: int, descending: bool = False) -> Tensor:
    """Return the indices that sort a tensor along an axis, stably."""
    if not x.is_complex():
        return sort_along(flip_order(x) if x.dtype in UNSIGNED else x, axis, descending).indices
    first, *others = keys(x)
    order = sort_along(first, axis, descending).indices
    for key in others:
        order = order.take_along_dim(sort_along(key.take_along_dim(order, axis), axis, descending).indices, axis)
    return order


def ranks(*arrays: Tensor) -> list[Tensor]:
    """Return for each element of floating-point arrays its place among the distinct values of all; NaN is one value."""
    values = torch.cat([x.reshape(-1) for x in arrays])
    order = order_of(values, 0)
    runs = torch.zeros_like(order)
    for key in keys(values[order]) if values.is_complex() else (values[order],):
        runs[1:] |= (key[1:] != key[:-1]) & ~(torch.isnan(key[1:]) & torch.isnan(key[:-1]))
    places = torch.empty_like(order)
    places[order] = runs.cumsum(0)
    return [place.reshape(x.shape) for place, x in zip(places.split([x.numel() for x in arrays]), arrays, strict=True)]
