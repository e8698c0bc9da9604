"""Tuples with names, for the package itself: classes that take a third of the time to make.

``typing.NamedTuple`` compiles the text of each annotation, which is most of what it does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:
    from collections import namedtuple

    class _Making(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.pop("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__annotations__ = fields
            for key, value in body.items():
                if key not in ("__module__", "__qualname__"):
                    setattr(made, key, value)
            return made

    class Record(metaclass=_Making):
        """A class that derives from this one is a named tuple with the fields that it annotates."""


__all__ = ["Record"]
