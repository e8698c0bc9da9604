"""Signals: windows, transforms of short stretches and linear filters, mostly by SciPy's names."""

from __future__ import annotations

from ._core.values.missing import missing_from
from .functions.filters import lfilter
from .functions.short_time import istft, stft
from .functions.signal_windows import bartlett, blackman, hamming, hann, kaiser

__all__ = [
    "bartlett",
    "blackman",
    "hamming",
    "hann",
    "istft",
    "kaiser",
    "lfilter",
    "stft",
]

__getattr__ = missing_from(__name__)
