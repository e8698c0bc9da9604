"""Sorting on torch: NaN last, or first where descending; always stable, which the standard allows.

Complex numbers, for which torch has no order, are sorted as in NumPy: by real, then by imaginary part, NaN last.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import worked_around
from ._shared import UNSIGNED, flip_order, parts


def _keys(x: Tensor) -> tuple[Tensor, ...]:
    """Return what complex numbers are compared by, the least significant first."""
    real, imag = parts(x)
    return imag, real, 2 * torch.isnan(real).to(torch.uint8) + torch.isnan(imag)


def _sort(x: Tensor, axis: int, descending: bool) -> Any:
    return torch.sort(x, dim=axis, descending=descending, stable=True)


@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def sort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    if x.is_complex():
        return x.take_along_dim(argsort(x, axis=axis, descending=descending, stable=stable), axis)
    if x.dtype in UNSIGNED:
        return flip_order(_sort(flip_order(x), axis, descending).values).view(x.dtype)
    # With ``out`` torch sorts slower than it sorts and copies.
    return _sort(x, axis, descending).values


@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def argsort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    if not x.is_complex():
        return _sort(flip_order(x) if x.dtype in UNSIGNED else x, axis, descending).indices
    first, *others = _keys(x)
    order = _sort(first, axis, descending).indices
    for key in others:
        order = order.take_along_dim(_sort(key.take_along_dim(order, axis), axis, descending).indices, axis)
    return order


def ranks(*arrays: Tensor) -> list[Tensor]:
    """Return for each element of floating-point arrays its place among the distinct values of all; NaN is one value."""
    values = torch.cat([x.reshape(-1) for x in arrays])
    order = argsort(values, axis=0, descending=False, stable=True)
    runs = torch.zeros_like(order)
    for key in _keys(values[order]) if values.is_complex() else (values[order],):
        runs[1:] |= (key[1:] != key[:-1]) & ~(torch.isnan(key[1:]) & torch.isnan(key[:-1]))
    places = torch.empty_like(order)
    places[order] = runs.cumsum(0)
    return [place.reshape(x.shape) for place, x in zip(places.split([x.numel() for x in arrays]), arrays, strict=True)]
