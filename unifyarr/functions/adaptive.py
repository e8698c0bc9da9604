"""Pools whose windows follow from how many results are wanted."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.declaring.declare import mixed
from ._adaptive import Sizes, max_of, mean_of


@mixed(kernels=("resample",), namespace="nn")
def adaptive_avg_pool1d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the mean of each of so many windows over the last axis.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        An array of shape (..., L); bools and integers are averaged as float64.
    output_size
        How many windows there are: an integer; ``None`` keeps the axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or float64 for bools and integers, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_avg_pool1d(ua.asarray([1.0, 2.0, 3.0, 4.0, 5.0]), 2)
    array([2., 4.])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_avg_pool1d`` has them.
    """
    return mean_of("adaptive_avg_pool1d", 1, x, output_size, out)


@mixed(kernels=("resample",), namespace="nn")
def adaptive_avg_pool2d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the mean of each of so many windows over the last two axes.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        An array of shape (..., H, W); bools and integers are averaged as float64.
    output_size
        How many windows there are: an integer, or one for each axis; ``None`` keeps an axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or float64 for bools and integers, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_avg_pool2d(ua.reshape(ua.arange(12.0), (3, 4)), (None, 2))
    array([[ 0.5,  2.5],
           [ 4.5,  6.5],
           [ 8.5, 10.5]])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_avg_pool2d`` has them.
    """
    return mean_of("adaptive_avg_pool2d", 2, x, output_size, out)


@mixed(kernels=("resample",), namespace="nn")
def adaptive_avg_pool3d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the mean of each of so many windows over the last three axes.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        An array of shape (..., D, H, W); bools and integers are averaged as float64.
    output_size
        How many windows there are: an integer, or one for each axis; ``None`` keeps an axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or float64 for bools and integers, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_avg_pool3d(ua.reshape(ua.arange(16.0), (2, 2, 4)), (1, 1, 2))
    array([[[6.5, 8.5]]])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_avg_pool3d`` has them.
    """
    return mean_of("adaptive_avg_pool3d", 3, x, output_size, out)


@mixed(kernels=(), derivatives=("window_max", "window_max_backward"), namespace="nn")
def adaptive_max_pool1d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the greatest element of each of so many windows over the last axis; NaN where there is one.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        A real array of shape (..., L).
    output_size
        How many windows there are: an integer; ``None`` keeps the axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Equal elements share their gradient as those of ``max`` do.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_max_pool1d(ua.asarray([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    array([4., 5.])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_max_pool1d`` has them.
    """
    return max_of("adaptive_max_pool1d", 1, x, output_size, out)


@mixed(kernels=(), derivatives=("window_max", "window_max_backward"), namespace="nn")
def adaptive_max_pool2d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the greatest element of each of so many windows over the last two axes; NaN where there is one.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        A real array of shape (..., H, W).
    output_size
        How many windows there are: an integer, or one for each axis; ``None`` keeps an axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Equal elements share their gradient as those of ``max`` do.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_max_pool2d(ua.reshape(ua.arange(12), (3, 4)), (None, 2))
    array([[ 1,  3],
           [ 5,  7],
           [ 9, 11]])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_max_pool2d`` has them.
    """
    return max_of("adaptive_max_pool2d", 2, x, output_size, out)


@mixed(kernels=(), derivatives=("window_max", "window_max_backward"), namespace="nn")
def adaptive_max_pool3d(x: Array, /, output_size: Sizes, *, out: Array | None = None) -> Array:
    """Return the greatest element of each of so many windows over the last three axes; NaN where there is one.

    Along an axis of L elements window i of n begins at ``floor(i * L / n)`` and ends before ``ceil((i + 1) * L / n)``.
    Windows overlap if n doesn't divide L.

    Parameters
    ----------
    x
        A real array of shape (..., D, H, W).
    output_size
        How many windows there are: an integer, or one for each axis; ``None`` keeps an axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Equal elements share their gradient as those of ``max`` do.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or no elements along one of them.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.adaptive_max_pool3d(ua.reshape(ua.arange(16), (2, 2, 4)), (1, 1, 2))
    array([[[13, 15]]])

    Source: He et al., "Spatial pyramid pooling in deep convolutional networks" (2014); windows as
    ``torch.nn.functional.adaptive_max_pool3d`` has them.
    """
    return max_of("adaptive_max_pool3d", 3, x, output_size, out)
