"""Medians and quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.declaring.declare import mixed
from ._quantiles import Axis, quantiles

if TYPE_CHECKING:
    from ..typing import Scalar


@mixed(kernels=("partition",))
def median(x: Array, /, *, axis: Axis = None, keepdims: bool = False, out: Array | None = None) -> Array:
    """Return the median: the middle one of the sorted elements, or the mean of the two; NaN where there is one.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    axis
        One or several axes; ``None`` means all.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``; of no elements, NaN.

    Raises
    ------
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.median(ua.asarray([[3, 1, 8], [2, 9, 4]]), axis=1)
    array([3., 4.])

    Source: NumPy, ``median``.
    """
    return quantiles(x, 0.5, axis, "linear", keepdims, "median")


@mixed(kernels=("partition",))
def quantile(
    x: Array,
    /,
    q: Array | Scalar,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return quantiles: values below which given parts of the elements lie; NaN where there is one.

    Parameters
    ----------
    x
        An array of real numbers.
    q
        The parts, from 0 to 1: a scalar or an array of any shape. Inside a trace they aren't checked.
    axis
        One or several axes; ``None`` means all.
    method
        What is done between two elements: ``"linear"`` interpolates, ``"lower"``, ``"higher"`` and ``"nearest"`` (the
        even place in the middle) choose one, ``"midpoint"`` takes their mean. Those of Hyndman and Fan, in their order:
        ``"inverted_cdf"``, ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"linear"``, ``"median_unbiased"``, ``"normal_unbiased"``.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``: the axes of ``q``, then those of ``x`` that are left. Methods that choose an element
        keep the dtype, others take bools and integers as float64. NaN for no elements.

    Raises
    ------
    ValueError
        If a part isn't in [0, 1], or ``method`` is something else.
    ShapeError
        If there's no element to choose, and no NaN in the dtype.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.quantile(ua.asarray([4, 1, 3, 2]), [0.0, 0.5, 0.75])
    array([1.  , 2.5 , 3.25])
    >>> ua.quantile(ua.asarray([4, 1, 3, 2]), 0.75, method="higher")
    array(4)

    Source: Hyndman and Fan, "Sample quantiles in statistical packages" (1996).
    """
    return quantiles(x, q, axis, method, keepdims, "quantile")


@mixed(kernels=("partition",))
def percentile(
    x: Array,
    /,
    q: Array | Scalar,
    *,
    axis: Axis = None,
    method: str = "linear",
    keepdims: bool = False,
    out: Array | None = None,
) -> Array:
    """Return percentiles: ``quantile`` with parts in hundredths.

    Parameters
    ----------
    x
        An array of real numbers.
    q
        The parts, from 0 to 100: a scalar or an array of any shape. Inside a trace they aren't checked.
    axis
        One or several axes; ``None`` means all.
    method
        As of ``quantile``.
    keepdims
        Whether the axes stay, with length one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``: the axes of ``q``, then those of ``x`` that are left. Methods that choose an element
        keep the dtype, others take bools and integers as float64. NaN for no elements.

    Raises
    ------
    ValueError
        If a part isn't in [0, 100], or ``method`` is something else.
    ShapeError
        If there's no element to choose, and no NaN in the dtype.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.percentile(ua.asarray([4, 1, 3, 2]), [0, 50, 75])
    array([1.  , 2.5 , 3.25])

    Source: NumPy, ``percentile``.
    """
    return quantiles(x, q, axis, method, keepdims, "percentile", whole=100)
