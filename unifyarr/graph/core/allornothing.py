"""Nodes that may fail run before nodes that overwrite an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .basic import Apply, Variable
from .destroyhandler import DestroyHandler
from .feature import Feature
from .fgraph import FunctionGraph
from .supervisor import handler_of


class AllOrNothing(Feature):
    """Demands that nodes which may fail run before any node that overwrites an input of the graph.

    A call that raises then leaves its arguments as they were. Attach the ``DestroyHandler`` first.
    """

    def __init__(self, may_fail: Callable[[Apply], bool]) -> None:
        self._may_fail = may_fail
        # Used as an ordered set.
        self._fallible: dict[Apply, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Note the nodes that may fail, and have the nodes that destroy an input sorted again."""
        self._handler, self._inputs = handler_of(fgraph), set(fgraph.inputs)
        for node in fgraph.apply_nodes:
            self.on_import(fgraph, node)
        for root in fgraph.inputs:
            for node in self._handler.destroyers.get(root, ()):
                fgraph.order.suspect(node)

    def relies_on(self, other: Feature) -> bool:
        """Return whether the other feature is the ``DestroyHandler``, which knows what destroys an input."""
        return isinstance(other, DestroyHandler)

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note a node that may fail."""
        if self._may_fail(node):
            self._fallible[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Forget the node."""
        self._fallible.pop(node, None)

    def before(self, node: Apply) -> Iterator[Apply]:
        """Yield the nodes that may fail, for a node that destroys an input."""
        if any(root in self._inputs for _, root, _ in self._handler.destroyed.get(node, ())):
            yield from (each for each in self._fallible if each is not node)

    def after(self, node: Apply) -> Iterable[Apply]:
        """Yield the nodes that destroy an input, for a node that may fail."""
        if node in self._fallible:
            for root in self._inputs:
                yield from (each for each in self._handler.destroyers.get(root, ()) if each is not node)

    def shared(self, before: Apply, after: Apply) -> Variable | None:
        """Return the input that the node ``after`` destroys, if the node ``before`` may fail."""
        if before not in self._fallible:
            return None
        roots = (root for _, root, _ in self._handler.destroyed.get(after, ()))
        return next((root for root in roots if root in self._inputs), None)
