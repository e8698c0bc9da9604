"""Information for transformations that take derivatives of functions."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.calling.invoke import invoke
from .._core.declaring.declare import primary


@primary()
def stop_gradient(x: Array, /, *, out: Array | None = None) -> Array:
    """Copy an array, as a constant to those that take derivatives.

    Parameters
    ----------
    x
        An array of any shape and dtype.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.grad(lambda x: x * ua.stop_gradient(x))(ua.asarray(3.0))
    array(3.)

    Source: ``jax.lax.stop_gradient``.
    """
    return invoke("stop_gradient", x, out=out, result=(x.shape, x.dtype))
