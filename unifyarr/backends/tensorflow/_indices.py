"""Index arrays on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import integer, is_traced, raw, reshape, scalar, select, tf


def normalised(indices: Any, length: int) -> Any:
    """Return non-negative indices of an axis; the engine would raise for negative ones."""
    if is_traced(indices):
        return select(
            raw.Less(x=indices, y=raw.ZerosLike(x=indices)), raw.AddV2(x=indices, y=scalar(length, indices)), indices
        )
    values = np.asarray(indices)
    # Seen as unsigned, a negative index is greater than all others: mostly one look is enough.
    if not values.size or np.maximum.reduce(values.view(np.uint64), None) < length:
        return indices
    low, high = values.min(), values.max()
    if high >= length or low < -length:
        bad = high if high >= length else low
        raise IndexError(f"index {bad} is out of bounds for an axis of size {length}")
    return tf.constant(np.where(values < 0, values + length, values)) if low < 0 else indices


def joint_indices(shape: tuple[int, ...], indices: tuple[Any, ...]) -> Any:
    """Return index arrays of several axes as one of those axes flattened to one."""
    joint = normalised(indices[0], shape[0])
    for length, index in zip(shape[1:], indices[1:], strict=False):
        joint = raw.AddV2(x=raw.Mul(x=joint, y=scalar(length, joint)), y=normalised(index, length))
    return joint


def lasting(value: Any, joint: Any, rows: int) -> Any:
    """Return values for ``rows`` rows in which equal indices have equal values: the last row of each index.

    A row that another one overwrites gets no gradient then, as the engine would give it.
    """
    numbers = tf.range(joint.shape[0], dtype=joint.dtype)
    last = raw.UnsortedSegmentMax(data=numbers, segment_ids=joint, num_segments=integer(rows))
    last = raw.GatherV2(params=last, indices=joint, axis=integer(0))
    others = raw.StopGradient(input=raw.GatherV2(params=value, indices=last, axis=integer(0)))
    stays = reshape(raw.Equal(x=last, y=numbers), shape=(-1, *(1 for _ in value.shape[1:])))
    return select(stays, value, others)
