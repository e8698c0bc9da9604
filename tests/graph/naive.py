"""The oracle: all that is demanded of a graph, found anew from nothing each time, with no thought for speed."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from typing import Any

from unifyarr.graph import Apply, Constant, FunctionGraph, Variable

# Possible memory of a variable: tokens for buffers, with the part of each or None.
Memory = set[tuple[Any, Any]]


def data_sorted(fgraph: FunctionGraph) -> list[Apply] | None:
    """Return the nodes in an order of the data's flow only, or None if it goes round in a circle."""
    left, done = list(fgraph.apply_nodes), []
    while left:
        ready = [n for n in left if all(v.owner is None or v.owner in done for v in n.inputs)]
        if not ready:
            return None
        done += ready
        left = [n for n in left if n not in ready]
    return done


def memories(nodes: list[Apply]) -> dict[Variable, Memory]:
    found: dict[Variable, Memory] = {}

    def of(variable: Variable) -> Memory:
        return found.get(variable, {(variable, None)})

    for node in nodes:
        views, destroys = node.op.views(node), node.op.destroys(node)
        gone = {token for i in victims(node) for token, _ in of(node.inputs[i])}
        for k, output in enumerate(node.outputs):
            memory: Memory = set()
            for i in (*views.get(k, ()), *destroys.get(k, ())):
                for token, parent in of(node.inputs[i]):
                    known = parent is not None or token is node.inputs[i]
                    region = node.op.region(node, k, i, parent) if known else None
                    # Values in overwritten memory are a new token, shared by all that got it.
                    inherited = (node, token) if token in gone else token
                    other = {part for each, part in memory if each == inherited}
                    memory = {(each, part) for each, part in memory if each != inherited}
                    memory.add((inherited, region if other <= {region} else None))
            found[output] = memory or {(output, None)}
        for output in node.outputs:
            # Overwritten memory that isn't shared is as good as new.
            mine = {token for token, _ in found[output]}
            others = {token for each in node.outputs if each is not output for token, _ in found[each]}
            if mine <= {(node, token) for token in gone} and not mine & others:
                found[output] = {(output, None)}
    for node in nodes:
        for variable in node.inputs:
            found.setdefault(variable, {(variable, None)})
    return found


def victims(node: Apply) -> set[int]:
    return {*node.op.scratch, *itertools.chain.from_iterable(node.op.destroys(node).values())}


def meet(x1: Memory, x2: Memory) -> bool:
    return any(
        each is other or each == other
        for each, part in x1
        for other, piece in x2
        if part is None or piece is None or set(part) & set(piece)
    )


def orderings(fgraph: FunctionGraph) -> set[tuple[Apply, Apply]]:
    """Return all pairs of nodes of which the first has to run before the second."""
    nodes = data_sorted(fgraph)
    assert nodes is not None
    held = memories(nodes)
    pairs = {(v.owner, n) for n in nodes for v in n.inputs if v.owner is not None}
    for node in nodes:
        for i in victims(node):
            for other in nodes:
                if other is not node and any(meet(held[v], held[node.inputs[i]]) for v in other.inputs):
                    pairs.add((other, node))
    return pairs


def refusal(fgraph: FunctionGraph, protected: Collection[Variable] = (), *, outputs: bool = False) -> str | None:
    """Return why a graph can't stay as it is, or None."""
    nodes = data_sorted(fgraph)
    if nodes is None:
        return "cycle of data"
    held = memories(nodes)
    kept = dict.fromkeys((*protected, *(fgraph.outputs if outputs else ())), "protected")
    kept |= {v: "indestructible" for v in held if v.indestructible or isinstance(v, Constant)}
    destroyed = [(node, i, held[node.inputs[i]]) for node in nodes for i in victims(node)]
    for node, i, memory in destroyed:
        for variable, reason in kept.items():
            if meet(memory, held.get(variable, {(variable, None)})):
                return reason
        for other, _, also in destroyed:
            if other is not node and meet(memory, also):
                return "two destroyers"
        for j, variable in enumerate(node.inputs):
            if j != i and not node.op.tolerates(node, i, j) and meet(memory, held[variable]):
                return "aliased input"
    pairs = orderings(fgraph)
    left = set(nodes)
    while left:
        ready = {n for n in left if not any(after is n and before in left for before, after in pairs)}
        if not ready:
            return "cycle"
        left -= ready
    return None
