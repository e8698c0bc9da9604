"""Grids: what is made by indexing, and by shapes."""

from __future__ import annotations

__all__: list[str] = []
