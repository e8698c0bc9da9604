"""Combining values where indices say, on TensorFlow."""

from __future__ import annotations

import math
from typing import Any

from ..kernels import worked_around
from ._engine import BOOL, FLOAT, cast, constant, has_nan, integer, may_record, raw, reshape, select, tf
from ._indices import joint_indices, lasting

_OF_BOOL = {"add": "max", "multiply": "min"}


def _extreme(x: Any, value: Any, joint: Any, reduction: str) -> Any:
    op = raw.TensorScatterMax if reduction == "max" else raw.TensorScatterMin
    places = reshape(joint, shape=(-1, 1))
    result = op(tensor=x, indices=places, updates=value)
    if x.dtype not in FLOAT or not (has_nan(value) or has_nan(x)):
        return result
    # The engine's comparison passes over NaN.
    marks = cast(raw.IsNan(x=value), tf.int32)
    touched = raw.TensorScatterAdd(tensor=cast(raw.IsNan(x=x), tf.int32), indices=places, updates=marks)
    return select(raw.Greater(x=touched, y=constant(0, tf.int32)), constant(math.nan, x.dtype), result)


def _combine(x: Any, value: Any, joint: Any, reduction: str) -> Any:
    """Combine rows of a 2-d tensor with others at non-negative indices."""
    if reduction == "set":
        return _replace(x, value, joint)
    if x.dtype in BOOL:
        reduction = _OF_BOOL.get(reduction, reduction)
        return cast(_combine(cast(x, tf.uint8), cast(value, tf.uint8), joint, reduction), x.dtype)
    if reduction == "add":
        return raw.TensorScatterAdd(tensor=x, indices=reshape(joint, shape=(-1, 1)), updates=value)
    if reduction == "multiply":
        # The engine scatters no products.
        return raw.Mul(x=x, y=raw.UnsortedSegmentProd(data=value, segment_ids=joint, num_segments=integer(x.shape[0])))
    return _extreme(x, value, joint, reduction)


def _replace(x: Any, value: Any, joint: Any) -> Any:
    value = lasting(value, joint, x.shape[0]) if may_record() else value
    return raw.TensorScatterUpdate(tensor=x, indices=reshape(joint, shape=(-1, 1)), updates=value)


@worked_around("the engine's op has no bools, no products, and passes over NaN")
def scatter_reduce(x: Any, value: Any, /, *indices: Any, reduction: str) -> Any:
    shape, depth = tuple(x.shape), len(indices)
    joint = reshape(joint_indices(shape, indices), shape=(-1,))
    columns = math.prod(shape[depth:])
    if joint.shape[0] == 0 or not columns:
        # The engine raises where there is nothing to write.
        return raw.Identity(input=x)
    rows = reshape(x, shape=(math.prod(shape[:depth]), columns))
    return reshape(_combine(rows, reshape(value, shape=(-1, columns)), joint, reduction), shape=shape)
