"""A container of one level, as thin as possible: each engine's subclass adds the writes."""

from __future__ import annotations

from typing import Any, Self


class Nest:
    """A container of one level."""

    __slots__ = ("items",)

    def __init__(self, items: dict[str, Any]) -> None:
        self.items = items

    def map(self, function: Any) -> Self:
        return type(self)({name: function(x) for name, x in self.items.items()})

    def __mul__(self, other: Any) -> Self:
        if type(other) is type(self):
            return type(self)({name: x * other.items[name] for name, x in self.items.items()})
        return type(self)({name: x * other for name, x in self.items.items()})
