"""Sums of products of two arrays on torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..kernels import declines, known_by
from ._private import einsum as _einsum
from ._shared import COMPLEX, DTYPES, FLOAT, WIDE

_PRODUCTS = FLOAT | COMPLEX


def _with(subscripts: str) -> Callable[..., Tensor]:
    return lambda x1, x2: _einsum(subscripts, (x1, x2))


@known_by(lambda x1, x2, *, subscripts: _with(subscripts) if x1.dtype in _PRODUCTS else None)
@declines(lambda x1, x2, **_: DTYPES[x1.dtype] not in _PRODUCTS)
def einsum(x1: Tensor, x2: Tensor, /, *, subscripts: str) -> Any:
    return _einsum(subscripts, (x1, x2)) if x1.dtype in _PRODUCTS else NotImplemented


_linear = torch.nn.functional.linear


@known_by(lambda x, *_: _linear if x.dtype in WIDE else None)
@declines(lambda x, *_: DTYPES[x.dtype] not in WIDE)
def linear(x: Tensor, weight: Tensor, bias: Tensor, /) -> Any:
    """Multiply by the transpose of a matrix, and add: the engine takes one pass for both."""
    return _linear(x, weight, bias) if x.dtype in WIDE else NotImplemented
