"""Convolutions of neural networks: correlations of channels with learned kernels."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_single
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.values.shapes import size
from ..errors import ShapeError
from ..typing import Shape
from .linalg import matmul, promoted
from .manipulation import expand_dims, reshape
from .windows import Lengths, Padding, Windows, as_lengths, as_padding, zeros_for

# The kernels of the derivatives of a convolution, by its input and by its weight.
DERIVATIVES = "convolution_transpose", "convolution_weight"


def check_axes(name: str, axes: int, x: Array, weight: Array) -> None:
    """Raise unless the input and the kernels of a convolution over so many axes have as many as they should."""
    if x.ndim not in (axes + 1, axes + 2) or weight.ndim != axes + 2:
        spatial = ", ".join("DHW"[3 - axes :] if axes > 1 else "L")
        raise ShapeError(
            f"{name}() takes x of shape (N, C, {spatial}) or (C, {spatial}) and weight of {axes + 2} dimensions, "
            f"not shapes {x.shape} and {weight.shape}"
        )


def _check_shapes(name: str, axes: int, x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    check_axes(name, axes, x, weight)
    if groups < 1 or weight.shape[0] % groups or x.shape[-axes - 1] != weight.shape[1] * groups:
        raise ShapeError(
            f"{name}() of {groups} groups: x of shape {x.shape} has {x.shape[-axes - 1]} channels, but weight of shape "
            f"{weight.shape} takes groups * {weight.shape[1]} and gives {weight.shape[0]}, a multiple of groups"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"{name}(): bias has shape {bias.shape}, but there are {weight.shape[0]} output channels")


def _convolve(
    name: str,
    axes: int,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Lengths,
    padding: Padding,
    dilation: Lengths,
    groups: int,
    out: Array | None,
) -> Array:
    bias = None if bias is None else as_array_beside(bias, x)
    _check_shapes(name, axes, x, weight, bias, groups)
    strides, dilations = as_lengths("stride", stride, axes), as_lengths("dilation", dilation, axes)
    kernel = weight.shape[2:]
    if 0 in kernel:
        raise ShapeError(f"{name}(): a kernel of shape {kernel} has no elements")
    windows = Windows(kernel, strides, dilations, as_padding(padding, kernel, strides, dilations))
    count = windows.count(name, x.shape[-axes:])
    x, weight, *biases = promoted(x, weight, *(() if bias is None else (bias,)))
    shape = (*x.shape[: -axes - 1], weight.shape[0], *count)
    if out is not None:
        check_result(name, out, shape, x.dtype)
    single = x.ndim == axes + 1
    images, target = x, out
    if single:
        images, target = expand_dims(x, 0), None if out is None else expand_dims(out, 0)
    whole = (*images.shape[:1], weight.shape[0], *count)
    options = {"stride": strides, "padding": windows.padding, "dilation": dilations, "groups": groups}
    result = None
    if size(whole) and weight.size and images.size:
        # Engines raise errors, or give wrong shapes, for arrays without elements.
        result = attempt("convolution", images, weight, *biases, **options, out=target, result=(whole, x.dtype))
    if result is None:
        result = _in_single(images, weight, biases, windows, groups, whole, target)
    if result is target:
        return out  # type: ignore[return-value]
    return reshape(result, shape) if single else result


def _in_single(
    x: Array, weight: Array, biases: list[Array], windows: Windows, groups: int, shape: Shape, out: Array | None
) -> Array:
    dtype = x.dtype
    if dtype not in dtypes.HALVES:
        return _accumulate(x, weight, biases, windows, groups, shape, out)
    # float16 and bfloat16 have too few bits for a sum of many products.
    x, weight, *biases = (as_single(each) for each in (x, weight, *biases))
    return _accumulate(x, weight, biases, windows, groups, shape, None).astype(dtype)


def _accumulate(
    x: Array, weight: Array, biases: list[Array], windows: Windows, groups: int, shape: Shape, out: Array | None
) -> Array:
    # One matrix product for each position of the kernel. Memory: the result, the input's elements at that position of
    # all windows, and the product.
    images, outputs, *count = shape
    inputs = weight.shape[1]
    padded = windows.pad(x, 0)
    total = zeros_for(out, shape, padded, weight, *biases)
    for bias in biases:
        total += reshape(bias, (-1,) + (1,) * len(count))
    for place, key in windows.taps(tuple(count)):
        matrices = reshape(weight[(..., *place)], (groups, outputs // groups, inputs))
        columns = (images, groups, inputs, size(tuple(count)))
        total += reshape(matmul(matrices, reshape(padded[(..., *key)], columns)), shape)
    return total


@mixed(kernels=("convolution",), derivatives=DERIVATIVES, namespace="nn", scratch=True)
def conv1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Correlate sequences of channels with kernels.

    Parameters
    ----------
    x
        An array of shape (N, C, L), or (C, L) for one sequence.
    weight
        An array of shape (O, C / groups, K): a kernel over the channels of its group for each output channel.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far the window moves from one result to the next.
    padding
        How many zeros to put before and behind: an integer, or a sequence of one pair ``(before, behind)``;
        ``"valid"`` means none, ``"same"`` as many as keep the length, the odd one behind.
    dilation
        How far apart the elements lie that a window takes.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, L') or (O, L'), or ``out``; its dtype is the one the arguments promote to, in which
        integers wrap.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or a window doesn't fit into the input.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[1.0, 2.0, 4.0, 8.0]])
    >>> ua.nn.conv1d(x, ua.asarray([[[-1.0, 1.0]]]))
    array([[1., 2., 4.]])

    Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """
    return _convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups, out)


