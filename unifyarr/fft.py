"""The extension ``fft`` of the standard, discrete Fourier transforms, with cosine transforms beside."""

from __future__ import annotations

from ._core.values.missing import missing_from
from .functions.cosine_transforms import dct, idct
from .functions.fft import (
    fft,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    ifft,
    ifftn,
    ifftshift,
    ihfft,
    irfft,
    irfftn,
    rfft,
    rfftfreq,
    rfftn,
)

__all__ = [
    "dct",
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "idct",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

__getattr__ = missing_from(__name__)
