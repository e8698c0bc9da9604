"""Convolution of signals of one, two or more axes, in the extension ``signal``."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.arrays.array import Array
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.shapes import as_axes
from ..errors import ShapeError
from ..typing import Scalar
from .convolution import conv2d
from .elementwise import multiply
from .fft import fftn, ifftn, irfftn, rfftn
from .linalg import narrowed, promoted, widened
from .manipulation import flip
from .padding import pad
from .products import check_mode

_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _swaps(name: str, mode: str, one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether the second array is the larger one, in ``"valid"`` mode, where one has to fit into the other."""
    if mode != "valid" or all(a >= b for a, b in zip(one, other, strict=True)):
        return False
    if all(a <= b for a, b in zip(one, other, strict=True)):
        return True
    raise ShapeError(
        f"{name}() of mode 'valid' takes arrays of which one fits into the other, not of lengths {tuple(one)} and "
        f"{tuple(other)}"
    )


@compositional(namespace="signal")
def convolve2d(
    x1: Array,
    x2: Array,
    /,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: Scalar | Array = 0,
    *,
    out: Array | None = None,
) -> Array:
    """Convolve two matrices: sum the products of elements whose positions have the same sum.

    Parameters
    ----------
    x1, x2
        Arrays of shapes (M, N) and (K, L), with elements.
    mode
        Which sums: ``"full"``, all of them; ``"same"``, as many as ``x1`` has, from the middle; ``"valid"``, those that
        take all elements of the smaller array.
    boundary
        What lies around ``x1``: ``"fill"``, a number; ``"wrap"``, the array again; ``"symm"``, its mirror image.
    fillvalue
        The number.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array of the dtype that the two promote to, in which integers wrap, of shape (M + K - 1, N + L - 1),
        (M, N), or (M - K + 1, N - L + 1); or ``out``.

    Raises
    ------
    ShapeError
        If they aren't matrices, one of them is empty, or neither fits into the other in mode ``"valid"``.
    ValueError
        If there's no such mode or boundary.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.convolve2d(ua.asarray([[1, 2], [3, 4]]), ua.asarray([[1, 1]]), mode="same")
    array([[1, 3],
           [3, 7]])

    Source: SciPy, ``signal.convolve2d``.
    """
    if x1.ndim != 2 or x2.ndim != 2 or not x1.size or not x2.size:
        raise ShapeError(f"convolve2d() takes two matrices with elements, not of shapes {x1.shape} and {x2.shape}")
    check_mode(mode)
    if boundary not in _BOUNDARIES:
        raise ValueError(f"boundary of convolve2d() is one of {', '.join(_BOUNDARIES)}, not {boundary!r}")
    if _swaps("convolve2d", mode, x1.shape, x2.shape):
        x1, x2 = x2, x1
    x1, x2 = promoted(x1, x2)
    before = {
        "full": [(length - 1, length - 1) for length in x2.shape],
        "same": [(length // 2, (length - 1) // 2) for length in x2.shape],
        "valid": [(0, 0), (0, 0)],
    }[mode]
    constants = fillvalue if boundary == "fill" else 0
    around = pad(x1, before, _BOUNDARIES[boundary], constant_values=constants)
    whole: Array = conv2d(around[None, None], flip(x2)[None, None])[0, 0]
    return whole


@compositional(namespace="signal")
def fftconvolve(
    x1: Array,
    x2: Array,
    /,
    mode: str = "full",
    axes: int | Sequence[int] | None = None,
    *,
    out: Array | None = None,
) -> Array:
    """Convolve two arrays by their Fourier transforms, which takes less time where both are long.

    Parameters
    ----------
    x1, x2
        Arrays of as many axes.
    mode
        Which sums: ``"full"``, all of them; ``"same"``, as many as ``x1`` has, from the middle; ``"valid"``, those that
        take all elements of the smaller array.
    axes
        The axes to convolve along; ``None`` means all. Other axes broadcast.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new floating-point array, or ``out``: along ``axes`` of length M + N - 1, M, or M - N + 1; bools and integers
        are taken as float64. An element that isn't finite makes NaN of all.

    Raises
    ------
    ShapeError
        If the numbers of axes differ, an array is empty, other axes don't broadcast, or neither array fits into the
        other in mode ``"valid"``.
    ValueError
        If there's no such mode.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.signal.fftconvolve(ua.asarray([1.0, 2.0, 3.0]), ua.asarray([1.0, 1.0, 0.5])).round(3)
    array([1. , 3. , 5.5, 4. , 1.5])

    Source: SciPy, ``signal.fftconvolve``.
    """
    if x1.ndim != x2.ndim or not x1.size or not x2.size:
        raise ShapeError(
            f"fftconvolve() takes arrays of as many axes, with elements, not of shapes {x1.shape} and {x2.shape}"
        )
    check_mode(mode)
    dtype, (x1, x2) = widened(*promoted(x1, x2))
    along = as_axes(axes, x1.ndim)
    one, other = ([x.shape[axis] for axis in along] for x in (x1, x2))
    if _swaps("fftconvolve", mode, one, other):
        x1, x2, one, other = x2, x1, other, one
    if not along:
        return narrowed(multiply(x1, x2), dtype)
    first, last = (fftn, ifftn) if dtypes.rank(x1.dtype) == 3 else (rfftn, irfftn)
    whole = [a + b - 1 for a, b in zip(one, other, strict=True)]
    points = list(map(_fast, whole))
    product = multiply(first(x1, s=points, axes=along), first(x2, s=points, axes=along))
    key = [slice(None)] * x1.ndim
    for axis, length, a, b in zip(along, whole, one, other, strict=True):
        count = {"full": length, "same": a, "valid": a - b + 1}[mode]
        start = (length - count) // 2
        key[axis] = slice(start, start + count)
    return narrowed(last(product, s=points, axes=along)[(*key,)].copy(), dtype)


def _fast(length: int) -> int:
    """Return a number of points, not below a length, that is a product of 2, 3 and 5: transforms of those are fast."""
    if type(length) is not int or length < 7:
        return length
    least = 1 << (length - 1).bit_length()
    five = 1
    while five < least:
        three = five
        while three < least:
            # The least power of 2 with which the product is no less than the length.
            least = min(least, three << max(0, -(-length // three) - 1).bit_length())
            three *= 3
        five *= 5
    return least
