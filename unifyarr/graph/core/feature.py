"""The users of a variable, and the features that watch a graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from .basic import Apply, Op, Variable

if TYPE_CHECKING:
    from .fgraph import FunctionGraph


class Client(NamedTuple):
    """A use of a variable: an input of a node or, if the node is ``None``, an output of the graph."""

    node: Apply | None
    position: int


class Feature:
    """The base class of features, which watch a graph and may refuse its changes or constrain its order.

    A change is reported after it was made. So is its inverse, when the change is taken back: a feature's state must be
    a function of the graph.
    """

    # The graph that it watches.
    attached_to: FunctionGraph | None = None
    # Whether a graph can have only one feature of this class.
    alone = False

    def relies_on(self, other: Feature) -> bool:
        """Return whether this feature needs another feature of the same graph."""
        return False

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Start watching a graph. Nodes that it has already aren't reported."""

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Forget the graph."""

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note a new node. Its inputs are in the graph already."""

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note that a node is being removed, since nothing uses its outputs any more."""

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | None, index: int, old: Variable, new: Variable
    ) -> None:
        """Note that a client uses another variable now."""

    def on_change_op(self, fgraph: FunctionGraph, node: Apply, old: Op) -> None:
        """Note that a node has another operation now."""

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise an ``InconsistencyError`` if this feature refuses the graph as it is."""

    def after(self, node: Apply) -> Iterable[Apply]:
        """Return the nodes that must run after a node, apart from those that use its outputs."""
        return ()

    def before(self, node: Apply) -> Iterable[Apply]:
        """Return the nodes that must run before a node, apart from those whose outputs it uses."""
        return ()

    def shared(self, before: Apply, after: Apply) -> Variable | None:
        """Return the variable because of which this feature makes one node run before another, or ``None``."""
        return None

    def for_copy(self, variables: dict[Variable, Variable]) -> Feature | None:
        """Return a feature for a copy of the graph, given the copies of the variables, or ``None``."""
        return None
