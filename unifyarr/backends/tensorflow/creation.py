"""Creation functions on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.abilities import is_numpys
from ._engine import TENSORFLOW_DTYPES, constant, integer, integers, is_alone, raw, reshape, select, tf
from ._stored import moves


def _fill(value: Any, /, *, shape: tuple[int, ...]) -> Any:
    return raw.Fill(dims=integers(*shape), value=value)


# NumPy's own dtypes are never storage-only.
_fill_stored = moves()(_fill)


def _filled(make: Callable[..., Any], value: complex, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Any:
    """Return a new tensor of a number, which ``make`` makes on the tensor's device."""
    fill = _fill if is_numpys(dtype) else _fill_stored
    if device is None or is_alone():
        return fill(make(value, dtype), shape=shape)
    with tf.device(device):
        return fill(make(value, dtype), shape=shape)


def _cast(value: complex, dtype: np.dtype[Any]) -> Any:
    # NumPy makes the element, with its rules for values out of range; a constant from a Python scalar can lose -0.0.
    return tf.constant(np.full((), value, dtype))


def _kept(value: complex, dtype: np.dtype[Any]) -> Any:
    return constant(value, TENSORFLOW_DTYPES[dtype])


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: Any) -> Any:
    return _filled(_cast, fill_value, shape, dtype, device)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Any:
    return _filled(_kept, 0, shape, dtype, device)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Any:
    return _filled(_kept, 1, shape, dtype, device)


# An immutable tensor has to be filled with something.
empty = zeros


def _where_mask(mask: np.ndarray, x: Any) -> Any:
    stack = reshape(x, shape=(-1, *mask.shape)) if x.ndim > 3 else x
    kept = select(tf.constant(mask), stack, raw.ZerosLike(x=stack))
    return reshape(kept, shape=tuple(x.shape)) if x.ndim > 3 else kept


def tril(x: Any, /, *, k: int) -> Any:
    if k >= 0:
        return raw.MatrixBandPart(input=x, num_lower=integer(-1), num_upper=integer(min(k, x.shape[-1])))
    return _where_mask(np.tri(x.shape[-2], x.shape[-1], k, dtype=bool), x)


def triu(x: Any, /, *, k: int) -> Any:
    if k <= 0:
        return raw.MatrixBandPart(input=x, num_lower=integer(min(-k, x.shape[-2])), num_upper=integer(-1))
    return _where_mask(~np.tri(x.shape[-2], x.shape[-1], k - 1, dtype=bool), x)
