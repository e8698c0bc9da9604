"""Discrete cosine transforms, made of Fourier transforms of real numbers.

Each type is a sum over cosines, whose factor that mixes both indices is a Fourier transform of twice the length.
"""

from __future__ import annotations

import math

import numpy as np

from .._core.arrays.array import Array
from .._core.arrays.convert import as_floating, as_single, table_beside
from .._core.declaring.declare import compositional
from .._core.engines import dtypes
from .._core.values.arguments import as_integer
from .._core.values.shapes import as_axis
from ..errors import ShapeError
from .elementwise import add, conj, imag, multiply, real
from .fft import fft, irfft, rfft
from .manipulation import moveaxis
from .padding import resized

_NORMS = ("backward", "ortho", "forward")
# The type whose transform is the inverse, up to a factor.
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@compositional(namespace="fft")
def dct(
    x: Array,
    /,
    type: int = 2,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Compute the discrete cosine transform along an axis.

    Parameters
    ----------
    x
        An array; bools and integers are taken as float64, half precision as float32.
    type
        Which transform: 1, 2, 3 or 4. Type 2 is the one of images and sounds; type 3 is its inverse.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled: ``"backward"``: the inverse by 1/m; ``"forward"``: the forward transform by 1/m; ``"ortho"``:
        both, so that the matrix of the transform is orthogonal. ``m`` is 2n, and 2(n - 1) for type 1.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``; complex where ``x`` is.

    Raises
    ------
    ValueError
        If there's no such type or norm.
    ShapeError
        If there's no point along the axis; type 1 takes two at least.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.fft.dct(ua.asarray([1.0, 1.0]))[0]
    array(4.)
    >>> ua.fft.dct(ua.asarray([1.0, 2.0, 5.0]), 1)
    array([10., -4.,  2.])

    Source: values as SciPy's ``fft.dct``; Makhoul, "A fast cosine transform in one and two dimensions" (1980).
    """
    return _transformed("dct", x, type, n, axis, norm, inverse=False)


@compositional(namespace="fft")
def idct(
    x: Array,
    /,
    type: int = 2,
    *,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    out: Array | None = None,
) -> Array:
    """Compute the inverse of the discrete cosine transform along an axis.

    Parameters
    ----------
    x
        An array; bools and integers are taken as float64, half precision as float32.
    type
        The type of the transform that is inverted: 1, 2, 3 or 4.
    n
        The number of points: the input is cut or padded with zeros to it.
    axis
        The axis.
    norm
        What is scaled, as ``dct`` takes it.
    out
        An array of the result's shape for the result.

    Returns
    -------
    Array
        A new array, or ``out``; complex where ``x`` is.

    Raises
    ------
    ValueError
        If there's no such type or norm.
    ShapeError
        If there's no point along the axis; type 1 takes two at least.

    Examples
    --------
    >>> import unifyarr as ua
    >>> x = ua.asarray([1.0, 2.0, 3.0])
    >>> ua.allclose(ua.fft.idct(ua.fft.dct(x)), x)
    array(True)

    Source: values as SciPy's ``fft.idct``.
    """
    return _transformed("idct", x, type, n, axis, norm, inverse=True)


def _transformed(name: str, x: Array, type: int, n: int | None, axis: int, norm: str, *, inverse: bool) -> Array:
    kind = as_integer(type, f"the type of {name}()")
    if kind not in _INVERSE:
        raise ValueError(f"the type of {name}() is 1, 2, 3 or 4, not {type!r}")
    if norm not in _NORMS:
        raise ValueError(f"norm is one of {', '.join(_NORMS)}, not {norm!r}")
    place = as_axis(axis, x.ndim)
    count = x.shape[place] if n is None else as_integer(n, "n")
    least = 2 if kind == 1 else 1
    if count < least:
        raise ShapeError(f"{name}() of type {kind} has at least {least} points along its axis, not {count}")
    x = resized(moveaxis(as_single(as_floating(x)), place, -1), count)
    kind = _INVERSE[kind] if inverse else kind
    full = 2 * (count - 1 if kind == 1 else count)
    if norm == "ortho":
        found = _orthogonal(x, kind, count, full)
    else:
        found = _summed(x, kind, count)
        found = multiply(found, 1 / full) if inverse == (norm == "backward") else found
    return moveaxis(found, -1, place)


def _orthogonal(x: Array, kind: int, count: int, full: int) -> Array:
    # The first cosine of a sum, and the last of type 1, is longer than the others by a root of 2.
    longer = np.ones(count)
    longer[[0, -1] if kind == 1 else [] if kind == 4 else [0]] = math.sqrt(2)
    given = multiply(x, _constant(longer, x)) if kind in (1, 3) else x
    found = _summed(given, kind, count)
    return multiply(found, _constant((1 if kind == 3 else 1 / longer) / math.sqrt(full) * np.ones(count), x))


def _constant(values: np.ndarray, like: Array) -> Array:
    """Return numbers in the precision of an array, where it is."""
    single = like.dtype in (dtypes.float32, dtypes.complex64)
    dtype = {"d": "f4", "D": "c8"}[values.dtype.char] if single else None
    return table_beside(values, like, dtype)


def _summed(x: Array, kind: int, count: int) -> Array:
    """Return the sums of a type along the last axis, without a factor."""
    if dtypes.rank(x.dtype) > 2:
        # The sums are linear.
        return add(_summed(real(x), kind, count), multiply(_summed(imag(x), kind, count), 1j))
    if kind == 1:
        return irfft(x, n=2 * (count - 1), norm="forward")[..., :count]
    places = np.arange(count)
    turn = _constant(np.exp(-0.5j * np.pi * places / count), x)
    if kind == 2:
        return multiply(real(multiply(rfft(x, n=2 * count)[..., :count], turn)), 2)
    if kind == 3:
        return irfft(multiply(x, conj(turn)), n=2 * count, norm="forward")[..., :count]
    half = _constant(np.exp(-0.25j * np.pi * (2 * places + 1) / count), x)
    return multiply(real(multiply(fft(multiply(x, turn), n=2 * count)[..., :count], half)), 2)
