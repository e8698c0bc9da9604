"""Padding on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import MAX_SLICE, NUMPY_DTYPES, integer, raw, tf
from ._stored import moves

Pairs = tuple[tuple[Any, Any], ...]


@moves()
def pad(x: Any, /, *, widths: Pairs, mode: str, values: Pairs) -> Any:
    if mode != "constant":
        for axis, (before, after) in enumerate(widths):
            if before or after:
                # NumPy pads the positions, and here they select the elements.
                places = np.pad(np.arange(x.shape[axis]), (before, after), mode)  # type: ignore[call-overload]
                x = raw.GatherV2(params=x, indices=tf.constant(places), axis=integer(axis))
        return raw.Identity(input=x)
    constants = {repr(value): value for pair in values for value in pair}
    if len(constants) != 1 or x.ndim > MAX_SLICE:
        return NotImplemented
    [value] = constants.values()
    constant = tf.constant(np.array(value, NUMPY_DTYPES[x.dtype]))
    return raw.PadV2(input=x, paddings=tf.constant(np.array(widths, np.int64)), constant_values=constant)
