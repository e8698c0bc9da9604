"""Attention on torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from ..kernels import declines, for_derivatives
from . import _private
from ._shared import DTYPES, FLOAT, derivatives

# Dtypes whose sums have the dtype of the result.
_WIDE = torch.float32, torch.float64


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


@declines(lambda query, key, value, **_: DTYPES[query.dtype] not in _WIDE or not _fit(query, key, value))
@for_derivatives
def attention_with_sums(query: Tensor, key: Tensor, value: Tensor, /, *, is_causal: bool, scale: float) -> Any:
    if query.dtype not in _WIDE or not _fit(query, key, value):
        return NotImplemented
    query = query * scale
    if not _is_served(query, key, value):
        scores = _scores(query, key, is_causal)
        sums = torch.logsumexp(scores, -1)
        return torch.exp(scores - sums[..., None]) @ value, sums
    result, sums = _private.flash_attention(*map(_with_heads, (query, key, value)), 0.0, is_causal, scale=1.0)
    return result.reshape(query.shape), sums.reshape(query.shape[:-1])


def attention_backward(
    g: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    result: Tensor,
    sums: Tensor,
    /,
    *,
    is_causal: bool,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    query = query * scale
    if _is_served(g, query, key, value, result, sums):
        given = map(_with_heads, (g, query, key, value, result))
        found = _private.flash_attention_backward(*given, _with_heads(sums, 1), 0.0, is_causal, scale=1.0)
        slope, *slopes = (each.reshape(x.shape) for each, x in zip(found, (query, key, value), strict=True))
        return (slope * scale, *slopes)
    weights = torch.exp(_scores(query, key, is_causal) - sums[..., None])
    slopes = weights * (g @ value.mT - (g * result).sum(-1, keepdim=True))
    return slopes @ key * scale, slopes.mT @ query, weights.mT @ g


def _fit(query: Any, key: Any, value: Any) -> bool:
    # The engine's kernels broadcast nothing.
    same = query.shape[:-2] == key.shape[:-2] == value.shape[:-2]
    return bool(same and query.shape[-1] == value.shape[-1])


def _is_served(*tensors: Tensor) -> bool:
    # The engine's two kernels are the CPU's, and have no derivatives of second order.
    return _private.flash_attention is not None and all(x.device.type == "cpu" and not derivatives(x) for x in tensors)


def _with_heads(x: Tensor, inner: int = 2) -> Tensor:
    # The engine wants four axes. Arrays with four axes may have any layout.
    return x if x.ndim == 2 + inner else x.reshape(-1, 1, *x.shape[-inner:])


def _scores(query: Tensor, key: Tensor, is_causal: bool) -> Tensor:
    scores = query @ key.mT
    if not is_causal:
        return scores
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(later, -torch.inf)
