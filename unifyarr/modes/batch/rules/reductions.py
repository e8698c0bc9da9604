"""Reductions, and what goes along axes: those that they name are one further."""

from __future__ import annotations

import math
from typing import Any

from ...._core.kernels.record import ALONG, REDUCTION
from ..kernel_calls import BatchCall
from ..natives import Batched
from ..rule import kind_rule, rule


def _further(axes: Any) -> Any:
    return axes + 1 if isinstance(axes, int) else tuple([each + 1 for each in axes])


def _along(call: BatchCall, x: Batched, **static: Any) -> Any:
    """Call a kernel that names its axes by one number or several, as ``axis`` or ``axes``."""
    name = "axis" if "axis" in static else "axes"
    return call(x.value, **{**static, name: _further(static[name])})


kind_rule(REDUCTION, _along)
kind_rule(ALONG, _along)


def _place(call: BatchCall, x: Batched, *, axis: int | None, keepdims: bool) -> Any:
    if axis is not None:
        return call(x.value, axis=axis + 1, keepdims=keepdims)
    shape = call.shape(x)
    flat = call.k.reshape(x.value, (call.size, math.prod(shape)))
    found = call(flat, shape=(call.size,), axis=1, keepdims=False)
    return call.k.reshape(found, (call.size, *(1,) * (len(shape) if keepdims else 0)))


rule("argmax argmin", _place)


def _pad(call: BatchCall, x: Batched, *, widths: Any, mode: str, values: Any) -> Any:
    return call(x.value, widths=((0, 0), *widths), mode=mode, values=((0, 0), *values) if values else values)


rule("pad", _pad)


def _repeat(call: BatchCall, x: Batched, *counts: Batched, count: int | None, axis: int | None) -> Any:
    if any(not each.is_constant for each in counts):
        return call.by_rows([x, *counts], count=count, axis=axis)
    value = x.value if axis is not None else call.k.reshape(x.value, (call.size, -1))
    return call(value, *[each.value for each in counts], count=count, axis=(axis or 0) + 1)


rule("repeat", _repeat)
