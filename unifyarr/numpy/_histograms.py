"""Counts of elements in bins."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy

from .. import functions as ua
from .._core.arrays.array import Array
from .._core.engines import dtypes
from ..functions._quantiles import known_values
from ._following import as_array, follows, together


@follows(numpy.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Count how often each number that isn't negative occurs, or add up the weights of each.

    >>> import unifyarr.numpy as np
    >>> np.bincount([0, 1, 1, 3])
    array([1, 2, 0, 1])
    """
    numbers = as_array(x)
    if isinstance(x, (list, tuple)) and not x:
        numbers = numbers.astype("int64")
    if dtypes.rank(numbers.dtype) > 1:
        raise TypeError(f"bincount() counts integers, not {numbers.dtype}")
    if weights is not None:
        weights = together(numbers, weights)[1].astype("float64")
    return ua.bincount(numbers.astype("int64", copy=False), weights=weights, minlength=minlength)


@follows(numpy.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """Return for each element the index of its bin, whose edges rise or fall.

    >>> import unifyarr.numpy as np
    >>> np.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    x, bins = together(x, bins)
    if dtypes.rank(x.dtype) == 3:
        raise TypeError("digitize() takes real numbers, which have an order")
    side = "left" if right else "right"
    edges = known_values(bins)
    if edges is None:
        # Whether the edges fall depends on values.
        falling = bins.shape[0] - ua.searchsorted(ua.flip(bins), x, side=side)
        return ua.where(bins[0] > bins[-1], falling, ua.searchsorted(bins, x, side=side))
    steps = list(itertools.pairwise(edges))
    if bins.ndim != 1 or not (all(a <= b for a, b in steps) or all(a >= b for a, b in steps)):
        raise ValueError("bins of digitize() are one-dimensional, and rise or fall: sort them")
    if edges and edges[0] > edges[-1]:
        return ua.subtract(bins.shape[0], ua.searchsorted(ua.flip(bins), x, side=side))
    return ua.searchsorted(bins, x, side=side)


def _bins(x: Array, bins: Any, range: Any, weights: Any) -> Any:
    """Return bins as the main namespace takes them: how many, or their edges."""
    if isinstance(bins, str):
        # How many bins these rules give is a shape, which has to be known from the values.
        given = None if weights is None else weights.__array__()
        return as_array(together(x, numpy.histogram_bin_edges(x.__array__(), bins, range, given))[1])
    if numpy.ndim(bins) == 0 if not isinstance(bins, Array) else bins.ndim == 0:
        return int(bins) if isinstance(bins, Array) else bins
    edges = together(x, bins)[1]
    if edges.ndim != 1:
        raise ValueError(f"the edges of bins are one-dimensional, not of shape {edges.shape}")
    return edges


@follows(numpy.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, Array]:
    """Count how many elements fall into each bin; return the counts and the edges."""
    x = as_array(a)
    if weights is not None:
        weights = together(x, weights)[1]
    given = _bins(x, bins, range, weights)
    counts, edges = ua.histogram(x, given, range=range, weights=weights, density=bool(density))
    return counts, edges


@follows(numpy.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Return the edges that ``histogram`` has."""
    x = as_array(a)
    return histogram(x, bins, range)[1] if weights is None else histogram(x, bins, range, None, weights)[1]


@follows(numpy.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, tuple[Array, ...]]:
    """Count how many points fall into each cell of a grid; return the counts and the edges along each axis."""
    points = sample if hasattr(sample, "shape") else ua.stack(together(*sample), axis=-1)
    points = as_array(points)
    points = ua.expand_dims(points, -1) if points.ndim == 1 else points
    if points.ndim != 2:
        raise ValueError(f"the points of histogramdd() are rows of a 2-d array, not of shape {points.shape}")
    count = points.shape[1]
    each_bins = [bins] * count if not hasattr(bins, "__len__") else list(bins)
    each_range = [None] * count if range is None else list(range)
    if len(each_bins) != count or len(each_range) != count:
        raise ValueError(f"bins and range have an item for each of {count} coordinates")
    if any(not hasattr(each, "__len__") and each < 1 for each in each_bins):
        raise ValueError(f"there is one bin or more along each coordinate, not {each_bins}")
    edges, places = [], []
    for place in numpy.arange(count).tolist():
        column = points[:, place]
        own = histogram_bin_edges(column, each_bins[place], each_range[place])
        edges.append(own)
        # The last bin holds its upper edge too; outliers count in bins of their own, at both ends.
        found = ua.searchsorted(own, column, side="right")
        places.append(ua.where(column == own[-1], own.shape[0] - 1, found))
    return _gridded(points, places, edges, density, weights), tuple(edges)


def _gridded(points: Array, places: Sequence[Array], edges: list[Array], density: Any, weights: Any) -> Array:
    shape = tuple(each.shape[0] + 1 for each in edges)
    flat = ua.zeros_like(points[:, 0], dtype="int64")
    for place, length in zip(places, shape, strict=True):
        flat = flat * length + place
    counts = ua.reshape(bincount(flat, weights, int(numpy.prod(shape))).astype("float64"), shape)
    counts = counts[(slice(1, -1),) * len(shape)]
    if density:
        total = ua.sum(counts)
        for axis, own in enumerate(edges):
            width = ua.diff(own)
            counts = counts / ua.reshape(width, (-1,) + (1,) * (len(shape) - axis - 1))
        counts = counts / total
    return counts


@follows(numpy.histogram2d)
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """Count how many points of a plane fall into each cell; return the counts and the edges of both axes."""
    x, y = together(x, y)
    if x.shape != y.shape:
        raise ValueError(f"x and y have an element for each point, but their shapes are {x.shape} and {y.shape}")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    elif hasattr(bins, "__len__") and len(bins) == 1:
        bins = [bins[0], bins[0]]
    counts, (first, second) = histogramdd(ua.stack([x, y], axis=-1), bins, range, density, weights)
    return counts, first, second
