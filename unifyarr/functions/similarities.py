"""How alike vectors are."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.arrays.convert import as_real_floating, as_single
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from .elementwise import multiply
from .manipulation import broadcast_arrays
from .normalization import l2_normalize
from .statistical import sum


@compositional(namespace="nn")
def cosine_similarity(x1: Array, x2: Array, /, *, axis: int = -1, eps: float = 1e-8, out: Array | None = None) -> Array:
    """Return the cosine of the angle between vectors: their product over the product of their lengths.

    Parameters
    ----------
    x1, x2
        Arrays of real numbers whose shapes broadcast; bools and integers are taken as float64.
    axis
        The axis of the vectors, of the broadcast shape.
    eps
        The least length that is divided by, so that a vector of zeros is like no other.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the broadcast shape without the axis, or ``out``.

    Raises
    ------
    AxisError
        If there's no such axis.
    DtypeError
        If an operand is complex.
    ShapeError
        If the operands don't broadcast.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.nn.cosine_similarity(ua.asarray([[1.0, 0.0], [1.0, 1.0]]), ua.asarray([1.0, 0.0]))
    array([1.        , 0.70710678])

    Source: torch's ``cosine_similarity``.
    """
    x1, x2 = broadcast_arrays(as_real_floating(x1, "cosine_similarity"), as_real_floating(x2, "cosine_similarity"))
    dtype = dtypes.promote(x1.dtype, x2.dtype)
    axis = as_axis(axis, x1.ndim)
    one, other = (as_single(each.astype(dtype, copy=False)) for each in (x1, x2))
    # Each is made a unit vector first: the product of two lengths might overflow.
    one, other = l2_normalize(one, axis=axis, eps=eps), l2_normalize(other, axis=axis, eps=eps)
    return sum(multiply(one, other), axis=axis).astype(dtype, copy=False)
