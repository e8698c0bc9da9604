"""Tests over whole arrays on dask."""

from __future__ import annotations

import dask.array as da

from ._reducing import reduced


def all(x: da.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> da.Array:
    return reduced(x, "utility", "all", axis, keepdims, "bool")


def any(x: da.Array, /, *, axis: tuple[int, ...], keepdims: bool) -> da.Array:
    return reduced(x, "utility", "any", axis, keepdims, "bool")
