"""Windows laid out as columns, and columns added up to the array of their windows."""

from __future__ import annotations

from collections.abc import Iterable

from .._core.arrays.array import Array
from .._core.arrays.convert import as_single
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import mixed
from .._core.values.arguments import as_integers
from .._core.values.shapes import size
from ..errors import ShapeError
from ..typing import Shape
from .manipulation import reshape, stack
from .windows import Lengths, Padding, Windows, as_lengths, as_padding, zeros_for


def _windows(window: Lengths, stride: Lengths, padding: Padding, dilation: Lengths) -> Windows:
    # One number is meant for the two axes of an image.
    axes = max(1, len(as_integers(window, "window"))) if isinstance(window, Iterable) else 2
    lengths, strides = as_lengths("window", window, axes), as_lengths("stride", stride, axes)
    dilations = as_lengths("dilation", dilation, axes)
    return Windows(lengths, strides, dilations, as_padding(padding, lengths, strides, dilations))


@mixed(kernels=(), derivatives=("unfold", "fold"), namespace="nn")
def unfold(
    x: Array,
    /,
    window: Lengths,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    dilation: Lengths = 1,
    out: Array | None = None,
) -> Array:
    """Lay out the windows over images as columns, so that a convolution is a product of matrices.

    Parameters
    ----------
    x
        An array of shape (..., C, H, W): with as many axes behind the channels as a window has.
    window
        The shape of a window: an integer for both axes of an image, or one for each axis.
    stride
        How far a window moves to the next: an integer, or one for each axis.
    padding
        How many zeros to put around, as ``conv2d`` takes it.
    dilation
        How far apart the elements lie that a window takes: an integer, or one for each axis.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., C * elements of a window, windows) and the dtype of ``x``, or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has too few axes, or a window doesn't fit into it.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.reshape(ua.arange(6.0), (1, 2, 3))
    >>> ua.nn.unfold(x, 2)
    array([[0., 1.],
           [1., 2.],
           [3., 4.],
           [4., 5.]])

    Source: Chellapilla et al., "High performance convolutional neural networks for document processing" (2006);
    the layout is that of ``torch.nn.functional.unfold``.
    """
    windows = _windows(window, stride, padding, dilation)
    axes = len(windows.window)
    if x.ndim <= axes:
        raise ShapeError(f"unfold() of windows {windows.window} takes x of {axes + 1} axes or more, not {x.shape}")
    count = windows.count("unfold", x.shape[-axes:])
    *leading, channels = x.shape[:-axes]
    shape = (*leading, channels * size(windows.window), size(count))
    if out is not None:
        check_result("unfold", out, shape, x.dtype)
    padded = windows.pad(x, 0)
    columns = windows.columns(padded, count)
    if columns is not None:
        return reshape(columns, shape)
    return reshape(stack([padded[(..., *key)] for _, key in windows.taps(count)], axis=-axes - 1), shape)


@mixed(kernels=(), derivatives=("unfold", "fold"), namespace="nn", scratch=True)
def fold(
    x: Array,
    /,
    output_size: Lengths,
    window: Lengths,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    dilation: Lengths = 1,
    out: Array | None = None,
) -> Array:
    """Add up columns to images, each element to the place that ``unfold`` takes it from.

    It isn't the inverse of ``unfold`` but its transpose: where windows overlap, their elements are added.

    Parameters
    ----------
    x
        An array of shape (..., C * elements of a window, windows).
    output_size
        The lengths of the image's axes: an integer for all of them, or one for each.
    window, stride, padding, dilation
        Those of ``unfold``. Elements in the padding are dropped.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (..., C, H, W) and the dtype of ``x``, or ``out``. Integers wrap, and of bools
        the sum is whether any is true.

    Raises
    ------
    ShapeError
        If so many columns of so many elements aren't the windows over such images.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.fold(ua.ones((4, 2)), (2, 3), 2)
    array([[[1., 2., 1.],
            [1., 2., 1.]]])

    Source: Chellapilla et al., "High performance convolutional neural networks for document processing" (2006);
    the layout is that of ``torch.nn.functional.fold``.
    """
    windows = _windows(window, stride, padding, dilation)
    lengths = as_lengths("output_size", output_size, len(windows.window))
    count = windows.count("fold", lengths)
    elements, number = size(windows.window), size(count)
    if x.ndim < 2 or x.shape[-2] % elements or x.shape[-1] != number:
        raise ShapeError(
            f"fold() to {lengths} takes x of shape (..., C * {elements}, {number}), for {number} windows of {elements} "
            f"elements, not {x.shape}"
        )
    leading = (*x.shape[:-2], x.shape[-2] // elements)
    if out is not None:
        check_result("fold", out, (*leading, *lengths), x.dtype)
    # float16 and bfloat16 have too few bits for a sum of many elements.
    columns = reshape(as_single(x), (*leading, *windows.window, *count))
    wide = tuple(length + sum(pair) for length, pair in zip(lengths, windows.padding, strict=True))
    static = {"lengths": wide, "stride": windows.stride, "dilation": windows.dilation}
    total = attempt("fold", columns, **static, result=((*leading, *wide), columns.dtype)) if columns.size else None
    if total is None:
        total = zeros_for(out, (*leading, *wide), columns)
        behind: Shape = (slice(None),) * len(count)  # type: ignore[assignment]
        for place, key in windows.taps(count):
            total[(..., *key)] += columns[(..., *place, *behind)]
    result = windows.crop(total)
    # A view would keep the cut-off part in memory.
    return result.astype(x.dtype, copy=result is not total)
