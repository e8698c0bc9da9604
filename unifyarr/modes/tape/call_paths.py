"""Call paths: the calls that a record has made so far, so that a known walk backwards can be replayed.

A call path is a node of a tree. Each call of a function leads to a child, whose key is the rule, the places where the
operands were made, and the types of operands that are constants. Two records of one call path have the same entries of
the same types, in the same order. The walk backwards is therefore learnt once and kept at the call path
(``derivatives/walks/replay.py``). Python may branch on values: other calls are another call path.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from ..like import Like

# Longer or larger records have no call path: kernels of large arrays take longer than the calls between them, and a
# long walk takes long to learn.
MOST_CALLS = 64
MOST_BYTES = 1 << 24
# How many call paths are kept for a backend, over all programs.
MOST_PATHS = 1 << 14


class CallPath:
    """The calls that a record has made so far, by what tells the last of them from others that may follow."""

    __slots__ = ("bytes", "next", "operands", "place", "results", "tree", "walks")

    def __init__(
        self,
        tree: CallPaths | None,
        place: int,
        size: int,
        operands: Sequence[Like] = (),
        results: Sequence[Like] = (),
    ) -> None:
        self.tree, self.place, self.bytes = tree, place, size
        # The types of what the last call took and gave.
        self.operands, self.results = operands, results
        self.next: dict[Hashable, CallPath] = {}
        # By the results that a walk begins at and the types of cotangents: the walk if it was learnt, else how often it
        # went by the rules.
        self.walks: dict[Hashable, Any] = {}

    def follow(self, key: Hashable, operands: Sequence[Any], results: Sequence[Any]) -> CallPath:
        """Return the call path after one more call, ``ENDED`` if none is followed from there on.

        Operands and results are told by what stands for them.
        """
        tree = self.tree
        if tree is None or any(type(x) is not Like for x in (*operands, *results)):
            return ENDED
        size = self.bytes + sum(map(_bytes, results))
        if self.place + 1 >= MOST_CALLS or size > MOST_BYTES:
            found = ENDED
        else:
            found = CallPath(tree, self.place + 1, size, tuple(operands), tuple(results))
        tree.grow()
        self.next[key] = found
        return found


# Where no call path is followed any more.
ENDED = CallPath(None, -1, 0)


class CallPaths:
    """The call paths of the records of a backend."""

    def __init__(self) -> None:
        self._begun: dict[Hashable, CallPath] = {}
        self._count = 0

    def begin(self, kinds: tuple[Like, ...], leaves: Sequence[Any]) -> Progress:
        """Begin the call path of a record, with the entries and types of the arrays that derivatives are taken by."""
        found = self._begun.get(kinds)
        if found is None:
            size = sum(map(_bytes, kinds))
            found = ENDED if size > MOST_BYTES else CallPath(self, len(kinds) - 1, size, (), kinds)
            self._begun[kinds] = found
            self.grow()
        progress = Progress(found)
        for place, leaf in enumerate(leaves):
            leaf.progress, leaf.place = progress, place
        return progress

    def grow(self) -> None:
        """Count a new call path; forget all when there are many, which running records needn't know."""
        self._count += 1
        if self._count > MOST_PATHS:
            self._begun.clear()
            self._count = 0


def _bytes(like: Like) -> int:
    return math.prod(like.shape) * like.dtype.itemsize


class Progress:
    """The call path that a record has followed so far; entries of one record share it."""

    __slots__ = ("path",)

    def __init__(self, path: CallPath) -> None:
        self.path = path
