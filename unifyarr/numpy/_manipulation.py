"""Arrays in another shape or order: views wherever NumPy gives views."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.arrays.convert import backend_of
from .._core.arrays.recipes import geometry
from .._core.engines.tracing import current
from .._core.values.shapes import as_axis, resolve_unknown
from ..errors import AxisError, ShapeError
from ._creation import check_order, layout
from ._following import as_array, follows, together

_CFA = frozenset("CFAcfa")


def _is_fortran(x: Array, order: str) -> bool:
    # Whether elements are read with the first axis fastest.
    check_order(order, _CFA)
    return order in "Ff" or (order in "Aa" and layout(x).fnc)


@follows(np.reshape)
def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: Any = None) -> Array:
    """Return an array in another shape: a view where one is possible.

    >>> import unifyarr.numpy as np
    >>> np.reshape(np.arange(6), (2, 3), order="F")
    array([[0, 2, 4],
           [1, 3, 5]])
    """
    if order == "C":
        return ua.reshape(a, shape, copy=copy)
    x = as_array(a)
    if not _is_fortran(x, order):
        return ua.reshape(x, shape, copy=copy)
    lengths = resolve_unknown(shape, x.size)
    return ua.reshape(x.T, lengths[::-1], copy=copy).T


@follows(np.ravel)
def ravel(a: Any, order: Any = "C") -> Array:
    """Return the elements as a vector: a view of a contiguous array, a copy of any other."""
    x = as_array(a)
    if order == "C":
        return x.ravel()
    if order in ("K", "k"):
        # In the order of memory, which the strides say.
        strides = geometry(current(x)).strides
        return ua.permute_dims(x, tuple(sorted(range(x.ndim), key=lambda axis: -abs(strides[axis])))).ravel()
    return x.T.ravel() if _is_fortran(x, order) else x.ravel()


@follows(np.transpose)
def transpose(a: Any, axes: Any = None) -> Array:
    """Return a view with the axes in another order, reversed if none is given."""
    x = as_array(a)
    return x.T if axes is None else ua.permute_dims(x, axes)


@follows(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Array:
    """Return a view with the last two axes swapped."""
    return ua.matrix_transpose(x)


@follows(np.swapaxes)
def swapaxes(a: Any, axis1: Any, axis2: Any) -> Array:
    """Return a view with two axes swapped."""
    return ua.swapaxes(a, axis1, axis2)


@follows(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Return a view with axes moved to other places; the others keep their order."""
    return ua.moveaxis(a, source, destination)


@follows(np.rollaxis)
def rollaxis(a: Any, axis: Any, start: Any = 0) -> Array:
    """Return a view with an axis moved before that which stands at ``start``."""
    x = as_array(a)
    axis = as_axis(axis, x.ndim)
    if not -x.ndim <= start <= x.ndim:
        raise AxisError(f"start is from {-x.ndim} to {x.ndim} for an array of {x.ndim} dimensions, not {start}")
    start = start + x.ndim if start < 0 else start
    return ua.moveaxis(x, axis, start - 1 if axis < start else start)


