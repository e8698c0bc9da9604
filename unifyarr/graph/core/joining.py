"""Branches with one condition become one node, so that the condition is looked at once.

A branch inside of a branch of the same condition is no choice: what runs there stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from .basic import Apply, Variable
from .fgraph import FunctionGraph
from .nodes import sorted_nodes
from .rewriting import attempt, canonicalize


def join(fgraph: FunctionGraph) -> int:
    """Join the nodes whose operations can be one, if neither needs the other; return how many nodes changed."""
    if all(node.op.nodes() is None for node in fgraph.apply_nodes):
        return 0
    count = canonicalize(fgraph, [_decided])
    first: dict[Variable, Apply] = {}
    for node in fgraph.toposort():
        if not node.inputs or node not in fgraph.apply_nodes:
            continue
        condition, *_ = node.inputs
        other = first.get(condition)
        made = None if other is None else _joined(other, node)
        if other is not None and made is not None:
            pairs = zip((*other.outputs, *node.outputs), made.outputs, strict=True)
            if attempt(fgraph, list(pairs)):
                first[condition] = made
                count += 1
        elif node.op.nodes() is not None:
            first[condition] = node
    return count


def _decided(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    return node.op.decided(node, (), {})


def _joined(node: Apply, later: Apply) -> Apply | None:
    op = node.op.joined(later.op)
    if op is None or node in sorted_nodes(later.inputs):
        return None
    inputs = [*node.inputs, *later.inputs[1:]]
    return Apply(op, inputs, [each.type for each in (*node.outputs, *later.outputs)])
