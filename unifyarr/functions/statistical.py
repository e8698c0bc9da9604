"""Reductions and cumulative functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, check_dtype, has_dtype
from .._core.arrays.numbers import as_real
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary
from .._core.engines import dtypes
from .._core.values.shapes import as_axes, as_axis, check_choice, reduced, spliced
from ..errors import DtypeError, ShapeError

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType
    from ..typing import DTypeLike

Axis = int | tuple[int, ...] | None


def accumulator(x: Array, dtype: Any) -> DType:
    """Return the dtype of a sum or product: for small integers the default integer of their kind, if none is given."""
    own = x.dtype
    if dtype is None:
        if own.kind in "fc":
            return own
        wanted, narrow = (dtypes.uint64, dtypes.uint32) if own.kind == "u" else (dtypes.int64, dtypes.int32)
        return wanted if has_dtype(x._backend, wanted) else narrow
    wanted = dtypes.as_dtype(dtype)
    dtypes.check_keeps_imaginary(own, wanted)
    check_dtype(x._backend, wanted)
    return wanted


def _total(name: str, x: Array, axis: Axis, dtype: object, keepdims: bool, out: Array | None) -> Array:
    shape = x.shape
    axes = as_axes(axis, len(shape))
    wanted = accumulator(x, dtype)
    result = (reduced(shape, axes, keepdims), wanted)
    return invoke(name, x, axis=axes, dtype=wanted, keepdims=bool(keepdims), out=out, result=result)


def _extremum(name: str, x: Array, axis: Axis, keepdims: bool, out: Array | None) -> Array:
    shape = x.shape
    axes = as_axes(axis, len(shape))
    check_choice(name, shape, axes, axis)
    result = (reduced(shape, axes, keepdims), x.dtype)
    return invoke(name, x, axis=axes, keepdims=bool(keepdims), out=out, result=result)


def _spread(name: str, x: Array, axis: Axis, correction: float, keepdims: bool, out: Array | None) -> Array:
    x = as_floating(x)
    axes = as_axes(axis, x.ndim)
    dtype = dtypes.real_of(x.dtype)
    result = (reduced(x.shape, axes, keepdims), dtype)
    return invoke(
        name,
        x,
        axis=axes,
        correction=as_real(correction, "correction"),
        keepdims=bool(keepdims),
        out=out,
        result=result,
    )


def _with_axis(name: str, x: Array, axis: int | None) -> tuple[Array, int]:
    """Return an array and an axis of it to go along."""
    if axis is None:
        if x.ndim > 1:
            raise ShapeError(f"{name}() needs an axis for an array of {x.ndim} dimensions")
        axis = 0
    if x.ndim == 0:
        x = x.reshape((1,))
    return x, as_axis(axis, x.ndim)


def _running(name: str, x: Array, axis: int | None, out: Array | None) -> Array:
    if x.dtype.kind == "c":
        raise DtypeError(f"{name}() takes real numbers, which have an order, not {x.dtype}")
    x, axis = _with_axis(name, x, axis)
    return invoke(name, x, axis=axis, out=out, result=(x.shape, x.dtype))


def _cumulative(
    name: str, x: Array, axis: int | None, dtype: object, include_initial: bool, out: Array | None
) -> Array:
    x, axis = _with_axis(name, x, axis)
    wanted = accumulator(x, dtype)
    length: Any = tuple.__getitem__(x.shape, axis)
    shape = spliced(x.shape, axis, axis + 1, length and length + bool(include_initial))
    static: dict[str, Any] = {"axis": axis, "dtype": wanted, "include_initial": bool(include_initial)}
    if wanted is dtypes.bool:
        # The sum of bools is true from the first true one on: engines have none, and counts say the same.
        counted = static | {"dtype": dtypes.int64}
        return invoke(name, x.astype(dtypes.bool), result=(shape, dtypes.int64), **counted).astype(dtypes.bool)
    return invoke(name, x, out=out, result=(shape, wanted), **static)


@primary()
def cumulative_max(x: Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Return the greatest element up to each one along an axis; NaN from the first NaN on.

    Where elements are equal, the first one gets the derivative.

    Parameters
    ----------
    x
        An array of real numbers.
    axis
        The axis; may be left out for a 1-d array.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape and the dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.
    ShapeError
        If there are several dimensions and no axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cumulative_max(ua.asarray([1, 3, 2, 5]))
    array([1, 3, 3, 5])

    Source: ``torch.cummax``; the values are those of ``numpy.maximum.accumulate``.
    """
    return _running("cumulative_max", x, axis, out)


