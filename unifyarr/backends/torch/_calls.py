"""Fast paths of torch's functions that are no operators: views, selections, joins, and arrays of data.

They decline by ``NotImplemented``, or by an error of the engine: the general path says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import forward_ad

from ._private import peek_interpreter_stack
from ._shared import FEW, NUMPY_DTYPES, WIDE

_NUMBERS = frozenset({bool, int, float, complex})
# A list of more numbers goes to memory of its own kind.
_MOST_NUMBERS = 64
# The codes of the dtypes that torch shares with NumPy. C has two types of 64 bits, one of which it knows.
_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
_CODES = frozenset(np.dtype(name).char for name in _NAMES.split())
_cat, _stack, _where, _from_numpy = torch.cat, torch.stack, torch.where, torch.from_numpy
_searchsorted, _solve = torch.searchsorted, torch.linalg.solve
# Methods are taken sooner than functions, this one aside.
_cumsum = torch.cumsum

# -- views ----------------------------------------------------------------------------------------------------------


def reshape(x: Tensor, shape: Any) -> Any:
    if type(shape) is not tuple:
        return NotImplemented
    # Where only a copy has the shape, the engine raises. Lengths one by one are taken sooner than a tuple of them.
    if len(shape) == 2:
        first, second = shape
        return x.view(first, second) if type(first) is int is type(second) else NotImplemented
    for length in shape:
        if type(length) is not int:
            return NotImplemented
    return x.view(*shape)


def expand_dims(x: Tensor, axis: Any) -> Any:
    return x.unsqueeze(axis) if type(axis) is int else NotImplemented


def squeeze(x: Tensor, axis: Any) -> Any:
    return x.squeeze(axis) if type(axis) is int and x.shape[axis] == 1 else NotImplemented


def permute_dims(x: Tensor, axes: Any) -> Any:
    if type(axes) is not tuple:
        return NotImplemented
    for axis in axes:
        if type(axis) is not int:
            return NotImplemented
    return x.mT if axes == (1, 0) and x.dim() == 2 else x.permute(*axes)


def matrix_transpose(x: Tensor) -> Any:
    # Of a 0-d tensor torch gives the tensor itself, and warns only once.
    return x.mT if x.dim() > 1 else NotImplemented


# -- selections -----------------------------------------------------------------------------------------------------


def where(condition: Tensor, x1: Any, x2: Any) -> Any:
    if type(x1) is not Tensor or type(x2) is not Tensor or x1.dtype is not x2.dtype:
        return NotImplemented
    return _where(condition, x1, x2) if condition.dtype is torch.bool else NotImplemented


def take(x: Tensor, indices: Tensor, axis: Any) -> Any:
    # On other devices, and in transformations, the engine doesn't say which index is out of bounds; and it takes a 0-d
    # index for one of one element.
    if indices.dim() != 1 or not x.is_cpu or forward_ad._current_level >= 0 or peek_interpreter_stack() is not None:
        return NotImplemented
    if axis is None:
        return x.index_select(0, indices) if x.dim() == 1 else NotImplemented
    return x.index_select(axis, indices) if axis.__class__ is int and x.dim() else NotImplemented


def clip(x: Tensor, least: Any, most: Any) -> Any:
    # No tensors, no NaN, and numbers that fit.
    if type(least) is Tensor or type(most) is Tensor or not least <= most or x.dtype is not torch.float64:
        return NotImplemented
    # At the ends of the range the derivative is another one than that of maximum and minimum.
    if forward_ad._current_level >= 0 or peek_interpreter_stack() is not None or x.requires_grad:
        return NotImplemented
    return x.clamp(least, most)


def searchsorted(x1: Tensor, x2: Any, sorter: Any, side: Any) -> Any:
    if type(x2) is not Tensor or side != "left" or sorter is not None:
        return NotImplemented
    dtype = x1.dtype
    if x2.dtype is not dtype or dtype not in WIDE or x1.numel() > FEW:
        return NotImplemented
    # The engine warns about strides. Where there's no NaN, which would be the last, it takes one for the greatest. Of
    # an array that isn't 1-d, or has no elements, this raises.
    if x1.is_contiguous() and x2.is_contiguous() and x1.tolist()[-1] < inf:
        return _searchsorted(x1, x2)
    return NotImplemented


# -- joins and sums -------------------------------------------------------------------------------------------------


def concat(natives: list[Tensor], axis: Any) -> Any:
    dtype = None
    for x in natives:
        given = x.dtype
        if given is not dtype:
            if dtype is not None:
                return NotImplemented
            dtype = given
    if axis.__class__ is not int:
        return NotImplemented
    # The engine takes the first axis sooner by itself.
    joined = _cat(natives, axis) if axis else _cat(natives)
    ndim = joined.dim()
    # An array of shape (0,) it joins with any other.
    return joined if ndim == 1 or all(x.dim() == ndim for x in natives) else NotImplemented


def stack(natives: list[Tensor], axis: Any) -> Any:
    dtype = None
    for x in natives:
        given = x.dtype
        if given is not dtype:
            if dtype is not None:
                return NotImplemented
            dtype = given
    if axis.__class__ is not int:
        return NotImplemented
    return _stack(natives, axis) if axis else _stack(natives)


def cumulative_sum(x: Tensor, axis: Any, dtype: Any, include_initial: Any) -> Any:
    if axis is not None or dtype is not None or include_initial or x.dtype not in WIDE or x.dim() != 1:
        return NotImplemented
    # The engine starts with 0.0, NumPy with the first element, which may be -0.0. What has no values raises.
    return _cumsum(x, 0) if 0 < x.numel() <= FEW and x.tolist()[0] else NotImplemented


# -- matrices ---------------------------------------------------------------------------------------------------------


def solve(x1: Tensor, x2: Tensor) -> Any:
    # Of one matrix the engine takes vectors and matrices as the standard does. It refuses other dtypes, and what is
    # singular.
    return _solve(x1, x2) if x1.dtype in WIDE and x1.dim() == 2 else NotImplemented


def _of_matrices(native: Callable[..., Tensor]) -> Callable[..., Any]:
    # The engine refuses what isn't square or is singular.
    return lambda x, upper=False: native(x) if x.dtype in WIDE and upper is False else NotImplemented


# -- arrays of data -------------------------------------------------------------------------------------------------


def zeros_like(x: Tensor, dtype: Any, device: Any) -> Any:
    # On the device of the array, which takes longer to pass.
    return x.new_zeros(*x.shape) if dtype is None and device is None else NotImplemented


def asarray(obj: Any, dtype: Any, device: Any, copy: Any) -> Any:
    if dtype is not None or device is not None or copy is not None:
        return NotImplemented
    kind = type(obj)
    if kind is Tensor:
        is_plain = obj.layout is torch.strided and not obj.is_nested and obj.dtype in NUMPY_DTYPES
        return obj if is_plain else NotImplemented
    if kind is np.ndarray:
        # Another order of bytes the engine refuses.
        return _from_numpy(obj.copy()) if obj.dtype.char in _CODES else NotImplemented
    if kind is list and len(obj) < _MOST_NUMBERS and _NUMBERS.issuperset(map(type, obj)):
        made = np.asarray(obj)
        return _from_numpy(made) if made.dtype.char in _CODES else NotImplemented
    return NotImplemented


PATHS: dict[str, Callable[..., Any]] = {
    path.__name__: path
    for path in (
        *(reshape, expand_dims, squeeze, permute_dims, matrix_transpose, where, take, clip),
        *(concat, stack, cumulative_sum, zeros_like, asarray, searchsorted, solve),
    )
} | {name: _of_matrices(getattr(torch.linalg, name)) for name in ("inv", "det", "cholesky")}
