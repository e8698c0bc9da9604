"""Order as NumPy has it, in integers: NaN last, -0.0 equal to 0.0, complex numbers by real, then imaginary part."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ._engine import (
    BITS,
    BOOL,
    COMPLEX,
    SIGNED,
    UNSIGNED,
    binary,
    cast,
    constant,
    has_nan,
    integer,
    integers,
    part,
    parts,
    raw,
    reshape,
    select,
    tf,
)

_or = binary("LogicalOr")


def key(x: Any) -> Any:
    """Return integers in the order of the elements, comparable between arrays; not for complex dtypes."""
    if x.dtype in BOOL:
        return cast(x, tf.uint8)
    if x.dtype in SIGNED or x.dtype in UNSIGNED:
        return x
    dtype = BITS[x.dtype]
    largest = constant(int(dtype.max), dtype)
    bits = raw.Bitcast(input=x, type=dtype)
    # Negative floats are ordered the wrong way round; -0.0 becomes -1 and is put to 0.
    negative = raw.Less(x=bits, y=raw.ZerosLike(x=bits))
    ordered = select(negative, raw.Sub(x=raw.BitwiseXor(x=bits, y=largest), y=constant(-1, dtype)), bits)
    return select(raw.IsNan(x=x), largest, ordered)


def _top(x: Any) -> Any:
    """Sort the last axis: TopK, the engine's only sort, is descending, and of equal elements the first comes first."""
    return raw.TopKV2(input=x, k=integer(x.shape[-1]))


def _ascending(keys: Any) -> Any:
    """Return the stable ascending argsort of integers over the last axis."""
    return _top(raw.Invert(x=keys)).indices


def _reversal(x: Any) -> Any:
    """Return the exact op that turns the order of ``x`` round, None where TopK can't sort ``x`` as it is."""
    if x.dtype in SIGNED or x.dtype in UNSIGNED:
        return raw.Invert
    if x.dtype in BOOL or x.dtype in COMPLEX or has_nan(x):
        return None
    return raw.Neg


def sort_last(x: Any, *, descending: bool) -> Any:
    """Return ``x`` sorted over the last axis."""
    reverse = _reversal(x)
    if reverse is None:
        return take_last(x, argsort_last(x, descending=descending))
    return _top(x).values if descending else reverse(x=_top(reverse(x=x)).values)


def take_last(x: Any, order: Any) -> Any:
    """Return the elements at positions of the last axis."""
    shape = tuple(x.shape)
    if len(shape) == 1:
        return raw.GatherV2(params=x, indices=order, axis=integer(0))
    rows = math.prod(shape[:-1])
    base = tf.constant(np.arange(rows)[:, None] * shape[-1])
    flat = raw.AddV2(x=base, y=cast(reshape(order, shape=(rows, order.shape[-1])), tf.int64))
    taken = raw.GatherV2(params=reshape(x, shape=(-1,)), indices=flat, axis=integer(0))
    return reshape(taken, shape=tuple(order.shape))


def _complex_keys(x: Any) -> list[Any]:
    """Return the keys of a complex array, the weightiest last."""
    real, imag = parts(x)
    # All numbers come before those with NaN in the imaginary part, those before NaN in the real part, then in both.
    nans = raw.AddV2(x=cast(raw.IsNan(x=imag), tf.int32), y=cast(raw.IsNan(x=real), tf.int32) * 2)
    return [key(imag), key(real), nans]


def argsort_last(x: Any, *, descending: bool = False) -> Any:
    """Return the stable argsort over the last axis, as int32."""
    if (reverse := _reversal(x)) is not None:
        return _top(x if descending else reverse(x=x)).indices
    if x.dtype not in COMPLEX:
        return _top(key(x)).indices if descending else _ascending(key(x))
    order: Any = None
    for keys in _complex_keys(x):
        keys = raw.Invert(x=keys) if descending else keys
        last = _ascending(keys if order is None else take_last(keys, order))
        order = last if order is None else take_last(order, last)
    return order


def begins(x: Any) -> Any:
    """Return where in a sorted 1-d array another value than before begins."""
    size = x.shape[0]
    differs = raw.NotEqual(x=part(x, 1, size), y=part(x, 0, max(size - 1, 0)))
    first = raw.Fill(dims=integers(min(size, 1)), value=constant(1, tf.bool))
    return raw.ConcatV2(values=[first, differs], axis=integer(0))


def ranks(x: Any) -> Any:
    """Return the dense rank of each element of a 1-d array, equal for equal ones; all NaNs are equal."""
    order = argsort_last(x)
    keys = _complex_keys(x) if x.dtype in COMPLEX else [key(x)]
    changes = functools.reduce(_or, (begins(take_last(each, order)) for each in keys))
    return unsort(raw.Cumsum(x=cast(changes, tf.int64), axis=integer(0)), order)


def unsort(x: Any, order: Any) -> Any:
    """Return a 1-d array in the order that it had before it was sorted."""
    return raw.ScatterNd(
        indices=reshape(order, shape=(-1, 1)), updates=x, shape=cast(integers(x.shape[0]), order.dtype)
    )
