"""Images of other sizes: elements between those of an image."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single, from_host, indices_from_host
from .._core.arrays.numbers import as_real
from .._core.calling.invoke import check_result
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import for_axes, shown
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from ..typing import Shape
from ._adaptive import mean_of
from .elementwise import multiply
from .indexing import take
from .statistical import sum
from .windows import Lengths, as_lengths

# The number of axes that a mode is for, where that's in its name.
AXES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
MODES = ("nearest", "nearest-exact", "area", *AXES)
# The free number of the cubic kernel: as OpenCV has it, and, to scale down without aliasing, as Pillow has it.
FREE, FREE_ANTIALIASED = -0.75, -0.5

# No array has so many elements.
MOST = 2.0**64
# How far apart results lie among the elements, as a numerator and a denominator.
Step = tuple[float, float]
# Along an axis, the places of the elements that each result is made of, and their weights.
Weighted = tuple[np.ndarray, np.ndarray]


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
    # Multiplied first, so that what is an integer becomes one.
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
    """Return what a kernel weighs that is as wide as results lie apart, and no narrower than elements do."""
    width = max(step[0] / step[1], 1.0)
    edges = centres + 0.5
    first = np.maximum((edges - reach * width + 0.5).astype(np.int64), 0)
    last = np.minimum((edges + reach * width + 0.5).astype(np.int64), length)
    places = first[:, None] + np.arange(max(1, np.max(last - first)))
    weights = np.where(places < last[:, None], kernel((places - centres[:, None]) / width), 0)
    return np.minimum(places, last[:, None] - 1), weights / np.sum(weights, axis=1, keepdims=True)


def _weighted(mode: str, length: int, count: int, step: Step, align_corners: bool, antialias: bool) -> Weighted:
    centres = _centres(length, count, step, align_corners)
    if antialias and mode == "bicubic":
        return _antialiased(length, centres, step, 2, lambda x: _cubic_kernel(x, FREE_ANTIALIASED))
    if antialias:
        return _antialiased(length, centres, step, 1, _linear_kernel)
    return (_cubic if mode == "bicubic" else _linear)(length, centres)


def _lengths(x: Array, size: Lengths | None, scale_factor: float | Sequence[float] | None) -> tuple[Shape, list[Step]]:
    """Return the lengths of the result's spatial axes, and how far apart its elements lie among those of ``x``."""
    spatial = x.shape[2:]
    if not 1 <= len(spatial) <= 3 or 0 in spatial:
        raise ShapeError(f"interpolate() takes x of shape (N, C, ...) with one to three axes more, not {x.shape}")
    if (size is None) is (scale_factor is None):
        raise ValueError(
            f"interpolate() takes either size or scale_factor, not {shown(size)} and {shown(scale_factor)}"
        )
    if size is not None:
        lengths = as_lengths("size", size, len(spatial))
        return lengths, list(zip(spatial, lengths, strict=True))
    scales = [as_real(each, "scale_factor of interpolate()") for each in for_axes(scale_factor, len(spatial))]
    if len(scales) != len(spatial) or not all(0 < each < MOST for each in scales):
        raise ShapeError(f"scale_factor is a positive number, or {len(spatial)} of them, not {shown(scale_factor)}")
    lengths = tuple(math.floor(old * scale) for old, scale in zip(spatial, scales, strict=True))
    if min(lengths) < 1:
        raise ShapeError(f"scale_factor {shown(scale_factor)} leaves nothing of {spatial} elements")
    return lengths, [(1.0, scale) for scale in scales]


def _check_mode(mode: str, axes: int, align_corners: bool, antialias: bool) -> None:
    if mode not in MODES:
        raise ValueError(f"mode of interpolate() is one of {', '.join(MODES)}, not {mode!r}")
    if AXES.get(mode, axes) != axes:
        raise ShapeError(f"mode {mode!r} of interpolate() is for {AXES[mode]} axes behind the channels, not {axes}")
    if align_corners and mode not in AXES:
        raise ValueError(f"mode {mode!r} of interpolate() has no corners to align: leave align_corners out")
    if antialias and (mode not in ("bilinear", "bicubic") or align_corners):
        raise ValueError("antialias of interpolate() is for modes 'bilinear' and 'bicubic', without align_corners")


