"""Views, writes through views, and joins: what names axes, or all of a shape, has one axis more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..calls import Call
from ..natives import Batched
from ..rule import refused, rule

Window = Sequence[tuple[int, int, int]]

rule("reshape", lambda call, x, *, shape: call.k.reshape(x.value, (call.size, *shape)))
rule("broadcast_to", lambda call, x, *, shape: call.k.broadcast_to(call.front(x, len(shape)), (call.size, *shape)))
rule("permute_dims", lambda call, x, *, axes: call(x.value, axes=(0, *[each + 1 for each in axes])))


# Numbers of another size scale the last axis of an element, which has one.
rule("bitcast", lambda call, x, *, dtype: call(x.value, dtype=dtype))


def _whole(call: Call, window: Window) -> tuple[tuple[int, int, int], ...]:
    return (0, 1, call.size), *window


rule("get_window", lambda call, x, *, window: call(x.value, window=_whole(call, window)))


def _set_window(call: Call, x: Batched, value: Batched, *, window: Window) -> Any:
    return call(call.front(x), call.front(value, call.ndim(x)), window=_whole(call, window))


rule("set_window", _set_window)
rule("set_real set_imag", lambda call, x, value: call(call.front(x), call.front(value)))


def _joined(call: Call, *arrays: Batched, axis: int) -> Any:
    return call(*map(call.front, arrays), axis=axis + 1)


rule("concat stack", _joined)


def _along(call: Call, x: Batched, *, axis: Any, **static: Any) -> Any:
    axes = axis + 1 if isinstance(axis, int) else tuple([each + 1 for each in axis])
    return call(x.value, axis=axes, **static)


rule("roll diff sort argsort softmax log_softmax", _along)


def _pad(call: Call, x: Batched, *, widths: Any, mode: str, values: Any) -> Any:
    return call(x.value, widths=((0, 0), *widths), mode=mode, values=((0, 0), *values) if values else values)


rule("pad", _pad)


def _repeat(call: Call, x: Batched, *counts: Batched, count: int | None, axis: int | None) -> Any:
    if any(not each.is_constant for each in counts):
        return call.by_rows([x, *counts], count=count, axis=axis)
    value = x.value if axis is not None else call.k.reshape(x.value, (call.size, -1))
    return call(value, *[each.value for each in counts], count=count, axis=(axis or 0) + 1)


rule("repeat", _repeat)
refused("unique_all unique_counts unique_inverse unique_values", "find different values outside of vmap()")
