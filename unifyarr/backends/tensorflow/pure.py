"""Kernels that write, as ``vectorized_map`` takes them: it has other indices than of 32 bits in no scatter."""

from __future__ import annotations

from typing import Any

from . import indexing
from ._engine import cast, raw, scalar, tf


def scatter(x: Any, value: Any, /, *indices: Any) -> Any:
    if tf.executing_eagerly():
        return indexing.scatter(x, value, *indices)
    return indexing.scatter(x, value, *(_short(index, length) for index, length in zip(indices, x.shape, strict=False)))


def _short(index: Any, length: int) -> Any:
    # An index out of bounds stays so, and the engine raises.
    low, high = scalar(-length - 1, index), scalar(length, index)
    return cast(raw.Minimum(x=raw.Maximum(x=index, y=low), y=high), tf.int32)


KERNELS = {"scatter": scatter}
