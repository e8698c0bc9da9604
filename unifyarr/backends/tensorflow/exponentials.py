"""Softmax and its logarithms on TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._engine import HALF, has_nan, is_traced, raw, swap_last, tf


def _of_last_axis(name: str) -> Callable[..., Any]:
    op: Callable[..., Any] = getattr(raw, name)

    def kernel(x: Any, /, *, axis: int) -> Any:
        # The engine adds up in half precision. In single it doesn't pass each NaN on to all results.
        looks = x.dtype is tf.float32
        if x.dtype in HALF or (looks and (is_traced(x) or "CPU" not in x.device)):
            return NotImplemented
        result = swap_last(op(logits=swap_last(x, axis)), axis)
        return NotImplemented if looks and has_nan(result) else result

    return kernel


log_softmax = _of_last_axis("LogSoftmax")
softmax = _of_last_axis("Softmax")
