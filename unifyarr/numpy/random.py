"""Random numbers: NumPy's own generators, on the host, whose arrays are of the current backend."""

from __future__ import annotations

__all__: list[str] = []
