"""Classes that are made of mixins."""

from __future__ import annotations

from types import FunctionType


def present_as(cls: type, *parts: type) -> None:
    """Give the methods of classes that ``cls`` is made of its name, which Python's errors about arguments show."""
    for part in parts:
        for method in vars(part).values():
            if isinstance(method, FunctionType):
                method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
