"""Einstein's summation of two arrays on TensorFlow."""

from __future__ import annotations

from typing import Any

from ._engine import COMPLEX, FLOAT, HALF, cast, raw, tf

_PRODUCTS = FLOAT | COMPLEX


def einsum(x1: Any, x2: Any, /, *, subscripts: str) -> Any:
    # Where nothing is summed over, the engine multiplies a matrix of one element for each element.
    inputs, _, output = subscripts.partition("->")
    if x1.dtype not in _PRODUCTS or set(inputs) <= {*output, ","}:
        return NotImplemented
    if x1.dtype in HALF:
        # The engine adds up in half precision.
        return cast(einsum(cast(x1, tf.float32), cast(x2, tf.float32), subscripts=subscripts), x1.dtype)
    return raw.Einsum(inputs=[x1, x2], equation=subscripts)