@primary()
def cumulative_min(x: Array, /, *, axis: int | None = None, out: Array | None = None) -> Array:
    """Return the least element up to each one along an axis; NaN from the first NaN on.

    Where elements are equal, the first one gets the derivative.

    Parameters
    ----------
    x
        An array of real numbers.
    axis
        The axis; may be left out for a 1-d array.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape and the dtype of ``x``, or ``out``.

    Raises
    ------
    DtypeError
        If ``x`` is complex.
    ShapeError
        If there are several dimensions and no axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cumulative_min(ua.asarray([4, 3, 5, 1]))
    array([4, 3, 3, 1])

    Source: ``torch.cummin``; the values are those of ``numpy.minimum.accumulate``.
    """
    return _running("cumulative_min", x, axis, out)


@primary()
def cumulative_prod(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    out: Array | None = None,
) -> Array:
    """Multiply up the elements along an axis.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; may be left out for a 1-d array.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    include_initial
        Whether the result begins with the empty product, 1.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If there are several dimensions and no axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cumulative_prod(ua.asarray([1, 2, 3]))
    array([1, 2, 6])

    Source: Array API standard 2025.12, ``cumulative_prod``.
    """
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial, out)


@primary()
def cumulative_sum(
    x: Array,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    include_initial: bool = False,
    out: Array | None = None,
) -> Array:
    """Add up the elements along an axis.

    Parameters
    ----------
    x
        An array.
    axis
        The axis; may be left out for a 1-d array.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    include_initial
        Whether the result begins with the empty sum, 0.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Raises
    ------
    ShapeError
        If there are several dimensions and no axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.cumulative_sum(ua.asarray([1, 2, 3]))
    array([1, 3, 6])

    Source: Array API standard 2025.12, ``cumulative_sum``.
    """
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial, out)


@primary()
def max(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the greatest element; NaN where there is one.

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
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements to choose from.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.max(ua.asarray([[1, 5], [3, 2]]), axis=0)
    array([3, 5])

    Source: Array API standard 2025.12, ``max``.
    """
    return _extremum("max", x, axis, keepdims, out)


@primary()
def mean(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the arithmetic mean; NaN of no elements.

    Parameters
    ----------
    x
        An array; integers are averaged as float64.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.mean(ua.asarray([1, 2, 6]))
    array(3.)

    Source: Array API standard 2025.12, ``mean``.
    """
    x = as_floating(x)
    axes = as_axes(axis, x.ndim)
    result = (reduced(x.shape, axes, keepdims), x.dtype)
    return invoke("mean", x, axis=axes, keepdims=bool(keepdims), out=out, result=result)


@primary()
def min(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the least element; NaN where there is one.

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
        A new array of the dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If there are no elements to choose from.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.min(ua.asarray([[1, 5], [3, 2]]), axis=0)
    array([1, 2])

    Source: Array API standard 2025.12, ``min``.
    """
    return _extremum("min", x, axis, keepdims, out)


@primary()
def prod(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the product of the elements; 1 of none.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.prod(ua.asarray([2, 3]))
    array(6)

    Source: Array API standard 2025.12, ``prod``.
    """
    return _total("prod", x, axis, dtype, keepdims, out)


@primary()
def std(
    x: Array,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the standard deviation.

    Parameters
    ----------
    x
        An array; integers count as float64; of complex numbers, the distances from the mean count.
    axis
        One or several axes; ``None`` means all.
    correction
        What is taken off the number of elements in the divisor: 1 for an unbiased variance.
    ddof
        NumPy's name of ``correction``, which it replaces where it's passed.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real floating-point array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.std(ua.asarray([1.0, 3.0]))
    array(1.)

    Source: Array API standard 2025.12, ``std``.
    """
    return _spread("std", x, axis, correction if ddof is None else ddof, keepdims, out)


@primary()
def sum(
    x: Array,
    /,
    *,
    axis: Axis = None,
    dtype: DTypeLike | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the sum of the elements; 0 of none.

    Parameters
    ----------
    x
        An array.
    axis
        One or several axes; ``None`` means all.
    dtype
        The dtype to compute in; int64 or uint64 for small integers by default.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.sum(ua.asarray([[1, 5], [3, 2]]), axis=0)
    array([4, 7])

    Source: Array API standard 2025.12, ``sum``.
    """
    return _total("sum", x, axis, dtype, keepdims, out)


@primary()
def var(
    x: Array,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the variance.

    Parameters
    ----------
    x
        An array; integers count as float64; of complex numbers, the distances from the mean count.
    axis
        One or several axes; ``None`` means all.
    correction
        What is taken off the number of elements in the divisor: 1 for an unbiased variance.
    ddof
        NumPy's name of ``correction``, which it replaces where it's passed.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new real floating-point array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.var(ua.asarray([1.0, 3.0]))
    array(1.)

    Source: Array API standard 2025.12, ``var``.
    """
    return _spread("var", x, axis, correction if ddof is None else ddof, keepdims, out)
