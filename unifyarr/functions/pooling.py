"""Pools: the greatest or the mean element of each window."""

from __future__ import annotations

import functools

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single, table_beside
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from ..errors import DtypeError, ShapeError
from ..typing import Shape
from .elementwise import divide, maximum
from .scattering import identity
from .statistical import max as maxima
from .statistical import sum as sums
from .windows import Lengths, Padding, Windows, as_lengths, as_padding


def _windows(
    name: str,
    axes: int,
    x: Array,
    window: Lengths,
    stride: Lengths | None,
    padding: Padding,
    dilation: Lengths,
    ceil_mode: bool,
) -> tuple[Windows, Shape]:
    if x.ndim < axes:
        raise ShapeError(f"{name}() takes an array of at least {axes} dimensions, not one of shape {x.shape}")
    lengths, dilations = as_lengths("window", window, axes), as_lengths("dilation", dilation, axes)
    strides = lengths if stride is None else as_lengths("stride", stride, axes)
    windows = Windows(lengths, strides, dilations, as_padding(padding, lengths, strides, dilations))
    if any(max(pair) >= extent for pair, extent in zip(windows.padding, windows.extents(), strict=True)):
        raise ShapeError(f"{name}(): of padding {padding!r} and window {window!r} comes a window of padding alone")
    return windows, windows.count(name, x.shape[-axes:], ceil_mode=ceil_mode)


def _max_pool(
    name: str,
    axes: int,
    x: Array,
    window: Lengths,
    stride: Lengths | None,
    padding: Padding,
    dilation: Lengths,
    ceil_mode: bool,
    out: Array | None,
) -> Array:
    if x.dtype.kind == "c":
        raise DtypeError(f"{name}() orders elements, which those of {x.dtype} have no order for: take abs() or real")
    windows, count = _windows(name, axes, x, window, stride, padding, dilation, ceil_mode)
    shape = (*x.shape[:-axes], *count)
    if out is not None:
        check_result(name, out, shape, x.dtype)
    options = {"dilation": windows.dilation, "ceil_mode": bool(ceil_mode)}
    found = _offered("max_pool", x, windows, shape, **options)
    if found is not None:
        return found
    padded = windows.reaching(count, x.shape[-axes:]).pad(x, identity("max", x.dtype))
    greatest = windows.greatest(padded, count)
    if greatest is not None:
        return greatest
    columns = windows.columns(padded, count)
    if columns is not None:
        return maxima(columns, axis=_inside(axes))
    (_, first), *others = windows.taps(count)
    start = room(out, shape, x.dtype, padded)
    greatest = _begun(padded[(..., *first)], start)
    for _, key in others:
        greatest = maximum(greatest, padded[(..., *key)], out=reuse(greatest))
    return greatest


def _inside(axes: int) -> tuple[int, ...]:
    """Return the axes of columns that have the places in a window."""
    return tuple(range(-2 * axes, -axes))


def _offered(name: str, x: Array, windows: Windows, shape: Shape, **options: object) -> Array | None:
    """Return the result of the engine's own pool, ``None`` if it has none."""
    static = {"window": windows.window, "stride": windows.stride, "padding": windows.padding}
    return attempt(name, x, **static, **options, result=(shape, x.dtype))


def _begun(part: Array, target: Array | None) -> Array:
    # A running total that begins with a part; in the memory of ``target`` if there is one.
    if target is None:
        return part.copy()
    target[...] = part
    return target


