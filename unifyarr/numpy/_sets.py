"""Sets: arrays as sets of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from .._core.values.shapes import as_axis
from ._following import as_array, follows, together


class UniqueAllResult(NamedTuple):
    """The result of ``unique_all``."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The result of ``unique_counts``."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The result of ``unique_inverse``."""

    values: Array
    inverse_indices: Array


@follows(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """Return the sorted distinct elements, or the distinct parts along an axis.

    With ``return_index`` their first positions follow, with ``return_inverse`` the positions that make the array of
    them, with ``return_counts`` how often each is there.

    >>> import unifyarr.numpy as np
    >>> np.unique([3, 1, 3], return_counts=True)
    (array([1, 3]), array([1, 2]))
    >>> np.unique([[1, 2], [1, 2]], axis=0)
    array([[1, 2]])
    """
    x = as_array(ar)
    if axis is not None and x.ndim == 1:
        as_axis(axis, 1)
        axis = None
    asked = return_index, return_inverse, return_counts
    if axis is not None:
        found = _of_parts(x, as_axis(axis, x.ndim))
    elif any(asked):
        found = ua.unique_all(x)
    else:
        values = ua.unique_values(x)
        return values[: _distinct(values)] if equal_nan else values
    values, index, inverse, counts = found
    if equal_nan and axis is None and (count := _distinct(values)) < values.shape[0]:
        # The last of them stands for all NaNs.
        rest = ua.sum(counts[count - 1 :])
        values, index, counts = values[:count], index[:count], counts[:count].copy()
        counts[-1] = rest
        inverse = ua.minimum(inverse, count - 1)
    chosen = [each for each, wanted in zip((index, inverse, counts), asked, strict=True) if wanted]
    return (values, *chosen) if chosen else values


def _distinct(values: Array) -> int:
    # How many of sorted values stay if NaNs, which stand at the end, are one.
    if values.dtype.kind not in "fc" or not values.shape[0]:
        return values.shape[0]
    count = int(ua.count_nonzero(ua.isnan(values)))
    return values.shape[0] - max(count - 1, 0)


def _of_parts(x: Array, axis: int) -> tuple[Array, Array, Array, Array]:
    # Parts along an axis are rows, whose elements are compared one after the other.
    moved = ua.moveaxis(x, axis, 0)
    length = moved.shape[0]
    rows = ua.reshape(moved, (length, moved.size // length if length else 0))
    if rows.shape[1] and length:
        order = ua.lexsort([rows[:, column] for column in reversed(range(rows.shape[1]))])
        ordered = ua.take(rows, order, axis=0)
        differs = ua.any(ordered[1:] != ordered[:-1], axis=1)
    else:
        # Parts without elements are equal.
        order = ua.asarray(np.arange(length), backend=x.backend, device=x.device)
        differs = ua.zeros(max(length - 1, 0), dtype=dtypes.bool, backend=x.backend, device=x.device)
    first = ua.ones(min(length, 1), dtype=dtypes.bool, backend=x.backend, device=x.device)
    begins = ua.concat([first, differs])
    (places,) = ua.nonzero(begins)
    inverse = ua.zeros(length, dtype=dtypes.int64, backend=x.backend, device=x.device)
    inverse[order] = ua.cumulative_sum(begins.astype(dtypes.int64), axis=0) - 1
    index = ua.take(order, places, axis=0)
    end = ua.asarray(np.array([length]), backend=x.backend, device=x.device)
    counts = ua.diff(ua.concat([places, end])) if length else places
    return ua.take(x, index, axis=axis), index, inverse, counts


@follows(np.unique_all)
def unique_all(x: Any) -> UniqueAllResult:
    """Return the distinct elements, their first positions, the positions that make the array of them, and counts."""
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


@follows(np.unique_counts)
def unique_counts(x: Any) -> UniqueCountsResult:
    """Return the distinct elements, and how often each is there."""
    return UniqueCountsResult(*ua.unique_counts(as_array(x)))


@follows(np.unique_inverse)
def unique_inverse(x: Any) -> UniqueInverseResult:
    """Return the distinct elements, and the positions that make the array of them."""
    return UniqueInverseResult(*ua.unique_inverse(as_array(x)))


@follows(np.unique_values)
def unique_values(x: Any) -> Array:
    """Return the distinct elements, where NaNs are distinct."""
    return ua.unique_values(as_array(x))


def _vectors(first: Any, second: Any) -> list[Array]:
    return [ua.reshape(x, (-1,)) for x in together(first, second)]


@follows(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Array:
    """Return the sorted distinct elements of two arrays."""
    return unique(ua.concat(_vectors(ar1, ar2)))


@follows(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """Return the sorted distinct elements that are in both arrays; with ``return_indices`` their first positions too.

    >>> import unifyarr.numpy as np
    >>> np.intersect1d([1, 3, 4], [3, 1, 5])
    array([1, 3])
    """
    first, second = _vectors(ar1, ar2)
    if not return_indices:
        return ua.intersect1d(first, second, assume_unique=bool(assume_unique))
    index1 = index2 = None
    if not assume_unique:
        first, index1 = unique(first, return_index=True)
        second, index2 = unique(second, return_index=True)
    both = ua.concat([first, second])
    order = ua.argsort(both)
    ordered = ua.take(both, order, axis=0)
    (places,) = ua.nonzero(ordered[1:] == ordered[:-1])
    values = ua.take(ordered, places, axis=0)
    one, other = ua.take(order, places, axis=0), ua.take(order, places + 1, axis=0) - first.shape[0]
    if index1 is not None and index2 is not None:
        one, other = ua.take(index1, one, axis=0), ua.take(index2, other, axis=0)
    return values, one, other


@follows(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the sorted distinct elements that are in one of two arrays only."""
    first, second = _vectors(ar1, ar2)
    if not assume_unique:
        first, second = unique(first), unique(second)
    ordered = ua.sort(ua.concat([first, second]))
    if not ordered.shape[0]:
        return ordered
    differs = ordered[1:] != ordered[:-1]
    end = ua.ones(1, dtype=dtypes.bool, backend=ordered.backend, device=ordered.device)
    flags = ua.concat([end, differs, end])
    return ordered[flags[1:] & flags[:-1]]


@follows(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the distinct elements of the first array that aren't in the second, sorted unless they're unique."""
    first, second = together(ar1, ar2)
    first = ua.reshape(first, (-1,)) if assume_unique else unique(first)
    return first[ua.isin(first, second, invert=True)]


@follows(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Array:
    """Return for each element whether it is one of others; ``kind``, of NumPy's ways to do it, decides nothing."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind is None, 'sort' or 'table', not {kind!r}")
    if kind is None and isinstance(element, Array) and isinstance(test_elements, Array):
        return ua.isin(element, test_elements, invert=bool(invert))
    x, others = together(element, test_elements)
    if kind == "table" and (x.dtype.kind not in "biu" or others.dtype.kind not in "biu"):
        raise ValueError("kind='table' is for integers and bools: leave it out")
    if kind == "table" and others.size and others.dtype.kind != "b":
        lowest, highest = int(ua.min(others)), int(ua.max(others))
        if highest - lowest > np.iinfo(others.dtype.dtype).max:
            # NumPy's table has a place for each, which it counts in this dtype.
            raise RuntimeError(f"test_elements are more apart than {others.dtype} counts: leave kind out")
    return ua.isin(x, others, invert=bool(invert))
