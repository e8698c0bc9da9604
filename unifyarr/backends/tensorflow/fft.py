"""Fourier transforms on TensorFlow, in one dimension at a time; complex results have the precision of their input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..kernels import Applied, known_by
from ._engine import COMPLEX, REAL, cast, integer, integers, join, parts, raw, scalar, swap_last, tf

_OF_REAL = {tf.float32: tf.complex64, tf.float64: tf.complex128}
# hfft is an inverse transform that counts as a forward one, and ihfft the reverse.
_SWAPPED = {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}


def _complex(x: Any) -> Any:
    return x if x.dtype in COMPLEX else cast(x, _OF_REAL[x.dtype])


def _along(op: Callable[[Any], Any], x: Any, length: int, axis: int) -> Any:
    """Apply a transform of the last axis along another one, cut or filled with 0 to ``length``."""
    x = swap_last(x, axis)
    *rows, old = x.shape
    if old > length:
        x = x[..., :length]
    elif old < length:
        x = raw.ConcatV2(values=[x, tf.zeros((*rows, length - old), x.dtype)], axis=integer(len(rows)))
    return swap_last(op(x), axis)


def _scaled(x: Any, factor: float) -> Any:
    if factor == 1:
        return x
    if x.dtype not in COMPLEX:
        return raw.Mul(x=x, y=scalar(factor, x))
    # Part by part: a complex factor would make NaN of infinity.
    real, imag = parts(x)
    return join(raw.Mul(x=real, y=scalar(factor, real)), raw.Mul(x=imag, y=scalar(factor, imag)))


def _check(n: int) -> None:
    if n < 1:
        raise ValueError(f"invalid number of FFT data points ({n}) specified")


def _forward_factor(n: int, norm: str | None) -> float:
    return {"ortho": 1 / math.sqrt(n), "forward": 1 / n}.get(norm or "backward", 1.0)


def _inverse_factor(n: int, norm: str | None) -> float:
    """Return the factor that remains after the engine, which divides by ``n``."""
    return {"ortho": math.sqrt(n), "forward": float(n)}.get(norm or "backward", 1.0)


def _known_by_op(op: str, factor: Callable[[int, str | None], float]) -> Callable[..., Any]:
    """Declare that an op does the calls along the last axis, as it is, where there's nothing to scale."""

    def known(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
        if n < 1 or axis != x.ndim - 1 or x.shape[axis] != n or factor(n, norm) != 1:
            return None
        if op == "RFFT":
            return Applied(raw.RFFT, integers(n), _OF_REAL[x.dtype])
        return getattr(raw, op) if x.dtype in COMPLEX else None

    return known_by(known)


@_known_by_op("FFT", _forward_factor)
def fft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    _check(n)
    return _scaled(_along(lambda rows: raw.FFT(input=rows), _complex(x), n, axis), _forward_factor(n, norm))


@_known_by_op("IFFT", _inverse_factor)
def ifft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    _check(n)
    return _scaled(_along(lambda rows: raw.IFFT(input=rows), _complex(x), n, axis), _inverse_factor(n, norm))


@_known_by_op("RFFT", _forward_factor)
def rfft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    _check(n)
    dtype = _OF_REAL[x.dtype]
    result = _along(lambda rows: raw.RFFT(input=rows, fft_length=integers(n), Tcomplex=dtype), x, n, axis)
    return _scaled(result, _forward_factor(n, norm))


def irfft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    _check(n)
    x = _complex(x)
    dtype = REAL[x.dtype]
    result = _along(lambda rows: raw.IRFFT(input=rows, fft_length=integers(n), Treal=dtype), x, n // 2 + 1, axis)
    return _scaled(result, _inverse_factor(n, norm))


def fftn(x: Any, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: str | None) -> Any:
    for n, axis in zip(reversed(s), reversed(axes), strict=True):
        x = fft(x, n=n, axis=axis, norm=norm)
    return x


def ifftn(x: Any, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: str | None) -> Any:
    for n, axis in zip(reversed(s), reversed(axes), strict=True):
        x = ifft(x, n=n, axis=axis, norm=norm)
    return x


def rfftn(x: Any, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: str | None) -> Any:
    return fftn(rfft(x, n=s[-1], axis=axes[-1], norm=norm), s=s[:-1], axes=axes[:-1], norm=norm)


def irfftn(x: Any, /, *, s: tuple[int, ...], axes: tuple[int, ...], norm: str | None) -> Any:
    return irfft(ifftn(x, s=s[:-1], axes=axes[:-1], norm=norm), n=s[-1], axis=axes[-1], norm=norm)


def hfft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    return irfft(raw.Conj(input=_complex(x)), n=n, axis=axis, norm=_SWAPPED[norm])


def ihfft(x: Any, /, *, n: int, axis: int, norm: str | None) -> Any:
    return raw.Conj(input=rfft(x, n=n, axis=axis, norm=_SWAPPED[norm]))
