"""Fast paths of TensorFlow's indexing: what the engine does as NumPy does; anything in doubt declines."""

from __future__ import annotations

from typing import Any

from ._engine import integer, raw, tf
from ._indices import normalised
from ._private import EagerTensor


def get_copy(x: Any, key: Any) -> Any:
    """Return the elements, along the first axis, at the integers of a tensor; ``NotImplemented`` for any other key."""
    if not type(key) is type(x) is EagerTensor or key.dtype is not tf.int64 or not tf.executing_eagerly():
        return NotImplemented
    try:
        return raw.GatherV2(params=x, indices=normalised(key, x.shape[0]), axis=integer(0))
    except Exception:
        # The general path says what is wrong.
        return NotImplemented
