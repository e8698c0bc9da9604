"""The single operations that a fused one is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._core.arrays.array import Array
from ..._core.values.lazily import cached_property
from ..core.basic import Variable
from ..core.fgraph import FunctionGraph

# The most operations that a fused one is named after.
NAMED = 3


class Composed:
    """Copies of the nodes between variables: the operations in an order in which they can run, and their graph.

    ``copies`` maps these variables to their copies, as ``copy_nodes`` makes them. Few need the graph itself: it's made
    when it's asked for.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], copies: Mapping[Variable, Variable]
    ) -> None:
        self._inputs, self._outputs = [copies[each] for each in inputs], [copies[each] for each in outputs]
        nodes = dict.fromkeys(each.owner for each in copies.values() if each.owner is not None)
        self.ops = tuple(node.op for node in nodes)
        # Without what makes only views.
        self.names = tuple(dict.fromkeys(node.op.name for node in nodes if not node.op.views(node)))

    @property
    def label(self) -> str:
        """The names of the first operations, for the name of the fused one."""
        more = ["…"] if len(self.names) > NAMED else []
        return f"[{', '.join([*self.names[:NAMED], *more])}]"

    @cached_property
    def graph(self) -> FunctionGraph:
        """The graph of the single operations."""
        return FunctionGraph(self._inputs, self._outputs, clone=False)

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the single operations; inputs of a node beyond theirs are left out."""
        found = self.graph(*arrays[: len(self._inputs)])
        return [found] if len(self._outputs) == 1 else list(found)
