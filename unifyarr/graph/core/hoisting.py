"""Loop-invariant code motion: each operation with graphs of its own says which of their nodes can run outside."""

from __future__ import annotations

from collections.abc import Sequence

from .basic import Apply, Variable
from .fgraph import FunctionGraph
from .rewriting import canonicalize


def hoist(fgraph: FunctionGraph) -> bool:
    """Move out of loops what is the same at each step, and return whether anything was."""
    changed = False
    # Once a loop doesn't read a result any more, the loop before needn't compute it.
    while any(node.op.nodes() is not None for node in fgraph.apply_nodes) and canonicalize(fgraph, [_hoisted]):
        changed = True
    return changed


def _hoisted(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable | None] | None:
    unused = [not fgraph.clients.get(variable) for variable in node.outputs]
    return node.op.hoisted(node, unused)
