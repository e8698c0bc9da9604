"""The derivative of attention that keeps no scores, by a kernel of its own where an engine has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..kernels import kernels_of
from ..reverse import pull
from ..rule import joint_rule
from ..tape import tape_of


@joint_rule("attention_with_sums")
def _attention(
    k: Any,
    needs: Sequence[bool],
    g: Any,
    out: Any,
    query: Any,
    key: Any,
    value: Any,
    *,
    is_causal: bool,
    scale: float,
) -> Sequence[Any]:
    static: dict[str, Any] = {"is_causal": is_causal, "scale": scale}
    # Nothing depends on the sums but derivatives.
    if g[1] is None and k.has("attention_backward"):
        found: Sequence[Any] = k.attention_backward(g[0], query, key, value, *out, **static)
        return found
    cotangent, of_sums = k.whole(g, out)
    return _slopes(k, cotangent, of_sums, query, key, value, *out, **static)


@joint_rule("attention_backward")
def _attention_backward(
    k: Any, needs: Sequence[bool], g: Any, out: Any, *operands: Any, is_causal: bool, scale: float
) -> Sequence[Any]:
    def slopes(inner: Any, g: Any, *others: Any) -> Sequence[Any]:
        return _slopes(inner, g, None, *others, is_causal=is_causal, scale=scale)

    return _pulled(k, slopes, operands, k.whole(g, out))


def _slopes(
    k: Any,
    g: Any,
    g_sums: Any,
    query: Any,
    key: Any,
    value: Any,
    result: Any,
    sums: Any,
    *,
    is_causal: bool,
    scale: float,
) -> Sequence[Any]:
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


def _pulled(k: Any, function: Callable[..., Sequence[Any]], operands: Sequence[Any], g: Sequence[Any]) -> list[Any]:
    """Return the cotangents of a function of natives, which is recorded for that."""
    tape = tape_of(k.handle)
    leaves, natives = tape.leaves(operands)
    results = function(kernels_of(tape), *natives)
    return pull(k, k, list(zip(results, g, strict=True)), leaves, operands, True)
