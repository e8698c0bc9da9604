"""Fourier transforms: NumPy's fft, on every backend.

>>> import unifyarr.numpy as np
>>> np.fft.fftshift(np.fft.fftfreq(4))
array([-0.5 , -0.25,  0.  ,  0.25])
"""

from __future__ import annotations

import operator
from typing import Any

import numpy

from .. import fft as own
from .._core.arrays.array import Array
from .._core.values.shapes import as_axis
from ._following import as_array, deliver, follows, publish


def _one(transform: Any, a: Any, n: Any, axis: int, norm: str | None, out: Any) -> Array:
    result = transform(a, n=n, axis=axis, norm="backward" if norm is None else norm)
    return result if out is None else deliver(result, out)


@follows(numpy.fft.fft)
def fft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform along an axis."""
    return _one(own.fft, a, n, axis, norm, out)


@follows(numpy.fft.ifft)
def ifft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform back along an axis."""
    return _one(own.ifft, a, n, axis, norm, out)


@follows(numpy.fft.rfft)
def rfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform real numbers along an axis: the half that isn't the conjugate of the other."""
    return _one(own.rfft, a, n, axis, norm, out)


@follows(numpy.fft.irfft)
def irfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform back to real numbers along an axis."""
    return _one(own.irfft, a, n, axis, norm, out)


@follows(numpy.fft.hfft)
def hfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform the half of a signal with Hermitian symmetry to a real spectrum."""
    return _one(own.hfft, a, n, axis, norm, out)


@follows(numpy.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Array:
    """Transform a real spectrum back to the half of a signal with Hermitian symmetry."""
    return _one(own.ihfft, a, n, axis, norm, out)


def _lengths(a: Array, s: Any, axes: Any) -> tuple[list[int | None], list[int]]:
    # An axis may be named several times: it's transformed as often.
    given = None if s is None else [operator.index(each) for each in s]
    if axes is None:
        axes = range(-len(given), 0) if given is not None else range(a.ndim)
    places = [as_axis(axis, a.ndim) for axis in axes]
    if given is None:
        return [None] * len(places), places
    if len(given) != len(places):
        raise ValueError(f"s has {len(given)} lengths for {len(places)} axes")
    return [a.shape[place] if n == -1 else n for n, place in zip(given, places, strict=True)], places


def _several(name: str, a: Any, s: Any, axes: Any, norm: str | None, out: Any) -> Array:
    norm = "backward" if norm is None else norm
    a = as_array(a)
    counts, places = _lengths(a, s, axes)
    if len(set(places)) == len(places) and places:
        given = None if None in counts else counts
        return deliver(getattr(own, f"{name}n")(a, s=given, axes=places, norm=norm), out)
    halved = name[-4:] == "rfft"
    if halved and not places:
        raise IndexError(f"{name}n() halves the last of its axes, and there is none")
    result = a
    last: Any = {"n": counts.pop(), "axis": places.pop(), "norm": norm} if halved else {}
    if name == "rfft":
        result = own.rfft(result, **last)
    step = own.ifft if name[0] == "i" else own.fft
    for n, axis in zip(reversed(counts), reversed(places), strict=True):
        result = step(result, n=n, axis=axis, norm=norm)
    if name == "irfft":
        result = own.irfft(result, **last)
    return deliver(result if result is not a else a.copy(), out)


@follows(numpy.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Array:
    """Transform along several axes."""
    return _several("fft", a, s, axes, norm, out)


@follows(numpy.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Array:
    """Transform back along several axes."""
    return _several("ifft", a, s, axes, norm, out)


@follows(numpy.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Array:
    """Transform real numbers along several axes, of which the last one is halved."""
    return _several("rfft", a, s, axes, norm, out)


@follows(numpy.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None, out: Any = None) -> Array:
    """Transform back to real numbers along several axes."""
    return _several("irfft", a, s, axes, norm, out)


@follows(numpy.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Array:
    """Transform along two axes."""
    return _several("fft", a, s, axes, norm, out)


@follows(numpy.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Array:
    """Transform back along two axes."""
    return _several("ifft", a, s, axes, norm, out)


@follows(numpy.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Array:
    """Transform real numbers along two axes."""
    return _several("rfft", a, s, axes, norm, out)


@follows(numpy.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, out: Any = None) -> Array:
    """Transform back to real numbers along two axes."""
    return _several("irfft", a, s, axes, norm, out)


def _check_count(n: Any) -> int:
    try:
        return operator.index(n)
    except TypeError:
        raise ValueError(f"n is a whole number of points, not {n!r}") from None


@follows(numpy.fft.fftfreq)
def fftfreq(n: int, d: Any = 1.0, device: Any = None) -> Array:
    """Return the frequencies of the points of a transform."""
    return own.fftfreq(_check_count(n), d=d, device=device)


@follows(numpy.fft.rfftfreq)
def rfftfreq(n: int, d: Any = 1.0, device: Any = None) -> Array:
    """Return the frequencies of the points of a transform of real numbers."""
    return own.rfftfreq(_check_count(n), d=d, device=device)


@follows(numpy.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Array:
    """Move the frequency zero to the middle."""
    return own.fftshift(as_array(x), axes=axes)


@follows(numpy.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Array:
    """Undo ``fftshift``."""
    return own.ifftshift(as_array(x), axes=axes)


__all__ = publish(numpy.fft, globals())
