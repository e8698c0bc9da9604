"""Views, writes through views, and joins: what names axes, or all of a shape, has one axis more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...._core.kernels.record import JOIN
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import kind_rule, rule

Window = Sequence[tuple[int, int, int]]

rule("reshape", lambda call, x, *, shape: call.k.reshape(x.value, (call.size, *shape)))
rule("broadcast_to", lambda call, x, *, shape: call.k.broadcast_to(call.front(x, len(shape)), (call.size, *shape)))
rule("permute_dims", lambda call, x, *, axes: call(x.value, axes=(0, *[each + 1 for each in axes])))


# Numbers of another size scale the last axis of an element, which has one.
rule("bitcast", lambda call, x, *, dtype: call(x.value, dtype=dtype))


def _whole(call: BatchCall, window: Window) -> tuple[tuple[int, int, int], ...]:
    return (0, 1, call.size), *window


rule("get_window", lambda call, x, *, window: call(x.value, window=_whole(call, window)))


def _set_window(call: BatchCall, x: Batched, value: Batched, *, window: Window) -> Any:
    return call(call.front(x), call.front(value, call.ndim(x)), window=_whole(call, window))


rule("set_window", _set_window)


def _joined(call: BatchCall, *arrays: Batched, axis: int) -> Any:
    return call(*map(call.front, arrays), axis=axis + 1)


kind_rule(JOIN, _joined)
