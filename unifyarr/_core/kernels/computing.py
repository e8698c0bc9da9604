"""Kernels that compute: element by element, reductions, along axes, sums of products."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...typing import Shape
from ..values.lengths import shape_of
from ..values.shapes import broadcast, reduced, spliced
from .record import (
    ALONG,
    CONTRACTION,
    ELEMENTWISE,
    REDUCTION,
    ROWS,
    Batch,
    Derivative,
    Extreme,
    Fails,
    MemoryOrder,
    declare,
    over_operands,
)
from .types import INT64, ArrayType, Rule, Typed, Types, complex_of, places, real_of, same, twice

# -- element by element: those that aren't one of NumPy's ufuncs ------------------------------------------------------


def _like_last(*arrays: Typed, **static: object) -> ArrayType:
    shapes = [x.shape for x in arrays]
    return ArrayType(shapes[0] if len(shapes) == 1 else broadcast(*shapes, name="the kernel"), arrays[-1].dtype)


def _split(x: Typed) -> Types:
    return ArrayType(x.shape, x.dtype), ArrayType(x.shape, np.dtype(np.int32))


def _scaled(x: Typed, exponent: Typed) -> ArrayType:
    return ArrayType(broadcast(x.shape, exponent.shape, name="ldexp"), x.dtype)


declare(ELEMENTWISE, "where", types=_like_last, order=MemoryOrder.KEEPS, moves=True)
declare(ELEMENTWISE, "clip", order=MemoryOrder.KEEPS, twins=over_operands(1))
declare(ELEMENTWISE, "round", order=MemoryOrder.KEEPS, derivative=Derivative.CONSTANT)
declare(ELEMENTWISE, "sigmoid", types=same, order=MemoryOrder.KEEPS)
declare(ELEMENTWISE, "relu", types=same)
declare(ELEMENTWISE, "spacing", types=same, derivative=Derivative.CONSTANT)
declare(ELEMENTWISE, "frexp", types=_split, derivative=Derivative.BODY)
declare(ELEMENTWISE, "ldexp", types=_scaled, derivative=Derivative.BODY)
declare(ELEMENTWISE, "modf", types=twice, derivative=Derivative.BODY)
declare(ELEMENTWISE, "remainder digamma gammaln i0 i0e i1 i1e", types=_like_last)
declare(ELEMENTWISE, "gammainc gammaincc")
declare(ELEMENTWISE, "erf erfc", types=_like_last, order=MemoryOrder.STAYS)
declare(ELEMENTWISE, "erfinv", types=_like_last, harmless=0)
declare(ELEMENTWISE, "erfcinv", types=_like_last)
declare(ELEMENTWISE, "ndtri", types=_like_last, harmless=0.5)
declare(ELEMENTWISE, "betainc", harmless=0.5)
declare(ELEMENTWISE, "zeta", types=_like_last, harmless=2)

# The engine's own, where a body computes the same by other kernels.
_OFFERED: dict[str, object] = {"types": _like_last, "derivative": Derivative.BODY, "order": MemoryOrder.STAYS}
declare(
    ELEMENTWISE, "elu entr gelu hardsigmoid hardswish leaky_relu log_ndtr mish nan_to_num selu silu sinc", **_OFFERED
)
declare(ELEMENTWISE, "xlogy xlog1py", **_OFFERED)
declare(ELEMENTWISE, "logit", harmless=0.5, **_OFFERED)

# -- over axes --------------------------------------------------------------------------------------------------------


def _total(x: Typed, *, axis: tuple[int, ...], dtype: np.dtype[np.generic], keepdims: bool) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), dtype)


def _extremum(x: Typed, *, axis: tuple[int, ...], keepdims: bool) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), x.dtype)


def _vector_norm(x: Typed, *, axis: tuple[int, ...], keepdims: bool, ord: object) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, keepdims), real_of(x.dtype))


def _mean_square(x: Typed, *, axis: tuple[int, ...], eps: float) -> ArrayType:
    return ArrayType(reduced(x.shape, axis, True), x.dtype)


declare(REDUCTION, "sum", types=_total, neutral=0, adds=True)
declare(REDUCTION, "prod", types=_total, neutral=1, adds=True)
declare(REDUCTION, "mean", types=_extremum, adds=True)
declare(REDUCTION, "var std", adds=True)
declare(REDUCTION, "max", types=_extremum, neutral=Extreme.LEAST)
declare(REDUCTION, "min", types=_extremum, neutral=Extreme.GREATEST)
declare(REDUCTION, "any", neutral=0, derivative=Derivative.CONSTANT)
declare(REDUCTION, "all", neutral=1, derivative=Derivative.CONSTANT)
declare(REDUCTION, "count_nonzero", neutral=0, derivative=Derivative.CONSTANT, order=MemoryOrder.OTHERWISE)
_PLACES: dict[str, object] = {"derivative": Derivative.CONSTANT, "batch": Batch.OWN, "order": MemoryOrder.OTHERWISE}
declare(REDUCTION, "argmax", neutral=Extreme.LEAST, **_PLACES)
declare(REDUCTION, "argmin", neutral=Extreme.GREATEST, **_PLACES)
declare(REDUCTION, "vector_norm", types=_vector_norm, neutral=0, adds=True, order=MemoryOrder.OTHERWISE)
# It keeps its axes.
declare(REDUCTION, "root_mean_square", types=_mean_square, adds=True, drops_axes=False, order=MemoryOrder.STAYS)

# -- along axes -------------------------------------------------------------------------------------------------------


def _accumulated(x: Typed, *, axis: int, dtype: np.dtype[np.generic], include_initial: bool) -> ArrayType:
    return ArrayType((*x.shape[:axis], x.shape[axis] + include_initial, *x.shape[axis + 1 :]), dtype)


def _taken_along(x: Typed, indices: Typed, *, axis: int) -> ArrayType:
    return ArrayType(indices.shape, x.dtype)


def _repeated(x: Typed, *counts: Typed, count: int | None, axis: int) -> ArrayType | None:
    if count is None:
        # Values of the counts decide.
        return None
    return ArrayType(spliced(x.shape, axis, axis + 1, x.shape[axis] * count), x.dtype)


def _placed(x1: Typed, x2: Typed, *sorter: Typed, side: str) -> ArrayType:
    return ArrayType(x2.shape, INT64)


def _repeated_by(x: Typed, *counts: Typed, count: int | None, axis: int) -> ArrayType | None:
    if not counts:
        return None
    lengths = list(tuple.__iter__(x.shape))
    lengths[axis] = None  # type: ignore[call-overload]
    return ArrayType(shape_of(lengths), x.dtype)


declare(ALONG, "cumulative_sum cumulative_prod", types=_accumulated, order=MemoryOrder.KEEPS)
declare(ALONG, "cumulative_max cumulative_min", types=same, order=MemoryOrder.KEEPS)
declare(ALONG, "sort softmax log_softmax", types=same, order=MemoryOrder.STAYS)
declare(ALONG, "softmax_backward log_softmax_backward", types=same, order=MemoryOrder.STAYS, batch=Batch.BODY)
declare(ALONG, "argsort", types=places, order=MemoryOrder.STAYS, derivative=Derivative.CONSTANT)
declare(ALONG, "partition", types=same, derivative=Derivative.BODY, batch=Batch.BODY)
declare(ALONG, "diff", derivative=Derivative.BODY)
declare(ALONG, "roll", types=same, moves=True)
declare(ALONG, "pad", batch=Batch.OWN, moves=True)
declare(
    *(ALONG, "repeat"),
    types=_repeated,
    unknown=_repeated_by,
    fails=Fails.VALUES,
    order=MemoryOrder.STAYS,
    batch=Batch.OWN,
    moves=True,
)
declare(
    *(ALONG, "take_along_axis"),
    types=_taken_along,
    indexed=1,
    fails=Fails.VALUES,
    order=MemoryOrder.STAYS,
    batch=Batch.OWN,
    moves=True,
)


def _put_back(g: Typed, indices: Typed, *, axis: int, length: int) -> ArrayType:
    return ArrayType((*g.shape[:axis], length, *g.shape[axis + 1 :]), g.dtype)


declare(ALONG, "take_along_axis_backward", types=_put_back, fails=Fails.VALUES, batch=Batch.BODY)
declare(ALONG, "searchsorted", types=_placed, fails=Fails.VALUES, derivative=Derivative.CONSTANT, batch=Batch.OWN)
declare(ALONG, "isin", derivative=Derivative.CONSTANT, batch=Batch.OWN)

# -- Fourier transforms -----------------------------------------------------------------------------------------------


def _transform(kind: str) -> Rule:
    # "c" gives complex numbers for each point, "h" for half of them along the last axis, "r" real ones.
    def rule(
        x: Typed,
        *,
        norm: str,
        n: int = 0,
        axis: int = 0,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
    ) -> ArrayType:
        lengths = dict(zip(axes or (axis,), s or (n,), strict=True))
        if kind == "h":
            last = list(lengths)[-1]
            lengths[last] = lengths[last] // 2 + 1
        shape = tuple([lengths.get(place, length) for place, length in enumerate(x.shape)])
        return ArrayType(shape, real_of(x.dtype) if kind == "r" else complex_of(x.dtype))

    return rule


def _small_transform(halves: bool) -> Callable[..., dict[str, object]]:
    # With ``halves`` a transform takes half of the points along the last axis, and one more.
    def small_transform(
        shapes: Sequence[tuple[Shape, Shape]],
        *,
        n: int = 0,
        axis: int = 0,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        **static: object,
    ) -> dict[str, object]:
        (large, small), found = shapes[0], []
        places = axes or (axis,)
        for points, place in zip(s or (n,), places, strict=True):
            # It fills up or cuts off where it does so with the large array.
            is_half = halves and place == places[-1]
            needed = points // 2 + 1 if is_half else points
            few = small[place] + (needed > large[place]) - (needed < large[place])
            found.append(max(2 * (few - 1), 1) if is_half else max(few, 1))
        return {"s": tuple(found)} if axes else {"n": found[0]}

    return small_transform


declare(ALONG, "fft ifft fftn ifftn", types=_transform("c"), small=_small_transform(False))
declare(ALONG, "rfft rfftn ihfft", types=_transform("h"), small=_small_transform(False))
declare(ALONG, "irfft irfftn hfft", types=_transform("r"), small=_small_transform(True))

# -- sums of products, and whole vectors ------------------------------------------------------------------------------


def _product(x1: Typed, x2: Typed) -> ArrayType:
    leading = broadcast(x1.shape[:-2], x2.shape[:-2], name="matmul")
    return ArrayType((*leading, *x1.shape[-2:-1], *(x2.shape[-1:] if len(x2.shape) > 1 else ())), x1.dtype)


def _affine(x: Typed, weight: Typed, bias: Typed) -> ArrayType:
    return ArrayType((*x.shape[:-1], weight.shape[0]), x.dtype)


def _crossed(x1: Typed, x2: Typed, *, axis: int) -> ArrayType:
    return ArrayType(broadcast(x1.shape, x2.shape, name="cross"), x1.dtype)


def _counted(x: Typed, *weights: Typed, length: int) -> ArrayType:
    return ArrayType((length,), weights[0].dtype if weights else INT64)


def _between(x: Typed, edges: Typed, *weights: Typed, uniform: bool) -> ArrayType:
    return ArrayType((edges.shape[0] - 1,), weights[0].dtype if weights else INT64)


declare(CONTRACTION, "matmul", types=_product, adds=True, order=MemoryOrder.DENSE)
declare(CONTRACTION, "vecdot", adds=True, drops_axes=True)
declare(CONTRACTION, "cross", types=_crossed)
declare(CONTRACTION, "einsum", derivative=Derivative.BODY, batch=Batch.BODY)
declare(CONTRACTION, "linear", types=_affine, batch=Batch.BODY)
declare(ROWS, "convolve", adds=True, derivative=Derivative.BODY)
declare(ROWS, "bincount", types=_counted, fails=Fails.VALUES, batch=Batch.OWN)
declare(ROWS, "count_between", types=_between, derivative=Derivative.BODY)
declare(ROWS, "interp", derivative=Derivative.BODY, batch=Batch.OWN)
