"""Functions that change shapes, and functions that join arrays.

Those of the first kind return views wherever NumPy does: writing to the result writes to the input, on every backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from itertools import pairwise

from .._core.arrays.array import Array, wrap
from .._core.arrays.leaving import knows_values
from .._core.arrays.ownership import read
from .._core.arrays.recipes import geometry, is_contiguous, make_view
from .._core.arrays.views import Broadcast, Reshape, Window
from .._core.calling.invoke import invoke
from .._core.declaring.declare import compositional, primary, view
from .._core.engines import dtypes
from .._core.values.arguments import as_integer, as_integers
from .._core.values.called import boundary
from .._core.values.lengths import PartialShape
from .._core.values.shapes import (
    ADDRESSES,
    as_axes,
    as_axis,
    as_shape,
    broadcast,
    check_memory,
    check_stacked,
    joined,
    reduced,
    resolve_unknown,
    size,
    spliced,
)
from .._core.writing.inplace import repeated_like
from ..errors import AxisError, ShapeError
from ..typing import Shape

# Up to so many copies along one axis are joined; more are written by one broadcast.
_FEW_COPIES = 8


@view(lambda output: (output,))
def broadcast_arrays(*arrays: Array, out: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
    """Broadcast arrays against each other.

    Parameters
    ----------
    arrays
        Arrays whose shapes broadcast.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        Read-only views of one shape; an array that has the shape already is returned as a view that can be written.

    Raises
    ------
    ShapeError
        If the shapes don't broadcast.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.broadcast_arrays(ua.asarray([1, 2]), ua.asarray([[3], [4]]))[0]
    array([[1, 2],
           [1, 2]])

    Source: Array API standard 2025.12, ``broadcast_arrays``.
    """
    shape = broadcast(*(x.shape for x in arrays), name="broadcast_arrays")
    if type(shape) is PartialShape:
        return _broadcast_as_known(arrays, shape)
    return tuple(_whole(x) if x.shape == shape else make_view(x, Broadcast(shape)) for x in arrays)


def _broadcast_as_known(arrays: Sequence[Array], shape: PartialShape) -> tuple[Array, ...]:
    # Only an array that has all lengths of the result knows them: the others are written to such.
    lengths = list(tuple.__iter__(shape))
    whole = [list(tuple.__iter__(x.shape)) == lengths for x in arrays]
    if not any(whole):
        shape.refuse()
    like = arrays[whole.index(True)]
    return tuple(
        _whole(x) if fits else wrap(repeated_like(read(x), like.astype(x.dtype)), x._backend)
        for x, fits in zip(arrays, whole, strict=True)
    )


@boundary
def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape that shapes broadcast to.

    Parameters
    ----------
    shapes
        Tuples of lengths.

    Returns
    -------
    tuple of int
        The broadcast shape.

    Raises
    ------
    ShapeError
        If the shapes don't broadcast.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.broadcast_shapes((2, 1), (3,))
    (2, 3)

    Source: Array API standard 2025.12, ``broadcast_shapes``.
    """
    return broadcast(*map(as_shape, shapes), name="broadcast_shapes")


@view()
def broadcast_to(x: Array, /, shape: Shape, *, out: Array | None = None) -> Array:
    """Repeat an array along axes of length one and along new leading axes, without copying.

    Parameters
    ----------
    x
        An array.
    shape
        The shape to broadcast to.
    out
        An array of that shape for a copy.

    Returns
    -------
    Array
        A read-only view, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` doesn't broadcast to ``shape``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.broadcast_to(ua.asarray([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])

    Source: Array API standard 2025.12, ``broadcast_to``.
    """
    shape = as_shape(shape)
    if len(shape) < x.ndim or broadcast(x.shape, shape, name="broadcast_to") != shape:
        raise ShapeError(f"an array of shape {x.shape} doesn't broadcast to {shape}")
    check_memory(shape, x.dtype, ADDRESSES)
    return make_view(x, Broadcast(shape))


