"""Sets of the values of two arrays, ascending; each NaN is a value of its own, as in ``sets``."""

from __future__ import annotations

from .._core.arrays.array import Array
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .creation import ones_like
from .elementwise import equal, logical_and, not_equal
from .linalg import promoted
from .manipulation import concat, reshape
from .sets import isin, unique_values
from .sorting import sort


def _flat(*arrays: Array) -> tuple[Array, ...]:
    return tuple([reshape(x, (-1,)) for x in promoted(*arrays)])


def _distinct(*arrays: Array) -> tuple[Array, ...]:
    return tuple([unique_values(x) for x in promoted(*arrays)])


@compositional()
def union1d(x1: Array, x2: Array, /, *, out: Array | None = None) -> Array:
    """Return the values that are in one of two arrays or in both.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, ascending, of the dtype that the two promote to, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.union1d(ua.asarray([3, 1]), ua.asarray([1, 2]))
    array([1, 2, 3])

    Source: NumPy, ``union1d``.
    """
    return unique_values(concat(_flat(x1, x2)))


@compositional()
def intersect1d(x1: Array, x2: Array, /, *, assume_unique: bool = False, out: Array | None = None) -> Array:
    """Return the values that are in both of two arrays.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    assume_unique
        Whether the values of each array are distinct, which saves time.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, ascending, of the dtype that the two promote to, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.intersect1d(ua.asarray([3, 1, 2]), ua.asarray([1, 2, 2]))
    array([1, 2])

    Source: NumPy, ``intersect1d``.
    """
    values = sort(concat(_flat(x1, x2) if assume_unique else _distinct(x1, x2)))
    return values[:-1][equal(values[1:], values[:-1])]


@compositional()
def setdiff1d(x1: Array, x2: Array, /, *, assume_unique: bool = False, out: Array | None = None) -> Array:
    """Return the values of one array that aren't in another.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    assume_unique
        Whether the values of ``x1`` are distinct: then they keep their order.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array of the dtype of ``x1``, ascending, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.setdiff1d(ua.asarray([3, 1, 2]), ua.asarray([2]))
    array([1, 3])

    Source: NumPy, ``setdiff1d``.
    """
    values = reshape(x1, (-1,)) if assume_unique else unique_values(x1)
    return values[isin(values, x2, invert=True)]


@compositional()
def setxor1d(x1: Array, x2: Array, /, *, assume_unique: bool = False, out: Array | None = None) -> Array:
    """Return the values that are in one of two arrays, but not in both.

    Parameters
    ----------
    x1, x2
        Arrays of any shapes.
    assume_unique
        Whether the values of each array are distinct, which saves time.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new 1-d array, ascending, of the dtype that the two promote to, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.setxor1d(ua.asarray([3, 1, 2]), ua.asarray([1, 2, 4]))
    array([3, 4])

    Source: NumPy, ``setxor1d``.
    """
    values = sort(concat(_flat(x1, x2) if assume_unique else _distinct(x1, x2)))
    differs = not_equal(values[1:], values[:-1])
    ends = ones_like(values[:1], dtype=dtypes.bool)
    return values[logical_and(concat([ends, differs]), concat([differs, ends]))]
