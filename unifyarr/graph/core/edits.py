"""The single changes of a graph: nodes come and go, and a use gets another variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import MissingInputError
from .basic import Apply, Constant, Op, Variable
from .feature import Client
from .nodes import sorted_nodes

if TYPE_CHECKING:
    from .fgraph import FunctionGraph


class Edits:
    """The changes of one graph's nodes and uses, unchecked.

    Each is told to the features and to the order, and the history gets its inverse, which is another one of these.
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph

    def set_op(self, node: Apply, op: Op) -> None:
        """Give a node another operation."""
        fgraph, old = self.fgraph, node.op
        node.op = op
        for feature in fgraph.features:
            feature.on_change_op(fgraph, node, old)
        fgraph.history.record(self.set_op, node, old)
        fgraph.history.put(*node.outputs)

    def change_input(self, client: Client, new: Variable) -> None:
        """Put a variable of the graph in the place of another one in one use."""
        fgraph, (node, position) = self.fgraph, client
        slots = fgraph.outputs if node is None else node.inputs
        old = slots[position]
        slots[position] = new
        del fgraph.clients[old][client]
        fgraph.clients[new][client] = None
        if node is not None and new.owner is not None:
            fgraph.order.suspect(node, new.owner)
        for feature in fgraph.features:
            feature.on_change_input(fgraph, node, position, old, new)
        fgraph.history.record(self.change_input, client, old)
        fgraph.history.put(new)

    def include(self, variable: Variable) -> None:
        """Add a variable and the nodes that compute it, as far as the graph doesn't have them."""
        clients = self.fgraph.clients
        if variable in clients:
            return
        new = sorted_nodes([variable], clients)
        for each in (variable, *(v for node in new for v in node.inputs)):
            if each.owner is None and each not in clients and not isinstance(each, Constant):
                raise MissingInputError(f"{each} is used, but it isn't an input of the graph: add it", variable=each)
        for node in new:
            self._add(node)
        if variable.owner is None:
            self._add_root(variable)

    def prune(self, variable: Variable) -> None:
        """Remove the nodes that compute a variable, as far as nothing else uses them."""
        fgraph, unsure = self.fgraph, [variable]
        clients = fgraph.clients
        while unsure:
            each = unsure.pop()
            if each not in clients or clients[each]:
                continue
            node = each.owner
            if node is None:
                if isinstance(each, Constant):
                    del clients[each]
                    fgraph.history.record(clients.__setitem__, each, {})
            elif not any(clients[output] for output in node.outputs):
                self._remove(node)
                unsure += node.inputs

    def _add_root(self, variable: Variable) -> None:
        self.fgraph.clients[variable] = {}
        self.fgraph.history.record(self.fgraph.clients.__delitem__, variable)

    def _add(self, node: Apply) -> None:
        fgraph, clients = self.fgraph, self.fgraph.clients
        for index, variable in enumerate(node.inputs):
            if variable not in clients:
                self._add_root(variable)
            clients[variable][Client(node, index)] = None
        fgraph.apply_nodes[node] = None
        for output in node.outputs:
            clients[output] = {}
        fgraph.order.add(node)
        for feature in fgraph.features:
            feature.on_import(fgraph, node)
        fgraph.history.record(self._remove, node)

    def _remove(self, node: Apply) -> None:
        fgraph, clients = self.fgraph, self.fgraph.clients
        for feature in fgraph.features:
            feature.on_prune(fgraph, node)
        fgraph.order.remove(node)
        del fgraph.apply_nodes[node]
        for output in node.outputs:
            del clients[output]
        for index, variable in enumerate(node.inputs):
            del clients[variable][Client(node, index)]
        fgraph.history.record(self._add, node)
