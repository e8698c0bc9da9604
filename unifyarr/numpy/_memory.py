"""Memory, copies and types of arrays."""

from __future__ import annotations

__all__: list[str] = []
