"""Places of elements: of those that aren't zero, and in flattened arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.convert import as_index
from .._core.arrays.leaving import knows_values
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.engines.tracing import unrepeatable
from .._core.values.shapes import as_shape
from ..errors import DtypeError, ShapeError
from ._quantiles import known_bounds
from .elementwise import add, clip, floor_divide, multiply, remainder
from .manipulation import expand_dims, reshape, stack
from .searching import nonzero


@compositional()
def argwhere(x: Array, /, *, out: Array | None = None) -> Array:
    """Return the indices of the elements that aren't zero, a row for each.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array of shape (N, x.ndim), in C order, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.argwhere(ua.asarray([[0, 7], [8, 0]]))
    array([[0, 1],
           [1, 0]])

    Source: NumPy, ``argwhere``.
    """
    if x.ndim:
        return stack(nonzero(x), axis=-1)
    return stack(nonzero(expand_dims(x, 0)), axis=-1)[:, :0].copy()


@compositional()
def flatnonzero(x: Array, /, *, out: Array | None = None) -> Array:
    """Return the indices of the elements that aren't zero in the flattened array.

    Parameters
    ----------
    x
        An array of any shape.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d int64 array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.flatnonzero(ua.asarray([[0, 7], [8, 0]]))
    array([1, 2])

    Source: NumPy, ``flatnonzero``.
    """
    return nonzero(reshape(x, (-1,)))[0]


def _ordered(order: str, values: Sequence[Any]) -> list[Any]:
    # The last first, whose neighbours are neighbours in memory.
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    return list(values if order == "F" else reversed(values))


def _integers(indices: Array, name: str) -> Array:
    if dtypes.rank(indices.dtype) != 1:
        raise DtypeError(f"{name}() takes integer indices, not {indices.dtype}")
    return as_index(indices)


def _check_bounds(indices: Array, length: int, what: str) -> None:
    # Inside a trace the values aren't known, and a lazy engine would compute them for this.
    unrepeatable()
    bounds = known_bounds(indices) if knows_values(indices) and indices.size else None
    if bounds is not None and (bounds[0] < 0 or bounds[1] >= length):
        raise ValueError(f"an index is out of bounds for {what}")


@compositional()
def unravel_index(
    indices: Array, shape: int | tuple[int, ...], /, *, order: str = "C", out: tuple[Array, ...] | None = None
) -> tuple[Array, ...]:
    """Return the indices along each axis for indices into a flattened array.

    Parameters
    ----------
    indices
        An array of integers of any shape; none is negative.
    shape
        The shape of the array that isn't flattened.
    order
        ``"C"``: the last index changes fastest; ``"F"``: the first one.
    out
        A tuple of arrays of the shape of ``indices`` to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        A new int64 array of the shape of ``indices`` for each axis, or ``out``.

    Raises
    ------
    ValueError
        If an index is out of bounds; inside a trace it isn't checked.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unravel_index(ua.asarray([5, 2]), (2, 3))
    (array([1, 0]), array([2, 2]))

    Source: NumPy, ``unravel_index``.
    """
    lengths = as_shape(shape)
    rest = _integers(indices, "unravel_index")
    _check_bounds(rest, math.prod(lengths), f"an array of shape {lengths}")
    places: list[Array] = []
    step = 1
    for length in _ordered(order, lengths):
        rest = floor_divide(rest, step) if places else rest
        places.append(remainder(rest, length))
        step = length
    return tuple(_ordered(order, places))


@compositional()
def ravel_multi_index(
    multi_index: Sequence[Array],
    dims: int | tuple[int, ...],
    /,
    *,
    mode: str | tuple[str, ...] = "raise",
    order: str = "C",
    out: Array | None = None,
) -> Array:
    """Return indices into the flattened array for the indices along each axis.

    Parameters
    ----------
    multi_index
        An array of integers for each axis; their shapes broadcast.
    dims
        The shape of the array that isn't flattened.
    mode
        What is done with indices out of bounds, for all axes or for each: ``"raise"`` refuses them, which inside a
        trace it can't, ``"wrap"`` takes them modulo the length, ``"clip"`` takes the nearest one.
    order
        ``"C"``: the last index changes fastest; ``"F"``: the first one.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new int64 array of the broadcast shape, or ``out``.

    Raises
    ------
    ValueError
        If an index is out of bounds, or ``mode`` is something else.
    ShapeError
        If there isn't an index array for each axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ravel_multi_index((ua.asarray([1, 0]), ua.asarray([2, 2])), (2, 3))
    array([5, 2])

    Source: NumPy, ``ravel_multi_index``.
    """
    lengths = as_shape(dims)
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    if len(multi_index) != len(lengths) or len(modes) != len(lengths) or not lengths:
        raise ShapeError(
            f"ravel_multi_index() takes an index and a mode for each axis of shape {lengths}, but there are "
            f"{len(multi_index)} and {len(modes)}"
        )
    found, step = None, 1
    for index, length, each in _ordered(order, list(zip(multi_index, lengths, modes, strict=True))):
        place = _bounded(_integers(index, "ravel_multi_index"), length, each, lengths)
        place = place if step == 1 else multiply(place, step)
        found = place if found is None else add(found, place)
        step *= length
    return found if len(lengths) > 1 else found.copy()  # type: ignore[union-attr,return-value]


def _bounded(index: Array, length: int, mode: str, shape: tuple[int, ...]) -> Array:
    if mode == "raise":
        _check_bounds(index, length, f"an axis of length {length} of shape {shape}")
        return index
    if mode == "wrap":
        return remainder(index, length)
    if mode == "clip":
        return clip(index, 0, max(length - 1, 0))
    raise ValueError(f"mode is 'raise', 'wrap' or 'clip', not {mode!r}")
