"""Searching functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import device_of, scalar_array
from .._core.arrays.weak import kind_of
from .._core.calling.invoke import attempt, invoke, invoke_several
from .._core.declaring.declare import mixed, primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, as_axis, broadcast, check_choice, reduced
from ..errors import DtypeError, ShapeError
from .creation import full_like
from .elementwise import not_equal
from .statistical import sum

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import ArrayLike, Scalar


def _as_choice(x: ArrayLike | Scalar, dtype: DType, beside: Array) -> Array:
    """Return an array or a scalar as an array of a dtype, where another array is."""
    if isinstance(x, Array):
        return x.astype(dtype, copy=False)
    backend = beside._backend
    return scalar_array(x, dtype, backend, device_of([beside], backend))


def _extremum(name: str, x: Array, axis: int | None, keepdims: bool, out: Array | None) -> Array:
    axes = tuple(range(x.ndim)) if axis is None else (as_axis(axis, x.ndim),)
    if axis is not None:
        axis = axes[0]
    check_choice(name, x.shape, axes, axis)
    shape = reduced(x.shape, axes, keepdims)
    return invoke(name, x, axis=axis, keepdims=bool(keepdims), out=out, result=(shape, dtypes.int64))


@primary()
def argmax(x: Array, /, *, axis: int | None = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the indices of the maxima: the first where there are several, of the first NaN where there is one.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; ``None`` counts in the flattened array.
    keepdims
        Whether the axis stays, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements along the axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.argmax(ua.asarray([1, 3, 2]))
    array(1)

    Source: Array API standard 2025.12, ``argmax``.
    """
    return _extremum("argmax", x, axis, keepdims, out)


@primary()
def argmin(x: Array, /, *, axis: int | None = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the indices of the minima: the first where there are several, of the first NaN where there is one.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; ``None`` counts in the flattened array.
    keepdims
        Whether the axis stays, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements along the axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.argmin(ua.asarray([2, 1, 3]))
    array(1)

    Source: Array API standard 2025.12, ``argmin``.
    """
    return _extremum("argmin", x, axis, keepdims, out)


@mixed()
def count_nonzero(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, out: Array | None = None
) -> Array:
    """Count the elements that aren't zero.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new int64 array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.count_nonzero(ua.asarray([0, 1, 2]))
    array(2)

    Source: Array API standard 2025.12, ``count_nonzero``.
    """
    axes = as_axes(axis, x.ndim)
    result = (reduced(x.shape, axes, keepdims), dtypes.int64)
    found = attempt("count_nonzero", x, axis=axes, keepdims=bool(keepdims), out=out, result=result)
    if found is not None:
        return found
    return sum(not_equal(x, 0), axis=axes, dtype=dtypes.int64, keepdims=keepdims, out=out)


@primary()
def nonzero(x: Array, /, *, out: tuple[Array, ...] | None = None) -> tuple[Array, ...]:
    """Return the indices of the elements that aren't zero.

    Parameters
    ----------
    x
        An array of at least one dimension.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    tuple of Array
        An int64 array for each axis, in C order.

    Raises
    ------
    ShapeError
        If ``x`` is 0-d.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nonzero(ua.asarray([0, 7, 8]))[0]
    array([1, 2])

    Source: Array API standard 2025.12, ``nonzero``.
    """
    if x.ndim == 0:
        raise ShapeError("nonzero() takes an array of at least one dimension: x.reshape((1,)) makes one of a 0-d array")
    return invoke_several("nonzero", x)


@primary()
def searchsorted(
    x1: Array,
    x2: Array | Scalar,
    /,
    *,
    side: str = "left",
    sorter: Array | None = None,
    out: Array | None = None,
) -> Array:
    """Find where elements belong in a sorted array.

    Parameters
    ----------
    x1
        A 1-d array in ascending order, or one that ``sorter`` sorts.
    x2
        An array of any shape, or a scalar.
    side
        ``"left"``: before equal elements; ``"right"``: after them.
    sorter
        A 1-d array of integers that sort ``x1``, such as ``argsort(x1)``.
    out
        An array of the shape of ``x2`` for the result.

    Returns
    -------
    Array
        A new int64 array of the shape of ``x2``, or ``out``.

    Raises
    ------
    ValueError
        If ``x1`` isn't 1-d, or ``side`` is something else.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.searchsorted(ua.asarray([1, 2, 3]), ua.asarray([2, 9]))
    array([1, 3])

    Source: Array API standard 2025.12, ``searchsorted``.
    """
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted() searches a 1-d array, not one of shape {x1.shape}")
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    dtype = dtypes.promote(x1.dtype, x2.dtype if isinstance(x2, Array) else type(x2))
    if not isinstance(x2, Array):
        x2 = full_like(x1[:1].sum(), x2, dtype=dtype)
    operands = [x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)]
    if sorter is not None:
        if dtypes.rank(sorter.dtype) != 1 or sorter.shape != x1.shape:
            raise ShapeError(
                f"sorter is an integer array of shape {x1.shape}, not {sorter.dtype} of shape {sorter.shape}"
            )
        operands.append(sorter.astype(dtypes.int64, copy=False))
    return invoke("searchsorted", *operands, side=side, out=out)


@primary(takes_numbers=True)
def where(condition: Array, x1: ArrayLike | Scalar, x2: ArrayLike | Scalar, /, *, out: Array | None = None) -> Array:
    """Choose elements from two arrays.

    Parameters
    ----------
    condition
        A bool array.
    x1, x2
        Arrays or scalars: the elements where the condition is true, and where it isn't. All three shapes broadcast.
    out
        An array of the broadcast shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    DtypeError
        If the condition isn't bool.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.where(ua.asarray([True, False]), 1, ua.asarray([5, 6]))
    array([1, 6])

    Source: Array API standard 2025.12, ``where``.
    """
    if condition.dtype is not dtypes.bool:
        raise DtypeError(f"the condition of where() is bool, not {condition.dtype}: compare it with zero first")
    dtype = dtypes.promote(*[x.dtype if isinstance(x, Array) else kind_of(x) for x in (x1, x2)])
    choices = [_as_choice(x, dtype, condition) for x in (x1, x2)]
    shape = broadcast(condition.shape, *[x.shape for x in choices], name="where")
    return invoke("where", condition, *choices, out=out, result=(shape, dtype), aligned=True)