def _avg_pool(
    name: str,
    axes: int,
    x: Array,
    window: Lengths,
    stride: Lengths | None,
    padding: Padding,
    count_include_pad: bool,
    ceil_mode: bool,
    out: Array | None,
) -> Array:
    x = as_floating(x)
    windows, count = _windows(name, axes, x, window, stride, padding, 1, ceil_mode)
    shape, dtype = (*x.shape[:-axes], *count), x.dtype
    if out is not None:
        check_result(name, out, shape, dtype)
    options = {"count_include_pad": bool(count_include_pad), "ceil_mode": bool(ceil_mode)}
    # float16 and bfloat16 have too few bits for a sum of many elements.
    found = _offered("avg_pool", as_single(x), windows, shape, **options)
    if found is not None:
        return found.astype(dtype, copy=False)
    wider = windows.reaching(count, x.shape[-axes:])
    padded = wider.pad(as_single(x), 0)
    columns = windows.columns(padded, count)
    if columns is not None:
        total = sums(columns, axis=_inside(axes))
    else:
        (_, first), *others = windows.taps(count)
        start = room(out, shape, padded.dtype, padded)
        total = _begun(padded[(..., *first)], start)
        for _, key in others:
            total += padded[(..., *key)]
    if count_include_pad and wider.padding == windows.padding:
        sizes = np.full((1,) * axes, np.prod(windows.window, dtype=np.int64))
    else:
        sizes = _sizes(windows, x.shape[-axes:], count, count_include_pad)
    sizes = sizes.astype(dtypes.real_of(total.dtype).dtype)
    mean = divide(total, table_beside(sizes, x), out=reuse(total))
    return mean.astype(dtype, copy=False)


def _sizes(windows: Windows, spatial: Shape, count: Shape, with_padding: bool) -> np.ndarray:
    """Return the number of elements by which the sum of each window is divided."""
    each = []
    for place, (before, behind) in enumerate(windows.padding):
        length = spatial[place]
        # The elements that count: those within the padding, but not those that a last window reaches beyond it.
        first, last = (-before, length + behind) if with_padding else (0, length)
        starts = np.arange(count[place]) * windows.stride[place] - before
        ends = np.minimum(starts + windows.window[place], last)
        each.append(ends - np.maximum(starts, first))
    return functools.reduce(np.multiply.outer, each)


