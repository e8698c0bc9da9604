"""Sets on TensorFlow: values in ascending order, each NaN a value of its own, -0.0 and 0.0 one value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import kernels
from ..kernels import worked_around
from ._engine import cast, constant, from_fresh, integer, integers, part, plain_on_host, raw, reshape, tf, truth
from ._order import argsort_last, begins, ranks, take_last, unsort

_REASON = "tf.unique keeps the order of the input, joins NaNs and knows no complex"


def _runs(x: Any) -> tuple[Any, Any, Any]:
    """Return the sorted elements, the argsort, and where in it a new value begins."""
    order = argsort_last(x)
    placed = take_last(x, order)
    return placed, order, begins(placed)


def _where(mask: Any) -> Any:
    return reshape(raw.Where(condition=mask), shape=(-1,))


@worked_around(_REASON)
def unique_all(x: Any, /) -> tuple[Any, Any, Any, Any]:
    """Return values, first indices, inverse (of the shape of ``x``) and counts."""
    host = plain_on_host(x)
    if host is not None:
        return tuple([from_fresh(each) for each in np.unique_all(host)])
    flat = reshape(x, shape=(-1,))
    placed, order, new = _runs(flat)
    starts = _where(new)
    # Each value ends where the next one begins; the place after the last one is the end of all.
    places = raw.ConcatV2(values=[starts, cast(integers(flat.shape[0]), tf.int64)], axis=integer(0))
    counts = raw.Sub(x=places[1:], y=starts)
    values = raw.GatherV2(params=placed, indices=starts, axis=integer(0))
    indices = cast(raw.GatherV2(params=order, indices=starts, axis=integer(0)), tf.int64)
    inverse = unsort(raw.Cumsum(x=cast(new, tf.int64), axis=integer(0)) - 1, order)
    return values, indices, reshape(inverse, shape=tuple(x.shape)), counts


@worked_around(_REASON)
def unique_counts(x: Any, /) -> Any:
    host = plain_on_host(x)
    return NotImplemented if host is None else tuple(map(from_fresh, np.unique_counts(host)))


@worked_around(_REASON)
def unique_inverse(x: Any, /) -> Any:
    host = plain_on_host(x)
    return NotImplemented if host is None else tuple(map(from_fresh, kernels.unique_inverse(host)))


# Up to how many elements.
_SORTED = 16


def _values(x: Any, /) -> Any:
    host = plain_on_host(x)
    if host is not None and host.size <= _SORTED and host.dtype.kind in "fiub":
        # Python sorts a few numbers in less time than NumPy.
        listed = host.ravel().tolist()
        if not math.isnan(sum(listed)):
            return from_fresh(np.array(sorted(set(listed)), host.dtype))
    if host is not None:
        # As ``np.unique`` does, in two thirds of its time: few values are the usual case.
        values = np.sort(host, axis=None)
        is_new = np.empty(values.shape, np.bool_)
        is_new[:1] = True
        np.not_equal(values[1:], values[:-1], out=is_new[1:])
        return from_fresh(values[is_new])
    placed, _, new = _runs(reshape(x, shape=(-1,)))
    return raw.GatherV2(params=placed, indices=_where(new), axis=integer(0))


unique_values = worked_around(_REASON)(_values)


# Up to this many pairs, comparing them all costs less than sorting.
_FEW_PAIRS = 1 << 16


@worked_around("the engine has no isin")
def isin(x1: Any, x2: Any, /, *, invert: bool) -> Any:
    elements, tests = (reshape(x, shape=(-1,)) for x in (x1, x2))
    size, total = elements.shape[0], elements.shape[0] + tests.shape[0]
    if size * tests.shape[0] <= _FEW_PAIRS:
        pairs = raw.Equal(x=reshape(elements, shape=(size, 1)), y=tests)
        found = raw.Any(input=pairs, axis=integers(1), keep_dims=False)
    else:
        rank = ranks(raw.ConcatV2(values=[elements, tests], axis=integer(0)))
        asked, known = part(rank, 0, size), reshape(part(rank, size, total), shape=(-1, 1))
        length = cast(integers(total + 1), tf.int64)
        once = raw.Fill(dims=integers(total - size), value=constant(1, tf.int32))
        counts = raw.ScatterNd(indices=known, updates=once, shape=length)
        found = truth(raw.GatherV2(params=counts, indices=asked, axis=integer(0)))
        # NaN equals nothing, itself included.
        found = raw.LogicalAnd(x=found, y=raw.Equal(x=elements, y=elements))
    return reshape(raw.LogicalNot(x=found) if invert else found, shape=tuple(x1.shape))