@primary()
def concat(arrays: Sequence[Array], /, *, axis: int | None = 0, out: Array | None = None) -> Array:
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays
        Arrays whose shapes differ along ``axis`` only; their dtypes promote.
    axis
        The axis; ``None`` flattens the arrays first.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If the shapes differ along another axis, or there are no arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.concat([ua.asarray([1, 2]), ua.asarray([3])])
    array([1, 2, 3])

    Source: Array API standard 2025.12, ``concat``.
    """
    arrays = _joined(arrays, "concat")
    if axis is None:
        arrays = tuple(reshape(x, (-1,)) for x in arrays)
        axis = 0
    shapes = [x.shape for x in arrays]
    first = shapes[0]
    axis = as_axis(axis, len(first))
    beside = reduced(first, (axis,), keepdims=False)
    for shape in shapes:
        if len(shape) != len(first) or reduced(shape, (axis,), keepdims=False) != beside:
            listed = ", ".join(map(str, shapes))
            raise ShapeError(f"concat() joins shapes that differ along axis {axis} only, unlike {listed}")
    shape = joined(shapes, axis)
    return invoke("concat", *arrays, axis=axis, out=out, result=(shape, arrays[0].dtype))


def _joined(arrays: Sequence[Array], name: str) -> tuple[Array, ...]:
    # Cast the arrays to the dtype that all of them promote to.
    if not arrays:
        raise ShapeError(f"{name}() needs at least one array")
    dtype = dtypes.promote(*[x.dtype for x in arrays])
    return tuple([x.astype(dtype, copy=False) for x in arrays])


@view()
def expand_dims(x: Array, /, axis: int | tuple[int, ...], *, out: Array | None = None) -> Array:
    """Insert axes of length one.

    Parameters
    ----------
    x
        An array.
    axis
        Where the new axes stand in the result, which may be negative.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.expand_dims(ua.asarray([1, 2]), 0).shape
    (1, 2)

    Source: Array API standard 2025.12, ``expand_dims``.
    """
    places = as_integers(axis, "an axis")
    count = len(places)
    axes = as_axes(places, x.ndim + count)
    remaining = iter(range(x.ndim))
    order = [None if place in axes else next(remaining) for place in range(x.ndim + count)]
    return make_view(x, Window.of_order(x.shape, order))


@view()
def flip(x: Array, /, *, axis: int | tuple[int, ...] | None = None, out: Array | None = None) -> Array:
    """Reverse the order of elements along axes.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    out
        An array of the same shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([1, 2, 3])
    >>> ua.flip(x)[0] = 9
    >>> x
    array([1, 2, 9])

    Source: Array API standard 2025.12, ``flip``.
    """
    return make_view(x, Window(_reversed(x.shape, as_axes(axis, x.ndim)), tuple(range(x.ndim))))


@view()
def moveaxis(
    x: Array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /, *, out: Array | None = None
) -> Array:
    """Move axes to other places; the others keep their order.

    Parameters
    ----------
    x
        An array.
    source
        The axes to move.
    destination
        Where each of them stands in the result.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice, or the two don't have equal lengths.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.moveaxis(ua.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)

    Source: Array API standard 2025.12, ``moveaxis``.
    """
    sources, destinations = as_axes(source, x.ndim), as_axes(destination, x.ndim)
    if len(sources) != len(destinations):
        raise AxisError(f"moveaxis() moves {len(sources)} axes to {len(destinations)} places: give as many of both")
    places = dict(zip(destinations, sources, strict=True))
    remaining = iter(axis for axis in range(x.ndim) if axis not in sources)
    order = [places[place] if place in places else next(remaining) for place in range(x.ndim)]
    return make_view(x, Window.of_order(x.shape, order))


@view()
def permute_dims(x: Array, /, axes: tuple[int, ...], *, out: Array | None = None) -> Array:
    """Return a view of ``x`` with its axes in the order ``axes``.

    Parameters
    ----------
    x
        An array.
    axes
        A permutation of the axes.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If ``axes`` isn't a permutation.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.permute_dims(ua.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)

    Source: Array API standard 2025.12, ``permute_dims``.
    """
    shape = x.shape
    order = as_axes(axes, len(shape))
    if len(order) != len(shape):
        raise AxisError(f"permute_dims() of an array of {len(shape)} dimensions takes as many axes, not {axes!r}")
    return make_view(x, Window.of_order(shape, order))


@primary()
def repeat(x: Array, repeats: int | Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Repeat each element.

    Parameters
    ----------
    x
        An array.
    repeats
        How often: one integer for all, or a 1-d array of integers with one for each element along ``axis``.
    axis
        The axis; ``None`` flattens the array first.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ValueError
        If a number of repeats is negative, or there are not as many as elements.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.repeat(ua.asarray([1, 2]), 2)
    array([1, 1, 2, 2])

    Source: Array API standard 2025.12, ``repeat``.
    """
    if axis is None:
        x = x if x.ndim == 1 else reshape(x, (-1,))
        axis = 0
    axis = as_axis(axis, x.ndim)
    if isinstance(repeats, Array):
        if dtypes.rank(repeats.dtype) > 1 or repeats.ndim > 1:
            raise TypeError(
                f"repeats is an integer or a 1-d array of integers, not {repeats.dtype} of shape {repeats.shape}"
            )
        counts = reshape(repeats.astype(dtypes.int64, copy=False), (-1,))
        if counts.shape[0] == 1 and (knows_values(counts) or not counts._backend.records):
            repeats = int(counts[0])
        elif counts.shape[0] not in (1, x.shape[axis]):
            raise ShapeError(f"repeat() got {counts.shape[0]} repeats for {x.shape[axis]} elements along axis {axis}")
        else:
            return invoke("repeat", x, counts, count=None, axis=axis, out=out)
    if repeats < 0:
        raise ValueError(f"repeats is not negative, unlike {repeats}")
    repeats = int(repeats)
    check_memory((*x.shape[:axis], (x.shape[axis] or 1) * repeats, *x.shape[axis + 1 :]), x.dtype)
    return invoke("repeat", x, count=repeats, axis=axis, out=out)


