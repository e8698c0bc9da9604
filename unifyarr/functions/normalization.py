"""Normalisation along axes: mean 0 and variance 1, or length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_real_floating, as_single
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt, attempt_for_derivative
from .._core.declaring.declare import mixed
from .._core.engines import dtypes
from .._core.values.shapes import as_axes
from ..errors import ShapeError
from .data_type import finfo
from .elementwise import abs, add, divide, maximum, multiply, negative, sqrt, square, subtract
from .linalg import vecdot
from .manipulation import expand_dims
from .statistical import max, mean, min, sum

if TYPE_CHECKING:
    from .._core.engines.dtypes import DType

Axis = int | tuple[int, ...]


def operands(
    name: str, x: Array, weight: Array | None, bias: Array | None, axes: tuple[int, ...]
) -> tuple[Array, Array | None, Array | None, DType]:
    """Return the array to compute with, weight and bias aligned with the axes of ``x``, and the dtype of the result."""
    dtype = dtypes.promote(*(as_real_floating(each, name).dtype for each in given(x, weight, bias)))
    wanted = tuple(x.shape[axis] for axis in axes)
    along = tuple(length if axis in axes else 1 for axis, length in enumerate(x.shape))
    for what, each in (("weight", weight), ("bias", bias)):
        if each is not None and each.shape != wanted:
            raise ShapeError(
                f"{what} of {name}() has shape {each.shape}, but axes {axes} of shape {x.shape} want {wanted}"
            )

    def prepared(each: Array | None) -> Array | None:
        return None if each is None else as_single(each.astype(dtype, copy=False)).reshape(along)

    return as_single(x.astype(dtype, copy=False)), prepared(weight), prepared(bias), dtype


def given(*arrays: Array | None) -> list[Array]:
    """Return those arrays that are there."""
    return [each for each in arrays if each is not None]


def root_mean_square(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    """Return the root of ``eps`` more than the mean square along axes, which stay; the squares don't overflow."""
    found = attempt("root_mean_square", x, axis=axes, eps=float(eps))
    if found is not None:
        return found
    if x.size == 0:
        return sqrt(add(mean(square(x), axis=axes, keepdims=True), eps))
    scale = maximum(_greatest(x, axes), 1)
    part = divide(x, scale)
    squares = mean(square(part, out=reuse(part)), axis=axes, keepdims=True)
    return multiply(scale, sqrt(add(squares, divide(divide(eps, scale), scale))))


def rescale(x: Array, spread: Array | None, weight: Array | None, bias: Array | None) -> Array:
    """Divide an array of the caller's own, multiply and shift it, in its memory if possible."""
    if spread is not None and weight is not None and spread.shape == weight.shape:
        # Much smaller than the array.
        weight, spread = divide(weight, spread), None
    if spread is not None:
        x = divide(x, spread, out=reuse(x, spread))
    if weight is not None:
        x = multiply(x, weight, out=reuse(x, weight))
    return x if bias is None else add(x, bias, out=reuse(x, bias))


@mixed(namespace="nn", scratch=True)
def l2_normalize(x: Array, /, *, axis: Axis | None = -1, eps: float = 1e-12, out: Array | None = None) -> Array:
    """Divide vectors by their Euclidean lengths.

    However great the numbers are, their squares don't overflow.

    Parameters
    ----------
    x
        An array; bools and integers are taken as float64.
    axis
        The axis, or axes, along which the vectors lie; ``None`` means all.
    eps
        The length that shorter vectors are divided by.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and its dtype, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.l2_normalize(ua.asarray([3e200, 4e200]))
    array([0.6, 0.8])

    Source: Horn and Johnson, "Matrix Analysis" (2012), 5.2.
    """
    axes, x = as_axes(axis, x.ndim), as_floating(x)
    dtype, x = x.dtype, as_single(x)
    if x.size == 0:
        return divide(x, 1).astype(dtype, copy=False)
    if axes and type(eps) is float:
        found = attempt("l2_normalize", x, axis=axes, eps=eps, result=(x.shape, x.dtype))
        if found is not None:
            return found.astype(dtype, copy=False)
    scale = maximum(_greatest(x, axes), 1)
    scaled = divide(x, scale, out=room(out, x.shape, x.dtype))
    least = square(divide(eps, scale))
    # The root of 0 isn't taken, since it has no gradient there.
    length = sqrt(maximum(_sum_of_squares(scaled, axes), least))
    return divide(scaled, length, out=reuse(scaled)).astype(dtype, copy=False)


