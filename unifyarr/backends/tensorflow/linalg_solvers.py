"""What functions of matrices repeat on TensorFlow."""

from __future__ import annotations

from typing import Any

from ._engine import raw, select, tf
from ._products import matmul


def square_repeatedly(x: Any, counts: Any, /) -> Any:
    """Square each matrix as often as its count says."""

    def step(count: Any, x: Any) -> tuple[Any, Any]:
        return count + 1, select(raw.Greater(x=counts, y=count), matmul(x, x), x)

    most = tf.reduce_max(counts)
    return tf.while_loop(lambda count, _: count < most, step, (tf.zeros_like(most), x))[1]
