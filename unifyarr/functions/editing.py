"""Arrays with elements appended, inserted, deleted and repeated, and without zeros at their ends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import indices_from_host
from .._core.declaring.declare import compositional, view
from .._core.engines import dtypes
from .._core.engines.tracing import unrepeatable
from .._core.values.arguments import as_integer, shown
from .._core.values.shapes import as_axis, as_shape, check_memory
from ..errors import ShapeError
from ._quantiles import known_values
from .creation import full_beside, zeros_like
from .indexing import take
from .manipulation import broadcast_to, concat, moveaxis, reshape, split, tile
from .places import flatnonzero
from .utility import any, diff

if TYPE_CHECKING:
    from ..typing import Scalar


@compositional()
def append(x: Array, values: Array | Scalar, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Return an array with values after its elements.

    Parameters
    ----------
    x
        An array.
    values
        An array of the shape of ``x`` but for ``axis``, or a scalar.
    axis
        The axis; ``None`` flattens both.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that the two promote to, or ``out``.

    Raises
    ------
    ShapeError
        If the shapes don't fit.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.append(ua.asarray([1, 2]), ua.asarray([[3], [4]]))
    array([1, 2, 3, 4])

    Source: NumPy, ``append``.
    """
    if not isinstance(values, Array):
        values = full_beside(x, (), values, dtypes.promote(x.dtype, type(values)))
    return concat([x, values], axis=axis)


def _on_host(place: object, name: str) -> Any:
    # Where to insert or delete, as NumPy takes it.
    if not isinstance(place, Array):
        # An empty list is one of integers.
        return np.asarray(place, None if place else int) if isinstance(place, Sequence) else place
    values = known_values(place)
    if values is None:
        raise TypeError(f"{name}() needs the values of the places, which a trace doesn't have: pass integers")
    return np.asarray(values, place.dtype.dtype).reshape(place.shape)


def _flattened(x: Array, axis: int | None) -> tuple[Array, int]:
    return (reshape(x, (-1,)), 0) if axis is None else (x, as_axis(axis, x.ndim))


def _taken(x: Array, order: np.ndarray, axis: int) -> Array:
    return take(x, indices_from_host(order.astype(np.int64), x), axis=axis)


