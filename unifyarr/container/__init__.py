"""Containers: nests of arrays that every function takes, and updates in place."""

from .container import Container

__all__ = ["Container"]
