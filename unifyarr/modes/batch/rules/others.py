"""Convolutions, tables and counts, and random numbers."""

from __future__ import annotations

import math
from typing import Any

from ...._core.kernels.record import RANDOM, ROWS
from ..kernel_calls import BatchCall, Declined
from ..natives import Batched
from ..rule import kind_rule, rule


def _by_rows(call: BatchCall, *operands: Batched, **static: Any) -> Any:
    return call.by_rows(operands, **static)


kind_rule(ROWS, _by_rows)
# Behind the state that follows.
kind_rule(RANDOM, _by_rows)

# -- convolutions -----------------------------------------------------------------------------------------------------


def _convolution(call: BatchCall, x: Batched, weight: Batched, *biases: Batched, groups: int, **static: Any) -> Any:
    """Convolve all images of a batch at once, or, with weights of their own, all channels as groups."""
    k = call.k
    images, channels, *inner = call.shape(x)
    outputs = call.shape(weight)[0]
    dtype = k.dtype(x.value)

    def convolved(*values: Any, groups: int) -> Any:
        found = k.convolution(*values, groups=groups, **static)
        if found is NotImplemented:
            raise Declined
        return found

    if weight.is_constant:
        flat = k.reshape(x.value, (call.size * images, channels, *inner)) if not x.is_constant else x.value
        plain = [each.value for each in biases if each.is_constant]
        found = convolved(flat, weight.value, *plain, groups=groups)
        lengths = k.shape(found)[2:]
        if x.is_constant:
            found = k.reshape(found, (1, images, outputs, *lengths))
        else:
            found = k.reshape(found, (call.size, images, outputs, *lengths))
        rest = [each for each in biases if not each.is_constant]
    else:
        moved = k.permute_dims(call.front(x), [1, 0, *range(2, len(inner) + 3)])
        flat = k.reshape(moved, (images, call.size * channels, *inner))
        weights = k.reshape(weight.value, (call.size * outputs, *call.shape(weight)[1:]))
        found = convolved(flat, weights, groups=groups * call.size)
        lengths = k.shape(found)[2:]
        found = k.reshape(found, (images, call.size, outputs, *lengths))
        found = k.permute_dims(found, [1, 0, *range(2, len(lengths) + 3)])
        rest = list(biases)
    for bias in rest:
        found = k.add(found, k.reshape(call.front(bias), (call.size, 1, outputs, *(1 for _ in lengths))))
    return k.astype(found, dtype)


rule("convolution", _convolution)

# -- tables and counts ------------------------------------------------------------------------------------------------


def _interp(call: BatchCall, x: Batched, xp: Batched, fp: Batched, **static: Any) -> Any:
    if xp.is_constant and fp.is_constant:
        return call(x.value, xp.value, fp.value, **static)
    return call.by_rows([x, xp, fp], **static)


rule("interp", _interp)


def _bincount(call: BatchCall, x: Batched, *weights: Batched, length: int) -> Any:
    """Count the integers of all elements at once, those of each behind those of the one before."""
    k = call.k
    count = math.prod(call.shape(x))
    shifted = k.add(call.front(x), k.multiply(call.numbers((count,), x), k.number(length, x.value)))
    values = [k.reshape(call.front(each), (call.size * count,)) for each in weights]
    total = call.size * length
    found = call(k.reshape(shifted, (call.size * count,)), *values, shape=(total,), length=total)
    return k.reshape(found, (call.size, length))


rule("bincount", _bincount)
