"""Tests of values, and of arrays as wholes."""

from __future__ import annotations

__all__: list[str] = []