@compositional(namespace="nn")
def interpolate(
    x: Array,
    /,
    size: Lengths | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    *,
    align_corners: bool = False,
    antialias: bool = False,
    out: Array | None = None,
) -> Array:
    """Scale signals, images or volumes up or down.

    Parameters
    ----------
    x
        An array of shape (N, C, L), (N, C, H, W) or (N, C, D, H, W).
    size
        The lengths of the result's axes behind the channels: an integer, or one for each axis.
    scale_factor
        Or by which number to multiply the lengths, which are then rounded down: a number, or one for each axis.
    mode
        ``"nearest"`` and ``"nearest-exact"`` copy elements, the first as older programs do, the second those whose
        centres are nearest. ``"linear"``, ``"bilinear"`` and ``"trilinear"``, for one, two and three axes, lie on lines
        between elements, ``"bicubic"`` on cubic curves. ``"area"`` has means: ``adaptive_avg_pool2d``, say.
    align_corners
        Whether the first and last elements of an axis keep their places; by default its edges do, which lie half an
        element further out.
    antialias
        Whether each result takes in all elements around its place if the image gets smaller: for two axes.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype of ``x``, or ``out``; where elements aren't copied, bools and integers give float64.

    Raises
    ------
    ShapeError
        If ``x`` has other axes, or nothing would be left.
    ValueError
        If there's no such mode, it lacks an option, or size and scale are both given or both left out.

    Notes
    -----
    ``scale_factor`` says how far apart results lie even where lengths were rounded down; ``size`` has them cover the
    axis. Where a place lies between two elements, torch's nearest element differs with dtype and number of axes.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([[[0.0, 1.0, 4.0]]])
    >>> ua.nn.interpolate(x, 6)
    array([[[0., 0., 1., 1., 4., 4.]]])
    >>> ua.nn.interpolate(x, 5, mode="linear", align_corners=True)
    array([[[0. , 0.5, 1. , 2.5, 4. ]]])

    Source: Keys, "Cubic convolution interpolation for digital image processing" (1981); values as
    ``torch.nn.functional.interpolate``.
    """
    axes = x.ndim - 2
    lengths, steps = _lengths(x, size, scale_factor)
    _check_mode(mode, axes, align_corners, antialias)
    if mode == "area":
        return mean_of("interpolate", axes, x, lengths, out)
    check_memory((*x.shape[:2], *lengths), x.dtype)
    copies = mode.startswith("nearest")
    dtype = x.dtype if copies else as_floating(x).dtype
    if out is not None:
        check_result("interpolate", out, (*x.shape[:2], *lengths), dtype)
    result = x if copies else as_single(as_floating(x))
    for axis, (count, step) in enumerate(zip(lengths, steps, strict=True), 2):
        length = x.shape[axis]
        if copies:
            places = _nearest(length, count, step, mode == "nearest-exact")
            result = take(result, indices_from_host(places, x), axis=axis)
        elif count != length or (mode == "bicubic" and not antialias):
            result = _combine(result, axis, _weighted(mode, length, count, step, align_corners, antialias))
    return result.astype(dtype, copy=result is x)


def _combine(x: Array, axis: int, weighted: Weighted) -> Array:
    # The elements that each result is made of lie along one axis more, before that of the results: NumPy adds up whole
    # rows of results so, and not a few neighbours at a time.
    places, weights = (each.T for each in weighted)
    side_by_side = take(x, indices_from_host(places, x), axis=axis)
    factors = weights.reshape(*weights.shape, *(1 for _ in x.shape[axis + 1 :])).astype(dtypes.real_of(x.dtype).dtype)
    return sum(multiply(side_by_side, from_host(factors, None, x.device, x._backend)), axis=axis)