def _greatest(x: Array, axes: tuple[int, ...]) -> Array:
    """Return the greatest magnitude along axes, which are kept."""
    if dtypes.rank(x.dtype) > 2:
        return max(abs(x), axis=axes, keepdims=True)
    return maximum(max(x, axis=axes, keepdims=True), negative(min(x, axis=axes, keepdims=True)))


def _sum_of_squares(x: Array, axes: tuple[int, ...]) -> Array:
    if len(axes) == 1 and dtypes.rank(x.dtype) < 3:
        return expand_dims(vecdot(x, x, axis=axes[0]), axes[0])
    squares = square(abs(x) if dtypes.rank(x.dtype) > 2 else x)
    return sum(squares, axis=axes, keepdims=True)


@mixed(
    kernels=("root_mean_square", "layer_norm"),
    derivatives=("norm_with_moments", "norm_backward"),
    namespace="nn",
    scratch=True,
)
def layer_norm(
    x: Array,
    /,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: Axis = -1,
    eps: float = 1e-5,
    out: Array | None = None,
) -> Array:
    """Give the elements along some axes mean 0 and variance 1.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    weight, bias
        What each element is multiplied by and shifted by then: arrays of the axes' lengths, in the
        order of ``x``.
    axis
        The axis, or axes.
    eps
        What is added to the variance, to keep its root from zero.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and the dtype that the inputs promote to, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.
    DtypeError
        If an input is complex.
    ShapeError
        If weight or bias have another shape.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.layer_norm(ua.asarray([[1.0, 3.0], [10.0, 30.0]]), eps=0.0)
    array([[-1.,  1.],
           [-1.,  1.]])

    Source: Ba et al., "Layer Normalization" (2016).
    """
    axes = tuple(sorted(as_axes(axis, x.ndim)))
    x, weight, bias, dtype = operands("layer_norm", x, weight, bias, axes)
    weights = given(weight, bias)
    if len(weights) != 1:
        several = attempt_for_derivative("norm_with_moments", x, *weights, axis=axes, eps=float(eps))
        if several is not None:
            return several[0].astype(dtype, copy=False)
        found = attempt("layer_norm", x, *weights, axis=axes, eps=float(eps), result=(x.shape, x.dtype))
        if found is not None:
            return found.astype(dtype, copy=False)
    center = mean(x, axis=axes, keepdims=True)
    centred = subtract(x, center, out=room(out, x.shape, x.dtype, *weights))
    return rescale(centred, root_mean_square(centred, axes, eps), weight, bias).astype(dtype, copy=False)


@mixed(kernels=("root_mean_square",), namespace="nn", scratch=True)
def rms_norm(
    x: Array,
    /,
    weight: Array | None = None,
    *,
    axis: Axis = -1,
    eps: float | None = None,
    out: Array | None = None,
) -> Array:
    """Divide the elements along some axes by the root of the mean of their squares.

    Parameters
    ----------
    x
        An array of real numbers; bools and integers are taken as float64.
    weight
        What each element is multiplied by then: an array of the axes' lengths, in the order of ``x``.
    axis
        The axis, or axes.
    eps
        What is added to the mean, to keep its root from zero; by default the dtype's ``finfo(...).eps``.
    out
        An array of the shape of ``x`` for the result.

    Returns
    -------
    Array
        A new array of the shape of ``x`` and the dtype that the inputs promote to, or ``out``.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.
    DtypeError
        If an input is complex.
    ShapeError
        If the weight has another shape.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.rms_norm(ua.asarray([1.0, 7.0]))
    array([0.2, 1.4])

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (2019).
    """
    axes = tuple(sorted(as_axes(axis, x.ndim)))
    x, weight, _, dtype = operands("rms_norm", x, weight, None, axes)
    spread = root_mean_square(x, axes, float(finfo(dtype).eps) if eps is None else eps)
    scaled = divide(x, spread, out=room(out, x.shape, x.dtype, *given(weight)))
    return rescale(scaled, None, weight, None).astype(dtype, copy=False)
