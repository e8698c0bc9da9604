"""Neural networks: activations, losses, layers and normalisations, on any backend."""

from __future__ import annotations

from .functions.activations import softmax

__all__ = [
    "softmax",
]
