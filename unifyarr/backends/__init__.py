"""Engines: one package each, a class ``Backend`` and kernels on native arrays; ``base`` is the contract."""

from .base import Ability, Backend
from .base.deferring import wanted_chunks

__all__ = ["Ability", "Backend", "wanted_chunks"]
