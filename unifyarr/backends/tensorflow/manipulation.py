"""Changing shapes and joining arrays on TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Packed, bits, known_by, worked_around
from ._engine import (
    NUMPY_DTYPES,
    STORED,
    TENSORFLOW_DTYPES,
    broadcast,
    cast,
    direct,
    integer,
    integers,
    is_traced,
    is_variable,
    join,
    parts,
    raw,
    tf,
)
from ._engine import (
    reshape as reshape,
)
from ._stored import from_bits, moves, to_bits

broadcast_to = moves()(broadcast)


@moves()
def permute_dims(x: Any, /, *, axes: tuple[int, ...]) -> Any:
    return raw.Transpose(x=x, perm=integers(*axes))


def real(x: Any, /) -> Any:
    return parts(x)[0]


def imag(x: Any, /) -> Any:
    return parts(x)[1]


def bitcast(x: Any, /, *, dtype: np.dtype[Any]) -> Any:
    before = NUMPY_DTYPES[x.dtype]
    if x.dtype in STORED:
        x, before = to_bits(x), np.dtype(np.uint8)
    if TENSORFLOW_DTYPES[dtype] in STORED:
        return from_bits(bitcast(x, dtype=np.dtype(np.uint8)), TENSORFLOW_DTYPES[dtype])
    taken, unit, found = bits(tuple(x.shape), before, dtype)
    if before.kind == "b":
        x = cast(x, tf.uint8)
    elif before.kind == "c":
        x = tf.stack(parts(x), axis=-1)
    x = reshape(raw.Bitcast(input=reshape(x, shape=taken), type=TENSORFLOW_DTYPES[unit]), shape=found)
    if dtype.kind == "c":
        return join(x[..., 0], x[..., 1])
    return raw.NotEqual(x=x, y=tf.zeros((), x.dtype)) if dtype.kind == "b" else x


def set_real(x: Any, value: Any, /) -> Any:
    """Return ``x`` with another real part; into a variable it is written."""
    if is_variable(x):
        return x.assign(join(value, parts(x.value())[1]), read_value=False) or x
    return join(value, parts(x)[1])


def set_imag(x: Any, value: Any, /) -> Any:
    """Return ``x`` with another imaginary part; into a variable it is written."""
    if is_variable(x):
        return x.assign(join(parts(x.value())[0], value), read_value=False) or x
    return join(parts(x)[0], value)


_concat = direct("ConcatV2")


@moves()
@known_by(lambda *arrays, axis: Packed(_concat, integer(axis)) if len(arrays) > 1 else None)
def concat(*arrays: Any, axis: int) -> Any:
    if len(arrays) == 1:
        return raw.Identity(input=arrays[0])
    return raw.ConcatV2(values=arrays, axis=integer(axis))


@moves()
def stack(*arrays: Any, axis: int) -> Any:
    """Join arrays of one shape along a new axis, the ``axis``-th of the result."""
    return raw.Pack(values=arrays, axis=axis)


@moves()
@worked_around("tf.repeat has no kernel for uint16")
def repeat(x: Any, /, *repeats: Any, count: int | None, axis: int | None) -> Any:
    """Repeat each element ``count`` times, or as often as the int64 array that follows ``x`` says."""
    if axis is None:
        x, axis = reshape(x, shape=(-1,)), 0
    length = x.shape[axis]
    if count is not None or not is_traced(repeats[0]):
        # NumPy repeats the indices, and raises where the counts don't fit.
        indices = tf.constant(np.repeat(np.arange(length), repeats[0].numpy() if count is None else count))
    else:
        indices = tf.repeat(tf.range(length, dtype=tf.int64), repeats[0])
    return raw.GatherV2(params=x, indices=indices, axis=integer(axis))


@moves()
def roll(x: Any, /, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> Any:
    """Shift cyclically along each axis: the two tuples have one length, an axis may stand there twice."""
    if not axis:
        return raw.Identity(input=x)
    return raw.Roll(input=x, shift=integers(*shift), axis=integers(*axis))
