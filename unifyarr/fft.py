"""The extension ``fft`` of the standard, discrete Fourier transforms, with cosine transforms beside."""

from __future__ import annotations

from ._core.declaring.spaces import publish
from ._core.values.missing import missing_from
from .functions import cosine_transforms, fft

__all__ = publish("fft", globals())

__getattr__ = missing_from(__name__)