@follows(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Array:
    """Return a view with axes of length one, which stand at ``axis`` in the result."""
    return ua.expand_dims(a, axis)


@follows(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Array:
    """Return a view without axes of length one."""
    return ua.squeeze(a, axis)


@follows(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Array:
    """Return a read-only view of an array in a shape that it broadcasts to."""
    return ua.broadcast_to(array, shape)


@follows(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Array, ...]:
    """Return views of arrays in the shape that they broadcast to together."""
    return ua.broadcast_arrays(*together(*args))


def _each(arrays: tuple[Any, ...], function: Any) -> Any:
    if len(arrays) == 1:
        return function(as_array(arrays[0]))
    return tuple(map(function, map(as_array, arrays)))


@follows(np.atleast_1d)
def atleast_1d(*arys: Any) -> Any:
    """Return arrays of at least one dimension."""
    return _each(arys, lambda x: x if x.ndim else ua.reshape(x, (1,)))


@follows(np.atleast_2d)
def atleast_2d(*arys: Any) -> Any:
    """Return arrays of at least two dimensions, whose new axes stand before the others."""
    return _each(arys, lambda x: x if x.ndim >= 2 else ua.reshape(x, (1, 1) if x.ndim == 0 else (1, x.shape[0])))


@follows(np.atleast_3d)
def atleast_3d(*arys: Any) -> Any:
    """Return arrays of at least three dimensions: a vector is ``(1, n, 1)``, a matrix ``(m, n, 1)``."""
    return _each(arys, _of_three_axes)


def _of_three_axes(x: Array) -> Array:
    shapes: list[Any] = [(1, 1, 1), (1, *x.shape, 1), (*x.shape, 1)]
    return x if x.ndim >= 3 else ua.reshape(x, shapes[x.ndim])


@follows(np.flip)
def flip(m: Any, axis: Any = None) -> Array:
    """Return a view with axes reversed: all of them by default."""
    return ua.flip(m, axis=axis)


@follows(np.fliplr)
def fliplr(m: Any) -> Array:
    """Return a view with the second axis reversed."""
    x = as_array(m)
    if x.ndim < 2:
        raise ShapeError(f"fliplr() takes an array of at least two dimensions, not one of shape {x.shape}")
    return ua.flip(x, axis=1)


@follows(np.flipud)
def flipud(m: Any) -> Array:
    """Return a view with the first axis reversed."""
    x = as_array(m)
    if x.ndim < 1:
        raise ShapeError("flipud() takes an array of at least one dimension, not a 0-d one")
    return ua.flip(x, axis=0)


@follows(np.rot90)
def rot90(m: Any, k: Any = 1, axes: Any = (0, 1)) -> Array:
    """Return a view, turned by ``k`` quarters from the first of two axes to the second."""
    x = as_array(m)
    axes = tuple(axes)
    if len(axes) != 2:
        raise ShapeError(f"axes are two, not {len(axes)}")
    first, second = (as_axis(axis, x.ndim) for axis in axes)
    if first == second:
        raise AxisError(f"the two axes differ, unlike {axes}")
    return ua.rot90(x, k, axes=(first, second))


@follows(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Return a copy whose elements are moved along axes, those at the end to the beginning."""
    if axis is None or (isinstance(shift, int) and isinstance(axis, int)):
        return ua.roll(a, shift, axis=axis)
    x = as_array(a)
    pairs = np.broadcast(np.asarray(shift), np.asarray(axis))
    if pairs.ndim > 1:
        raise ShapeError("shift and axis are numbers, or as many of both")
    shifts = [0] * x.ndim
    for by, along in pairs:
        shifts[as_axis(along, x.ndim)] += int(by)
    return ua.roll(x, tuple(shifts), axis=tuple(range(x.ndim)))


@follows(np.shape)
def shape(a: Any) -> tuple[int, ...]:
    """Return the shape of an array, or of data that become one."""
    return a.shape if isinstance(a, Array) else as_array(a).shape


@follows(np.ndim)
def ndim(a: Any) -> int:
    """Return the number of axes."""
    return a.ndim if isinstance(a, Array) else as_array(a).ndim


@follows(np.size)
def size(a: Any, axis: Any = None) -> int:
    """Return the number of elements, or that along axes."""
    x = as_array(a)
    if axis is None:
        return x.size
    count = 1
    for each in axis if isinstance(axis, tuple) else (axis,):
        count *= x.shape[as_axis(each, x.ndim)]
    return count


@follows(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Array:
    """Return an array of another dtype."""
    if backend_of(x) is None and not isinstance(x, (np.ndarray, np.generic)):
        raise TypeError(f"astype() takes an array, not {type(x).__name__}: call asarray() first")
    return ua.astype(as_array(x), dtype, copy=copy, device=device)
