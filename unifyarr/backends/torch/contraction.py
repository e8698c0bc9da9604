"""Einstein's summation of two arrays on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._shared import COMPLEX, FLOAT

_PRODUCTS = FLOAT | COMPLEX


def einsum(x1: Tensor, x2: Tensor, /, *, subscripts: str) -> Any:
    return torch.einsum(subscripts, x1, x2) if x1.dtype in _PRODUCTS else NotImplemented