@compositional()
def delete(x: Array, obj: object, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Return an array without some of its elements or parts.

    Parameters
    ----------
    x
        An array.
    obj
        Which: an integer, a slice, several integers, or an array of integers or bools whose values are known.
    axis
        The axis; ``None`` flattens the array.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.delete(ua.asarray([1, 2, 3, 4]), [0, -1])
    array([2, 3])

    Source: NumPy, ``delete``.
    """
    x, axis = _flattened(x, axis)
    return _taken(x, np.delete(np.arange(x.shape[axis]), _on_host(obj, "delete")), axis)


@compositional()
def insert(
    x: Array, obj: object, values: Array | Scalar, /, *, axis: int | None = None, out: Array | None = None
) -> Array:
    """Return an array with values before some of its elements or parts.

    Parameters
    ----------
    x
        An array.
    obj
        Positions in ``x`` to insert before: an integer, a slice, several integers, or an array of integers or bools
        whose values are known.
    values
        An array that casts to the dtype of ``x``, or a scalar: for one integer any number of parts, the first axis
        counting them; for several integers, an array that broadcasts to as many parts.
    axis
        The axis; ``None`` flattens the array.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    ShapeError
        If the values don't broadcast.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.insert(ua.asarray([1, 2, 3]), [0, 2], ua.asarray([8, 9]))
    array([8, 1, 2, 9, 3])

    Source: NumPy, ``insert``.
    """
    x, axis = _flattened(x, axis)
    place, length = _on_host(obj, "insert"), x.shape[axis]
    if not isinstance(values, Array):
        values = full_beside(x, (), values, x.dtype)
    values = values.astype(x.dtype, copy=False)
    values = reshape(values, (1,) * (x.ndim - values.ndim) + values.shape)
    if isinstance(place, slice):
        place = np.arange(*place.indices(length))
    given = np.asarray(place)
    if given.dtype == bool:
        given = np.flatnonzero(given)
    if given.ndim == 0:
        values = moveaxis(values, 0, axis)
    count = values.shape[axis] if given.size == 1 else given.size
    # NumPy says where each part stands, counting those of the values after those of the array.
    order = np.insert(np.arange(length), place, np.arange(length, length + count))
    parts = broadcast_to(values, (*x.shape[:axis], count, *x.shape[axis + 1 :]))
    return _taken(concat([x, parts], axis=axis), order, axis)


@compositional()
def resize(x: Array, new_shape: int | tuple[int, ...], /, *, out: Array | None = None) -> Array:
    """Return an array of another shape with the elements of the first one, over and over where it has more of them.

    Parameters
    ----------
    x
        An array.
    new_shape
        The shape.
    out
        An array of that shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``; zeros if ``x`` has no elements.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.resize(ua.asarray([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]])

    Source: NumPy, ``resize``.
    """
    shape = as_shape(new_shape)
    check_memory(shape, x.dtype)
    count = math.prod(shape)
    if not x.size:
        return full_beside(x, shape, 0, x.dtype) if count else reshape(zeros_like(x), shape)
    return reshape(tile(reshape(x, (-1,)), (-(-count // x.size),))[:count], shape)


@compositional()
def ediff1d(
    x: Array,
    /,
    *,
    to_end: Array | None = None,
    to_begin: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Compute the differences of neighbours in the flattened array, with other numbers around them.

    Parameters
    ----------
    x
        An array of numbers.
    to_end, to_begin
        Arrays whose elements follow and precede the differences.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array of the dtype of ``x``, or ``out``.

    Raises
    ------
    CastingError
        If the other numbers don't cast to that dtype.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ediff1d(ua.asarray([1, 2, 4]), to_begin=ua.asarray([-99]))
    array([-99,   1,   2])

    Source: NumPy, ``ediff1d``.
    """
    parts = [diff(reshape(x, (-1,)))]
    for other, place in ((to_begin, 0), (to_end, 2)):
        if other is not None:
            dtypes.check_cast(other.dtype, x.dtype, "the differences of ediff1d()")
            parts.insert(place, reshape(other.astype(x.dtype, copy=False), (-1,)))
    return concat(parts)


@view(lambda output: (0,))
def array_split(
    x: Array, sections: int | Sequence[int], /, *, axis: int = 0, out: tuple[Array, ...] | None = None
) -> tuple[Array, ...]:
    """Split an array into parts along an axis, of which the last ones may be shorter by one.

    Parameters
    ----------
    x
        An array of at least one dimension.
    sections
        How many parts, or the places where parts after the first begin.
    axis
        The axis to split.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        Views.

    Raises
    ------
    ValueError
        If there's no part.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.array_split(ua.asarray([1, 2, 3]), 2)
    (array([1, 2]), array([3]))

    Source: NumPy, ``array_split``.
    """
    axis = as_axis(axis, x.ndim)
    if isinstance(sections, Iterable):
        return split(x, sections, axis=axis)
    sections = as_integer(sections, "the number of sections")
    if sections < 1:
        raise ShapeError(f"array_split() makes one part or more, not {sections}")
    check_memory((sections,), dtypes.int64)
    each, longer = divmod(x.shape[axis], sections)
    return split(x, [place * each + min(place, longer) for place in range(1, sections)], axis=axis)


@view()
def trim_zeros(x: Array, /, *, trim: str = "fb", axis: int | None = None, out: Array | None = None) -> Array:
    """Return an array without the zeros at its ends.

    Parameters
    ----------
    x
        An array, whose values are known.
    trim
        At which ends: ``"f"`` for the front, ``"b"`` for the back, or both.
    axis
        The axis, along which parts of zeros go; ``None`` means all.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    ValueError
        If ``trim`` is something else.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.trim_zeros(ua.asarray([0, 0, 1, 0, 2, 0]))
    array([1, 0, 2])

    Source: NumPy, ``trim_zeros``.
    """
    ends = trim.lower() if isinstance(trim, str) else ""
    if ends not in ("f", "b", "fb", "bf"):
        raise ValueError(f"trim is 'f', 'b' or 'fb', not {shown(trim)}")
    unrepeatable()
    key = []
    for each in range(x.ndim):
        length = x.shape[each]
        if axis is not None and each != as_axis(axis, x.ndim):
            key.append(slice(None))
            continue
        places = flatnonzero(any(x, axis=tuple(other for other in range(x.ndim) if other != each)))
        first, last = (as_integer(places[0], ""), as_integer(places[-1], "")) if places.size else (length, -1)
        key.append(slice(first if "f" in ends else 0, last + 1 if "b" in ends else length))
    return x[tuple(key)]
