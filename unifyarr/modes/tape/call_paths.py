"""Which calls a record has made so far: what comes again needs no decisions.

The *course* of a record is a place in a tree. Each call of a function goes one step on from it, which is told apart by
the rule, by the places where its operands were made, and by the types of those that are constants. Two records of one
course have the same entries of the same types, in the same order. So how to walk one of them backwards is found out
once, and kept at its course (``derivatives/walks/replay.py``). Python may branch on values: other calls are another
course.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

from ..like import Like

# Beyond these, records go on without a course: what is large takes longer in kernels than between them, and a long walk
# takes long to be learnt.
MOST_CALLS = 64
MOST_BYTES = 1 << 20
# How many courses are kept for a backend, over all programs.
MOST_COURSES = 1 << 14


class Course:
    """The calls that a record has made so far, by what tells the last of them from others that may follow."""

    __slots__ = ("bytes", "next", "operands", "place", "results", "tree", "walks")

    def __init__(
        self,
        tree: Courses | None,
        place: int,
        size: int,
        operands: Sequence[Like] = (),
        results: Sequence[Like] = (),
    ) -> None:
        self.tree, self.place, self.bytes = tree, place, size
        # The types of what the last call took and gave.
        self.operands, self.results = operands, results
        self.next: dict[Hashable, Course] = {}
        # By the results that a walk begins at and the types of cotangents: the walk if it was learnt, else how often it
        # went by the rules.
        self.walks: dict[Hashable, Any] = {}

    def follow(self, key: Hashable, operands: Sequence[Any], results: Sequence[Any]) -> Course:
        """Return the course after one more call, ``ENDED`` if none is followed from there on.

        Operands and results are told by what stands for them.
        """
        tree = self.tree
        if tree is None or any(type(x) is not Like for x in (*operands, *results)):
            return ENDED
        size = self.bytes + sum(map(_bytes, results))
        if self.place + 1 >= MOST_CALLS or size > MOST_BYTES:
            found = ENDED
        else:
            found = Course(tree, self.place + 1, size, tuple(operands), tuple(results))
        tree.grow()
        self.next[key] = found
        return found


# Where no course is followed any more.
ENDED = Course(None, -1, 0)


class Courses:
    """The courses of the records of a backend."""

    def __init__(self) -> None:
        self._begun: dict[Hashable, Course] = {}
        self._count = 0

    def begin(self, kinds: tuple[Like, ...], leaves: Sequence[Any]) -> Progress:
        """Begin the course of a record, with the entries and the types of the arrays that derivatives are taken by."""
        found = self._begun.get(kinds)
        if found is None:
            size = sum(map(_bytes, kinds))
            found = ENDED if size > MOST_BYTES else Course(self, len(kinds) - 1, size, (), kinds)
            self._begun[kinds] = found
            self.grow()
        progress = Progress(found)
        for place, leaf in enumerate(leaves):
            leaf.progress, leaf.place = progress, place
        return progress

    def grow(self) -> None:
        """Count a new course; forget all when there are many, which running records needn't know."""
        self._count += 1
        if self._count > MOST_COURSES:
            self._begun.clear()
            self._count = 0


def _bytes(like: Like) -> int:
    return math.prod(like.shape) * like.dtype.itemsize


class Progress:
    """The course that a record has followed so far; entries of one record share it."""

    __slots__ = ("course",)

    def __init__(self, course: Course) -> None:
        self.course = course
