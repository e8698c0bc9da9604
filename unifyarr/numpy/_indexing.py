"""Reading and writing by indices."""

from __future__ import annotations

__all__: list[str] = []
