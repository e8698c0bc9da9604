"""Kernels of neural networks that do what several others do, random numbers, and arrays on several devices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...typing import Shape
from ..values.shapes import reduced
from .record import FUSED, RANDOM, Batch, Derivative, Fails, MemoryOrder, declare
from .types import INT64, ArrayType, Typed, Types, same, twice


def _attended(query: Typed, key: Typed, value: Typed, *, is_causal: bool, scale: float) -> Types:
    lines = query.shape[:-1]
    return ArrayType((*lines, value.shape[-1]), query.dtype), ArrayType(lines, query.dtype)


def _attended_backward(g: Typed, query: Typed, key: Typed, value: Typed, *others: Typed, **static: object) -> Types:
    return tuple([ArrayType(x.shape, x.dtype) for x in (query, key, value)])


def _normed(x: Typed, *weights: Typed, axis: tuple[int, ...], eps: float) -> Types:
    moment = ArrayType(reduced(x.shape, axis, True), x.dtype)
    return ArrayType(x.shape, x.dtype), moment, moment


def _normed_backward(g: Typed, x: Typed, mean: Typed, scale: Typed, *weights: Typed, **static: object) -> Any:
    found = tuple([same(each) for each in (x, *weights, *weights)])
    return found if weights else found[0]


declare(FUSED, "attention", derivative=Derivative.BODY)
declare(FUSED, "attention_with_sums", types=_attended)
declare(FUSED, "attention_backward", types=_attended_backward)
declare(FUSED, "gelu_with_slope", types=twice, order=MemoryOrder.STAYS)
declare(FUSED, "relu_backward", types=lambda g, out: same(out), order=MemoryOrder.STAYS)
declare(FUSED, "avg_pool l2_normalize layer_norm nansum", adds=True, derivative=Derivative.BODY)
declare(FUSED, "max_pool", derivative=Derivative.BODY)
declare(FUSED, "nll_loss", adds=True, fails=Fails.VALUES, derivative=Derivative.BODY)
# With a weight and a bias or none of both, which broadcast to the array.
declare(FUSED, "norm_with_moments", types=_normed, adds=True, order=MemoryOrder.STAYS)
declare(FUSED, "norm_backward", types=_normed_backward, adds=True, order=MemoryOrder.STAYS)
# For engines whose arrays span several devices.
declare(FUSED, "shard", fails=Fails.VALUES, moves=True)

# -- the engine's own generator of random numbers, which it need not have ---------------------------------------------


def _drawn(state: Typed, *arrays: Typed, shape: Shape, dtype: np.dtype[np.generic], **static: object) -> Types:
    return same(state), ArrayType(tuple(shape), np.dtype(dtype))


def _drawn_like(state: Typed, *arrays: Typed, **static: object) -> Types:
    return same(state), same(arrays[0])


def _drawn_counts(state: Typed, *arrays: Typed, **static: object) -> Types:
    return same(state), ArrayType(arrays[0].shape, INT64)


def _drawn_order(state: Typed, *, length: int, **static: object) -> Types:
    return same(state), ArrayType((length,), INT64)


_DROPPED = "which numbers are drawn and dropped depends on the shape of the distribution"

declare(RANDOM, "random_state", batch=Batch.MADE)
declare(RANDOM, "draw_uniform draw_normal draw_integers", types=_drawn)
declare(RANDOM, "draw_gamma", types=_drawn_like, derivative=Derivative.LOST, instead=_DROPPED)
declare(RANDOM, "draw_binomial", types=_drawn_like)
declare(RANDOM, "draw_poisson", types=_drawn_counts)
declare(RANDOM, "draw_permutation", types=_drawn_order)
