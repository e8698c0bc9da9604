"""Corrections of ``ml_dtypes`` on bfloat16, computed in float32, which holds all of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

from ..kernels import state, worked_around

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_GAPS = frozenset({BFLOAT16})
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def _widened(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float32) if x.dtype == BFLOAT16 else x


def _narrowed(x: np.ndarray) -> np.ndarray:
    return x.astype(BFLOAT16) if x.dtype == np.float32 else x


def in_float32(reason: str) -> Callable[[Kernel], Kernel]:
    """Compute a kernel in float32 where its first array is of bfloat16."""

    def decorate(kernel: Kernel) -> Kernel:
        def widened(x: np.ndarray, /, *arrays: np.ndarray, **static: Any) -> Any:
            if x.dtype != BFLOAT16:
                return kernel(x, *arrays, **static)
            # The result is cast back: it can't be written at once.
            static.pop("out", None)
            result = kernel(*map(_widened, (x, *arrays)), **static)
            return tuple(map(_narrowed, result)) if isinstance(result, tuple) else _narrowed(result)

        takes_out = getattr(kernel, "support_native_out", False)
        state(widened, support_native_out=takes_out, gaps=_GAPS, outside_gaps=kernel)
        return worked_around(reason)(widened)  # type: ignore[return-value]

    return decorate


ordered = in_float32("ml_dtypes has no place for NaN in the order of bfloat16")
