"""Keys of hashable values that differ where Python's equality isn't enough."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Number
from operator import attrgetter

import numpy as np

# Two values of one of these types that compare equal are the same for every function.
PLAIN = frozenset({int, bool, str, bytes, type(None)})
# Whether the instances of a dataclass are equal where their fields are.
_compares = attrgetter("__dataclass_params__.eq")


def exact(value: object) -> Hashable:
    """Return a key of a hashable value that differs between 1, 1.0 and True, and between 0.0 and -0.0."""
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if isinstance(value, (Number, np.generic, range, slice)):
        return kind, value, repr(value)
    if isinstance(value, frozenset):
        return kind, value, frozenset(map(exact, value))
    if isinstance(value, tuple):
        return kind, value, tuple(map(exact, value))
    if hasattr(kind, "__dataclass_fields__") and _compares(kind):
        import dataclasses

        found = dataclasses.fields(kind)  # type: ignore[arg-type]
        compared = (each.name for each in found if (each.compare if each.hash is None else each.hash))
        return kind, value, tuple([exact(getattr(value, name)) for name in compared])
    return kind, value
