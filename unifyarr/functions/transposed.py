"""Transposed convolutions: each element of the input adds its multiple of a kernel to the result."""

from __future__ import annotations

from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside, as_single
from .._core.calling.invoke import attempt, check_result
from .._core.declaring.declare import mixed
from .._core.values.shapes import size
from ..errors import ShapeError
from ..typing import Shape
from .convolution import check_axes
from .linalg import matmul, promoted
from .manipulation import expand_dims, reshape
from .windows import Lengths, Padding, Windows, as_lengths, as_padding, zeros_for

_DERIVATIVES = "convolution", "convolution_weight"


def _check_shapes(name: str, axes: int, x: Array, weight: Array, bias: Array | None, groups: int) -> None:
    check_axes(name, axes, x, weight)
    if groups < 1 or weight.shape[0] % groups or x.shape[-axes - 1] != weight.shape[0]:
        raise ShapeError(
            f"{name}() of {groups} groups: x of shape {x.shape} has {x.shape[-axes - 1]} channels, but weight of shape "
            f"{weight.shape} takes {weight.shape[0]}, which have to be a multiple of groups"
        )
    if bias is not None and bias.shape != (weight.shape[1] * groups,):
        raise ShapeError(
            f"{name}(): bias has shape {bias.shape}, but there are {weight.shape[1] * groups} output channels"
        )
    if 0 in weight.shape[2:] or 0 in x.shape[-axes:]:
        raise ShapeError(f"{name}(): x of shape {x.shape} or the kernel of shape {weight.shape[2:]} has no elements")


def _transposed(
    name: str,
    axes: int,
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Lengths,
    padding: Padding,
    output_padding: Lengths,
    dilation: Lengths,
    groups: int,
    out: Array | None,
) -> Array:
    bias = None if bias is None else as_array_beside(bias, x)
    _check_shapes(name, axes, x, weight, bias, groups)
    strides, dilations = as_lengths("stride", stride, axes), as_lengths("dilation", dilation, axes)
    more = as_lengths("output_padding", output_padding, axes, least=0)
    if any(each >= max(pair) for each, *pair in zip(more, strides, dilations, strict=True)):
        raise ShapeError(f"{name}(): output_padding is less than stride or dilation, unlike {output_padding!r}")
    kernel = weight.shape[2:]
    windows = Windows(kernel, strides, dilations, as_padding(padding, kernel, strides, dilations))
    wide = tuple(map(sum, zip(windows.reach(x.shape[-axes:]), more, strict=True)))
    lengths = tuple(length - sum(pair) for length, pair in zip(wide, windows.padding, strict=True))
    if min(lengths) < 1:
        raise ShapeError(f"{name}(): padding {padding!r} leaves nothing of a result of {wide} elements")
    x, weight, *biases = promoted(x, weight, *(() if bias is None else (bias,)))
    leading = (*x.shape[: -axes - 1], weight.shape[1] * groups)
    if out is not None:
        check_result(name, out, (*leading, *lengths), x.dtype)
    whole, dtype = (*leading, *wide), x.dtype
    if all(each < step for each, step in zip(more, strides, strict=True)):
        options = {"stride": strides, "padding": windows.padding, "dilation": dilations, "groups": groups}
        found = _at_once(axes, x, weight, biases, options, (*leading, *lengths), out)
        if found is not None:
            return found
    # float16 and bfloat16 have too few bits for a sum of many products.
    single = (as_single(each) for each in (x, weight, *biases))
    total = _accumulate(*single, windows=windows, groups=groups, shape=whole, out=out)
    result = windows.crop(total)
    # A view would keep the cut-off part in memory.
    return result.astype(dtype, copy=result is not total)


def _at_once(
    axes: int, x: Array, weight: Array, biases: list[Array], options: dict[str, Any], shape: Shape, out: Array | None
) -> Array | None:
    """Return the result of the engine's kernel, the transpose of a convolution of images of just this shape."""
    if not (size(shape) and x.size and weight.size):
        return None
    single, target = x.ndim == axes + 1, out
    if single:
        x, target = expand_dims(x, 0), None if out is None else expand_dims(out, 0)
    whole = (x.shape[0], *shape[-axes - 1 :])
    options["lengths"] = shape[-axes:]
    found = attempt("convolution_transpose", x, weight, *biases, **options, out=target, result=(whole, x.dtype))
    if found is None or found is target:
        return None if found is None else out
    return reshape(found, shape) if single else found


def _accumulate(
    x: Array, weight: Array, *biases: Array, windows: Windows, groups: int, shape: Shape, out: Array | None
) -> Array:
    # One matrix product for each position of the kernel, added where that position lies in the result for each element.
    axes = len(windows.window)
    count, batch = x.shape[-axes:], x.shape[: -axes - 1]
    inputs, outputs = weight.shape[0] // groups, weight.shape[1]
    total = zeros_for(out, shape, x, weight, *biases)
    for bias in biases:
        total += reshape(bias, (-1,) + (1,) * axes)
    columns = reshape(x, (*batch, groups, inputs, size(count)))
    for place, key in windows.taps(count):
        matrices = reshape(weight[(..., *place)], (groups, inputs, outputs)).mT
        total[(..., *key)] += reshape(matmul(matrices, columns), (*batch, groups * outputs, *count))
    return total


