"""Functions that select elements by integer arrays; ``x[...]`` itself is in ``unifyarr/_core/writing/indexing.py``."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_index
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axis, broadcast
from ..errors import DtypeError, ShapeError
from .manipulation import broadcast_to, reshape


def _as_indices(indices: Array, name: str) -> Array:
    if dtypes.rank(indices.dtype) != 1:
        raise DtypeError(f"{name}() takes integer indices, not {indices.dtype}")
    return as_index(indices)


@primary()
def take(x: Array, indices: Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Select elements along an axis.

    Parameters
    ----------
    x
        An array.
    indices
        An array of integers of any shape; negative ones count from the end.
    axis
        The axis; ``None`` takes from the flattened array.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` with ``axis`` replaced by the shape of ``indices``, or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.take(ua.asarray([10, 20, 30]), ua.asarray([2, 0]))
    array([30, 10])

    Source: Array API standard 2025.12, ``take``.
    """
    indices = _as_indices(indices, "take")
    if axis is None:
        x, axis = x if x.ndim == 1 else reshape(x, (-1,)), 0
    given = x.shape
    axis = as_axis(axis, len(given))
    shape = given[:axis] + indices.shape + given[axis + 1 :]
    return invoke("take", x, indices, axis=axis, out=out, result=(shape, x.dtype))


@primary()
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Select elements along an axis, at indices of their own for each place beside it.

    Parameters
    ----------
    x
        An array.
    indices
        An array of integers of as many dimensions, which broadcasts with ``x`` but for ``axis``.
    axis
        The axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``indices`` (broadcast), or ``out``.

    Raises
    ------
    IndexError
        If an index is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[10, 20], [30, 40]])
    >>> ua.take_along_axis(x, ua.asarray([[1], [0]]), axis=1)
    array([[20],
           [30]])

    Source: Array API standard 2025.12, ``take_along_axis``.
    """
    indices = _as_indices(indices, "take_along_axis")
    if x.ndim != indices.ndim:
        raise ShapeError(f"take_along_axis() takes indices of {x.ndim} dimensions, as x has, not {indices.ndim}")
    axis = as_axis(axis, x.ndim)
    one = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    beside = broadcast(one, (*indices.shape[:axis], 1, *indices.shape[axis + 1 :]), name="take_along_axis")
    shape = (*beside[:axis], indices.shape[axis], *beside[axis + 1 :])
    source = (*beside[:axis], x.shape[axis], *beside[axis + 1 :])
    x = x if x.shape == source else broadcast_to(x, source)
    indices = indices if indices.shape == shape else broadcast_to(indices, shape)
    return invoke("take_along_axis", x, indices, axis=axis, out=out)
