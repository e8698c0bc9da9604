"""Graphs in which nothing is overwritten: those of functions that an engine transforms."""

from __future__ import annotations

from ...errors import InconsistencyError
from .basic import Apply, Op
from .feature import Feature
from .fgraph import FunctionGraph


class Untouched(Feature):
    """Refuses operations that overwrite any of their inputs."""

    def __init__(self) -> None:
        # Used as an ordered set.
        self._destroyers: dict[Apply, None] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Note the nodes that overwrite something."""
        for node in fgraph.apply_nodes:
            self.on_import(fgraph, node)

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Note a node that overwrites something."""
        if node.op.victims(node):
            self._destroyers[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Forget a node."""
        self._destroyers.pop(node, None)

    def on_change_op(self, fgraph: FunctionGraph, node: Apply, old: Op) -> None:
        """Look at a node's new operation."""
        self.on_prune(fgraph, node)
        self.on_import(fgraph, node)

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise if some node overwrites something."""
        for node in self._destroyers:
            raise InconsistencyError(
                f"{node} overwrites its input, but it's in a function that an engine transforms, which needs each value"
            )
