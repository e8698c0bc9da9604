"""Sorting on torch: NaN last, or first where descending; always stable, which the standard allows.

Complex numbers, for which torch has no order, are sorted as in NumPy: by real, then by imaginary part, NaN last.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ..kernels import bound_by, known_by, worked_around
from ._indices import noting
from ._order import order_of, sort_along
from ._shared import SIGNED_INTEGER, UNSIGNED, WIDE, flip_order

_ORDERED = WIDE | SIGNED_INTEGER


def _sorting(*, axis: int, descending: bool, stable: bool) -> Callable[[Tensor], Tensor]:
    def sorting(x: Tensor, /) -> Tensor:
        if x.dtype in _ORDERED:
            values: Tensor = torch.sort(x, dim=axis, descending=descending, stable=True)[0]
            return values
        return sort(x, axis=axis, descending=descending, stable=stable)

    return sorting


def _ordering(*, axis: int, descending: bool, stable: bool) -> Callable[[Tensor], Tensor]:
    fast = noting(torch.argsort, lambda x: x.shape[axis] - 1)

    def ordering(x: Tensor, /) -> Tensor:
        if x.dtype in _ORDERED:
            ordered: Tensor = fast(x, dim=axis, descending=descending, stable=True)
            return ordered
        return argsort(x, axis=axis, descending=descending, stable=stable)

    return ordering


def _know_sorting(x: Tensor, *, axis: int, descending: bool, stable: bool) -> Callable[[Tensor], Tensor] | None:
    if x.dtype not in _ORDERED:
        return None
    if axis == x.dim() - 1 and not descending:
        # As the engine sorts by itself: each argument that it's passed takes time.
        return lambda x, /: x.sort(stable=True)[0]
    return lambda x, /: x.sort(dim=axis, descending=descending, stable=True)[0]


def _know_ordering(x: Tensor, *, axis: int, descending: bool, stable: bool) -> Callable[[Tensor], Tensor] | None:
    if x.dtype not in _ORDERED:
        return None
    others = {} if axis == x.dim() - 1 and not descending else {"dim": axis, "descending": descending}
    return noting(partial(Tensor.argsort, stable=True, **others), lambda x: x.shape[axis] - 1)


@known_by(_know_sorting)
@bound_by(_sorting)
@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def sort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    if x.is_complex():
        return x.take_along_dim(order_of(x, axis, descending), axis)
    if x.dtype in UNSIGNED:
        return flip_order(sort_along(flip_order(x), axis, descending).values).view(x.dtype)
    # With ``out`` torch sorts slower than it sorts and copies.
    return sort_along(x, axis, descending).values


@known_by(_know_ordering)
@bound_by(_ordering)
@worked_around("no kernel for complex numbers, none for long arrays of uint16, uint32, uint64")
def argsort(x: Tensor, /, *, axis: int, descending: bool, stable: bool) -> Tensor:
    return noting(order_of, lambda x: x.shape[axis] - 1)(x, axis, descending)