@mixed(
    kernels=("max_pool",),
    derivatives=("unfold", "fold", "window_max", "window_max_backward"),
    namespace="nn",
    scratch=True,
)
def max_pool1d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the greatest element of each window over the last axis; NaN where there is one.

    Parameters
    ----------
    x
        A real array of shape (..., L).
    window
        The shape of a window: an integer.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many elements, less than any other, to put before and behind: an integer, or a sequence of one pair
        ``(before, behind)``;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    dilation
        How far apart the elements lie that a window takes.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Where dilation steps over all elements but padding, the result is
        the least value of the dtype. Equal elements of a window share its gradient evenly.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.
    DtypeError
        If the array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.max_pool1d(ua.asarray([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    array([3., 4.])
    >>> ua.nn.max_pool1d(ua.asarray([3.0, 1.0, 4.0, 1.0, 5.0]), 2, ceil_mode=True)
    array([3., 4., 5.])

    Source: Yamaguchi et al., "A neural network for speaker-independent isolated word recognition" (1990).
    """
    return _max_pool("max_pool1d", 1, x, window, stride, padding, dilation, ceil_mode, out)


@mixed(
    kernels=("max_pool",),
    derivatives=("unfold", "fold", "window_max", "window_max_backward"),
    namespace="nn",
    scratch=True,
)
def max_pool2d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the greatest element of each window over the last two axes; NaN where there is one.

    Parameters
    ----------
    x
        A real array of shape (..., H, W).
    window
        The shape of a window: an integer, or one for each axis.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many elements, less than any other, to put before and behind: an integer, one for each axis, or a pair
        ``(before, behind)`` for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    dilation
        How far apart the elements lie that a window takes.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Where dilation steps over all elements but padding, the result is
        the least value of the dtype. Equal elements of a window share its gradient evenly.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.
    DtypeError
        If the array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> ua.nn.max_pool2d(x, (2, 1))
    array([[4., 5., 6.]])

    Source: Yamaguchi et al., "A neural network for speaker-independent isolated word recognition" (1990).
    """
    return _max_pool("max_pool2d", 2, x, window, stride, padding, dilation, ceil_mode, out)


@mixed(
    kernels=("max_pool",),
    derivatives=("unfold", "fold", "window_max", "window_max_backward"),
    namespace="nn",
    scratch=True,
)
def max_pool3d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    dilation: Lengths = 1,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the greatest element of each window over the last three axes; NaN where there is one.

    Parameters
    ----------
    x
        A real array of shape (..., D, H, W).
    window
        The shape of a window: an integer, or one for each axis.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many elements, less than any other, to put before and behind: an integer, one for each axis, or a pair
        ``(before, behind)`` for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    dilation
        How far apart the elements lie that a window takes.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``. Where dilation steps over all elements but padding, the result is
        the least value of the dtype. Equal elements of a window share its gradient evenly.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.
    DtypeError
        If the array is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.reshape(ua.arange(8.0), (2, 2, 2))
    >>> ua.nn.max_pool3d(x, 2)
    array([[[7.]]])

    Source: Yamaguchi et al., "A neural network for speaker-independent isolated word recognition" (1990).
    """
    return _max_pool("max_pool3d", 3, x, window, stride, padding, dilation, ceil_mode, out)


@mixed(kernels=("avg_pool",), derivatives=("unfold", "fold"), namespace="nn", scratch=True)
def avg_pool1d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    count_include_pad: bool = True,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the mean of each window over the last axis.

    Parameters
    ----------
    x
        An array of shape (..., L); bools and integers are averaged as float64.
    window
        The shape of a window: an integer.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many zeros to put before and behind: an integer, or a sequence of one pair ``(before, behind)``;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    count_include_pad
        Whether the zeros count among the elements of a window.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
        Its mean never counts elements there.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.avg_pool1d(ua.asarray([3.0, 1.0, 4.0, 2.0]), 2)
    array([2., 3.])

    Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """
    return _avg_pool("avg_pool1d", 1, x, window, stride, padding, count_include_pad, ceil_mode, out)


@mixed(kernels=("avg_pool",), derivatives=("unfold", "fold"), namespace="nn", scratch=True)
def avg_pool2d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    count_include_pad: bool = True,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the mean of each window over the last two axes.

    Parameters
    ----------
    x
        An array of shape (..., H, W); bools and integers are averaged as float64.
    window
        The shape of a window: an integer, or one for each axis.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many zeros to put before and behind: an integer, one for each axis, or a pair ``(before, behind)``
        for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    count_include_pad
        Whether the zeros count among the elements of a window.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
        Its mean never counts elements there.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> ua.nn.avg_pool2d(x, (2, 1))
    array([[2.5, 3.5, 4.5]])

    Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """
    return _avg_pool("avg_pool2d", 2, x, window, stride, padding, count_include_pad, ceil_mode, out)


@mixed(kernels=("avg_pool",), derivatives=("unfold", "fold"), namespace="nn", scratch=True)
def avg_pool3d(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths | None = None,
    padding: Padding = 0,
    count_include_pad: bool = True,
    ceil_mode: bool = False,
    out: Array | None = None,
) -> Array:
    """Return the mean of each window over the last three axes.

    Parameters
    ----------
    x
        An array of shape (..., D, H, W); bools and integers are averaged as float64.
    window
        The shape of a window: an integer, or one for each axis.
    stride
        How far the window moves from one result to the next; by default, as far as it's long.
    padding
        How many zeros to put before and behind: an integer, one for each axis, or a pair ``(before, behind)``
        for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the length with a stride of 1.
    count_include_pad
        Whether the zeros count among the elements of a window.
    ceil_mode
        Whether a last window that begins within the elements, or before them, may reach beyond the padding behind.
        Its mean never counts elements there.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``.

    Raises
    ------
    ShapeError
        If a window doesn't fit into the input, or would hold nothing but padding.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.reshape(ua.arange(8.0), (2, 2, 2))
    >>> ua.nn.avg_pool3d(x, 2)
    array([[[3.5]]])

    Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """
    return _avg_pool("avg_pool3d", 3, x, window, stride, padding, count_include_pad, ceil_mode, out)
