"""Tests over whole arrays on TensorFlow, whose reductions take only bool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import Applied, known_by
from ._engine import integers, raw, tf, truth


def _known(op: Callable[..., Any]) -> Callable[..., Any]:
    def known(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
        return Applied(op, integers(*axis), keepdims) if x.dtype is tf.bool else None

    return known_by(known)


@_known(raw.All)
def all(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Return whether all elements over ``axis`` are true (not zero), for any dtype."""
    return raw.All(input=truth(x), axis=integers(*axis), keep_dims=keepdims)


@_known(raw.Any)
def any(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return raw.Any(input=truth(x), axis=integers(*axis), keep_dims=keepdims)
