"""Linear algebra: NumPy's linalg."""

from __future__ import annotations

__all__: list[str] = []
