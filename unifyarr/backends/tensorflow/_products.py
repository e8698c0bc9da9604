"""Products of vectors and matrices on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import fills_gaps, worked_around
from . import elementwise, statistical
from ._engine import BOOL, HALF, NUMPY_DTYPES, broadcast_arrays, cast, integer, integers, raw, reshape, tf, truth

# Integers without a kernel wrap in the wider ones as they would by themselves.
_WIDER = {
    tf.bool: tf.int32,
    tf.int8: tf.int32,
    tf.int16: tf.int32,
    tf.uint8: tf.int32,
    tf.uint16: tf.int32,
    tf.uint32: tf.int64,
    tf.uint64: tf.int64,
}


def _matmul(x1: Any, x2: Any, /) -> Any:
    if x1.ndim == 2 and x2.ndim == 2:
        return raw.MatMul(a=x1, b=x2)
    if x1.ndim >= 2 and x2.ndim >= 2:
        return raw.BatchMatMulV2(x=x1, y=x2)
    left = reshape(x1, shape=(1, *x1.shape)) if x1.ndim == 1 else x1
    right = reshape(x2, shape=(*x2.shape, 1)) if x2.ndim == 1 else x2
    result = _matmul(left, right)
    shape = tuple(result.shape)
    rows = () if x1.ndim == 1 else shape[-2:-1]
    return reshape(result, shape=(*shape[:-2], *rows, *(() if x2.ndim == 1 else shape[-1:])))


@fills_gaps(_matmul, _WIDER, "no kernel for bool and most integers")
def matmul(x1: Any, x2: Any, /) -> Any:
    wider = _WIDER[x1.dtype]
    result = _matmul(cast(x1, wider), cast(x2, wider))
    return truth(result) if x1.dtype in BOOL else cast(result, x1.dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int) -> Any:
    """Sum ``conj(x1) * x2`` over ``axis``, which counts in the broadcast shape of both."""
    dtype = NUMPY_DTYPES[x1.dtype]
    if x1.dtype in HALF:
        x1, x2 = cast(x1, tf.float32), cast(x2, tf.float32)
    x1, x2 = broadcast_arrays(x1, x2)
    products = elementwise.multiply(elementwise.conj(x1), x2)
    return cast_back(statistical.sum(products, axis=(axis,), dtype=NUMPY_DTYPES[products.dtype], keepdims=False), dtype)


def cast_back(x: Any, dtype: np.dtype[Any]) -> Any:
    return x if NUMPY_DTYPES[x.dtype] == dtype else cast(x, dtype)


@worked_around("the engine's has no complex and doesn't broadcast")
def cross(x1: Any, x2: Any, /, *, axis: int) -> Any:
    """Return the cross product along ``axis`` (negative: it counts from the end), where both have 3 elements."""
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError("both arrays must have 3 elements along the axis of the cross product")
    x1, x2 = broadcast_arrays(x1, x2)
    after, before = integers(1, 2, 0), integers(2, 0, 1)
    place = integer(axis)

    def product(order1: Any, order2: Any) -> Any:
        return elementwise.multiply(
            raw.GatherV2(params=x1, indices=order1, axis=place), raw.GatherV2(params=x2, indices=order2, axis=place)
        )

    return raw.Sub(x=product(after, before), y=product(before, after))
