"""Integrals and derivatives of sampled functions."""

from __future__ import annotations

from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating
from .._core.arrays.numbers import as_number
from .._core.arrays.scratch import reuse, room
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import shown
from .._core.values.shapes import as_axes, as_axis, broadcast
from ..errors import ShapeError
from .creation import empty_like
from .elementwise import (
    add,
    divide,
    equal,
    multiply,
    subtract,
)
from .linalg import narrowed, widened
from .manipulation import reshape
from .searching import where
from .statistical import sum
from .utility import all, diff

# -- integrals --------------------------------------------------------------------------------------------------------


@compositional(takes_numbers=True)
def trapezoid(
    y: Array, /, x: Array | None = None, *, dx: float | Array = 1.0, axis: int = -1, out: Array | None = None
) -> Array:
    """Integrate along an axis by the trapezoidal rule.

    Parameters
    ----------
    y
        The function's values: an array of at least one dimension; bools and integers are taken as float64.
    x
        Where they are: a 1-d array for the axis, or one that broadcasts against ``y``; ``dx`` apart if not given.
    dx
        The distance of the places.
    axis
        The axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array without the axis, of the floating-point dtype that ``y`` and ``x`` promote to, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    ShapeError
        If the shapes don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.trapezoid(ua.asarray([1, 2, 3]), ua.asarray([4, 6, 8]))
    array(8.)

    Source: values as NumPy's ``trapezoid``, but that small integers don't overflow.
    """
    axis = as_axis(axis, y.ndim)
    dtype, (y, *places) = widened(y, *([] if x is None else [x]))
    steps: Any = as_number(dx, "dx").value
    if places:
        [x] = places
        along = axis if x.ndim > 1 else 0
        if not x.ndim or x.ndim not in (1, y.ndim) or x.shape[along] != y.shape[axis]:
            raise ShapeError(f"trapezoid() takes x of shape {y.shape[axis : axis + 1]} or {y.shape}, not {x.shape}")
        steps = diff(x, axis=along)
        steps = _along(steps, axis, y.ndim) if x.ndim == 1 else steps
        broadcast(x.shape if x.ndim > 1 else (), y.shape, name="trapezoid")
    # Halve first: the sum of two large numbers might overflow.
    half = steps * 0.5
    areas = multiply(y[_part(axis, 1, None)], half)
    after = sum(areas, axis=axis)
    areas = multiply(y[_part(axis, None, -1)], half, out=reuse(areas))
    total = add(sum(areas, axis=axis), after, out=out if dtype == areas.dtype else None)
    return narrowed(total, dtype)


# -- derivatives ------------------------------------------------------------------------------------------------------


@compositional(scratch=True)
def gradient(
    f: Array,
    /,
    *spacings: Array | float,
    axis: int | tuple[int, ...] | None = None,
    edge_order: int = 1,
    out: Array | tuple[Array, ...] | None = None,
) -> Array | tuple[Array, ...]:
    """Compute derivatives along axes: of second order inside, and of first or second order at the edges.

    Parameters
    ----------
    f
        The function's values; bools and integers are taken as float64.
    spacings
        For all axes one distance of the values; or for each axis a distance, or a 1-d array of the places. By default
        they are 1 apart.
    axis
        One or several axes; ``None`` means all.
    edge_order
        1 for differences of two values at the edges, 2 for those of three.
    out
        An array of the result's shape for the result; a tuple of them for several axes.

    Returns
    -------
    Array or tuple of Array
        A new array of the shape and dtype of ``f``; for several axes, or none, a tuple of them. Or ``out``.

    Raises
    ------
    ShapeError
        If there are too few values along an axis, or the places along it aren't as many.
    TypeError
        If there are neither no nor one nor as many spacings as axes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.gradient(ua.asarray([1.0, 4.0, 9.0, 16.0]))
    array([3., 4., 6., 7.])
    >>> ua.gradient(ua.asarray([0.0, 1.0, 9.0]), ua.asarray([0, 1, 3]), edge_order=2)
    array([0., 2., 6.])

    Source: Fornberg, "Generation of finite difference formulas on arbitrarily spaced grids" (1988); values as NumPy's
    ``gradient``.
    """
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order is 1 or 2, not {shown(edge_order)}")
    axes = as_axes(axis, f.ndim)
    dtype, (wide,) = widened(f)
    steps = [_steps(each, wide, along) for each, along in zip(_spread(spacings, axes), axes, strict=True)]
    for along in axes:
        if f.shape[along] <= edge_order:
            raise ShapeError(f"gradient() needs {edge_order + 1} values along axis {along} of shape {f.shape}")
    one = out if len(axes) == 1 and not isinstance(out, tuple) else None
    read_later = [wide, *(step for step in steps if step is not None)]
    results = []
    for along, step in zip(axes, steps, strict=True):
        target = room(one, wide.shape, wide.dtype, *read_later)
        slope = _slope(wide, step, along, edge_order, empty_like(wide) if target is None else target)
        results.append(narrowed(slope, dtype))
    return results[0] if len(axes) == 1 else tuple(results)


