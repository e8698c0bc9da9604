"""Casting on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import TENSORFLOW_DTYPES, cast, tf, truth


def astype(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    return truth(x) if target == tf.bool else cast(x, target)
