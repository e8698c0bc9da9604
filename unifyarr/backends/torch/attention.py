"""Attention on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import declines
from ._shared import DTYPES, FLOAT, derivatives


@declines(lambda query, key, value, **_: DTYPES[query.dtype] not in FLOAT or query.shape[-1] != value.shape[-1])
def attention(query: Tensor, key: Tensor, value: Tensor, /, *, is_causal: bool, scale: float) -> Any:
    # The engine keeps no scores where queries and values are as long; elsewhere it keeps more of them than needed.
    if query.dtype not in FLOAT or query.shape[-1] != value.shape[-1]:
        return NotImplemented
    # It has one gradient, and no derivative of that, nor one that runs forward.
    if any("forward" in taken or len(taken) > 1 for taken in map(derivatives, (query, key, value))):
        return NotImplemented
    batch = torch.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    # For arrays of four axes alone. Scaled first, products don't overflow.
    query, key, value = (
        x.expand(*batch, *x.shape[-2:]).reshape(-1, 1, *x.shape[-2:]) for x in (query * scale, key, value)
    )
    result = functional.scaled_dot_product_attention(query, key, value, is_causal=is_causal, scale=1.0)
    return result.reshape(*batch, *result.shape[-2:])