@view()
def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None, out: Array | None = None) -> Array:
    """Give an array another shape, with the same elements in C order.

    Parameters
    ----------
    x
        An array.
    shape
        The new shape; one length may be -1 and is worked out.
    copy
        ``True`` copies always; ``False`` raises where a copy is needed; ``None`` copies only then.
    out
        An array of the new shape for a copy.

    Returns
    -------
    Array
        A view where one is possible: always of a C-contiguous array. Or ``out``.

    Raises
    ------
    ShapeError
        If the new shape doesn't have as many elements.
    CopyError
        If ``copy=False`` and only a copy can have that shape.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([1, 2, 3, 4])
    >>> ua.reshape(x, (2, 2))[0, 1] = 9
    >>> x
    array([1, 9, 3, 4])

    Source: Array API standard 2025.12, ``reshape``.
    """
    before = x.shape
    if type(before) is PartialShape and len(before) == 1 and as_integers(shape, "a shape") == (-1,):
        # The length may be unknown.
        return make_view(x, Window.of_order(before, (0,)))
    shape = resolve_unknown(shape, size(before))
    if not is_contiguous(x):
        try:
            geometry(x).reshape(shape, copy=False)
        except ValueError:
            return invoke("reshape", x, shape=shape)
    return make_view(x, Reshape(before, shape))


@primary()
def roll(
    x: Array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None, out: Array | None = None
) -> Array:
    """Shift elements cyclically.

    Parameters
    ----------
    x
        An array.
    shift
        By how many places, along each axis; negative ones shift toward the start.
    axis
        One or several axes; ``None`` shifts the flattened array.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ValueError
        If there are several shifts and not as many axes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.roll(ua.asarray([1, 2, 3]), 1)
    array([3, 1, 2])

    Source: Array API standard 2025.12, ``roll``.
    """
    if axis is None and x.ndim != 1:
        flat = roll(reshape(x, (-1,)), shift, axis=0)
        return reshape(flat, x.shape)
    axis = 0 if axis is None else axis
    axes = tuple(as_axis(each, x.ndim) for each in (axis if isinstance(axis, Iterable) else (axis,)))
    several = isinstance(shift, Iterable) and getattr(shift, "ndim", 1) > 0
    shifts = as_integers(shift, "shift") if several else (as_integer(shift, "shift"),) * len(axes)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll() got {len(shifts)} shifts for {len(axes)} axes")
    # Reduce the shifts here: engines take them modulo a power of two before they take them modulo the length.
    shifts = tuple(each % (x.shape[along] or 1) for each, along in zip(shifts, axes, strict=True))
    return invoke("roll", x, shift=shifts, axis=axes, out=out, result=(x.shape, x.dtype))


