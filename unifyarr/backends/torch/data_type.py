"""Casting on torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from torch import Tensor

from ..kernels import bound_by, known_by
from ._shared import DTYPES, cast


def _casting(*, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor]:
    native = DTYPES[dtype]

    def casting(x: Tensor, /) -> Tensor:
        return cast(x, native, copy=True) if x.is_complex() else x.to(native, copy=True)

    return casting


def _know(x: Tensor, *, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor] | None:
    native = DTYPES[dtype]
    return None if x.is_complex() else lambda x, /: x.to(native, copy=True)


@known_by(_know)
@bound_by(_casting)
def astype(x: Tensor, /, *, dtype: np.dtype[Any]) -> Tensor:
    return cast(x, DTYPES[dtype], copy=True)
