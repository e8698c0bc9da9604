"""Tests over whole arrays on TensorFlow, whose reductions take only bool."""

from __future__ import annotations

from typing import Any

from ._engine import integers, raw, truth


def all(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    """Return whether all elements over ``axis`` are true (not zero), for any dtype."""
    return raw.All(input=truth(x), axis=integers(*axis), keep_dims=keepdims)


def any(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return raw.Any(input=truth(x), axis=integers(*axis), keep_dims=keepdims)
