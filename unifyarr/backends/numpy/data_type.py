"""Casting on NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from ..kernels import bound_by, known_by
from . import _direct as np


def _casting(*, dtype: np.dtype[Any]) -> Callable[[np.ndarray], np.ndarray]:
    if dtype.kind in "cb":
        return methodcaller("astype", dtype)
    return lambda x, /: x.astype(dtype) if x.dtype.kind != "c" else astype(x, dtype=dtype)


def _know(x: np.ndarray, *, dtype: np.dtype[Any]) -> Callable[[np.ndarray], np.ndarray] | None:
    return None if x.dtype.kind == "c" and dtype.kind not in "cb" else methodcaller("astype", dtype)


@known_by(_know)
@bound_by(_casting)
def astype(x: np.ndarray, /, *, dtype: np.dtype[Any]) -> np.ndarray:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            return x.astype(dtype)
    return x.astype(dtype)
