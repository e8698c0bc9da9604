"""Reads and writes at places: an index is a batch's own beside the number of the element, or is the same for all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import rule


def _gather(call: BatchCall, x: Batched, *indices: Batched) -> Any:
    if x.is_constant:
        return call(x.value, *map(call.front, indices))
    return call(x.value, *_places(call, indices))


def _places(call: BatchCall, indices: Sequence[Batched]) -> list[Any]:
    """Return index arrays for a batch: the number of the element, and its own."""
    return [call.numbers(call.shape(indices[0]), indices[0]), *map(call.front, indices)]


rule("gather", _gather)


def _scatter(call: BatchCall, x: Batched, value: Batched, *indices: Batched, **static: Any) -> Any:
    return call(call.front(x), call.front(value), *_places(call, indices), **static)


rule("scatter scatter_reduce", _scatter)


# -- along an axis ----------------------------------------------------------------------------------------------------


def _take(call: BatchCall, x: Batched, indices: Batched, *, axis: int | None) -> Any:
    k, shape, wanted = call.k, call.shape(x), call.shape(indices)
    value = x.value
    if axis is None:
        axis, shape = 0, (math.prod(shape),)
        value = k.reshape(value, shape if x.is_constant else (call.size, *shape))
    before, after = shape[:axis], shape[axis + 1 :]
    whole = (call.size, *before, *wanted, *after)
    if indices.is_constant:
        return call(value, indices.value, shape=whole, axis=axis + 1)
    if x.is_constant:
        found = call(value, indices.value, shape=(*before, call.size, *wanted, *after), axis=axis)
        return k.permute_dims(found, [axis, *range(axis), *range(axis + 1, len(whole))])
    # The axis first, so that what is found has its places first.
    turned = k.permute_dims(value, [0, axis + 1, *range(1, axis + 1), *range(axis + 2, len(shape) + 1)])
    found = k.gather(turned, call.numbers(wanted, indices), indices.value)
    inner = range(1, len(wanted) + 1)
    outer = range(len(wanted) + 1, len(whole))
    return k.permute_dims(found, [0, *outer[:axis], *inner, *outer[axis:]])


rule("take", _take)
rule("take_along_axis", lambda call, x, indices, *, axis: call(call.front(x), call.front(indices), axis=axis + 1))

# -- places among several axes that count as one ----------------------------------------------------------------------


def _one_axis(call: BatchCall, x: Batched, axes: int) -> tuple[Any, tuple[int, ...]]:
    """Return a value whose first axes for an element are one, and the shape of what is behind them."""
    shape = call.shape(x)
    behind = shape[axes:]
    return call.k.reshape(call.front(x), (call.size, math.prod(shape[:axes]), *behind)), behind


def _take_places(call: BatchCall, x: Batched, places: Batched, *, axes: int) -> Any:
    flat, _ = _one_axis(call, x, axes)
    return call.k.gather(flat, *_places(call, [places]))


def _put_places(call: BatchCall, x: Batched, value: Batched, places: Batched, *, axes: int) -> Any:
    flat, behind = _one_axis(call, x, axes)
    count = call.shape(places)[0]
    values = call.k.broadcast_to(call.front(value, 1 + len(behind)), (call.size, count, *behind))
    return call.k.reshape(call.k.scatter(flat, values, *_places(call, [places])), (call.size, *call.shape(x)))


rule("take_places", _take_places)
rule("put_places", _put_places)

# -- searching --------------------------------------------------------------------------------------------------------


def _searchsorted(call: BatchCall, x1: Batched, x2: Batched, *sorter: Batched, side: str) -> Any:
    if x1.is_constant and all(each.is_constant for each in sorter):
        return call(x1.value, x2.value, *[each.value for each in sorter], side=side)
    return call.by_rows([x1, x2, *sorter], side=side)


rule("searchsorted", _searchsorted)


def _isin(call: BatchCall, x1: Batched, x2: Batched, *, invert: bool) -> Any:
    if x2.is_constant:
        return call(x1.value, x2.value, invert=invert)
    return call.by_rows([x1, x2], invert=invert)


rule("isin", _isin)
