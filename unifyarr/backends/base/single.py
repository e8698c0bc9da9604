"""The one thing that a kernel does for arrays of some types, which a step of a compiled loop does without Python."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Core(NamedTuple):
    """A generalized ufunc; if it ``refuses`` invalid values, they raise an error, and other flags are ignored."""

    ufunc: Any
    refuses: bool = False


class Picks(NamedTuple):
    """Elements that arrays of integers pick along the axes from ``axis`` on, copied from an array or written to it."""

    axis: int


class Fold(NamedTuple):
    """A reduction by a ufunc over the first axis or all, running totals of a vector, or the place of an extreme.

    It's only of dense arrays, and of one dtype.
    """

    kind: Literal["whole", "rows", "running", "greatest", "least"]
    ufunc: Any = None


def picks(x: object, *others: object) -> Picks | None:
    """Return how ``gather`` and ``scatter`` pick elements, ``None`` without indices."""
    return Picks(0) if others else None
