"""Casting on torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..kernels import Applied, bound_by, known_by
from ._shared import DTYPES, STORED, cast

_METHODS: dict[torch.dtype, Callable[[Tensor], Tensor]] = {
    torch.bool: Tensor.bool,
    torch.int8: Tensor.char,
    torch.int16: Tensor.short,
    torch.int32: Tensor.int,
    torch.int64: Tensor.long,
    torch.uint8: Tensor.byte,
    torch.float16: Tensor.half,
    torch.bfloat16: Tensor.bfloat16,
    torch.float32: Tensor.float,
    torch.float64: Tensor.double,
    torch.complex64: Tensor.cfloat,
    torch.complex128: Tensor.cdouble,
}


def _casting(*, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor]:
    native = DTYPES[dtype]

    def casting(x: Tensor, /) -> Tensor:
        return cast(x, native, copy=True) if native in STORED or x.is_complex() else x.to(native, copy=True)

    return casting


def _know(x: Tensor, *, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor] | None:
    native = DTYPES[dtype]
    if x.is_complex() or native in STORED:
        return None
    # The engine has a method for each dtype, which gives the tensor itself if it's of that already.
    return _METHODS.get(native, Applied(Tensor.to, native)) if x.dtype is not native else Tensor.clone


@known_by(_know)
@bound_by(_casting)
def astype(x: Tensor, /, *, dtype: np.dtype[Any]) -> Tensor:
    return cast(x, DTYPES[dtype], copy=True)
