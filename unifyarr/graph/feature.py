"""Who uses a variable, and what may watch a graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from .basic import Apply, Op, Variable

if TYPE_CHECKING:
    from .fgraph import FunctionGraph


class Client(NamedTuple):
    """Who uses a variable: an input of a node, or with ``None`` for the node, an output of the graph."""

    node: Apply | None
    position: int


class Feature:
    """Something that watches a graph, and may refuse its changes and demand an order; to derive from.

    A change is reported after it was made, and so is its inverse when it's taken back: what a feature knows has to be a
    function of the graph.
    """

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Learn to know a graph that may have nodes already; its nodes are not reported."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Forget the graph."""

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note a new node, whose inputs are there already."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note that a node is going, whose outputs nobody uses any more."""

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | None, index: int, old: Variable, new: Variable
    ) -> None:
        """Note that a client has another variable."""

    def on_change_op(self, fgraph: FunctionGraph, node: Apply, old: Op) -> None:
        """Note that a node has another operation."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise an ``InconsistencyError`` if the graph can't stay as it is."""

    def after(self, node: Apply) -> Iterable[Apply]:
        """Return the nodes that must run after a node, beside those that use its outputs."""
        return ()

    def before(self, node: Apply) -> Iterable[Apply]:
        """Return the nodes that must run before a node, beside those whose outputs it uses."""
        return ()

    def shared(self, before: Apply, after: Apply) -> Variable | None:
        """Return the variable because of which one node must run before another, if this feature demands it."""
        return None

    def for_copy(self, variables: dict[Variable, Variable]) -> Feature | None:
        """Return a feature for a copy of the graph, given the copies of the variables, or ``None``."""
        return None
