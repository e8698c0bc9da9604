"""Sums, products, extrema and spreads over axes, and those that accumulate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..rule import rule
from .indexing import along, into_taken_along
from .structure import flipped, part

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ..rule import Cotangent

Axis = tuple[int, ...]

rule("sum", lambda k, g, out, x, *, axis, keepdims, dtype: k.expanded(g, axis, keepdims, x), uses=())


def count(k: Kernels, x: Native, axis: Axis) -> int:
    """Return how many elements are reduced to one."""
    return math.prod([k.shape(x)[place] for place in axis])


def _counted(k: Kernels, x: Native, axis: Axis) -> Native | None:
    """Return how many elements are reduced to one, as an array with axes of length one, if values decide; else None."""
    shape = k.shape(x)
    if all(tuple.__getitem__(shape, place) is not None for place in axis):
        return None
    ones = k.spread(k.array(np.asarray(1), x), x)
    return k.astype(k.sum(ones, axis=axis, keepdims=True), k.dtype(x).type(0).real.dtype)


def _mean(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, keepdims: bool) -> Native:
    counted = _counted(k, x, axis)
    if counted is not None:
        return k.divide(k.expanded(g, axis, keepdims, x), k.maximum(counted, 1))
    return k.expanded(k.divide(g, count(k, x, axis) or 1), axis, keepdims, x)


rule("mean", _mean, uses=())

# -- extrema ----------------------------------------------------------------------------------------------------------


def of_extremum(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, keepdims: bool) -> Native:
    """Return the cotangent of what an extremum was chosen from: equal elements share it."""
    chosen = k.equal(x, k.expanded(out, axis, keepdims, x))
    ties = k.sum(k.astype(chosen, k.dtype(g)), axis=axis, keepdims=keepdims)
    return k.where(chosen, k.expanded(k.divide(g, ties), axis, keepdims, x), 0)


rule("max", of_extremum)
rule("min", of_extremum)

# -- spreads ----------------------------------------------------------------------------------------------------------


def _deviation(k: Kernels, x: Native, axis: Axis, correction: float) -> Native:
    """Return twice the deviations from the mean over the divisor: the derivative of the variance."""
    deviation = k.conjugate(k.subtract(x, k.mean(x, axis=axis, keepdims=True)))
    counted = _counted(k, x, axis)
    if counted is not None:
        divisor = k.maximum(k.subtract(counted, correction), 0)
        return k.multiply(deviation, k.where(k.equal(divisor, 0), math.inf, k.divide(2, k.safe(divisor))))
    number = max(count(k, x, axis) - correction, 0)
    return k.multiply(deviation, 2 / number if number else math.inf)


def _var(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, correction: float, keepdims: bool) -> Native:
    return k.multiply(k.expanded(g, axis, keepdims, x), _deviation(k, x, axis, correction))


def _std(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, correction: float, keepdims: bool) -> Native:
    # Equal elements have no deviation, whichever way they move.
    g = k.divide(k.multiply(g, 0.5), k.safe(out))
    return _var(k, g, out, x, axis=axis, correction=correction, keepdims=keepdims)


rule("var", _var, uses=(0,))
rule("std", _std)


def _root_mean_square(k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, eps: float) -> Native:
    # Divided by the result first, as its function's caller has it too, nothing underflows where squares overflow.
    divisor = out if eps > np.finfo(k.dtype(x)).tiny else k.safe(out)
    return k.multiply(k.conjugate(k.divide(x, divisor)), k.divide(g, count(k, x, axis) or 1))


rule("root_mean_square", _root_mean_square)

# -- products ---------------------------------------------------------------------------------------------------------


def _prod(
    k: Kernels, g: Native, out: Native, x: Native, *, axis: Axis, keepdims: bool, dtype: np.dtype[np.generic]
) -> Native:
    shape = k.shape(x)
    if not axis:
        return g
    kept = [place for place in range(len(shape)) if place not in axis]
    order = [*kept, *axis]
    rows = k.reshape(k.permute_dims(k.astype(x, dtype), order), (*[shape[each] for each in kept], count(k, x, axis)))
    # Without a division each is right beside zeros: the product of all before it and of all after it.
    others = k.multiply(_before(k, rows), flipped(k, _before(k, flipped(k, rows, len(kept))), len(kept)))
    others = k.permute_dims(
        k.reshape(others, [shape[each] for each in order]), [order.index(each) for each in range(len(shape))]
    )
    return k.multiply(k.expanded(g, axis, keepdims, x), others)


def _before(k: Kernels, x: Native) -> Native:
    """Return the products of the elements before each one along the last axis."""
    axis = k.ndim(x) - 1
    return part(k, k.cumulative_prod(x, axis=axis, dtype=k.dtype(x), include_initial=True), axis, 0, k.shape(x)[axis])


rule("prod", _prod, uses=(0,))


def _cumulative_sum(
    k: Kernels, g: Native, out: Native, x: Native, *, axis: int, dtype: np.dtype[np.generic], include_initial: bool
) -> Native:
    g = _behind_initial(k, g, x, axis, include_initial)
    total = k.cumulative_sum(flipped(k, g, axis), axis=axis, dtype=k.dtype(g), include_initial=False)
    return flipped(k, total, axis)


def _cumulative_prod(
    k: Kernels, g: Native, out: Native, x: Native, *, axis: int, dtype: np.dtype[np.generic], include_initial: bool
) -> Native:
    g, x, length = _behind_initial(k, g, x, axis, include_initial), k.astype(x, dtype), k.shape(x)[axis]
    if length == 0:
        return g
    before = part(k, k.cumulative_prod(x, axis=axis, dtype=k.dtype(x), include_initial=True), axis, 0, length)
    return k.multiply(before, _weighed_tails(k, g, x, axis, length))


def _weighed_tails(k: Kernels, g: Native, x: Native, axis: int, length: int) -> Native:
    """Return ``s`` of ``s[i] = g[i] + x[i + 1] * s[i + 1]``, in as many steps as the length has bits.

    It's the sum of what comes later, each times the elements between: without a division, so that it's right beside
    zeros.
    """
    total, factor, reach = g, _shifted(k, x, axis, 1, length), 1
    while reach < length:
        total = k.add(total, k.multiply(factor, _shifted(k, total, axis, reach, length)))
        factor = k.multiply(factor, _shifted(k, factor, axis, reach, length))
        reach *= 2
    return total


def _shifted(k: Kernels, x: Native, axis: int, by: int, length: int) -> Native:
    # What comes from beyond the end is zero.
    zeros = k.full(0, x, (*k.shape(x)[:axis], by, *k.shape(x)[axis + 1 :]))
    return k.concat(part(k, x, axis, by, length - by), zeros, axis=axis)


def _behind_initial(k: Kernels, g: Native, x: Native, axis: int, include_initial: bool) -> Native:
    return part(k, g, axis, 1, k.shape(x)[axis]) if include_initial else g


rule("cumulative_sum", _cumulative_sum, uses=())
rule("cumulative_prod", _cumulative_prod, uses=(0,))


def _running(k: Kernels, g: Native, out: Native, x: Native, *, axis: int) -> Cotangent:
    """Return the cotangent of a running extremum: the first of equal elements gets it."""
    length = k.shape(x)[axis]
    if length < 2:
        return g
    later, before = part(k, out, axis, 1, length - 1), part(k, out, axis, 0, length - 1)
    # NaN differs from itself: the first one stays the extremum.
    changed = k.logical_and(k.not_equal(later, before), k.equal(before, before))
    places = k.where(changed, k.add(along(k, g, k.shape(changed), axis), 1), 0)
    first = k.full(0, places, (*k.shape(x)[:axis], 1, *k.shape(x)[axis + 1 :]))
    places = k.cumulative_max(k.concat(first, places, axis=axis), axis=axis)
    return into_taken_along(k, g, out, x, places, axis=axis)


rule("cumulative_max", _running, uses=("out",))
rule("cumulative_min", _running, uses=("out",))

# -- order ------------------------------------------------------------------------------------------------------------


def _sort(k: Kernels, g: Native, out: Native, x: Native, *, axis: int, **static: object) -> Native:
    order = k.argsort(x, axis=axis, **static)
    places = k.argsort(order, axis=axis, descending=False, stable=False)
    return k.take_along_axis(g, places, axis=axis)


rule("sort", _sort, uses=(0,))
