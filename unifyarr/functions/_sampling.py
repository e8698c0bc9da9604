"""How results along an axis are made of the elements there: as copies, sums with weights, or means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import indices_from_host, table_beside
from .._core.calling.invoke import attempt
from .._core.engines import dtypes
from .._core.values.records import Record
from .elementwise import multiply
from .indexing import take
from .statistical import sum

# The free number of the cubic kernel: as OpenCV has it, and, to scale down without aliasing, as Pillow has it.
FREE, FREE_ANTIALIASED = -0.75, -0.5

# How far apart results lie among the elements, as a numerator and a denominator.
Step = tuple[float, float]
# The places of the elements that each result is made of, and their weights.
Weighted = tuple[np.ndarray, np.ndarray]
# Places of all results behind each other, where those of each begin, and the weights, unless all are one.
Bags = tuple[np.ndarray, np.ndarray, np.ndarray | None]

# Tables that are kept.
_MOST = 256


class Sampling(Record):
    """By which formula, of how many elements, how many results are made, and how far apart they lie.

    The kernel ``resample`` takes one for each of the last axes; ``transposed`` it gives the elements' cotangents.
    """

    mode: str
    elements: int
    results: int
    step: Step = (1.0, 1.0)
    align_corners: bool = False
    antialias: bool = False
    transposed: bool = False

    @property
    def made(self) -> int:
        """Return how long the axis becomes."""
        return self.elements if self.transposed else self.results

    def exchanged(self) -> Sampling:
        """Return the transposed one."""
        return self._replace(transposed=not self.transposed)

    def bags(self) -> Bags:
        """Return which elements are added up for each result, in arrays that aren't written."""
        return _bags(self)


