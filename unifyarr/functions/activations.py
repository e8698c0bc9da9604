"""Activation functions of neural networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.call import attempt
from .._core.convert import as_floating
from .._core.declare import mixed
from .._core.scratch import reuse, room
from .._core.shapes import as_axis
from .elementwise import divide, exp, subtract
from .statistical import max, sum

if TYPE_CHECKING:
    from ..array import Array


@mixed(namespace="nn", scratch=True)
def softmax(x: Array, /, *, axis: int = -1, out: Array | None = None) -> Array:
    """Divide the exponentials of the elements by their sum along an axis.

    The greatest element is subtracted first, so that nothing overflows.

    Parameters
    ----------
    x
        An array of at least one dimension; bools and integers are taken as float64.
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

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.softmax(ua.asarray([1000.0, 1000.0]))
    array([0.5, 0.5])

    Source: Bridle, "Probabilistic interpretation of feedforward classification network outputs" (1990).
    """
    axis, x = as_axis(axis, x.ndim), as_floating(x)
    found = attempt("softmax", x, axis=axis, out=out, result=(x.shape, x.dtype))
    if found is not None:
        return found
    if x.size == 0:
        # No maximum to subtract.
        return exp(x)
    exponents = subtract(x, max(x, axis=axis, keepdims=True), out=room(out, x.shape, x.dtype))
    powers = exp(exponents, out=reuse(exponents))
    return divide(powers, sum(powers, axis=axis, keepdims=True), out=reuse(powers))
