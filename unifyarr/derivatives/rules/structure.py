"""Views, writes through views, casts, and sums: where elements go."""

from __future__ import annotations

from typing import Any

from ..rule import Into, rule

rule("reshape", lambda k, g, out, x, *, shape: k.reshape(g, k.shape(x)), uses=())
rule("broadcast_to", lambda k, g, out, x, *, shape: g, uses=())
rule("astype", lambda k, g, out, x, *, dtype: g, uses=())
rule("sum", lambda k, g, out, x, *, axis, keepdims, dtype: k.expanded(g, axis, keepdims, k.shape(x)), uses=())


def _permuted(k: Any, g: Any, out: Any, x: Any, *, axes: Any) -> Any:
    return k.permute_dims(g, [axes.index(place) for place in range(len(axes))])


def _into_window(k: Any, g: Any, out: Any, x: Any, *, window: Any) -> Into:
    return Into(lambda k, total: k.set_window(total, k.add(k.get_window(total, window), g), window=window))


def _outside_window(k: Any, g: Any, out: Any, x: Any, value: Any, *, window: Any) -> Any:
    return k.set_window(g, k.full(0, g, tuple(length for _, _, length in window)), window=window)


rule("permute_dims", _permuted, uses=())
rule("get_window", _into_window, uses=())
rule(
    "set_window",
    _outside_window,
    lambda k, g, out, x, value, *, window: k.get_window(g, window),
    uses=(),
)
