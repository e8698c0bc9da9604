"""What functions say to those that take their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.call import attempt
from .._core.declare import mixed
from .data_type import astype

if TYPE_CHECKING:
    from ..array import Array


@mixed()
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
    found = attempt("stop_gradient", x, out=out, result=(x.shape, x.dtype))
    return astype(x, x.dtype, out=out) if found is None else found
