"""Reductions on torch, where an empty ``dim`` would mean all axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..guards import guarded
from ..kernels import Applied, bound_by, known_by, support_native_out, worked_around
from ._offered import off_host
from ._shared import (
    BOOL,
    DTYPES,
    FEW,
    HALF,
    SIGNED,
    SIGNED_INTEGER,
    WIDE,
    Kernel,
    as_dtype,
    as_signed,
    by_parts,
    cast,
    flip_order,
    holds,
    is_plain,
    reducing,
)
from .searching import argmax, argmin

Axis = tuple[int, ...]
# The dtypes whose sums and products need no detour.
_KEEPS = WIDE | {torch.int64}


def _values(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return ``x`` in ``dtype``, the unsigned integers without kernels as the bits of signed ones."""
    return as_signed(x if x.dtype is dtype else cast(x, dtype))


def _flat(x: Tensor, axis: Axis) -> Tensor:
    """Return ``x`` with the axes ``axis`` as one, the last, in C order."""
    axis = tuple(sorted(axis))
    kept = [i for i in range(x.ndim) if i not in axis]
    return x.permute(*kept, *axis).reshape(*(x.shape[i] for i in kept), math.prod(x.shape[i] for i in axis))


def _keep(result: Tensor, axis: Axis) -> Tensor:
    """Return ``result`` with the reduced axes of length 1."""
    for i in sorted(axis):
        result = result.unsqueeze(i)
    return result


def _plus_zero(x: Tensor) -> Tensor:
    # A sum starts with 0: the sum of -0.0 alone is 0.0.
    return by_parts(_plus_zero)(x) if x.is_complex() else x + 0


