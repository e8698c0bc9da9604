"""Elements that arrays of indices or masks choose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..._core.values.lengths import PartialShape
from ..rule import AddedInto, joint_rule, rule
from .backward import backward

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.rule_kernels import Kernels
    from ...typing import Shape
    from ..rule import Cotangent, Cotangents

# All operands after the array, or after the value too: there are as many as the array has axes.
_INDICES, _LATER = range(1, 65), range(2, 66)


def _into_gathered(k: Kernels, g: Native, out: Native, x: Native, *indices: Native) -> AddedInto:
    return AddedInto(lambda k, total: k.scatter_reduce(total, g, *indices, reduction="add"))


rule("gather", _into_gathered, None, uses=_INDICES)

# -- writes -----------------------------------------------------------------------------------------------------------


def _beside(k: Kernels, mask: Native, x: Native) -> Native:
    """Return a mask of the leading axes with axes of length one for the others of an array."""
    return k.reshape(mask, k.shape(mask) + (1,) * (k.ndim(x) - k.ndim(mask)))


def _of_last(k: Kernels, g: Native, x: Native, value: Native, indices: Sequence[Native]) -> Native:
    """Return the cotangents of values that were written: of several for one place the last one was kept."""
    points, leading = k.shape(indices[0]), k.shape(x)[: len(indices)]
    if type(points) is PartialShape and len(points) == 1:
        ones = k.spread(k.array(np.asarray(1), g), indices[0])
        order = k.cumulative_sum(ones, axis=0, dtype=k.dtype(ones), include_initial=False)
    else:
        order = k.array(np.arange(math.prod(points)).reshape(points), g)
    nothing = k.broadcast_to(k.array(np.asarray(-1), g), leading)
    last = k.gather(k.scatter_reduce(nothing, order, *indices, reduction="max"), *indices)
    return k.where(_beside(k, k.equal(last, order), value), k.gather(g, *indices), 0)


@joint_rule("scatter", uses=_LATER)
def _scatter(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, value: Native, *indices: Native
) -> Sequence[Cotangent | None]:
    outside = k.scatter(g, k.full(0, value), *indices) if needs[0] else None
    written = _of_last(k, g, x, value, indices) if needs[1] else None
    return [outside, written, *[None] * len(indices)]


# -- writes that combine ----------------------------------------------------------------------------------------------


def _sum(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, value: Native, *indices: Native
) -> Sequence[Cotangent | None]:
    return [g, k.gather(g, *indices) if needs[1] else None]


def _product(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, value: Native, *indices: Native
) -> Sequence[Cotangent | None]:
    one, others = k.full(1, g), None
    if needs[1]:
        # The product of what isn't zero, unless another one is.
        zero, zeros = k.astype(k.equal(value, 0), k.dtype(g)), k.astype(k.equal(x, 0), k.dtype(g))
        zeros = k.scatter_reduce(zeros, zero, *indices, reduction="add")
        rest = k.scatter_reduce(k.safe(x), k.safe(value), *indices, reduction="multiply")
        partial = k.divide(k.gather(k.multiply(g, rest), *indices), k.safe(value))
        others = k.where(k.equal(k.gather(zeros, *indices), zero), partial, 0)
    own = k.multiply(g, k.scatter_reduce(one, value, *indices, reduction="multiply")) if needs[0] else None
    return [own, others]


def _extremum(
    k: Kernels, needs: Sequence[bool], g: Native, out: Native, x: Native, value: Native, *indices: Native
) -> Sequence[Cotangent | None]:
    # Equal ones share the cotangent.
    dtype = k.dtype(g)
    own, others = k.equal(x, out), k.equal(value, k.gather(out, *indices))
    count = k.scatter_reduce(k.astype(own, dtype), k.astype(others, dtype), *indices, reduction="add")
    each = k.divide(g, count)
    return [k.where(own, each, 0), k.where(others, k.gather(each, *indices), 0) if needs[1] else None]


_COMBINED = {"set": _scatter, "add": _sum, "multiply": _product, "max": _extremum, "min": _extremum}


@joint_rule("scatter_reduce")
def _scatter_reduce(
    k: Kernels,
    needs: Sequence[bool],
    g: Native,
    out: Native,
    x: Native,
    value: Native,
    *indices: Native,
    reduction: str,
) -> Sequence[Cotangent | None]:
    found = _COMBINED[reduction](k, needs, g, out, x, value, *indices)
    return [*found[:2], *[None] * len(indices)]


# -- along an axis ----------------------------------------------------------------------------------------------------


def _into_taken(k: Kernels, g: Native, out: Native, x: Native, indices: Native, *, axis: int | None) -> AddedInto:
    def add(k: Kernels, total: Native) -> Native:
        shape, place = k.shape(x), axis or 0
        flat = k.reshape(total, (k.size(x),)) if axis is None else total
        return k.reshape(added_along(k, flat, g, indices, place), shape)

    return AddedInto(add)


def added_along(k: Kernels, total: Native, g: Native, places: Native, axis: int) -> Native:
    """Return an array with another one added at places along an axis: ``take`` of it has the shape of the other."""
    count, ndim = k.ndim(places), k.ndim(total)
    order = [axis, *[each for each in range(ndim) if each != axis]]
    inner = range(axis, axis + count)
    moved = k.permute_dims(g, [*inner, *[each for each in range(k.ndim(g)) if each not in inner]])
    found = k.scatter_reduce(k.permute_dims(total, order), moved, places, reduction="add")
    return k.permute_dims(found, [order.index(each) for each in range(ndim)])


def along(k: Kernels, like: Native, shape: Shape, axis: int) -> Native:
    """Return the places along an axis, in an array of a shape."""
    counted = k.array(np.arange(shape[axis]), like)
    return k.broadcast_to(k.reshape(counted, [shape[axis] if each == axis else 1 for each in range(len(shape))]), shape)


def into_taken_along(k: Kernels, g: Native, out: Native, x: Native, indices: Native, *, axis: int) -> AddedInto:
    """Return the cotangent of what elements were taken from along an axis."""

    def alone(k: Kernels) -> Native:
        length = k.shape(x)[axis]
        return k.take_along_axis_backward(g, indices, axis=axis, length=length)

    known = k.has("take_along_axis_backward") and type(k.shape(x)) is tuple
    return AddedInto(lambda k, total: _added_at(k, total, g, indices, axis), alone=alone if known else None)


def _added_at(k: Kernels, total: Native, g: Native, indices: Native, axis: int) -> Native:
    """Return an array with another one added at places along an axis, of its own for each element beside it."""
    shape = k.shape(indices)
    columns = [indices if place == axis else along(k, g, shape, place) for place in range(len(shape))]
    return k.scatter_reduce(total, g, *columns, reduction="add")


def _of_taken_along(k: Kernels, g: Native, indices: Native, *, axis: int, length: int) -> Native:
    shape = k.shape(indices)
    return _added_at(k, k.full(0, g, (*shape[:axis], length, *shape[axis + 1 :])), g, indices, axis)


backward("take_along_axis_backward", _of_taken_along)
rule("take", _into_taken, None, uses=(1,))
rule("take_along_axis", into_taken_along, None, uses=(1,))


def _repeated(k: Kernels, g: Native, out: Native, x: Native, *counts: Native, count: int | None, axis: int) -> Native:
    shape = k.shape(x)
    if count is not None:
        apart = k.reshape(g, (*shape[: axis + 1], count, *shape[axis + 1 :]))
        return k.sum(apart, axis=(axis + 1,), keepdims=False)
    source = k.repeat(k.array(np.arange(shape[axis]), g), *counts, count=None, axis=0)
    return added_along(k, k.zeros(x), g, source, axis)


rule("repeat", _repeated, None, uses=(1,))

# -- masks ------------------------------------------------------------------------------------------------------------

rule("where", None, lambda k, g, out, c, x, y: k.where(c, g, 0), lambda k, g, out, c, x, y: k.where(c, 0, g), uses=(0,))
rule(
    "put_mask",
    lambda k, g, out, x, value, mask: k.where(mask, 0, g),
    lambda k, g, out, x, value, mask: k.where(mask, g, 0),
    None,
    uses=(2,),
)


def _into_selected(k: Kernels, g: Native, out: Native, x: Native, mask: Native) -> AddedInto:
    return AddedInto(lambda k, total: k.put_selected(total, k.add(k.select(total, mask), g), mask))


rule("select", _into_selected, None, uses=(1,))
rule(
    "put_selected",
    lambda k, g, out, x, value, mask: k.where(_beside(k, mask, g), 0, g),
    lambda k, g, out, x, value, mask: k.select(g, mask),
    None,
    uses=(2,),
)


def _into_places(k: Kernels, g: Native, out: Native, x: Native, places: Native, *, axes: int) -> AddedInto:
    def add(k: Kernels, total: Native) -> Native:
        return k.put_places(total, k.add(k.take_places(total, places, axes=axes), g), places, axes=axes)

    return AddedInto(add)


rule("take_places", _into_places, None, uses=(1,))
rule(
    "put_places",
    lambda k, g, out, x, value, places, *, axes: k.put_places(g, k.full(0, value), places, axes=axes),
    lambda k, g, out, x, value, places, *, axes: k.take_places(g, places, axes=axes),
    None,
    uses=(2,),
)

# -- sets -------------------------------------------------------------------------------------------------------------


def _into_first(k: Kernels, g: Native, x: Native) -> AddedInto:
    """Return the cotangent of the different values: each is that of its first element."""

    def add(k: Kernels, total: Native) -> Native:
        first = k.reshape(k.unique_all(x)[1], k.shape(g))
        flat = k.scatter_reduce(k.reshape(total, (k.size(x),)), g, first, reduction="add")
        return k.reshape(flat, k.shape(x))

    return AddedInto(add)


def _unique(name: str) -> None:
    @joint_rule(name, uses=(0,))
    def of_values(
        k: Kernels, needs: Sequence[bool], g: Cotangents, out: Sequence[Native], x: Native
    ) -> Sequence[Cotangent | None]:
        return [None if g[0] is None else _into_first(k, g[0], x)]


_unique("unique_all")
_unique("unique_counts")
_unique("unique_inverse")
rule("unique_values", lambda k, g, out, x: _into_first(k, g, x), uses=(0,))

# -- places and counts ------------------------------------------------------------------------------------------------

rule("bincount", None, lambda k, g, out, x, *weights, length: k.take(g, x, axis=0), uses=(0,))
