"""Sorting functions."""

from __future__ import annotations

from typing import Any

from .._core.arrays.array import Array
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axis


@primary()
def argsort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True, out: Array | None = None
) -> Array:
    """Return the indices that sort an array.

    Parameters
    ----------
    x
        An array.
    axis
        The axis.
    descending
        Whether the greatest come first; NaN is greater than everything.
    stable
        Whether equal elements must keep their order; they may do so anyway.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new int64 array of the shape of ``x``, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.argsort(ua.asarray([3, 1, 2]))
    array([1, 2, 0])

    Source: Array API standard 2025.12, ``argsort``.
    """
    axis = as_axis(axis, x.ndim)
    arguments: dict[str, Any] = {"axis": axis, "descending": bool(descending), "stable": bool(stable)}
    return invoke("argsort", x, out=out, result=(x.shape, dtypes.int64), **arguments)


@primary()
def sort(
    x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True, out: Array | None = None
) -> Array:
    """Return a sorted copy of an array.

    Parameters
    ----------
    x
        An array.
    axis
        The axis.
    descending
        Whether the greatest come first; NaN is greater than everything.
    stable
        Whether equal elements must keep their order; they may do so anyway.
    out
        An array of the same shape for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x``, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sort(ua.asarray([3, 1, 2]))
    array([1, 2, 3])

    Source: Array API standard 2025.12, ``sort``.
    """
    axis = as_axis(axis, x.ndim)
    arguments: dict[str, Any] = {"axis": axis, "descending": bool(descending), "stable": bool(stable)}
    return invoke("sort", x, out=out, result=(x.shape, x.dtype), **arguments)
