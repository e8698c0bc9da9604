"""The derivative of attention that keeps no scores, by a kernel of its own where an engine has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..rule import joint_rule
from .backward import backward

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent, Cotangents


@joint_rule("attention_with_sums")
def _attention(
    k: Kernels,
    needs: Sequence[bool],
    g: Cotangents,
    out: Sequence[Native],
    query: Native,
    key: Native,
    value: Native,
    *,
    is_causal: bool,
    scale: float,
) -> Sequence[Cotangent | None]:
    result, sums = out
    # Nothing depends on the sums but derivatives.
    if g[1] is None:
        found: Sequence[Native] = _backward(k, g[0], query, key, value, result, sums, is_causal=is_causal, scale=scale)
        return found
    cotangent, of_sums = k.whole(g, out)
    return _slopes(k, cotangent, query, key, value, result, sums, of_sums, is_causal=is_causal, scale=scale)


def _slopes(
    k: Kernels,
    g: Native,
    query: Native,
    key: Native,
    value: Native,
    result: Native,
    sums: Native,
    g_sums: Native | None = None,
    *,
    is_causal: bool,
    scale: float,
) -> tuple[Native, ...]:
    """Return the cotangents of query, key and value, given those of the result and of the sums."""
    query = k.multiply(query, scale)
    scores = k.matmul(query, k.transpose(key))
    lines = (*k.shape(sums), 1)
    weights = k.exp(k.subtract(scores, k.reshape(sums, lines)))
    if is_causal:
        taken = np.tri(*k.shape(scores)[-2:], dtype=np.bool_)
        weights = k.where(k.broadcast_to(k.array(taken, query), k.shape(scores)), weights, 0)
    part = k.sum(k.multiply(g, result), axis=(k.ndim(result) - 1,), keepdims=True)
    if g_sums is not None:
        part = k.subtract(part, k.reshape(g_sums, lines))
    slope = k.multiply(weights, k.subtract(k.matmul(g, k.transpose(value)), part))
    return (
        k.multiply(k.matmul(slope, key), scale),
        k.matmul(k.transpose(slope), query),
        k.matmul(k.transpose(weights), g),
    )


_backward = backward("attention_backward", _slopes)
