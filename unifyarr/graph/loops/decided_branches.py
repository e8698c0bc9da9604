"""Branches inside of a branch of the same condition: which of them runs is known, and it stands in their place.

The graphs inside are read together with those around them: an input of a body stands for a variable of the node that
runs it, unless it's another one at each step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Protocol

from ..core.basic import Apply, Constant, Op, Variable
from ..core.fgraph import FunctionGraph
from ..core.nodes import sorted_nodes
from ..core.rewriting import canonicalize
from .bodies import Body

# How many operations of two conditions are compared. Those that people write are shorter.
_LONGEST = 16
# The numbers of branches, and what each is known to be.
Known = Sequence[tuple[Variable, int]]


class RunsBodies(Protocol):
    """A loop or branch. The inputs of its bodies are those of its node, after the first one if it's a choice."""

    bodies: tuple[Body, ...]
    # Of the inputs of each body those that are the same whenever it runs come after what is carried, and after rows.
    carried: int
    rows: int
    is_choice: bool

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same operation with other bodies."""


def branch_of(bodies: Sequence[Body], node: Apply, known: Known, outside: Mapping[Variable, Variable]) -> Body | None:
    """Return the body that a branch runs, ``None`` if that isn't known."""
    for index, number in known:
        if number < len(bodies) and _are_same(node.inputs[0], index, outside):
            return bodies[number]
    return None


def inlined(body: Body, inputs: Sequence[Variable]) -> list[Variable]:
    """Return the results of a body that carries nothing, of copies of its nodes."""
    found = dict(zip(body.fgraph.inputs, inputs, strict=True))
    for node in sorted_nodes(body.fgraph.outputs, found):
        made = node.copy(found.get(each, each) for each in node.inputs)
        found.update(zip(node.outputs, made.outputs, strict=True))
    return [found.get(each, each) for each in body.fgraph.outputs]


def decided(
    op: RunsBodies, node: Apply, known: Known, outside: Mapping[Variable, Variable]
) -> Sequence[Variable] | None:
    """Return variables for the outputs of a node without branches inside that are known; ``None`` if it has none."""
    given, first = node.inputs[op.is_choice :], op.carried + op.rows
    graphs, is_changed = [FunctionGraph(body.fgraph.inputs, body.fgraph.outputs) for body in op.bodies], False
    for number, graph in enumerate(graphs):
        chosen = [*known, (node.inputs[0], number)] if op.is_choice else known
        same = {**outside, **dict(zip(graph.inputs[first:], given[first:], strict=True))}
        is_changed |= bool(canonicalize(graph, [_InBranch(chosen, same)]))
    if not is_changed:
        return None
    read = [place < first or any(g.clients[g.inputs[place]] for g in graphs) for place in range(len(given))]
    bodies = [body.reading(graph, read) for body, graph in zip(op.bodies, graphs, strict=True)]
    inputs = [*node.inputs[: op.is_choice], *compress(given, read)]
    return Apply(op.remade(bodies, op.carried, op.rows), inputs, [each.type for each in node.outputs]).outputs


class _InBranch:
    """The rewriter of a graph inside, in which some branches are known."""

    __name__ = "join"

    def __init__(self, known: Known, outside: Mapping[Variable, Variable]) -> None:
        self._known, self._outside = known, outside

    def __call__(self, fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
        return node.op.decided(node, self._known, self._outside)


def _are_same(one: Variable, other: Variable, outside: Mapping[Variable, Variable]) -> bool:
    """Return whether two variables have one value, of which each may be inside a body."""
    pairs, compared = [(one, other)], 0
    while pairs:
        one, other = (_outermost(each, outside) for each in pairs.pop())
        if one is other:
            continue
        if isinstance(one, Constant) and isinstance(other, Constant) and one.signature() == other.signature():
            continue
        first, second, compared = one.owner, other.owner, compared + 1
        if first is None or second is None or compared > _LONGEST or one.index != other.index:
            return False
        if first.op != second.op or len(first.inputs) != len(second.inputs):
            return False
        pairs += zip(first.inputs, second.inputs, strict=True)
    return True


def _outermost(variable: Variable, outside: Mapping[Variable, Variable]) -> Variable:
    while variable in outside:
        variable = outside[variable]
    return variable
