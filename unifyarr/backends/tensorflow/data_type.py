"""Casting on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Applied, known_by
from ._engine import TENSORFLOW_DTYPES, cast, raw, tf, truth


def _known(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    return truth if target is tf.bool else Applied(raw.Cast, target)


@known_by(_known)
def astype(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    return truth(x) if target == tf.bool else cast(x, target)