def _summing(*, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Callable[..., Tensor]:
    native = DTYPES[dtype]
    is_plain_sum = native in _KEEPS and bool(axis)

    def summing(x: Tensor, /, *, out: Tensor | None = None) -> Tensor:
        if is_plain_sum and x.dtype is native:
            return torch.sum(x, axis, keepdims) if out is None else torch.sum(x, axis, keepdims, out=out)
        return sum(x, axis=axis, dtype=dtype, keepdims=keepdims, out=out)

    return summing


def _know_sum(x: Tensor, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Any:
    native = DTYPES[dtype]
    # Sums of integers and masks are of 64 bits by themselves.
    is_own = x.dtype is native if native is not torch.int64 else x.dtype in SIGNED_INTEGER | BOOL
    return reducing(torch.sum, x, axis, keepdims) if is_own and native in _KEEPS and axis else None


def _know_prod(x: Tensor, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Any:
    native = DTYPES[dtype]
    is_one = x.dtype is native and native in _KEEPS and len(axis) == 1
    return Applied(torch.prod, axis[0], keepdims) if is_one else None


@known_by(_know_sum)
@bound_by(_summing)
@support_native_out
def sum(x: Tensor, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool, out: Tensor | None = None) -> Tensor:
    native = DTYPES[dtype]
    if x.dtype is native and native in _KEEPS and axis:
        return torch.sum(x, axis, keepdims) if out is None else torch.sum(x, axis, keepdims, out=out)
    if not axis:
        return as_dtype(_plus_zero(_values(x, native)), native)
    if native in SIGNED:
        return torch.sum(_values(x, native), axis, keepdims, dtype=SIGNED[native]).view(native)
    return torch.sum(cast(x, native) if x.is_complex() else x, axis, keepdims, dtype=native, out=out)


@known_by(_know_prod)
def prod(x: Tensor, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Tensor:
    native = DTYPES[dtype]
    if x.dtype is native and native in _KEEPS and len(axis) == 1:
        return torch.prod(x, axis[0], keepdims)
    values = _values(x, native)
    if native in HALF:
        # Unlike its sums, the engine's products are rounded at each step.
        return prod(values, axis=axis, dtype=np.dtype(np.float32), keepdims=keepdims).to(native)
    if not axis:
        return as_dtype(values * torch.ones_like(values), native)
    # torch.prod reduces one axis only.
    one = len(axis) == 1
    result = torch.prod(values if one else _flat(values, axis), axis[0] if one else -1, dtype=values.dtype)
    return as_dtype(_keep(result, axis) if keepdims else result, native)


def _extremum(native: Kernel, argument: Kernel, name: str) -> Kernel:
    def know(x: Tensor, *, axis: Axis, keepdims: bool) -> Any:
        return reducing(native, x, axis, keepdims) if axis and x.dtype in WIDE and x.numel() else None

    @known_by(know)
    @worked_around("no kernel for uint16, uint32, uint64 and complex numbers, IndexError for no elements")
    @support_native_out
    def kernel(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
        if not axis:
            return x.clone()
        if x.dtype in WIDE and out is None and x.numel():
            return native(x, axis, keepdims)
        try:
            if x.dtype in SIGNED:
                return flip_order(native(flip_order(x), axis, keepdims)).view(x.dtype)
            if x.is_complex():
                flat = _flat(x, axis)
                result = flat.take_along_dim(argument(flat, axis=flat.ndim - 1, keepdims=True), -1).squeeze(-1)
                return _keep(result, axis) if keepdims else result
            return native(x, axis, keepdims, out=out)
        except (IndexError, ValueError):
            shape = [1 if i in axis else n for i, n in enumerate(x.shape) if keepdims or i not in axis]
            if 0 not in shape:
                raise ValueError(f"{name} of an array without elements has no value") from None
            return x.new_empty(shape)

    return kernel


max = _extremum(torch.amax, argmax, "max")
min = _extremum(torch.amin, argmin, "min")


def _know_mean(x: Tensor, *, axis: Axis, keepdims: bool) -> Any:
    return reducing(torch.mean, x, axis, keepdims) if axis and not x.is_complex() else None


@known_by(_know_mean)
@support_native_out
def mean(x: Tensor, /, *, axis: Axis, keepdims: bool, out: Tensor | None = None) -> Tensor:
    if axis and not x.is_complex():
        return torch.mean(x, axis, keepdims) if out is None else torch.mean(x, axis, keepdims, out=out)
    if not axis and not x.is_complex():
        return _plus_zero(x)
    total = torch.sum(x, axis, keepdims) if axis else _plus_zero(x)
    # NumPy divides by a complex number, which decides about infinite parts.
    return total / total.new_full((), math.prod(x.shape[i] for i in axis))


def _know_var(x: Tensor, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    if not _is_regular(x, axis, correction):
        return None
    if correction in (0, 1):
        # Positional arguments are faster.
        return Applied(torch.var, axis, bool(correction), keepdims)
    return partial(torch.var, dim=axis, correction=correction, keepdim=keepdims)


@known_by(_know_var)
def var(x: Tensor, /, *, axis: Axis, correction: float, keepdims: bool) -> Tensor:
    if _is_regular(x, axis, correction):
        return torch.var(x, axis, correction=correction, keepdim=keepdims)
    # torch warns where the divisor is 0.
    count = math.prod(x.shape[i] for i in axis)
    squares = (x - mean(x, axis=axis, keepdims=True)).abs().square()
    total = torch.sum(squares, axis, keepdims) if axis else squares
    return total / (count - correction if count > correction else 0.0)


def _is_regular(x: Tensor, axis: Axis, correction: float) -> bool:
    size = x.numel()
    if len(axis) == 1:
        count = x.shape[axis[0]]
    else:
        count = size if len(axis) == x.dim() else math.prod([x.shape[each] for each in axis])
    return bool(axis) and count > correction and size > 0


def _know_std(x: Tensor, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    if x.dtype not in WIDE or not _is_regular(x, axis, correction):
        return None

    if correction in (0, 1):
        return Applied(guarded(torch.std, _deviation, "unwatched"), axis, bool(correction), keepdims)
    return partial(std, axis=axis, correction=correction, keepdims=keepdims)


def _deviation(x: Tensor, axis: Axis, correction: bool, keepdims: bool) -> Tensor:
    return std(x, axis=axis, correction=correction, keepdims=keepdims)


@known_by(_know_std)
def std(x: Tensor, /, *, axis: Axis, correction: float, keepdims: bool) -> Tensor:
    # The root of a variance of zero has another derivative.
    if x.dtype in WIDE and _is_regular(x, axis, correction) and is_plain(x):
        return torch.std(x, axis, correction=correction, keepdim=keepdims)
    if x.dtype in HALF:
        # The variance of half precision overflows before its root does.
        return std(x.float(), axis=axis, correction=correction, keepdims=keepdims).to(x.dtype)
    return torch.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


# Integers as wide as floating-point numbers: the least one has the bits of -0.0.
_BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def _cumsum(x: Tensor, axis: int) -> Tensor:
    if x.dtype in WIDE and x.dim() == 1 and (size := x.numel()) and x.is_cpu and is_plain(x):
        # For a few numbers, torch makes a list faster than it reads one of them.
        first: Any = x.tolist()[0] if size <= FEW else x[0].item()
        if first:
            return torch.cumsum(x, axis)
    if x.is_complex():
        return by_parts(_cumsum)(x, axis=axis)
    result = torch.cumsum(x, axis, dtype=x.dtype)
    if x.is_floating_point() and not x.is_cpu:
        # As below, without a look at values.
        bits = _BITS[x.itemsize]
        is_zero = x.detach().view(bits) == torch.iinfo(bits).min
        leading = torch.cumprod(is_zero.view(torch.uint8), axis, dtype=torch.uint8).view(torch.bool)
        return torch.where(leading, x, result)
    if x.is_floating_point() and not holds(x.narrow(axis, 0, x.shape[axis] and 1).all(), unknown=False):
        # torch starts with 0.0, NumPy with the first element: after nothing but -0.0 the sum is -0.0.
        leading = torch.cumprod(((x == 0) & torch.signbit(x)).to(torch.uint8), axis) != 0
        return torch.where(leading, x, result)
    return result


def _cumprod(x: Tensor, axis: int) -> Tensor:
    if x.is_complex() and not holds(torch.isfinite(x.narrow(axis, 0, x.shape[axis] and 1)).all(), unknown=False):
        # torch starts with 1, and 1 * (inf + 0j) is inf + nanj.
        return torch.stack(list(itertools.accumulate(x.unbind(axis), torch.mul)), axis)
    return torch.cumprod(x, axis, dtype=x.dtype)


def _cumulative(function: Kernel, initial: int) -> Kernel:
    def accumulating(*, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Callable[[Tensor], Tensor]:
        native = DTYPES[dtype]

        def accumulate(x: Tensor, /) -> Tensor:
            if x.dtype is native and native in WIDE and not include_initial:
                result: Tensor = function(x, axis)
                return result
            return kernel(x, axis=axis, dtype=dtype, include_initial=include_initial)

        return accumulate

    def know(x: Tensor, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Any:
        if function is not _cumsum or include_initial or x.dim() != 1 or not 0 < x.numel() <= FEW:
            return None
        if x.dtype is not DTYPES[dtype] or x.dtype not in WIDE:
            return None
        # As ``_cumsum`` does. Inside ``vmap``, where values are hidden, the general path computes.
        return Applied(guarded(torch.cumsum, _cumsum, "begins with another number than zero"), 0)

    @known_by(know)
    @bound_by(accumulating)
    @worked_around("no kernel for uint16, uint32, uint64, other first elements")
    def kernel(x: Tensor, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Tensor:
        native = DTYPES[dtype]
        result = function(_values(x, native), axis)
        if include_initial:
            shape = [1 if i == axis else n for i, n in enumerate(x.shape)]
            result = torch.cat((result.new_full(shape, initial), result), axis)
        return as_dtype(result, native)

    return kernel


cumulative_sum = _cumulative(_cumsum, 0)
cumulative_prod = _cumulative(_cumprod, 1)


def _running(native: Callable[[Tensor, int], Any]) -> Kernel:
    @worked_around("no kernel for uint16, uint32, uint64")
    def kernel(x: Tensor, /, *, axis: int) -> Tensor:
        found: Tensor
        if x.dtype in SIGNED:
            found = flip_order(native(flip_order(x), axis)[0]).view(x.dtype)
        else:
            found = native(x, axis)[0]
        return found

    return kernel


cumulative_max = _running(torch.cummax)
cumulative_min = _running(torch.cummin)


@off_host
def nansum(x: Tensor, /, *, axis: Axis, keepdims: bool) -> Tensor:
    return torch.nansum(x, axis, keepdims)