def windows_of(length: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where so many windows begin that cover an axis, and how many elements each has."""
    number = np.arange(count)
    starts, ends = number * length // count, -(-(number + 1) * length // count)
    return starts, ends - starts


def places_of(length: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the elements of all windows, first elements first, and how many elements each window has.

    Shorter windows repeat their last element.
    """
    starts, sizes = windows_of(length, count)
    return np.minimum(starts + np.arange(np.max(sizes))[:, None], starts + sizes - 1), sizes


@lru_cache(_MOST)
def _bags(sampling: Sampling) -> Bags:
    weights: np.ndarray | None
    if sampling.mode == "mean":
        starts, sizes = windows_of(sampling.elements, sampling.results)
        first = np.cumsum(sizes) - sizes
        places = np.arange(sizes.sum()) + np.repeat(starts - first, sizes)
        weights = np.repeat(1 / sizes, sizes)
    else:
        table, factors = _table(sampling)
        sizes = np.full(len(table), table.shape[1])
        first = np.cumsum(sizes) - sizes
        places, weights = table.ravel(), None if factors is None else factors.ravel()
    if sampling.transposed:
        order = np.argsort(places, kind="stable")
        first = np.searchsorted(places[order], np.arange(sampling.elements))
        places = np.repeat(np.arange(sampling.results), sizes)[order]
        weights = None if weights is None else weights[order]
    return places, first, weights


@lru_cache(_MOST)
def _table(sampling: Sampling) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the places of the elements of each result, equally many of all, and weights unless they're copied."""
    mode, length, count, step, align_corners, antialias, _ = sampling
    if mode.startswith("nearest"):
        return _nearest(length, count, step, mode == "nearest-exact")[:, None], None
    if mode == "windows":
        # Those of each window behind each other, as far apart as the windows.
        return places_of(length, int(step[1]))[0].T.reshape(-1, 1), None
    centres = _centres(length, count, step, align_corners)
    if antialias and mode == "bicubic":
        return _antialiased(length, centres, step, 2, lambda x: _cubic_kernel(x, FREE_ANTIALIASED))
    if antialias:
        return _antialiased(length, centres, step, 1, _linear_kernel)
    return (_cubic if mode == "bicubic" else _linear)(length, centres)


def _nearest(length: int, count: int, step: Step, exact: bool) -> np.ndarray:
    """Return the place of the element that each result is a copy of."""
    places = _products(np.arange(count) + (0.5 if exact else 0), step)
    found: np.ndarray = np.minimum(np.floor(places).astype(np.int64), length - 1)
    return found


def _centres(length: int, count: int, step: Step, align_corners: bool) -> np.ndarray:
    """Return where results lie between the elements: the corners of both agree, or the edges around them."""
    if align_corners:
        return _products(np.arange(count), (length - 1, max(count - 1, 1)))
    return _products(np.arange(count) + 0.5, step) - 0.5


def _products(numbers: np.ndarray, step: Step) -> np.ndarray:
    # Multiplied first, so that integers stay exact.
    products: np.ndarray = numbers * step[0] / step[1]
    return products


def _linear(length: int, centres: np.ndarray) -> Weighted:
    first = np.minimum(np.floor(np.maximum(centres, 0)), length - 1)
    share = np.clip(centres - first, 0, 1)
    places = np.stack([first, np.minimum(first + 1, length - 1)], axis=1)
    return places.astype(np.int64), np.stack([1 - share, share], axis=1)


def _cubic(length: int, centres: np.ndarray) -> Weighted:
    first = np.minimum(np.floor(centres), length - 1)
    share = np.clip(centres - first, 0, 1)
    offsets = np.arange(-1, 3)
    places = np.clip(first[:, None] + offsets, 0, length - 1)
    return places.astype(np.int64), _cubic_kernel(share[:, None] - offsets, FREE)


def _linear_kernel(distance: np.ndarray) -> np.ndarray:
    kernel: np.ndarray = np.maximum(1 - np.abs(distance), 0)
    return kernel


def _cubic_kernel(distance: np.ndarray, free: float) -> np.ndarray:
    x = np.abs(distance)
    near = ((free + 2) * x - (free + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * free
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _antialiased(
    length: int, centres: np.ndarray, step: Step, reach: int, kernel: Callable[[np.ndarray], np.ndarray]
) -> Weighted:
    """Return the weights of a kernel as wide as the distance of results, and at least as that of elements."""
    width = max(step[0] / step[1], 1.0)
    edges = centres + 0.5
    first = np.maximum((edges - reach * width + 0.5).astype(np.int64), 0)
    last = np.minimum((edges + reach * width + 0.5).astype(np.int64), length)
    places = first[:, None] + np.arange(max(1, np.max(last - first)))
    weights = np.where(places < last[:, None], kernel((places - centres[:, None]) / width), 0)
    return np.minimum(places, last[:, None] - 1), weights / np.sum(weights, axis=1, keepdims=True)


def offered(x: Array, samplings: Sequence[Sampling | None]) -> Array | None:
    """Return an array with its last axes resampled by a kernel, ``None`` where the engine has none for it."""
    if type(x.shape) is not tuple or not x.size:
        return None
    leading = x.shape[: x.ndim - len(samplings)]
    each = zip(samplings, x.shape[len(leading) :], strict=True)
    shape = (*leading, *(length if one is None else one.made for one, length in each))
    return attempt("resample", x, samplings=tuple(samplings), result=(shape, x.dtype))


def resampled(x: Array, samplings: Sequence[Sampling | None]) -> Array:
    """Return an array with its last axes resampled; ``None`` keeps one."""
    if not any(samplings):
        return x
    found = offered(x, samplings)
    if found is not None:
        return found
    for axis, sampling in enumerate(samplings, x.ndim - len(samplings)):
        if sampling is not None:
            x = _along(x, axis, sampling)
    return x


def _along(x: Array, axis: int, sampling: Sampling) -> Array:
    table, weights = _table(sampling)
    if weights is None:
        return take(x, indices_from_host(table[:, 0].copy(), x), axis=axis)
    # The elements that each result is made of lie along one axis more, before that of the results: NumPy adds up whole
    # rows of results so, and not a few neighbours at a time.
    side_by_side = take(x, indices_from_host(table.T.copy(), x), axis=axis)
    factors = weights.T.reshape(*weights.T.shape, *(1 for _ in x.shape[axis + 1 :]))
    factors = factors.astype(dtypes.real_of(x.dtype).dtype)
    return sum(multiply(side_by_side, table_beside(factors, x)), axis=axis)
