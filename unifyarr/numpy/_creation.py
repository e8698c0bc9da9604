"""Arrays from shapes, ranges, functions and data."""

from __future__ import annotations

__all__: list[str] = []
