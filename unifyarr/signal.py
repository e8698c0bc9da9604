"""Signals: windows, transforms of short stretches and linear filters, mostly by SciPy's names."""

from __future__ import annotations

from ._core.declaring.spaces import publish
from ._core.values.missing import missing_from
from .functions import filters, plane_products, short_time, signal_windows

__all__ = publish("signal", globals())

__getattr__ = missing_from(__name__)
