"""Sorting on TensorFlow: NaN last, or first where descending; always stable, which the standard allows."""

from __future__ import annotations

from typing import Any

from ..kernels import worked_around
from ._engine import cast, swap_last, tf
from ._order import argsort_last, sort_last

_REASON = "the engine's sort misplaces NaN, isn't stable and knows neither bool nor complex"


@worked_around(_REASON)
def sort(x: Any, /, *, axis: int, descending: bool, stable: bool) -> Any:
    return swap_last(sort_last(swap_last(x, axis), descending=descending), axis)


@worked_around(_REASON)
def argsort(x: Any, /, *, axis: int, descending: bool, stable: bool) -> Any:
    return swap_last(cast(argsort_last(swap_last(x, axis), descending=descending), tf.int64), axis)
