"""The declarations of every function, those of namespaces that are imported at their first use too."""

from __future__ import annotations

from .. import fft, linalg, nn, signal, special
from .._core.declaring.declare import DECLARATIONS

NAMESPACES = fft, linalg, nn, signal, special

__all__ = ["DECLARATIONS", "NAMESPACES"]
