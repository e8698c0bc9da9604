"""Matrices made of vectors: diagonal ones, and those of powers."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.declaring.declare import compositional, view
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from .creation import eye, ones_like
from .elementwise import multiply
from .linalg import diagonal
from .manipulation import concat, flip, reshape
from .padding import pad
from .searching import where


@view()
def diag(x: Array, /, *, k: int = 0, out: Array | None = None) -> Array:
    """Return a diagonal of a matrix, or the matrix with a vector on a diagonal.

    Parameters
    ----------
    x
        A 2-d array, or a 1-d one of N elements.
    k
        Which diagonal: above the main one if positive.
    out
        An array of the result's shape for a copy.

    Returns
    -------
    Array
        A read-only view of the diagonal of a 2-d array; for a 1-d array a new one of shape (N + abs(k), N + abs(k)),
        which is zero elsewhere; or ``out``.

    Raises
    ------
    ShapeError
        If ``x`` has another number of dimensions.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.diag(ua.asarray([1, 2]), k=1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    >>> ua.diag(ua.asarray([[1, 2], [3, 4]]))
    array([1, 4])

    Source: NumPy, ``diag``.
    """
    if x.ndim == 2:
        return diagonal(x, offset=k)
    if x.ndim != 1:
        raise ShapeError(f"diag() takes a 1-d or 2-d array, not one of shape {x.shape}: diagflat() takes any")
    return _with_diagonal(x, k)


def _with_diagonal(x: Array, k: int) -> Array:
    k = as_integer(k, "the offset of a diagonal")
    size = x.size + abs(k)
    check_memory((size, size), x.dtype)
    spread = pad(x, ((0, abs(k)),)) if k else x
    mask = eye(size, k=k, dtype=dtypes.bool, device=x.device, backend=x._backend.name)
    return where(mask, spread[:, None] if k >= 0 else spread[None, :], False)


@compositional()
def diagflat(x: Array, /, *, k: int = 0, out: Array | None = None) -> Array:
    """Return the matrix with all elements of an array on a diagonal.

    Parameters
    ----------
    x
        An array of any shape, taken in C order.
    k
        Which diagonal: above the main one if positive.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 2-d array, which is zero elsewhere, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.diagflat(ua.asarray([[1], [2]]))
    array([[1, 0],
           [0, 2]])

    Source: NumPy, ``diagflat``.
    """
    return _with_diagonal(reshape(x, (-1,)), k)


@compositional()
def vander(x: Array, /, n: int | None = None, *, increasing: bool = False, out: Array | None = None) -> Array:
    """Return the Vandermonde matrix: a row of powers for each element.

    Parameters
    ----------
    x
        A 1-d array of M elements.
    n
        How many powers; as many as there are elements by default.
    increasing
        Whether the powers ascend from left to right.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of shape (M, n), or ``out``; of the dtype that that of ``x`` and int64 promote to.

    Raises
    ------
    ShapeError
        If ``x`` isn't 1-d.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.vander(ua.asarray([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]])

    Source: NumPy, ``vander``.
    """
    if x.ndim != 1:
        raise ShapeError(f"vander() takes a 1-d array, not one of shape {x.shape}")
    count = x.size if n is None else as_integer(n, "the number of powers")
    if count < 0:
        raise ValueError(f"vander() gives no negative number of powers, as {count}")
    x = x.astype(dtypes.promote(x.dtype, dtypes.int64), copy=False)
    check_memory((x.size, count), x.dtype)
    factor = x[:, None]
    powers = ones_like(factor)[:, : min(count, 1)]
    # Twice as many powers at each step.
    while (known := powers.shape[1]) < count:
        if known > 1:
            factor = multiply(factor, factor)
        powers = concat([powers, multiply(powers[:, : count - known], factor)], axis=1)
    return powers.copy() if increasing else flip(powers, axis=1).copy()