@mixed(kernels=("convolution",), derivatives=DERIVATIVES, namespace="nn", scratch=True)
def conv2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Correlate images of channels with kernels.

    Parameters
    ----------
    x
        An array of shape (N, C, H, W), or (C, H, W) for one image.
    weight
        An array of shape (O, C / groups, K, K'): a kernel over the channels of its group for each output channel.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far the window moves from one result to the next: an integer, or one for each axis.
    padding
        How many zeros to put around: an integer, one for each axis, or a pair ``(before, behind)`` for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the lengths, the odd one behind.
    dilation
        How far apart the elements lie that a window takes: an integer, or one for each axis.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, H', W') or (O, H', W'), or ``out``; its dtype is the one the arguments promote to,
        in which integers wrap.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or a window doesn't fit into the input.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.reshape(ua.arange(9.0), (1, 1, 3, 3))
    >>> ua.nn.conv2d(x, ua.ones((1, 1, 2, 2)))
    array([[[[ 8., 12.],
             [20., 24.]]]])

    Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998).
    """
    return _convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups, out)


@mixed(kernels=("convolution",), derivatives=DERIVATIVES, namespace="nn", scratch=True)
def conv3d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Correlate volumes of channels with kernels.

    Parameters
    ----------
    x
        An array of shape (N, C, D, H, W), or (C, D, H, W) for one volume.
    weight
        An array of shape (O, C / groups, K, K', K''): a kernel over the channels of its group for each output channel.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far the window moves from one result to the next: an integer, or one for each axis.
    padding
        How many zeros to put around: an integer, one for each axis, or a pair ``(before, behind)`` for each axis;
        ``"valid"`` means none, ``"same"`` as many as keep the lengths, the odd one behind.
    dilation
        How far apart the elements lie that a window takes: an integer, or one for each axis.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, D', H', W') or (O, D', H', W'), or ``out``; its dtype is the one the arguments
        promote to, in which integers wrap.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or a window doesn't fit into the input.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.conv3d(ua.ones((1, 2, 2, 3)), ua.ones((1, 1, 2, 2, 2)), ua.asarray([0.5]))
    array([[[[8.5, 8.5]]]])

    Source: Ji et al., "3D convolutional neural networks for human action recognition" (2013).
    """
    return _convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups, out)