@mixed(kernels=("convolution_transpose",), derivatives=_DERIVATIVES, namespace="nn", scratch=True)
def conv_transpose1d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    output_padding: Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Add up kernels, one for each element of sequences of channels: the transpose of ``conv1d``.

    Parameters
    ----------
    x
        An array of shape (N, C, L), or (C, L) for one sequence.
    weight
        An array of shape (C, O / groups, K): for each channel a kernel for each output channel of its group.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far apart the kernels of neighbours lie in the result.
    padding
        How many elements to cut off at the edges of the result: what ``conv1d`` takes, whose padding it undoes.
    output_padding
        How many elements more the result has at its end, since a stride leaves several lengths for ``x``: less than
        stride or dilation.
    dilation
        How far apart the elements of a kernel lie in the result.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, L') or (O, L'), or ``out``; its dtype is the one the arguments
        promote to, in which integers wrap. Lengths are ``(L - 1) * stride + dilation * (K - 1) + 1 + output_padding``,
        less the padding.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or padding leaves nothing.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.conv_transpose1d(ua.asarray([[1.0, 2.0]]), ua.asarray([[[1.0, 10.0, 100.0]]]), stride=2)
    array([[  1.,  10., 102.,  20., 200.]])

    Source: Zeiler et al., "Deconvolutional networks" (2010); the layout is that of
    ``torch.nn.functional.conv_transpose1d``.
    """
    return _transposed("conv_transpose1d", 1, x, weight, bias, stride, padding, output_padding, dilation, groups, out)


@mixed(kernels=("convolution_transpose",), derivatives=_DERIVATIVES, namespace="nn", scratch=True)
def conv_transpose2d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    output_padding: Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Add up kernels, one for each element of images of channels: the transpose of ``conv2d``.

    Parameters
    ----------
    x
        An array of shape (N, C, H, W), or (C, H, W) for one image.
    weight
        An array of shape (C, O / groups, K, K'): for each channel a kernel for each output channel of its group.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far apart the kernels of neighbours lie in the result: an integer, or one for each axis.
    padding
        How many elements to cut off at the edges of the result: what ``conv2d`` takes, whose padding it undoes.
    output_padding
        How many elements more the result has at its end, since a stride leaves several lengths for ``x``: less than
        stride or dilation, an integer or one for each axis.
    dilation
        How far apart the elements of a kernel lie in the result: an integer, or one for each axis.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, H', W') or (O, H', W'), or ``out``; its dtype is the one the arguments
        promote to, in which integers wrap. Lengths are ``(L - 1) * stride + dilation * (K - 1) + 1 + output_padding``,
        less the padding.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or padding leaves nothing.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[[1.0, 2.0]]])
    >>> ua.nn.conv_transpose2d(x, ua.ones((1, 1, 2, 2)), stride=2)
    array([[[1., 1., 2., 2.],
            [1., 1., 2., 2.]]])

    Source: Zeiler et al., "Deconvolutional networks" (2010); the layout is that of
    ``torch.nn.functional.conv_transpose2d``.
    """
    return _transposed("conv_transpose2d", 2, x, weight, bias, stride, padding, output_padding, dilation, groups, out)


@mixed(kernels=("convolution_transpose",), derivatives=_DERIVATIVES, namespace="nn", scratch=True)
def conv_transpose3d(
    x: Array,
    weight: Array,
    bias: Array | None = None,
    *,
    stride: Lengths = 1,
    padding: Padding = 0,
    output_padding: Lengths = 0,
    dilation: Lengths = 1,
    groups: int = 1,
    out: Array | None = None,
) -> Array:
    """Add up kernels, one for each element of volumes of channels: the transpose of ``conv3d``.

    Parameters
    ----------
    x
        An array of shape (N, C, D, H, W), or (C, D, H, W) for one volume.
    weight
        An array of shape (C, O / groups, K, K', K''): for each channel a kernel for each output channel of its group.
    bias
        An array of shape (O,), which is added to the output channels.
    stride
        How far apart the kernels of neighbours lie in the result: an integer, or one for each axis.
    padding
        How many elements to cut off at the edges of the result: what ``conv3d`` takes, whose padding it undoes.
    output_padding
        How many elements more the result has at its end, since a stride leaves several lengths for ``x``: less than
        stride or dilation, an integer or one for each axis.
    dilation
        How far apart the elements of a kernel lie in the result: an integer, or one for each axis.
    groups
        In how many groups the channels are divided, each of which has its own output channels.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (N, O, D', H', W') or (O, D', H', W'), or ``out``; its dtype is the one the arguments
        promote to, in which integers wrap. Lengths are ``(L - 1) * stride + dilation * (K - 1) + 1 + output_padding``,
        less the padding.

    Raises
    ------
    ShapeError
        If the shapes don't fit together, or padding leaves nothing.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.conv_transpose3d(ua.ones((1, 1, 1, 2)), ua.ones((1, 1, 1, 1, 2)), ua.asarray([0.5]))
    array([[[[1.5, 2.5, 1.5]]]])

    Source: Zeiler et al., "Deconvolutional networks" (2010); the layout is that of
    ``torch.nn.functional.conv_transpose3d``.
    """
    return _transposed("conv_transpose3d", 3, x, weight, bias, stride, padding, output_padding, dilation, groups, out)
