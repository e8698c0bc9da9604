"""Parts of sorted arrays, orders by several keys, and places among bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import within_bounds
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, as_integers
from .._core.values.records import Record
from .._core.values.shapes import as_axis
from ..errors import DtypeError, ShapeError
from ._quantiles import known_values
from .elementwise import greater, subtract
from .indexing import take_along_axis
from .manipulation import flip, reshape
from .searching import searchsorted, where
from .sorting import argsort, sort


class TopK(Record):
    """The result of ``top_k``."""

    values: Array
    indices: Array


def _parted(x: Array, kth: int | Sequence[int], axis: int | None, name: str) -> tuple[Array, int]:
    # The array and its axis, when the places are checked.
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    axis = as_axis(axis, x.ndim)
    length = x.shape[axis]
    places = as_integers(kth, "kth")
    outside = [place for place in places if not -length <= place < length]
    if outside:
        raise ValueError(f"{name}() along an axis of {length} elements has no place {outside[0]}")
    return x, axis


@compositional()
def partition(x: Array, kth: int | Sequence[int], /, *, axis: int | None = -1, out: Array | None = None) -> Array:
    """Return an array with some elements in their sorted places, no greater ones before and no smaller ones after them.

    Parameters
    ----------
    x
        An array of at least one dimension.
    kth
        One or several places; negative ones count from the end.
    axis
        The axis; ``None`` takes the flattened array.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x``, or a 1-d one for no axis, or ``out``. The order of the elements between the
        places isn't specified: today all are sorted. NaN is greater than everything.

    Raises
    ------
    ValueError
        If there's no such place.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.partition(ua.asarray([3, 1, 2]), 1)[1]
    array(2)

    Source: NumPy, ``partition``.
    """
    # NumPy's own order between the places would be another one on each engine.
    x, place = _parted(x, kth, axis, "partition")
    return sort(x, axis=place)


@compositional()
def argpartition(x: Array, kth: int | Sequence[int], /, *, axis: int | None = -1, out: Array | None = None) -> Array:
    """Return indices that put some elements into their sorted places, as ``partition`` does.

    Parameters
    ----------
    x
        An array of at least one dimension.
    kth
        One or several places; negative ones count from the end.
    axis
        The axis; ``None`` takes the flattened array.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array of the shape of ``x``, or a 1-d one for no axis, or ``out``. The order of the elements between
        the places isn't specified, nor which of equal elements is in which place.

    Raises
    ------
    ValueError
        If there's no such place.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.argpartition(ua.asarray([3, 1, 2]), 0)[0]
    array(1)

    Source: NumPy, ``argpartition``.
    """
    # NumPy's own order between the places would be another one on each engine.
    x, place = _parted(x, kth, axis, "argpartition")
    return argsort(x, axis=place)


@compositional()
def top_k(x: Array, k: int, /, *, axis: int = -1, out: tuple[Array, ...] | None = None) -> TopK:
    """Return the greatest elements along an axis in descending order, and where they are.

    Parameters
    ----------
    x
        An array of at least one dimension; NaN is greater than everything.
    k
        How many elements.
    axis
        The axis.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    TopK
        ``values`` and ``indices``, int64: of the shape of ``x``, but of length ``k`` along the axis. Equal elements
        keep their order.

    Raises
    ------
    ValueError
        If there are fewer than ``k`` elements, or ``k`` is negative.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.top_k(ua.asarray([3, 1, 4, 2]), 2)
    TopK(values=array([4, 3]), indices=array([2, 0]))

    Source: ONNX, ``TopK``.
    """
    axis, k = as_axis(axis, x.ndim), as_integer(k, "k")
    if not 0 <= k <= x.shape[axis]:
        raise ValueError(f"top_k() takes 0 to {x.shape[axis]} elements of axis {axis} of shape {x.shape}, not {k}")
    part: tuple[Any, ...] = (*(slice(None),) * axis, slice(None, k))
    indices = argsort(x, axis=axis, descending=True)[part].copy()
    return TopK(take_along_axis(x, within_bounds(indices, 0, x.shape[axis] - 1), axis=axis), indices)


@compositional()
def lexsort(keys: Sequence[Array], /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Return the indices that sort by several keys: by the last one, where it's equal by the one before, and so on.

    Parameters
    ----------
    keys
        Arrays of one shape, or an array of them along the first axis.
    axis
        The axis of each key to sort along.
    out
        An array of the shape of a key for the result.

    Returns
    -------
    Array
        A new int64 array of the shape of a key, or ``out``. Elements with equal keys keep their order.

    Raises
    ------
    ShapeError
        If there's no key, or they have different shapes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.lexsort([ua.asarray([5, 4, 3]), ua.asarray([1, 0, 1])])
    array([1, 2, 0])

    Source: NumPy, ``lexsort``.
    """
    shapes = {key.shape for key in keys}
    if len(shapes) != 1:
        raise ShapeError(f"lexsort() takes keys of one shape, one key or more, not of shapes {sorted(shapes)}")
    first, *others = keys
    axis = as_axis(axis, first.ndim)
    last = first.shape[axis] - 1
    order = argsort(first, axis=axis)
    for key in others:
        after = argsort(take_along_axis(key, order, axis=axis), axis=axis)
        order = within_bounds(take_along_axis(order, after, axis=axis), 0, last)
    return order


@compositional()
def digitize(x: Array, bins: Array, /, *, right: bool = False, out: Array | None = None) -> Array:
    """Return in which bin each element lies: ``i`` where ``bins[i-1] <= x < bins[i]``.

    Parameters
    ----------
    x
        A real array of any shape.
    bins
        The edges, a 1-d array of real numbers that ascend or descend. For descending ones the bin is
        ``bins[i-1] > x >= bins[i]``. Inside a trace they aren't checked.
    right
        Whether the right edge belongs to a bin, and not the left one.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new int64 array of the shape of ``x``, or ``out``: 0 before the first edge, ``len(bins)`` after the last one.

    Raises
    ------
    ShapeError
        If ``bins`` isn't 1-d.
    DtypeError
        If ``x`` or ``bins`` is complex.
    ValueError
        If ``bins`` neither ascend nor descend.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.digitize(ua.asarray([0.2, 6.4, 1.0]), ua.asarray([0.0, 1.0, 2.5]))
    array([1, 3, 2])

    Source: NumPy, ``digitize``.
    """
    if bins.ndim != 1:
        raise ShapeError(f"digitize() takes 1-d bins, not of shape {bins.shape}")
    if dtypes.rank(x.dtype) > 2 or dtypes.rank(bins.dtype) > 2:
        raise DtypeError(f"digitize() takes real numbers, not {x.dtype} in bins of {bins.dtype}")
    side = "left" if right else "right"
    values = known_values(bins)
    descends = values is None or _descends(values)
    up = None if descends and values is not None else searchsorted(bins, x, side=side)
    if not descends and up is not None:
        return up
    down = subtract(bins.size, searchsorted(flip(bins), x, side=side))
    return down if up is None else where(greater(bins[:1], bins[-1:]), down, up)


def _descends(values: list[Any]) -> bool:
    steps = np.sign(np.subtract(values[1:], values[:-1], dtype=object).astype(float))
    if (steps >= 0).all():
        return False
    if (steps <= 0).all():
        return True
    raise ValueError("the bins of digitize() ascend or descend: sort() them first")
