"""How the methods of ufuncs combine elements: by a function that reduces, in halves, or one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import as_index
from .._core.arrays.weak import kind_of
from .._core.engines import dtypes
from .._core.engines.dtypes import DType
from .._core.values.shapes import as_axes, as_axis, reduced
from .._core.writing.inplace import update
from ._following import NO_VALUE, as_array, together


class Ufunc(Protocol):
    """The parts of a ufunc that folding needs."""

    __name__: str
    identity: Any
    _numpy: np.ufunc
    _compute: Callable[..., Any]


# The function that reduces as a ufunc does, and the one that accumulates.
TOTALS = {"add": (ua.sum, ua.cumulative_sum), "multiply": (ua.prod, ua.cumulative_prod)}
CHOICES = {"maximum": ua.max, "minimum": ua.min, "logical_and": ua.all, "logical_or": ua.any}
RUNNING = {"maximum": ua.cumulative_max, "minimum": ua.cumulative_min}
_LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor"})
# The order of the pairs doesn't count, but for rounding.
_ASSOCIATIVE = frozenset(
    {"add", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd",
     "logaddexp", "logaddexp2", "hypot", *_LOGICAL}
)  # fmt: skip
_SCATTERED = {"add": "add", "subtract": "add", "multiply": "multiply", "maximum": "max", "minimum": "min"}


def cast(x: Array, dtype: DType) -> Array:
    """Return an array of a dtype: of complex numbers the real parts, where that one is real."""
    return x if x.dtype is dtype else _real_for(x, dtype).astype(dtype)


def _working(function: Ufunc, x: Array, dtype: Any, out: Any) -> DType:
    """Return the dtype in which elements are combined."""
    name = function.__name__
    if name in _LOGICAL:
        return dtypes.bool
    if dtype is None and out is None and name in TOTALS and dtypes.rank(x.dtype) < 2:
        return dtypes.uint64 if x.dtype.kind == "u" else dtypes.int64
    if dtype is not None:
        wanted = dtypes.as_dtype(dtype)
        if name in TOTALS or name in CHOICES:
            return wanted
        return _loop(function, wanted)
    return _loop(function, x.dtype if out is None else ua.result_type(x.dtype, dtypes.as_dtype(out.dtype)))


def _loop(function: Ufunc, dtype: DType) -> DType:
    first, second, last = dtypes.loop(function._numpy, dtype, dtype)
    if not first == second == last:
        raise TypeError(f"{function.__name__}() of {dtype} gives {last}, which it can't be combined with any further")
    return last


def reduce(
    function: Ufunc, x: Array, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    """Return the elements along axes combined by a ufunc."""
    name, identity = function.__name__, function.identity
    if x.ndim == 0 and axis in (0, -1):
        axis = None
    axes = as_axes(axis, x.ndim)
    working = _working(function, x, dtype, out)
    # ``initial=None`` asks for the first element to begin with, whatever the identity is.
    start = identity if initial is NO_VALUE else initial
    first = None if start is None else cast(together(x, start)[1], working)
    mask = None if where is True else as_array(together(x, where)[1])
    if mask is not None:
        if first is None:
            raise ValueError(f"{name}.reduce() has no identity to begin with where elements are left out: pass initial")
        if ua.broadcast_shapes(x.shape, mask.shape) != x.shape:
            raise ValueError(f"where has shape {mask.shape}, which doesn't broadcast to {x.shape}")
    if 0 in x.shape and any(x.shape[each] == 0 for each in axes):
        if first is None:
            raise ValueError(f"{name}.reduce() of no elements has no identity: pass initial")
        return ua.broadcast_to(first, reduced(x.shape, axes, keepdims)).copy()
    if name not in _ASSOCIATIVE:
        return _in_order(
            function, cast(x, working), axes, keepdims, None if initial is NO_VALUE and mask is None else first, mask
        )
    keeps_sign = name == "add" and working.rank > 1 and initial is not NO_VALUE and _is_negative_zero(initial)
    if mask is not None:
        neutral: Any = first if identity is None or keeps_sign else ua.asarray(identity, dtype=working)
        x = ua.where(mask, cast(x, working), neutral)
    result = _in_any_order(function, x, axes, working, keepdims)
    if initial is NO_VALUE or first is None:
        return result
    if keeps_sign:
        return _with_signs(x, result, axes, keepdims, working)
    combined: Array = function._compute(first, result)
    return combined


def _is_negative_zero(initial: Any) -> bool:
    if not isinstance(initial, (float, complex, np.inexact)) or initial != 0:
        return False
    return math.copysign(1, initial.real) < 0


def _with_signs(x: Array, result: Array, axes: tuple[int, ...], keepdims: bool, working: DType) -> Array:
    # A sum that begins with -0.0 is that, where all elements are.
    if working.rank == 3:
        x, real = cast(x, working), dtypes.real_of(working)
        made: Array = ua.zeros_like(result)
        made.real = _with_signs(x.real, result.real, axes, keepdims, real)
        made.imag = _with_signs(x.imag, result.imag, axes, keepdims, real)
        return made
    stays = ua.all(ua.logical_and(ua.signbit(cast(x, working)), ua.equal(x, 0)), axis=axes, keepdims=keepdims)
    return ua.where(stays, -0.0, result)


def _in_any_order(function: Ufunc, x: Array, axes: tuple[int, ...], working: DType, keepdims: bool) -> Array:
    name = function.__name__
    if name in TOTALS:
        return TOTALS[name][0](_real_for(x, working), axis=axes, dtype=working, keepdims=keepdims)
    x = cast(x, working)
    if name in CHOICES:
        return CHOICES[name](x, axis=axes, keepdims=keepdims)
    rows = _as_rows(x, axes)
    while (count := rows.shape[0]) > 1:
        half = count // 2
        pairs = function._compute(rows[:half], rows[half : 2 * half])
        rows = pairs if count % 2 == 0 else ua.concat([pairs, rows[2 * half :]])
    return ua.reshape(rows[0], reduced(x.shape, axes, keepdims))


def _in_order(
    function: Ufunc, x: Array, axes: tuple[int, ...], keepdims: bool, first: Array | None, mask: Array | None
) -> Array:
    if len(axes) > 1:
        raise ValueError(f"{function.__name__}.reduce() depends on the order of elements: pass a single axis")
    rows = _as_rows(x, axes)
    masks = None if mask is None else _as_rows(ua.broadcast_to(mask, x.shape), axes)
    result = rows[0] if first is None else first
    for place in range(first is None, rows.shape[0]):
        following = function._compute(result, rows[place])
        result = following if masks is None else ua.where(masks[place], following, result)
    return ua.reshape(result, reduced(x.shape, axes, keepdims))


def _as_rows(x: Array, axes: tuple[int, ...]) -> Array:
    """Return an array with the axes that are reduced as its first one."""
    kept = tuple(each for each in range(x.ndim) if each not in axes)
    rows = ua.permute_dims(x, (*axes, *kept))
    return ua.reshape(rows, (math.prod(rows.shape[: len(axes)]), *rows.shape[len(axes) :]))


def _real_for(x: Array, dtype: DType) -> Array:
    return x.real if dtypes.rank(x.dtype) == 3 and dtypes.rank(dtype) in (1, 2) else x


def accumulate(function: Ufunc, x: Array, axis: int, dtype: Any, out: Any) -> Array:
    """Return the result of ``reduce`` for the first elements along an axis, for each number of them."""
    name = function.__name__
    if x.ndim == 0:
        raise TypeError(f"{name}.accumulate() goes along an axis, and an array of no dimensions has none")
    axis = as_axis(axis, x.ndim)
    working = _working(function, x, dtype, out)
    if name in TOTALS:
        return TOTALS[name][1](_real_for(x, working), axis=axis, dtype=working)
    if name in RUNNING and working.rank < 3:
        return RUNNING[name](cast(x, working), axis=axis)
    rows = ua.moveaxis(cast(x, working), axis, 0)
    if name in _ASSOCIATIVE:
        step = 1
        while step < rows.shape[0]:
            rows = ua.concat([rows[:step], function._compute(rows[:-step], rows[step:])])
            step *= 2
        return ua.moveaxis(rows, 0, axis) if step > 1 else x.astype(working)
    results = [rows[:1]]
    for place in range(1, rows.shape[0]):
        results.append(function._compute(results[-1], rows[place : place + 1]))
    return ua.moveaxis(ua.concat(results), 0, axis)


def reduceat(function: Ufunc, x: Array, indices: Any, axis: int, dtype: Any, out: Any) -> Array:
    """Return the result of ``reduce`` for slices along an axis."""
    name = function.__name__
    if x.ndim == 0:
        raise TypeError(f"{name}.reduceat() goes along an axis, and an array of no dimensions has none")
    axis = as_axis(axis, x.ndim)
    count = x.shape[axis]
    # The slices are shapes, which no engine has as values.
    starts = [int(each) for each in as_array(indices).tolist()]
    if outside := [each for each in starts if not 0 <= each < count]:
        raise IndexError(f"index {outside[0]} of reduceat() is out of bounds for {count} elements")
    working = _working(function, x, dtype, out)
    rows = ua.moveaxis(cast(x, working), axis, 0)
    results = []
    for start, stop in zip(starts, [*starts[1:], count][: len(starts)], strict=True):
        part = rows[start : stop if stop > start else start + 1]
        if name in _ASSOCIATIVE:
            results.append(_in_any_order(function, part, (0,), working, False))
        else:
            results.append(_in_order(function, part, (0,), False, None, None))
    if not results:
        return ua.moveaxis(rows[:0], 0, axis)
    return ua.moveaxis(ua.stack(results), 0, axis)


def write_at(function: Ufunc, target: Array, indices: Any, values: Any) -> None:
    """Write the function of indexed elements, once for each time that an index occurs."""
    whole = together(target, np.arange(target.size).reshape(target.shape))[1]
    positions = as_array(whole[indices])
    others = [] if values is None else [together(target, values)[1]]
    kinds: list[Any] = [kind_of(values) if kind_of(values) in dtypes.SCALARS else each.dtype for each in others]
    *inputs, last = dtypes.loop(function._numpy, target.dtype, *kinds)
    others = [ua.reshape(ua.broadcast_to(x.astype(inputs[1]), positions.shape), (-1,)) for x in others]
    flat, points = ua.reshape(target, (-1,)), ua.reshape(positions, (-1,))
    if points.size == 0:
        return
    mode = _SCATTERED.get(function.__name__)
    if mode is not None and inputs[0] == last == target.dtype and dtypes.rank(last) in (1, 2):
        step = ua.negative(others[0]) if function.__name__ == "subtract" else others[0]
        result = ua.scatter(flat, ua.expand_dims(points, -1), step, mode=mode)
    else:
        result = _one_by_one(function, flat, points, others)
    update(target, ua.reshape(result, target.shape), what="a")


def _one_by_one(function: Ufunc, flat: Array, points: Array, others: list[Array]) -> Array:
    """Return elements with the function written to them: in each round once for every index that still occurs."""
    order = ua.argsort(points)
    ordered = ua.take(points, order)
    places = together(points, np.arange(points.size))[1]
    turn = places - ua.searchsorted(ordered, ordered)
    result = flat.copy()
    for round_ in range(int(ua.max(turn)) + 1):
        chosen = as_index(order[turn == round_])
        here = points[chosen]
        result[here] = cast(function._compute(result[here], *(x[chosen] for x in others)), flat.dtype)
    return result
