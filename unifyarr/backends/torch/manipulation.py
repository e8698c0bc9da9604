"""Changing shapes and joining arrays on torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import ShapeError
from ..kernels import Applied, Packed, bound_by, known_by, support_native_out, worked_around
from ._overlap import independent
from ._shared import DTYPES, STORED, UNSIGNED, as_dtype, as_signed, writes


@bound_by(lambda *, shape: Applied(torch.broadcast_to, shape))
def broadcast_to(x: Tensor, /, *, shape: tuple[int, ...]) -> Tensor:
    return x.expand(shape)


def _permuting(*, axes: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    return torch.t if axes == (1, 0) else Applied(torch.permute, axes)


@bound_by(_permuting)
def permute_dims(x: Tensor, /, *, axes: tuple[int, ...]) -> Tensor:
    return torch.permute(x, axes)


@bound_by(lambda *, shape: Applied(torch.reshape, shape))
def reshape(x: Tensor, /, *, shape: tuple[int, ...]) -> Tensor:
    return torch.reshape(x, shape)


def real(x: Tensor, /) -> Tensor:
    return torch.real(x).resolve_neg()


def imag(x: Tensor, /) -> Tensor:
    # The imaginary part of a lazily conjugated tensor is lazily negated.
    return torch.imag(x).resolve_neg()


def bitcast(x: Tensor, /, *, dtype: np.dtype[Any]) -> Tensor:
    if not x.numel() and x.itemsize != dtype.itemsize:
        # The engine refuses it, for strides of zero.
        return x.new_empty((*x.shape[:-1], x.shape[-1] * x.itemsize // dtype.itemsize), dtype=DTYPES[dtype])
    return x.resolve_conj().resolve_neg().view(DTYPES[dtype])


@writes
def set_real(x: Tensor, value: Tensor, /) -> Tensor:
    torch.real(x).copy_(independent(value, x))
    return x


@writes
def set_imag(x: Tensor, value: Tensor, /) -> Tensor:
    torch.imag(x).copy_(independent(value, x))
    return x


def _joining(native: Callable[..., Tensor]) -> Callable[..., Callable[..., Tensor]]:
    # The engine takes the first axis sooner by itself.
    return lambda *, axis: Packed(native, axis) if axis else Packed(native)


@bound_by(_joining(torch.cat))
@support_native_out
def concat(*arrays: Tensor, axis: int, out: Tensor | None = None) -> Tensor:
    return torch.cat(arrays, axis, out=out)


@bound_by(_joining(torch.stack))
@support_native_out
def stack(*arrays: Tensor, axis: int, out: Tensor | None = None) -> Tensor:
    return torch.stack(arrays, axis, out=out)


def _repeating(*, count: int | None, axis: int | None) -> Callable[..., Tensor]:
    def repeating(x: Tensor, /, *repeats: Tensor) -> Tensor:
        if repeats or axis is None or count is None or count < 0 or x.dtype in UNSIGNED | STORED:
            return repeat(x, *repeats, count=count, axis=axis)
        return torch.repeat_interleave(x, count, axis)

    return repeating


def _know_repeating(x: Tensor, *repeats: Tensor, count: int | None, axis: int | None) -> Any:
    if repeats or axis is None or count is None or count < 0 or x.dtype in UNSIGNED | STORED:
        return None
    return Applied(torch.repeat_interleave, count, axis)


@known_by(_know_repeating)
@bound_by(_repeating)
@worked_around("torch.repeat_interleave has no kernel for uint16, uint32, uint64, and other errors")
def repeat(x: Tensor, /, *repeats: Tensor, count: int | None, axis: int | None) -> Tensor:
    times: Any
    if axis is None:
        x, axis = x.reshape(-1), 0
    if count is not None:
        times, negative = count, count < 0
    else:
        times = repeats[0].reshape(-1)
        negative = bool((times < 0).any())
        if len(times) not in (1, x.shape[axis]):
            raise ShapeError(f"repeats has {len(times)} elements, but axis {axis} has {x.shape[axis]}")
    if negative:
        raise ShapeError("repeats holds a negative number")
    return as_dtype(torch.repeat_interleave(as_signed(x), times, dim=axis), x.dtype)


def _rolling(*, shift: tuple[int, ...], axis: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    if len(axis) == 1:
        return Applied(torch.roll, *shift, *axis)
    return Applied(torch.roll, shift, axis) if axis else torch.clone


@bound_by(_rolling)
def roll(x: Tensor, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> Tensor:
    return torch.roll(x, shift, axis) if axis else x.clone()
