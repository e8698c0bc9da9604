"""Searching on TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import has_subnormals, worked_around
from ._engine import (
    BOOL,
    COMPLEX,
    HALF,
    INTEGER,
    MAX_SLICE,
    cast,
    constant,
    from_fresh,
    has_nan,
    integer,
    integers,
    on_host,
    part,
    plain_on_host,
    raw,
    reshape,
    select,
    tf,
    truth,
)
from ._order import key, ranks
from ._stored import moves

_MAX_RANK = 7


def _index(op: Callable[..., Any], name: str, on_values: Callable[..., Any]) -> Callable[..., Any]:
    @worked_around("the engine's indices pass over NaN, take 7 dimensions and no complex")
    def kernel(x: Any, /, *, axis: int | None, keepdims: bool) -> Any:
        values = None if x.dtype is tf.bfloat16 else on_host(x)
        if values is not None and not has_subnormals(values):
            return from_fresh(np.asarray(on_values(values, axis, keepdims=keepdims)))
        shape: tuple[int, ...] = tuple(x.shape)
        left: tuple[int, ...]
        flat: tuple[int, ...]
        if axis is None:
            axis, flat, left = 0, (math.prod(shape),), (1,) * len(shape) if keepdims else ()
        else:
            before, after = shape[:axis], shape[axis + 1 :]
            left = (*before, 1, *after) if keepdims else (*before, *after)
            flat = shape
            if len(shape) > _MAX_RANK:
                axis, flat = 1, (math.prod(before), shape[axis], math.prod(after))
        if flat[axis] == 0 and 0 not in left:
            raise ValueError(f"{name}() of no elements: the array has shape {shape}")
        found = _found(op, x if flat == shape else reshape(x, shape=flat), axis)
        return found if tuple(found.shape) == left else reshape(found, shape=left)

    return kernel


def _found(op: Callable[..., Any], x: Any, axis: int) -> Any:
    dimension = integer(axis)
    if x.dtype in COMPLEX:
        rank = reshape(ranks(reshape(x, shape=(-1,))), shape=tuple(x.shape))
        nan = raw.NotEqual(x=x, y=x)
        # NaN has the last ranks, the one that comes first has to win.
        x = select(nan, constant(np.iinfo(np.int64).max if op is raw.ArgMax else -1, tf.int64), rank)
    elif x.dtype in HALF:
        # The engine's argmin of bfloat16 stops at infinity.
        return _found(op, cast(x, tf.float32), axis)
    elif x.dtype not in INTEGER and x.dtype not in BOOL and has_nan(x):
        nan = raw.IsNan(x=x)
        of_nan = raw.Any(input=nan, axis=integers(axis), keep_dims=False)
        return select(of_nan, raw.ArgMax(input=nan, dimension=dimension), op(input=x, dimension=dimension))
    return op(input=x, dimension=dimension)


argmax = _index(raw.ArgMax, "argmax", np.argmax)
argmin = _index(raw.ArgMin, "argmin", np.argmin)


def nonzero(x: Any, /) -> tuple[Any, ...]:
    """Return an int64 array for each axis, in C order; ``x`` has at least one axis."""
    values = plain_on_host(x)
    if values is not None:
        return tuple([tf.constant(places) for places in np.nonzero(values)])
    condition, rank = truth(x), x.ndim
    if rank <= MAX_SLICE:
        return tuple(raw.Unpack(value=raw.Where(condition=condition), num=rank, axis=1))
    places = reshape(raw.Where(condition=reshape(condition, shape=(-1,))), shape=(-1,))
    sizes = tf.constant(np.array([max(n, 1) for n in x.shape], np.int64))
    return tuple(raw.Unpack(value=raw.UnravelIndex(indices=places, dims=sizes), num=rank, axis=0))


def count_nonzero(x: Any, /, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    return raw.Sum(input=cast(truth(x), tf.int64), axis=integers(*axis), keep_dims=keepdims)


@worked_around("the engine takes no bool, complex, NaN or sorter")
def searchsorted(x1: Any, x2: Any, /, *sorter: Any, side: str) -> Any:
    """Return where to insert ``x2``, of any shape, into the 1-d ``x1`` (sorted by ``sorter``, if given), as int64."""
    if sorter:
        x1 = raw.GatherV2(params=x1, indices=sorter[0], axis=integer(0))
    values = reshape(x2, shape=(-1,))
    if x1.dtype in COMPLEX:
        # Ranks of both together are in the order of the elements.
        joint, size = ranks(raw.ConcatV2(values=[x1, values], axis=integer(0))), x1.shape[0]
        places, values = part(joint, 0, size), part(joint, size, joint.shape[0])
    else:
        places, values = key(x1), key(values)
    bound = raw.LowerBound if side == "left" else raw.UpperBound
    rows = (reshape(x, shape=(1, -1)) for x in (places, values))
    found = bound(sorted_inputs=next(rows), values=next(rows), out_type=tf.int64)
    return reshape(found, shape=tuple(x2.shape))


@moves(1)
def where(condition: Any, x1: Any, x2: Any, /) -> Any:
    return select(truth(condition), x1, x2)
