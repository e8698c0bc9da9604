"""The inverse of each change since the outermost transaction began, to take the changes back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .basic import Variable


class History:
    """A list of inverses, in the order of the changes. Outside transactions nothing is kept."""

    def __init__(self) -> None:
        self._inverses: list[tuple[Callable[..., object], tuple[Any, ...]]] = []
        self._depth = 0
        self._reverting = False
        # The variables that rewriters put into the graph, if that's kept, and the rewriter that runs now.
        self.rewrites: list[tuple[Variable, str]] | None = None
        self.rewriter = ""
        # The rewriters whose refused changes are kept, and these, each with the reason, as an ordered set.
        self.told: Collection[str] = ()
        self.refusals: dict[tuple[str, str], None] = {}

    @contextmanager
    def of(self, rewriter: str) -> Iterator[None]:
        """Name the rewriter that makes the changes inside the block."""
        before, self.rewriter = self.rewriter, rewriter
        try:
            yield
        finally:
            self.rewriter = before

    def put(self, *variables: Variable) -> None:
        """Note that the current rewriter put these variables into the graph."""
        if self.rewrites is not None and not self._reverting:
            for variable in variables:
                self.rewrites.append((variable, self.rewriter))
                self.record(self.rewrites.pop)

    def refuse(self, reason: Exception, rewriter: str | None = None) -> None:
        """Note that a change was refused and taken back, by default one of the current rewriter."""
        name = self.rewriter if rewriter is None else rewriter
        if name in self.told:
            self.refusals[name, str(reason)] = None

    def inherit(self, variable: Variable, others: Iterable[Variable]) -> None:
        """Note that a variable is computed as others were, which rewriters had put into the graph."""
        if self.rewrites is not None:
            computed = set(others)
            for name in dict.fromkeys(name for each, name in self.rewrites if each in computed and name):
                with self.of(name):
                    self.put(variable)

    def rewriters(self, variable: Variable) -> list[str]:
        """Return the names of the rewriters that put a variable, or else its inputs, into the graph."""
        level, seen = [variable], {variable}
        while level:
            found = dict.fromkeys(name for each, name in self.rewrites or () if each in level and name)
            if found:
                return list(found)
            owners = [each.owner for each in level if each.owner is not None]
            level = [each for owner in owners for each in owner.inputs if each not in seen]
            seen.update(level)
        return []

    def record(self, inverse: Callable[..., object], *arguments: Any) -> None:
        """Keep the inverse of a change: a function, and what it's called with."""
        if self._depth and not self._reverting:
            self._inverses.append((inverse, arguments))

    def begin(self) -> int:
        """Begin a transaction, possibly inside another one, and return the point to revert to."""
        self._depth += 1
        return len(self._inverses)

    def end(self) -> None:
        """End the innermost transaction. The transactions around it can still revert its changes."""
        self._depth -= 1
        if not self._depth:
            self._inverses.clear()

    def revert(self, point: int) -> None:
        """Undo everything since a point, the latest first."""
        self._reverting = True
        try:
            for _ in range(len(self._inverses) - point):
                inverse, arguments = self._inverses.pop()
                inverse(*arguments)
        finally:
            self._reverting = False
