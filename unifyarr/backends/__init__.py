"""Engines: one package each, a class ``Backend`` and kernels on native arrays; ``base`` is the contract."""

from .base import Backend

__all__ = ["Backend"]
