"""Functions of all exponentials along an axis, which no number is too great for: softmax and its logarithms."""

from __future__ import annotations

from .._core.arrays.array import Array, wrap
from .._core.arrays.convert import as_real_floating, as_single
from .._core.arrays.ownership import read
from .._core.arrays.scratch import reuse, room
from .._core.calling.invoke import attempt
from .._core.declaring.declare import compositional, mixed
from .._core.values.shapes import as_axes, as_axis, reduced
from .creation import full_like
from .data_type import finfo
from .elementwise import add, clip, divide, exp, greater, log, subtract
from .manipulation import concat
from .searching import where
from .statistical import max, sum


@mixed(derivatives=("log_softmax_backward",), namespace="nn", scratch=True)
def log_softmax(x: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Compute the logarithms of softmax(), which stay finite where the quotients vanish.

    Parameters
    ----------
    x
        An array of real numbers of at least one dimension; bools and integers are taken as float64.
    axis
        The axis along which the exponentials of the results sum to one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.log_softmax(ua.asarray([0.0, 1000.0]))
    array([-1000.,     0.])

    Source: Bridle, "Probabilistic interpretation of feedforward classification network outputs" (1990).
    """
    axis, x = as_axis(axis, x.ndim), as_real_floating(x, "log_softmax")
    found = attempt("log_softmax", x, axis=axis, out=out, result=(x.shape, x.dtype))
    if found is not None:
        return found
    dtype, x = x.dtype, as_single(x)
    shifted, total = _shift(x, axis, room(out, x.shape, x.dtype, x))
    return subtract(shifted, total, out=reuse(shifted)).astype(dtype, copy=False)


@compositional(namespace="nn", scratch=True)
def logsumexp(
    x: Array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, out: Array | None = None
) -> Array:
    """Compute the logarithm of the sum of the elements' exponentials.

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
        A new array of the dtype of ``x``, or ``out``: minus infinity of no elements.

    Raises
    ------
    AxisError
        If an axis is out of bounds or given twice.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.logsumexp(ua.asarray([1000.0, 1000.0]))
    array(1000.69314718)

    Source: Blanchard et al., "Accurately computing the log-sum-exp and softmax functions" (2021).
    """
    axes, x = as_axes(axis, x.ndim), as_real_floating(x, "logsumexp")
    if 0 in x.shape and any(tuple.__getitem__(x.shape, each) == 0 for each in axes):
        # The sum of no elements is 0, whose logarithm is -inf.
        return subtract(sum(x, axis=axes, keepdims=keepdims), float("inf"))
    dtype, x = x.dtype, as_single(x)
    greatest = greatest_of(x, axes)
    # inf - inf would be NaN: subtract the greatest finite number instead, which leaves an infinity infinite.
    bound = float(finfo(x.dtype).max)
    powers = subtract(x, clip(greatest, -bound, bound))
    powers = exp(powers, out=reuse(powers))
    total = sum(powers, axis=axes, keepdims=True)
    # The sum is 0 if all elements are -inf. Then ``greatest`` is -inf, and so is the result.
    result = add(log(where(greater(total, 0), total, 1)), greatest)
    return result.reshape(reduced(x.shape, axes, keepdims)).astype(dtype, copy=False)


def greatest_of(x: Array, axis: int | tuple[int, ...]) -> Array:
    """Return the maximum with ``keepdims``, as a constant to derivatives, since it cancels out when subtracted.

    It's -inf if a length that isn't known turns out to be 0.
    """
    unknown = [each for each in as_axes(axis, x.ndim) if tuple.__getitem__(x.shape, each) is None]
    if unknown:
        x = concat([x, full_like(sum(x, axis=unknown[0], keepdims=True), float("-inf"))], axis=unknown[0])
    greatest = max(x, axis=axis, keepdims=True)
    native = read(greatest)
    fixed = greatest._backend.held_fixed(native)
    return greatest if fixed is native else wrap(fixed, greatest._backend)


def _shift(x: Array, axis: int, out: Array | None) -> tuple[Array, Array]:
    """Return ``x`` minus its maximum along an axis, and the logarithm of the sum of the exponentials of that.

    The first is written to ``out`` if that's given, which must share no memory with ``x``.
    """
    if 0 in x.shape:
        # No maximum to subtract.
        return exp(x), sum(x, axis=axis, keepdims=True)
    greatest = greatest_of(x, axis)
    shifted = subtract(x, greatest, out=out)
    powers = exp(shifted, out=reuse(shifted))
    total = log(sum(powers, axis=axis, keepdims=True))
    # Subtracting a second time is cheaper than separate memory for the exponentials.
    return (subtract(x, greatest, out=shifted) if powers is shifted else shifted), total


def total_of(x: Array, axis: int) -> tuple[Array, Array]:
    """Return the maximum along an axis, and the logarithm of the sum of the exponentials of ``x`` less it."""
    if 0 in x.shape:
        zero = sum(x, axis=axis, keepdims=True)
        return zero, zero
    greatest = greatest_of(x, axis)
    powers = subtract(x, greatest)
    powers = exp(powers, out=reuse(powers))
    return greatest, log(sum(powers, axis=axis, keepdims=True))


@mixed(derivatives=("softmax_backward",), namespace="nn", scratch=True)
def softmax(x: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Divide the exponentials of the elements by their sum along an axis.

    The greatest element is subtracted first, so that nothing overflows.

    Parameters
    ----------
    x
        An array of real numbers of at least one dimension; bools and integers are taken as float64.
    axis
        The axis along which the results sum to one.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the shape and dtype of ``x``, or ``out``.

    Raises
    ------
    AxisError
        If the axis is out of bounds.
    DtypeError
        If ``x`` is complex.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.softmax(ua.asarray([1000.0, 1000.0]))
    array([0.5, 0.5])

    Source: Bridle, "Probabilistic interpretation of feedforward classification network outputs" (1990).
    """
    axis, x = as_axis(axis, x.ndim), as_real_floating(x, "softmax")
    found = attempt("softmax", x, axis=axis, out=out, result=(x.shape, x.dtype))
    if found is not None:
        return found
    if 0 in x.shape:
        # No maximum to subtract.
        return exp(x)
    dtype, x = x.dtype, as_single(x)
    exponents = subtract(x, greatest_of(x, axis), out=room(out, x.shape, x.dtype))
    powers = exp(exponents, out=reuse(exponents))
    total = sum(powers, axis=axis, keepdims=True)
    return divide(powers, total, out=reuse(powers)).astype(dtype, copy=False)
