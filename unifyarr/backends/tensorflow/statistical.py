"""Reductions on TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import Applied, known_by, worked_around
from . import elementwise, searching, utility
from ._engine import (
    BOOL,
    COMPLEX,
    HALF,
    NUMPY_DTYPES,
    TENSORFLOW_DTYPES,
    cast,
    integer,
    integers,
    join,
    may_record,
    on_host,
    parts,
    raw,
    reshape,
    scalar,
    select,
    sign_bit,
    tf,
)
from ._extremes import greatest, least

Axis = tuple[int, ...]


def _in_single(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a sum or product of half precision in float32: the engine rounds it at each step."""

    def total(x: Any, /, *, dtype: np.dtype[Any], **static: Any) -> Any:
        target = TENSORFLOW_DTYPES[dtype]
        if target not in HALF:
            return kernel(x, dtype=dtype, **static)
        values = cast(x if x.dtype is target else cast(x, target), tf.float32)
        return cast(kernel(values, dtype=np.dtype(np.float32), **static), target)

    return total


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiated_as(native: Any, exact: Any) -> Any:
    """Return ``exact`` with the derivative of the engine's ``native``, which differs in the signs of zeros alone."""
    return exact, lambda cotangent: (cotangent, None)


def _mended(native: Any, mend: Callable[[Any], Any]) -> Any:
    """Return a floating-point tensor whose zeros get other signs, each part of complex numbers by itself."""
    exact = join(*map(mend, parts(native))) if native.dtype in COMPLEX else mend(native)
    return _differentiated_as(native, exact) if may_record() else exact


def _without_sign(x: Any) -> Any:
    # Not a sum with 0.0, which graphs leave out.
    zero = raw.ZerosLike(x=x)
    return select(raw.Equal(x=x, y=zero), zero, x)


def _is_trivial(x: Any, axis: Axis, dtype: np.dtype[Any]) -> bool:
    """Return whether nothing is reduced: there the engine leaves out the first step, from 0, which NumPy takes."""
    return dtype.kind not in "biu" and all(x.shape[i] == 1 for i in axis)


