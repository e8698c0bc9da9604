"""What may fail runs before what can't be taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from .basic import Apply, Op, Variable
from .feature import Feature
from .fgraph import FunctionGraph
from .supervisor import handler_of


class AllOrNothing(Feature):
    """Demands that nothing overwrites an input of the graph before all that may fail has run.

    So a call that raises leaves its arguments as they were. The ``DestroyHandler`` has to be there before it.
    """

    def __init__(self, may_fail: Callable[[Op], bool]) -> None:
        self._may_fail = may_fail
        # A dictionary as a set that keeps the order.
        self._fallible: dict[Apply, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Look for what may fail, and let what destroys an input find its place after it."""
        self._handler, self._inputs = handler_of(fgraph), set(fgraph.inputs)
        for node in fgraph.apply_nodes:
            self.on_import(fgraph, node)
        for root in fgraph.inputs:
            for node in self._handler.destroyers.get(root, ()):
                fgraph.order.suspect(node)

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note a node that may fail."""
        if self._may_fail(node.op):
            self._fallible[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Forget the node."""
        self._fallible.pop(node, None)

    def before(self, node: Apply) -> Iterator[Apply]:
        """Yield what may fail, before what destroys an input."""
        if any(root in self._inputs for _, root, _ in self._handler.destroyed.get(node, ())):
            yield from (each for each in self._fallible if each is not node)

    def after(self, node: Apply) -> Iterable[Apply]:
        """Yield what destroys an input, after what may fail."""
        if node in self._fallible:
            for root in self._inputs:
                yield from (each for each in self._handler.destroyers.get(root, ()) if each is not node)

    def shared(self, before: Apply, after: Apply) -> Variable | None:
        """Return the input that one node destroys, if the other may fail."""
        if before not in self._fallible:
            return None
        roots = (root for _, root, _ in self._handler.destroyed.get(after, ()))
        return next((root for root in roots if root in self._inputs), None)
