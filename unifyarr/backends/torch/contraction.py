"""Einstein's summation of two arrays on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..kernels import declines
from ._shared import COMPLEX, DTYPES, FLOAT

_PRODUCTS = FLOAT | COMPLEX


@declines(lambda x1, x2, **_: DTYPES[x1.dtype] not in _PRODUCTS)
def einsum(x1: Tensor, x2: Tensor, /, *, subscripts: str) -> Any:
    return torch.einsum(subscripts, x1, x2) if x1.dtype in _PRODUCTS else NotImplemented