def _of_dtype(op: Callable[..., Any]) -> Callable[..., Any]:
    """Declare that an op supports calls on arrays of the total's dtype."""

    def known(x: Any, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Any:
        stays = x.dtype is TENSORFLOW_DTYPES[dtype] and x.dtype not in HALF and x.dtype is not tf.bool
        stays = stays and not (op is raw.Sum and _is_trivial(x, axis, dtype))
        return Applied(op, integers(*axis), keepdims) if stays else None

    return known_by(known)


@_of_dtype(raw.Sum)
@_in_single
def sum(x: Any, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    if target == tf.bool:
        return utility.any(x, axis=axis, keepdims=keepdims)
    total = raw.Sum(input=x if x.dtype is target else cast(x, target), axis=integers(*axis), keep_dims=keepdims)
    return _mended(total, _without_sign) if _is_trivial(x, axis, dtype) else total


@_of_dtype(raw.Prod)
@_in_single
def prod(x: Any, /, *, axis: Axis, dtype: np.dtype[Any], keepdims: bool) -> Any:
    target = TENSORFLOW_DTYPES[dtype]
    if target == tf.bool:
        return utility.all(x, axis=axis, keepdims=keepdims)
    return raw.Prod(input=x if x.dtype is target else cast(x, target), axis=integers(*axis), keep_dims=keepdims)


def _extremum(
    op: Callable[..., Any],
    reduce: Callable[..., Any],
    of_bool: Callable[..., Any],
    index: Callable[..., Any],
    name: str,
) -> Callable[..., Any]:
    def known(x: Any, /, *, axis: Axis, keepdims: bool) -> Any:
        special = x.dtype in BOOL or x.dtype in COMPLEX or 0 in tuple(x.shape)
        return None if special else Applied(op, integers(*axis), keepdims)

    @known_by(known)
    def kernel(x: Any, /, *, axis: Axis, keepdims: bool) -> Any:
        shape = tuple(x.shape)
        if 0 in shape and 0 not in (shape[i] for i in range(len(shape)) if i not in axis) and axis:
            raise ValueError(f"{name}() of no elements: the array has shape {shape}, and {name} has no identity")
        if x.dtype in BOOL:
            return of_bool(x, axis=axis, keepdims=keepdims)
        if x.dtype not in COMPLEX:
            return reduce(x, axis, keepdims)
        return _at_index(x, index, axis, keepdims)

    return kernel


def _at_index(x: Any, index: Callable[..., Any], axis: Axis, keepdims: bool) -> Any:
    """Return the elements at the indices that ``argmax`` or ``argmin`` gives over several axes."""
    shape = tuple(x.shape)
    kept = tuple(i for i in range(len(shape)) if i not in axis)
    result = tuple(1 if i in axis else n for i, n in enumerate(shape)) if keepdims else tuple(shape[i] for i in kept)
    if not axis:
        return raw.Identity(input=x)
    rows, columns = math.prod(shape[i] for i in kept), math.prod(shape[i] for i in axis)
    flat = reshape(raw.Transpose(x=x, perm=integers(*kept, *axis)), shape=(rows, columns))
    if not rows:
        return reshape(flat, shape=result)
    positions = index(flat, axis=1, keepdims=False) + tf.constant(np.arange(rows) * columns)
    taken = raw.GatherV2(params=reshape(flat, shape=(-1,)), indices=positions, axis=integer(0))
    return reshape(taken, shape=result)


max = _extremum(raw.Max, greatest, utility.any, searching.argmax, "max")
min = _extremum(raw.Min, least, utility.all, searching.argmin, "min")


def _known_mean(x: Any, /, *, axis: Axis, keepdims: bool) -> Any:
    special = x.dtype in HALF or x.dtype in COMPLEX or _is_trivial(x, axis, NUMPY_DTYPES[x.dtype])
    return None if special else Applied(raw.Mean, integers(*axis), keepdims)


@known_by(_known_mean)
def mean(x: Any, /, *, axis: Axis, keepdims: bool) -> Any:
    """Return the mean of a floating-point array; without elements it is NaN."""
    if x.dtype in HALF:
        return cast(mean(cast(x, tf.float32), axis=axis, keepdims=keepdims), x.dtype)
    if x.dtype in COMPLEX:
        # The engine's complex mean of nothing is 0.
        real, imag = parts(x)
        return join(mean(real, axis=axis, keepdims=keepdims), mean(imag, axis=axis, keepdims=keepdims))
    result = raw.Mean(input=x, axis=integers(*axis), keep_dims=keepdims)
    return _mended(result, _without_sign) if _is_trivial(x, axis, NUMPY_DTYPES[x.dtype]) else result


def var(x: Any, /, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    """Return the variance of a floating-point array, real also where ``x`` is complex."""
    if x.dtype in HALF:
        return cast(var(cast(x, tf.float32), axis=axis, correction=correction, keepdims=keepdims), x.dtype)
    deviation = (
        raw.Sub(x=x, y=mean(x, axis=axis, keepdims=True)) if x.ndim <= 5 else x - mean(x, axis=axis, keepdims=True)
    )
    if x.dtype in COMPLEX:
        real, imag = parts(deviation)
        squares = raw.AddV2(x=raw.Square(x=real), y=raw.Square(x=imag))
    else:
        squares = raw.Square(x=deviation)
    total = raw.Sum(input=squares, axis=integers(*axis), keep_dims=keepdims)
    count = math.prod(x.shape[i] for i in axis) - correction
    return raw.RealDiv(x=total, y=scalar(float(count) if count > 0 else 0.0, total))


def std(x: Any, /, *, axis: Axis, correction: float, keepdims: bool) -> Any:
    if x.dtype in HALF:
        return cast(std(cast(x, tf.float32), axis=axis, correction=correction, keepdims=keepdims), x.dtype)
    return raw.Sqrt(x=var(x, axis=axis, correction=correction, keepdims=keepdims))


def _may_lead_with_zero(x: Any, axis: int) -> bool:
    """Return whether one of the first elements may be zero."""
    values = None if x.dtype in COMPLEX else on_host(x)
    return values is None or not values[(slice(None),) * axis + (slice(0, 1),)].all()


def _led_by_zeros(x: Any, sums: Any, axis: int) -> Any:
    # The engine starts with 0.0, NumPy with the first element: after nothing but -0.0 the sum is -0.0.
    def mend(part: Any) -> Any:
        values = numbers.pop(0)
        is_zero = raw.LogicalAnd(x=sign_bit(values), y=raw.Equal(x=values, y=raw.ZerosLike(x=values)))
        leading = raw.NotEqual(x=raw.Cumprod(x=cast(is_zero, tf.int32), axis=integer(axis)), y=tf.constant(0))
        return select(leading, values, part)

    numbers = list(parts(x)) if x.dtype in COMPLEX else [x]
    return _mended(sums, mend)


def _cumulative(op: Callable[..., Any], initial: int) -> Callable[..., Any]:
    @_in_single
    def kernel(x: Any, /, *, axis: int, dtype: np.dtype[Any], include_initial: bool) -> Any:
        target = TENSORFLOW_DTYPES[dtype]
        x = x if x.dtype is target else cast(x, target)
        result = op(x=x, axis=integer(axis))
        if op is raw.Cumsum and dtype.kind not in "biu" and _may_lead_with_zero(x, axis):
            result = _led_by_zeros(x, result, axis)
        if not include_initial:
            return result
        shape = tuple(1 if i == axis else n for i, n in enumerate(x.shape))
        first = raw.Fill(dims=integers(*shape), value=tf.constant(np.array(initial, dtype)))
        return raw.ConcatV2(values=[first, result], axis=integer(axis))

    return kernel


cumulative_sum = _cumulative(raw.Cumsum, 0)
cumulative_prod = _cumulative(raw.Cumprod, 1)


def _running(of_two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    @worked_around("the engine has none")
    def kernel(x: Any, /, *, axis: int) -> Any:
        length, reach = x.shape[axis], 1
        # Each element sees twice as many before it at each step.
        while reach < length:
            first, rest, others = (
                raw.Slice(input=x, begin=integers(*before), size=integers(*lengths))
                for before, lengths in _boxes(x, axis, reach)
            )
            x = raw.ConcatV2(values=[first, of_two(others, rest)], axis=integer(axis))
            reach *= 2
        return x

    return kernel


def _boxes(x: Any, axis: int, reach: int) -> list[tuple[list[int], list[int]]]:
    """Return where the first elements along an axis are, all others, and as many that stand before those."""
    length = x.shape[axis]
    places = [(0, reach), (reach, length - reach), (0, length - reach)]
    others = [(0, each) for each in x.shape]
    boxes = [[*others[:axis], place, *others[axis + 1 :]] for place in places]
    return [([start for start, _ in box], [count for _, count in box]) for box in boxes]


cumulative_max = _running(elementwise.maximum)
cumulative_min = _running(elementwise.minimum)
