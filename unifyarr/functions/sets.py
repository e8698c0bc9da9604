"""Set functions: values in ascending order, each NaN a value of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._core.arrays.array import Array
from .._core.arrays.convert import as_array_beside
from .._core.calling.invoke import attempt_several, invoke, invoke_several
from .._core.declaring.declare import mixed, primary
from .._core.engines import dtypes
from .._core.values.records import Record

if TYPE_CHECKING:
    from ..typing import Scalar


class UniqueAll(Record):
    """The result of ``unique_all``."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(Record):
    """The result of ``unique_counts``."""

    values: Array
    counts: Array


class UniqueInverse(Record):
    """The result of ``unique_inverse``."""

    values: Array
    inverse_indices: Array


@primary()
def isin(x1: Array | Scalar, x2: Array | Scalar, /, *, invert: bool = False, out: Array | None = None) -> Array:
    """Test whether each element of ``x1`` is among those of ``x2``.

    Parameters
    ----------
    x1, x2
        Arrays of any shape, or scalars; NaN is among nothing.
    invert
        Whether to test that it's not.
    out
        An array of the shape of ``x1`` for the result.

    Returns
    -------
    Array
        A new bool array of the shape of ``x1``, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.isin(ua.asarray([1, 2, 3]), ua.asarray([3, 1]))
    array([ True, False,  True])

    Source: Array API standard 2025.12, ``isin``.
    """
    like = next(x for x in (x1, x2) if isinstance(x, Array))
    dtype = dtypes.promote(*(x.dtype if isinstance(x, Array) else type(x) for x in (x1, x2)))
    first, second = (as_array_beside(x, like).astype(dtype, copy=False) for x in (x1, x2))
    return invoke("isin", first, second, invert=bool(invert), out=out, result=(first.shape, dtypes.bool))


def _of_kernel(name: str, x: Array, *places: int) -> tuple[Array, ...]:
    """Return the result of a backend's kernel, which may be missing or decline, or of ``unique_all``."""
    found = attempt_several(name, x)
    if found is None:
        whole = invoke_several("unique_all", x)
        found = tuple([whole[place] for place in places])
    return found


@primary()
def unique_all(x: Array, /, *, out: tuple[Array, ...] | None = None) -> UniqueAll:
    """Return the distinct elements with where they stand and how often.

    Parameters
    ----------
    x
        An array of any shape.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    UniqueAll
        ``values``, 1-d, ascending; ``indices`` of their first occurrence in the flattened array; ``inverse_indices`` of
        the shape of ``x`` that rebuild it from the values; ``counts``. All but the values are int64.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unique_all(ua.asarray([3, 1, 3])).counts
    array([1, 2])

    Source: Array API standard 2025.12, ``unique_all``.
    """
    return UniqueAll(*invoke_several("unique_all", x))


@mixed(kernels=("unique_counts", "unique_all"))
def unique_counts(x: Array, /, *, out: tuple[Array, ...] | None = None) -> UniqueCounts:
    """Return the distinct elements and how often they occur.

    Parameters
    ----------
    x
        An array of any shape.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    UniqueCounts
        ``values``, 1-d, ascending, and ``counts``, int64.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unique_counts(ua.asarray([3, 1, 3])).values
    array([1, 3])

    Source: Array API standard 2025.12, ``unique_counts``.
    """
    return UniqueCounts(*_of_kernel("unique_counts", x, 0, 3))


@mixed(kernels=("unique_inverse", "unique_all"))
def unique_inverse(x: Array, /, *, out: tuple[Array, ...] | None = None) -> UniqueInverse:
    """Return the distinct elements and the indices that rebuild the array from them.

    Parameters
    ----------
    x
        An array of any shape.
    out
        A tuple of arrays, of the results' shapes, to write the results to; it's returned then.

    Returns
    -------
    UniqueInverse
        ``values``, 1-d, ascending, and ``inverse_indices``, int64, of the shape of ``x``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unique_inverse(ua.asarray([3, 1, 3])).inverse_indices
    array([1, 0, 1])

    Source: Array API standard 2025.12, ``unique_inverse``.
    """
    return UniqueInverse(*_of_kernel("unique_inverse", x, 0, 2))


@primary()
def unique_values(x: Array, /, *, out: Array | None = None) -> Array:
    """Return the distinct elements.

    Parameters
    ----------
    x
        An array of any shape.
    out
        A 1-d array of as many elements for the result.

    Returns
    -------
    Array
        A new 1-d array in ascending order, or ``out``.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.unique_values(ua.asarray([3, 1, 3]))
    array([1, 3])

    Source: Array API standard 2025.12, ``unique_values``.
    """
    return invoke("unique_values", x, out=out)
