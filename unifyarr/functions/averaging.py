"""Weighted means, and ranges."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import as_axes
from ..errors import ShapeError
from .creation import full_beside
from .elementwise import divide, multiply, subtract
from .manipulation import broadcast_to, permute_dims, reshape
from .statistical import max, mean, min, sum

Axis = int | tuple[int, ...] | None


@compositional()
def average(
    x: Array,
    /,
    *,
    axis: Axis = None,
    weights: Array | None = None,
    returned: bool = False,
    keepdims: bool = False,
    out: Array | tuple[Array, ...] | None = None,
) -> Array | tuple[Array, ...]:
    """Compute the weighted mean: the sum of elements times weights, divided by the sum of the weights.

    Parameters
    ----------
    x
        An array; bools and integers are taken as float64.
    axis
        One or several axes; ``None`` means all.
    weights
        An array of the shape of ``x``, or of its lengths along ``axis``, in this order. All are 1 by default.
    returned
        Whether to return the sums of the weights too.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result; a tuple of two with ``returned``.

    Returns
    -------
    Array or tuple of Array
        A new array, NaN or infinite where the weights add up to zero; with ``returned`` a tuple of it and of the sums
        of the weights, of its shape and dtype. Or ``out``.

    Raises
    ------
    ShapeError
        If the weights have another shape.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.average(ua.asarray([1, 2, 6]), weights=ua.asarray([1, 1, 2]))
    array(3.75)

    Source: NumPy, ``average``.
    """
    axes = as_axes(axis, x.ndim)
    if weights is None:
        found = mean(x, axis=axes, keepdims=keepdims)
        count = x.size // found.size if found.size else 0
        return (found, full_beside(x, found.shape, count, found.dtype)) if returned else found
    spread = _spread(x, weights, axes, axis is None)
    dtype = dtypes.promote(as_floating(x).dtype, spread.dtype)
    x, spread = (each.astype(dtype, copy=False) for each in (x, spread))
    total = sum(spread, axis=axes, keepdims=keepdims)
    found = divide(sum(multiply(x, spread), axis=axes, keepdims=keepdims), total)
    return (found, total) if returned else found


def _spread(x: Array, weights: Array, axes: tuple[int, ...], whole: bool) -> Array:
    # The weights in the shape of the array.
    if weights.shape == x.shape:
        return weights
    if whole or weights.shape != tuple(x.shape[each] for each in axes):
        raise ShapeError(
            f"average() of shape {x.shape} takes weights of this shape, or of the lengths of the axes that it's told, "
            f"not of shape {weights.shape}"
        )
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    ordered = permute_dims(weights, order)
    return broadcast_to(reshape(ordered, tuple(n if i in axes else 1 for i, n in enumerate(x.shape))), x.shape)


@compositional()
def ptp(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the range of elements, from the least to the greatest: their difference.

    Parameters
    ----------
    x
        An array of numbers.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``; NaN where there is one.

    Raises
    ------
    ShapeError
        If there are no elements along an axis.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.ptp(ua.asarray([4, 1, 7]))
    array(6)

    Source: NumPy, ``ptp``.
    """
    return subtract(max(x, axis=axis, keepdims=keepdims), min(x, axis=axis, keepdims=keepdims), out=out)
