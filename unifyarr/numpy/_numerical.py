"""Interpolation, derivatives, integrals, convolution and polynomials."""

from __future__ import annotations

__all__: list[str] = []
