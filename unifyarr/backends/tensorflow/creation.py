"""Creation functions on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.abilities import is_numpys
from ._engine import TENSORFLOW_DTYPES, constant, integer, integers, is_alone, raw, reshape, select, tf
from ._stored import moves


def _fill(value: Any, /, *, shape: tuple[int, ...], device: Any) -> Any:
    if device is None or is_alone():
        return raw.Fill(dims=integers(*shape), value=value)
    with tf.device(device):
        return raw.Fill(dims=integers(*shape), value=value)


# Of what NumPy's own dtypes name, none is only stored.
_fill_stored = moves()(_fill)


def full(*, shape: tuple[int, ...], fill_value: complex, dtype: np.dtype[Any], device: Any) -> Any:
    # NumPy makes the element, with its rules for values out of range; a constant from a Python scalar can lose -0.0.
    fill = _fill if is_numpys(dtype) else _fill_stored
    return fill(tf.constant(np.full((), fill_value, dtype)), shape=shape, device=device)


def zeros(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Any:
    fill = _fill if is_numpys(dtype) else _fill_stored
    return fill(constant(0, TENSORFLOW_DTYPES[dtype]), shape=shape, device=device)


def ones(*, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Any:
    fill = _fill if is_numpys(dtype) else _fill_stored
    return fill(constant(1, TENSORFLOW_DTYPES[dtype]), shape=shape, device=device)


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
