"""Engines: one package each, a class ``Backend`` and kernels on native arrays; ``base`` is the contract."""

from .base import Ability, Backend

__all__ = ["Ability", "Backend"]
