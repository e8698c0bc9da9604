"""The ufuncs, as objects."""

from __future__ import annotations

__all__: list[str] = []