def _spread(spacings: tuple[Any, ...], axes: tuple[int, ...]) -> tuple[Any, ...]:
    # One spacing for each axis.
    if not spacings:
        return (None,) * len(axes)
    if len(spacings) == 1 and spacings[0].ndim == 0:
        return spacings * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient() takes no spacing, one, or one for each of {len(axes)} axes, not {len(spacings)}")
    return spacings


def _steps(spacing: Array | None, f: Array, axis: int) -> Array | None:
    # A distance, or the distances of neighbours along the axis; None for the distance 1.
    if spacing is None:
        return None
    if spacing.ndim > 1 or (spacing.ndim == 1 and spacing.shape[0] != f.shape[axis]):
        raise ShapeError(f"gradient() along axis {axis} of shape {f.shape} takes no spacing of shape {spacing.shape}")
    spacing = as_floating(spacing)
    if spacing.ndim:
        spacing = _along(diff(spacing), axis, f.ndim)
    return spacing.astype(dtypes.real_of(f.dtype), copy=False)


def _slope(f: Array, step: Array | None, axis: int, edge_order: int, result: Array) -> Array:
    def part(start: int | None, stop: int | None) -> Array:
        return f[_part(axis, start, stop)]

    inner = result[_part(axis, 1, -1)]
    ends: tuple[Any, ...]
    if step is None or step.ndim == 0:
        ends = (1.0 if step is None else step,) * 4
        difference = subtract(part(2, None), part(None, -2), out=reuse(inner))
        divide(difference, 2 * ends[0], out=inner)
    else:
        ends = tuple(step[_part(axis, each, each + 1 or None)] for each in (0, 1, -2, -1))
        before, after = step[_part(axis, None, -1)], step[_part(axis, 1, None)]
        both = before + after
        difference = multiply(part(2, None), before / (after * both), out=reuse(inner))
        difference = subtract(difference, part(None, -2) * (after / (before * both)), out=reuse(difference))
        # At even places the value itself counts for nothing, NaN included, as in NumPy.
        even = all(equal(step, ends[0]))
        middle = where(even, -0.0, part(1, -1) * ((after - before) / (before * after)))
        add(difference, middle, out=inner)
    first, last = result[_part(axis, 0, 1)], result[_part(axis, -1, None)]
    if edge_order == 1:
        divide(part(1, 2) - part(0, 1), ends[0], out=first)
        divide(part(-1, None) - part(-2, -1), ends[3], out=last)
    else:
        _edge(part(0, 1), part(1, 2), part(2, 3), ends[0], ends[1], first)
        # Counted from the end, the distances are negative.
        _edge(part(-1, None), part(-2, -1), part(-3, -2), -ends[3], -ends[2], last)
    return result


def _edge(first: Array, second: Array, third: Array, near: Any, far: Any, target: Array) -> None:
    # The derivative at the first of three values, whose distances are near and far.
    both = near + far
    inward = second * (both / (near * far)) - third * (near / (far * both))
    subtract(inward, first * ((near + both) / (near * both)), out=target)


def _part(axis: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(start, stop))


def _along(x: Array, axis: int, ndim: int) -> Array:
    # A 1-d array as one that varies along an axis.
    return reshape(x, tuple(-1 if each == axis else 1 for each in range(ndim)))
