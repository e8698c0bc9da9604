"""Combining values where indices say, on torch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ...errors import BackendFeatureError
from ..kernels import support_native_out, worked_around
from . import indexing, pure
from ._indices import check_bounds
from ._shared import UNSIGNED, as_dtype, as_signed, derivatives, flip_order, has_address

_NATIVE = {"add": "sum", "multiply": "prod", "max": "amax", "min": "amin"}


def _joint(shape: tuple[int, ...], indices: tuple[Tensor, ...]) -> Tensor:
    """Return index arrays of several axes as one 1-d array of non-negative places in those axes flattened to one."""
    joint: Tensor | None = None
    wraps = check_bounds(indices, shape)
    for axis, index in enumerate(indices):
        if wraps:
            index = index % shape[axis]
        joint = index if joint is None else joint * shape[axis] + index
    assert joint is not None
    return joint.reshape(-1)


def _combine(rows: Tensor, value: Tensor, joint: Tensor, reduction: str, *, inplace: bool) -> Tensor:
    """Combine rows of a 2-d array with others at non-negative indices."""
    if rows.dtype in UNSIGNED and reduction in ("max", "min"):
        ordered = _combine(flip_order(rows), flip_order(value), joint, reduction, inplace=False)
        return flip_order(ordered).view(rows.dtype)
    bits, value = as_signed(rows), as_signed(value)
    if rows.dtype is torch.bool and reduction == "add":
        reduction = "max"
    # index_add takes fifty times as long for several columns; one column takes half of the time without its axis.
    places, bits, value = (
        (joint, bits[:, 0], value[:, 0]) if value.shape[1] == 1 else (joint[:, None].expand(value.shape), bits, value)
    )
    combine = bits.scatter_reduce_ if inplace else bits.scatter_reduce
    result = combine(0, places, value, _NATIVE[reduction]).reshape(rows.shape)
    return as_dtype(result, rows.dtype)


@worked_around("no kernel for uint16, uint32, uint64, none for indices of several axes")
@support_native_out
def scatter_reduce(x: Tensor, value: Tensor, /, *indices: Tensor, reduction: str, out: Tensor | None = None) -> Tensor:
    if reduction == "set":
        # ``vmap`` writes no batch of values into an array that is none.
        write = pure.scatter if not (has_address(x) and has_address(value)) else indexing.scatter
        return write(x.clone(), value, *indices)
    if reduction == "multiply" and any("forward" in derivatives(each) for each in (x, value)):
        raise BackendFeatureError(
            "torch has no derivative of products at indices that runs forward, and says zero: use grad(), vjp() or "
            'jacobian(mode="reverse")'
        )
    shape, depth = tuple(x.shape), len(indices)
    joint = _joint(shape, indices)
    if not value.numel():
        return x.clone()
    rows, columns = math.prod(shape[:depth]), math.prod(shape[depth:])
    # A total that has just begun is taken further in its own memory.
    inplace = out is not None and out is x and x.is_contiguous() and x.dtype not in UNSIGNED
    result = _combine(x.reshape(rows, columns), value.reshape(-1, columns), joint, reduction, inplace=inplace)
    return x if inplace else result.reshape(shape)
