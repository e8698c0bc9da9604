"""Images of other sizes: elements between those of an image."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single
from .._core.arrays.numbers import as_real
from .._core.calling.invoke import check_result
from .._core.declaring.declare import mixed
from .._core.values.arguments import for_axes, shown
from .._core.values.shapes import check_memory
from ..errors import ShapeError
from ..typing import Shape
from ._adaptive import mean_of
from ._sampling import Sampling, Step, resampled
from .windows import Lengths, as_lengths

# The number of axes that a mode is for, where that's in its name.
AXES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
MODES = ("nearest", "nearest-exact", "area", *AXES)
# No array has so many elements.
MOST = 2.0**64


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


@mixed(kernels=("resample",), namespace="nn")
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
    each = zip(x.shape[2:], lengths, steps, strict=True)
    samplings = [Sampling(mode, *lengths, align_corners, antialias) for lengths in each]
    kept = mode in ("linear", "bilinear", "trilinear") or (antialias and not copies)
    result = resampled(result, [None if kept and one.elements == one.results else one for one in samplings])
    return result.astype(dtype, copy=result is x)