@view()
def rot90(x: Array, /, k: int = 1, *, axes: tuple[int, int] = (0, 1), out: Array | None = None) -> Array:
    """Rotate an array by quarter turns in the plane of two axes.

    Parameters
    ----------
    x
        An array of at least two dimensions.
    k
        How many quarter turns, from the first of the axes toward the second; negative ones turn back.
    axes
        Two different axes.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If there aren't two axes, or one is out of bounds or given twice.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.rot90(ua.asarray([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])

    Source: NumPy, ``rot90``.
    """
    plane = as_axes(axes, x.ndim)
    if len(plane) != 2:
        raise AxisError(f"rot90() turns in the plane of two axes, not of {axes!r}")
    first, second = plane
    turns = as_integer(k, "the number of turns") % 4
    # The axes to flip; for an odd number of turns the two axes are also swapped.
    reversed_axes = ((), (second,), plane, (first,))[turns]
    order = list(range(x.ndim))
    if turns % 2:
        order[first], order[second] = second, first
    return make_view(x, Window(_reversed(x.shape, reversed_axes), tuple(order)))


@view(lambda output: (0,))
def split(
    x: Array, sections: int | Sequence[int], /, *, axis: int = 0, out: tuple[Array, ...] | None = None
) -> tuple[Array, ...]:
    """Split an array into parts along an axis.

    Parameters
    ----------
    x
        An array of at least one dimension.
    sections
        How many parts of equal length, or the places where parts after the first begin.
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
    AxisError
        If the axis is out of bounds, which it always is for a 0-d array.
    ValueError
        If the axis can't be split into that many parts of equal length.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.split(ua.asarray([1, 2, 3, 4]), [1])[1]
    array([2, 3, 4])

    Source: NumPy, ``split``.
    """
    axis = as_axis(axis, x.ndim)
    length = x.shape[axis]
    if isinstance(sections, Iterable):
        if isinstance(sections, Sized):
            check_memory((len(sections),), dtypes.int64)
        places = [as_integer(place, "where split() cuts") for place in sections]
    else:
        sections = as_integer(sections, "the number of sections")
        if sections < 1 or length % sections:
            raise ShapeError(f"split() can't make {sections} parts of equal length of axis {axis} of length {length}")
        places = [part * length // sections for part in range(1, sections)]
    whole = tuple((0, 1, each) for each in tuple.__iter__(x.shape))
    order = tuple(range(x.ndim))
    # Like slices, the positions may be out of bounds or in any order.
    bounds = [slice(*ends).indices(length) for ends in pairwise([0, *places, None])]
    boxes = ((*whole[:axis], (start, 1, max(0, stop - start)), *whole[axis + 1 :]) for start, stop, _ in bounds)
    return tuple(make_view(x, Window(box, order)) for box in boxes)


@view()
def squeeze(x: Array, /, axis: int | tuple[int, ...] | None = None, *, out: Array | None = None) -> Array:
    """Drop axes of length one.

    Parameters
    ----------
    x
        An array.
    axis
        The axes to drop; ``None`` drops all of length one.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    ValueError
        If an axis has another length than one.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.squeeze(ua.zeros((1, 2, 1)), 0).shape
    (2, 1)

    Source: Array API standard 2025.12, ``squeeze``; ``axis=None`` is NumPy's.
    """
    if axis is None:
        # An unknown length may be 1.
        axes: tuple[int, ...] = tuple(place for place, length in enumerate(x.shape) if length == 1)
    else:
        axes = as_axes(axis, x.ndim)
    if any(x.shape[each] != 1 for each in axes):
        raise ShapeError(f"squeeze() drops axes of length one, but axes {axes} of shape {x.shape} aren't all")
    return make_view(x, Window.of_order(x.shape, [place for place in range(x.ndim) if place not in axes]))


@primary()
def stack(arrays: Sequence[Array], /, *, axis: int = 0, out: Array | None = None) -> Array:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays
        Arrays of one shape; their dtypes promote.
    axis
        Where the new axis stands in the result.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If the shapes differ, or there are no arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.stack([ua.asarray([1, 2]), ua.asarray([3, 4])], axis=1)
    array([[1, 3],
           [2, 4]])

    Source: Array API standard 2025.12, ``stack``.
    """
    arrays = _joined(arrays, "stack")
    shape = arrays[0].shape
    check_stacked([x.shape for x in arrays])
    axis = as_axis(axis, len(shape) + 1)
    result = spliced(shape, axis, axis, len(arrays))
    return invoke("stack", *arrays, axis=axis, out=out, result=(result, arrays[0].dtype))


@view()
def swapaxes(x: Array, axis1: int, axis2: int, /, *, out: Array | None = None) -> Array:
    """Swap two axes.

    Parameters
    ----------
    x
        An array.
    axis1, axis2
        The axes, which may be the same.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.swapaxes(ua.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)

    Source: NumPy, ``swapaxes``.
    """
    first, second = as_axis(axis1, x.ndim), as_axis(axis2, x.ndim)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return make_view(x, Window.of_order(x.shape, order))


@compositional()
def tile(x: Array, repetitions: tuple[int, ...], /, *, out: Array | None = None) -> Array:
    """Lay copies of an array side by side.

    Parameters
    ----------
    x
        An array.
    repetitions
        How often along each axis; missing ones, on the left, are 1, and so are missing axes of ``x``.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.tile(ua.asarray([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])

    Source: Array API standard 2025.12, ``tile``.
    """
    counts = as_shape(repetitions)
    ndim = max(x.ndim, len(counts))
    counts = (1,) * (ndim - len(counts)) + counts
    repeated_axes = [axis for axis, count in enumerate(counts) if count != 1]
    if len(repeated_axes) == 1 and ndim == x.ndim and 0 < counts[repeated_axes[0]] <= _FEW_COPIES:
        (axis,) = repeated_axes
        return concat((x,) * counts[axis], axis=axis)
    shape = (1,) * (ndim - x.ndim) + x.shape
    # Each axis becomes a pair of axes: the copies, which broadcast, and the elements.
    split = tuple(length for each in shape for length in (1, each))
    spread = tuple(length for pair in zip(counts, shape, strict=True) for length in pair)
    check_memory(spread, x.dtype)
    repeated = broadcast_to(reshape(x, split), spread)
    result = tuple(count * length for count, length in zip(counts, shape, strict=True))
    return reshape(repeated, result, copy=True)


@view()
def transpose(x: Array, /, axes: tuple[int, ...] | None = None, *, out: Array | None = None) -> Array:
    """Return a view of ``x`` with its axes in the order ``axes``, or reversed.

    Parameters
    ----------
    x
        An array.
    axes
        A permutation of the axes; ``None`` reverses them.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A view, or ``out``.

    Raises
    ------
    AxisError
        If ``axes`` isn't a permutation.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.transpose(ua.zeros((2, 3, 4))).shape
    (4, 3, 2)

    Source: NumPy, ``transpose``; ``permute_dims`` is the standard's name where the order is given.
    """
    return permute_dims(x, tuple(range(x.ndim))[::-1] if axes is None else axes)


@view(lambda output: (0,))
def unstack(x: Array, /, *, axis: int = 0, out: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
    """Split an array into the arrays along an axis.

    Parameters
    ----------
    x
        An array of at least one dimension.
    axis
        The axis, which the results don't have.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        Views.

    Raises
    ------
    AxisError
        If the axis is out of bounds, which it always is for a 0-d array.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unstack(ua.asarray([[1, 2], [3, 4]]))[1]
    array([3, 4])

    Source: Array API standard 2025.12, ``unstack``.
    """
    axis = as_axis(axis, x.ndim)
    order = tuple(place for place in range(x.ndim) if place != axis)
    whole = [(0, 1, length) for length in tuple.__iter__(x.shape)]
    boxes = ((*whole[:axis], (index, 1, 1), *whole[axis + 1 :]) for index in range(x.shape[axis]))
    return tuple(make_view(x, Window(box, order)) for box in boxes)


def _whole(x: Array) -> Array:
    return make_view(x, Window.of_order(x.shape, range(x.ndim)))


def _reversed(shape: Shape, axes: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    # The window that is a whole array of that shape with some axes reversed.
    return tuple(
        (shape[place] - 1, -1, shape[place]) if place in axes else (0, 1, length)
        for place, length in enumerate(tuple.__iter__(shape))
    )
