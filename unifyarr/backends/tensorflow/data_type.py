"""Casting on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.abilities import is_numpys
from ..kernels import Applied, known_by
from ._engine import NARROW, STORED, TENSORFLOW_DTYPES, cast, raw, tf, truth
from ._stored import check_recorded, stores


def _known(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    if target in STORED or stores(x):
        return None
    return truth if target is tf.bool else Applied(raw.Cast, target)


@known_by(_known)
def astype(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    if stores(x):
        x = cast(x, _wide(x.dtype))
    if not is_numpys(dtype) and target in STORED:
        check_recorded(x, target)
        x = cast(x, _wide(target))
    return truth(x) if target == tf.bool else cast(x, target)


def _wide(dtype: Any) -> Any:
    # Storage-only dtypes are cast through these on every engine, so that they round alike.
    return tf.int32 if dtype in NARROW else tf.float32
