"""The parts of NumPy's ``lib`` that programs use: ``lib.stride_tricks`` and ``lib.array_utils``."""

from __future__ import annotations

from . import array_utils, stride_tricks

__all__ = ["array_utils", "stride_tricks"]
