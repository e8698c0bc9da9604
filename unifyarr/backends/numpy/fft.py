"""Fourier transforms on NumPy; complex results have the precision of their input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kernels import Applied, bound_by
from . import _direct as np


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    # By place, without another call between.
    return bound_by(lambda *, n, axis, norm: Applied(function, n, axis, norm))


def _over(function: Callable[..., Any]) -> Callable[..., Any]:
    return bound_by(lambda *, s, axes, norm: Applied(function, s, axes, norm))


@_along(np.fft.fft)
def fft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.fft(x, n, axis, norm)


@_along(np.fft.ifft)
def ifft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.ifft(x, n, axis, norm)


@_over(np.fft.fftn)
def fftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.fftn(x, s, axes, norm)


@_over(np.fft.ifftn)
def ifftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.ifftn(x, s, axes, norm)


@_along(np.fft.rfft)
def rfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.rfft(x, n, axis, norm)


@_along(np.fft.irfft)
def irfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.irfft(x, n, axis, norm)


@_over(np.fft.rfftn)
def rfftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.rfftn(x, s, axes, norm)


@_over(np.fft.irfftn)
def irfftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.irfftn(x, s, axes, norm)


@_along(np.fft.hfft)
def hfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.hfft(x, n, axis, norm)


@_along(np.fft.ihfft)
def ihfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.ihfft(x, n, axis, norm)
