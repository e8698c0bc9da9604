"""How to get back: the inverse of each change since the outermost transaction began."""

from __future__ import annotations

from collections.abc import Callable


class History:
    """A list of inverses, in the order of what they undo. Outside transactions nothing is kept."""

    def __init__(self) -> None:
        self._inverses: list[Callable[[], object]] = []
        self._depth = 0
        self._reverting = False

    def record(self, inverse: Callable[[], object]) -> None:
        """Keep the inverse of a change that has just been made."""
        if self._depth and not self._reverting:
            self._inverses.append(inverse)

    def begin(self) -> int:
        """Open a transaction, possibly inside another one, and return the point to revert to."""
        self._depth += 1
        return len(self._inverses)

    def end(self) -> None:
        """Close the innermost transaction; what it did can still be reverted as a part of those around it."""
        self._depth -= 1
        if not self._depth:
            self._inverses.clear()

    def revert(self, point: int) -> None:
        """Undo everything since a point, the latest first."""
        self._reverting = True
        try:
            while len(self._inverses) > point:
                self._inverses.pop()()
        finally:
            self._reverting = False
