"""Kernels that move elements: views, writes, joins, indices, new arrays, and lengths that values decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Shape
from ..values.lengths import shape_of
from ..values.shapes import joined, spliced
from .record import (
    CREATION,
    ELEMENTWISE,
    INDEX,
    JOIN,
    REARRANGE,
    UNKNOWN,
    Alias,
    Batch,
    Derivative,
    Fails,
    MemoryOrder,
    Twin,
    declare,
)
from .types import INT64, ArrayType, Typed, Types, real_of, same

# Methods of every backend, which are nodes of graphs beside kernels.
METHODS = frozenset({"copy", "store"})


# -- elements in other places -----------------------------------------------------------------------------------------


def _windowed(x: Typed, *, window: Sequence[tuple[int, int, int]]) -> ArrayType:
    return ArrayType(shape_of([length for _, _, length in window]), x.dtype)


def _permuted(x: Typed, *, axes: Sequence[int]) -> ArrayType:
    return ArrayType(shape_of([tuple.__getitem__(x.shape, axis) for axis in axes]), x.dtype)


def _shaped(x: Typed, *, shape: Shape) -> ArrayType:
    return ArrayType(shape_of(tuple.__iter__(shape)), x.dtype)


declare(REARRANGE, "copy", types=same)
declare(REARRANGE, "store", types=same, twins=(Twin(),))
declare(REARRANGE, "get_window", alias=Alias.VIEW, types=_windowed, required=True)
declare(REARRANGE, "permute_dims", alias=Alias.VIEW, types=_permuted, required=True)
declare(REARRANGE, "reshape", alias=Alias.VIEW, types=_shaped, required=True)
declare(REARRANGE, "broadcast_to", alias=Alias.VIEW, types=_shaped, read_only=True, required=True)
declare(REARRANGE, "bitcast", alias=Alias.VIEW, required=True)
declare(REARRANGE, "set_window", alias=Alias.WRITE, types=same, required=True)

# -- elements themselves, some of them --------------------------------------------------------------------------------


def _part(x: Typed) -> ArrayType:
    return ArrayType(x.shape, real_of(x.dtype))


def _cast(x: Typed, *, dtype: np.dtype[np.generic]) -> ArrayType:
    return ArrayType(x.shape, dtype)


declare(ELEMENTWISE, "real imag", alias=Alias.VIEW, types=_part, required=True)
declare(ELEMENTWISE, "set_real set_imag", alias=Alias.WRITE, types=same, batch=Batch.OWN, required=True)
declare(ELEMENTWISE, "put_mask", alias=Alias.WRITE, types=same, batch=Batch.OWN, moves=True, required=True)
declare(ELEMENTWISE, "astype", types=_cast, moves=True, required=True)
declare(ELEMENTWISE, "detach", alias=Alias.VIEW, types=same, derivative=Derivative.CONSTANT, moves=True)
declare(ELEMENTWISE, "stop_gradient", types=same, derivative=Derivative.CONSTANT, moves=True)

# -- several arrays in one --------------------------------------------------------------------------------------------


def _concatenated(*arrays: Typed, axis: int) -> ArrayType:
    return ArrayType(joined([x.shape for x in arrays], axis), arrays[0].dtype)


def _stacked(*arrays: Typed, axis: int) -> ArrayType:
    return ArrayType(spliced(arrays[0].shape, axis, axis, len(arrays)), arrays[0].dtype)


declare(JOIN, "concat", types=_concatenated, order=MemoryOrder.STAYS, required=True)
declare(JOIN, "stack", types=_stacked, order=MemoryOrder.STAYS, required=True)

# -- places -----------------------------------------------------------------------------------------------------------


def _gathered(x: Typed, *indices: Typed) -> ArrayType:
    return ArrayType((indices[0].shape if indices else ()) + x.shape[len(indices) :], x.dtype)


def _at_places(x: Typed, places: Typed, *, axes: int) -> ArrayType:
    return ArrayType(places.shape + x.shape[axes:], x.dtype)


def _taken(x: Typed, indices: Typed, *, axis: int) -> ArrayType:
    return ArrayType((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)


declare(INDEX, "gather", types=_gathered, indexed=1, order=MemoryOrder.STAYS, required=True)
declare(INDEX, "take", types=_taken, indexed=1, order=MemoryOrder.STAYS)
declare(INDEX, "take_places", types=_at_places, fails=Fails.NEVER)
declare(INDEX, "scatter", alias=Alias.WRITE, types=same, indexed=2, required=True)
declare(INDEX, "put_places", alias=Alias.WRITE, types=same)
declare(INDEX, "scatter_reduce", alias=Alias.COMBINE, types=same, indexed=2, moves=False)

# -- new arrays -------------------------------------------------------------------------------------------------------


def _made(*, shape: Shape, dtype: np.dtype[np.generic], **static: object) -> ArrayType:
    return ArrayType(tuple(shape), dtype)


declare(CREATION, "empty zeros ones full", types=_made)

# -- as many elements as values say -----------------------------------------------------------------------------------

_MANY: Any = (None,)


def _places_of(x: Typed) -> Types:
    return (ArrayType(_MANY, INT64),) * len(x.shape)


def _different(x: Typed) -> ArrayType:
    return ArrayType(_MANY, x.dtype)


def _with_counts(x: Typed) -> Types:
    return _different(x), ArrayType(_MANY, INT64)


def _with_inverse(x: Typed) -> Types:
    return _different(x), ArrayType(x.shape, INT64)


def _with_all(x: Typed) -> Types:
    first, counts = (ArrayType(_MANY, INT64) for _ in range(2))
    return _different(x), first, ArrayType(x.shape, INT64), counts


# Batches turn these into selections, by their masks.
declare(UNKNOWN, "nonzero", unknown=_places_of, derivative=Derivative.CONSTANT, batch=Batch.SELECTION)
declare(UNKNOWN, "select", batch=Batch.SELECTION, moves=True)
declare(UNKNOWN, "put_selected", alias=Alias.WRITE, batch=Batch.SELECTION, moves=True)
_OUTSIDE = "find different values outside of vmap()"
declare(UNKNOWN, "unique_values", unknown=_different, instead=_OUTSIDE)
declare(UNKNOWN, "unique_counts", unknown=_with_counts, instead=_OUTSIDE)
declare(UNKNOWN, "unique_inverse", unknown=_with_inverse, instead=_OUTSIDE)
declare(UNKNOWN, "unique_all", unknown=_with_all, instead=_OUTSIDE)
