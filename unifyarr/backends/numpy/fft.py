"""Fourier transforms on NumPy; complex results have the precision of their input."""

from __future__ import annotations

from typing import Any

from . import _direct as np


def fft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.fft(x, n, axis, norm)


def ifft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.ifft(x, n, axis, norm)


def fftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.fftn(x, s, axes, norm)


def ifftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.ifftn(x, s, axes, norm)


def rfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.rfft(x, n, axis, norm)


def irfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.irfft(x, n, axis, norm)


def rfftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.rfftn(x, s, axes, norm)


def irfftn(x: np.ndarray, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: Any) -> np.ndarray:
    return np.fft.irfftn(x, s, axes, norm)


def hfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.hfft(x, n, axis, norm)


def ihfft(x: np.ndarray, /, *, n: int, axis: int, norm: Any) -> np.ndarray:
    return np.fft.ihfft(x, n, axis, norm)
