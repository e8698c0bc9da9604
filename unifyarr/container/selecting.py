"""Patterns of paths: which leaves of a container they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache


def _names(pattern: object) -> tuple[str, ...]:
    if not isinstance(pattern, str):
        raise TypeError(f"a pattern of paths is a string such as 'layers/*/weight', not {type(pattern).__name__}")
    names = tuple(pattern.split("/"))
    if not all(names):
        raise ValueError(f"{pattern!r} has an empty name: write a pattern like 'layers/*/weight'")
    return names


def _matches(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether the names of a pattern are those of a path, or of a node above it."""

    # A pattern with several ``**`` asks for the same two places again and again.
    @cache
    def rest(i: int, j: int) -> bool:
        if j == len(pattern):
            return True
        if pattern[j] == "**":
            return rest(i, j + 1) or (i < len(path) and rest(i + 1, j))
        return i < len(path) and fnmatchcase(path[i], pattern[j]) and rest(i + 1, j + 1)

    return rest(0, 0)


def matching(paths: Sequence[str], patterns: Iterable[object]) -> set[str]:
    """Return the paths that one of some patterns names; ``KeyError`` for a pattern that names none."""
    names = {path: path.split("/") for path in paths}
    found: set[str] = set()
    for pattern in patterns:
        parts = _names(pattern)
        here = {path for path in paths if _matches(names[path], parts)}
        if not here:
            raise KeyError(f"{pattern!r} names nothing in a container of {', '.join(paths) or 'nothing'}")
        found |= here
    return found
