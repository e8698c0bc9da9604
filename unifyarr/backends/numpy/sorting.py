"""Sorting on NumPy: NaN last, or first where descending; always stable, which the standard allows.

NumPy's unstable sort takes a half or a tenth of the time of its stable one, as the processor is. A sort of values shows
only by zeros and NaN which one was taken, and indices of equal elements are sorted by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..kernels import bound_by, declines, support_native_out
from . import _direct as np
from ._bfloat16 import ordered

# From so many elements on it pays to look for zeros and NaN.
_SOME = 1 << 8
# From so many elements on it pays to look for equal ones, among a sample of about so many first.
_MANY, _SAMPLE = 1 << 14, 1 << 10


def _is_quick(x: np.ndarray) -> bool:
    # For integers of 16 bits and fewer the stable sort counts, which is faster than all others. The unstable one sorts
    # float16 wrongly: with NaN present, it puts some -0.0 before -1.0. Complex numbers have several zeros and NaN.
    return x.itemsize > 2 and x.dtype.kind in "iuf"


def _sorting(*, axis: int, descending: bool, stable: bool) -> Callable[[np.ndarray], np.ndarray]:
    def ascending(x: np.ndarray, /) -> np.ndarray:
        if x.size >= _SOME:
            return sort(x, axis=axis, descending=False, stable=stable)
        result = x.copy("K")
        result.sort(axis, "stable")
        return result

    return partial(sort, axis=axis, descending=True, stable=stable) if descending else ascending


@ordered
@bound_by(_sorting)
@support_native_out
def sort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool, out: Any = None) -> np.ndarray:
    quick = x.size >= _SOME and _is_quick(x)
    if out is None and not descending:
        result = ascending = x.copy("K")
    else:
        result = np.empty_like(x) if out is None else out
        ascending = np.flip(result, axis) if descending else result
        np.copyto(ascending, x)
    ascending.sort(axis, stable=not quick)
    if x.dtype.kind == "f" and (quick or descending):
        _restore(result, x, axis)
    return result


def _restore(result: np.ndarray, x: np.ndarray, axis: int) -> None:
    """Give zeros and NaN, whose bits may differ, the order that they had."""
    if axis != x.ndim - 1:
        result, x = result.swapaxes(axis, -1), x.swapaxes(axis, -1)
    # Each lane has as many of them as it had.
    if not x.all():
        zeros = x[x == 0]
        if np.signbit(zeros).any():
            result[result == 0] = zeros
    if x.size and np.isnan(result[..., [0, -1]]).any():
        result[np.isnan(result)] = x[np.isnan(x)]


def _lacks_an_order(x: np.ndarray, /, **_: Any) -> bool:
    # NaN of bfloat16 has no place there, and of float16 the wrong one on some processors.
    return x.dtype.itemsize == 2 and x.dtype.kind not in "iu"


@declines(_lacks_an_order)
def partition(x: np.ndarray, /, *, places: tuple[int, ...]) -> np.ndarray:
    return NotImplemented if _lacks_an_order(x) else np.partition(x, places)


def _argsorting(*, axis: int, descending: bool, stable: bool) -> Callable[[np.ndarray], np.ndarray]:
    def ascending(x: np.ndarray, /) -> np.ndarray:
        if x.size >= _SOME:
            return argsort(x, axis=axis, descending=False, stable=stable)
        return x.argsort(axis, stable=stable or not _is_quick(x))

    return partial(argsort, axis=axis, descending=True, stable=stable) if descending else ascending


@ordered
@bound_by(_argsorting)
def argsort(x: np.ndarray, /, *, axis: int, descending: bool, stable: bool) -> np.ndarray:
    if not descending:
        if x.ndim == 1 and x.size >= _MANY and _is_quick(x) and _is_mixed(x[:: x.size // _SAMPLE]):
            return _argsort_quickly(x)
        return np.argsort(x, axis, stable=stable or not _is_quick(x))
    # Sorting the reversed array ascending and reversing the result keeps equal elements in their order.
    result = np.flip(argsort(np.flip(x, axis), axis=axis, descending=False, stable=stable), axis)
    return x.shape[axis] - 1 - result


def _is_mixed(sample: np.ndarray) -> bool:
    """Return whether no elements are equal, which is slow to mend, and not all in order, which is fast to sort."""
    values = np.sort(sample)
    return not ((values[1:] == values[:-1]) | (values[1:] != values[1:])).any() and not (values == sample).all()


def _argsort_quickly(x: np.ndarray) -> np.ndarray:
    """Return the indices that sort a 1-d array, those of equal elements in ascending order."""
    order = np.argsort(x)
    values = x[order]
    # Behind a NaN there are none but NaN.
    equal = (values[1:] == values[:-1]) | (values[:-1] != values[:-1])
    if equal.any():
        starts, tied = np.ones(x.size, np.bool), np.zeros(x.size, np.bool)
        starts[1:] = ~equal
        tied[1:] = equal
        tied[:-1] |= equal
        # The runs stay where they are, and the indices of each are sorted: both in one number.
        runs = np.cumsum(starts)[tied] * x.size + order[tied]
        runs.sort()
        order[tied] = runs % x.size
    return order
