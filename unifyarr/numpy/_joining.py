"""Joining, splitting, inserting and repeating."""

from __future__ import annotations

__all__: list[str] = []
