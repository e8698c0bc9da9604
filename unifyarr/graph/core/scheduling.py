"""An order of a graph's nodes that holds few results at a time.

The method is that of Sethi and Ullman (1970) for registers, and of Liu (1987) for memory. Of the inputs that a node
needs, compute first the one whose computation takes the most memory beyond its result. That's optimal for trees. Where
results are shared it's a heuristic, whose order is taken only if it's better than the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from . import lifetimes
from .basic import Apply, Variable
from .fgraph import FunctionGraph
from .names import bytes_of


def settle_order(fgraph: FunctionGraph) -> None:
    """Put the nodes of a graph in an order that its features allow and that holds little memory at a time."""
    before, after = fgraph.toposort(), _depth_first(fgraph)
    if peak(fgraph, after) < peak(fgraph, before):
        fgraph.order.arrange(after)


def peak(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> int:
    """Return the most bytes of results that are held at a time when the nodes run in this order."""
    return lifetimes.peak(lifetimes.lifetimes(fgraph, nodes, {}), unknown=1)


def size(variable: Variable) -> int:
    """Return the number of bytes of a variable; 1 if that isn't known."""
    known = bytes_of(variable)
    return 1 if known is None else known


def _depth_first(fgraph: FunctionGraph) -> list[Apply]:
    excess = _excess(fgraph.toposort())

    def by_excess(nodes: Iterable[Apply]) -> list[Apply]:
        return sorted(dict.fromkeys(nodes), key=excess.__getitem__, reverse=True)

    found: dict[Apply, None] = {}
    for goal in by_excess(v.owner for v in fgraph.outputs if v.owner is not None):
        stack = [(goal, False)]
        while stack:
            node, is_ready = stack.pop()
            if is_ready:
                found[node] = None
            elif node not in found:
                stack.append((node, True))
                needed = [each for each in fgraph.order.before(node) if each not in found]
                stack.extend((each, False) for each in reversed(by_excess(needed)))
    # Then the nodes that no output needs.
    return [*found, *(node for node in fgraph.toposort() if node not in found)]


def _excess(nodes: Sequence[Apply]) -> dict[Apply, int]:
    """Return for each node how much more memory its computation holds than its results."""
    top: dict[Apply, int] = {}
    left: dict[Apply, int] = {}
    for node in nodes:
        needed = dict.fromkeys(v.owner for v in node.inputs if v.owner is not None)
        now = most = 0
        for each in sorted(needed, key=lambda each: top[each] - left[each], reverse=True):
            most = max(most, now + top[each])
            now += left[each]
        shared = {**node.op.views(node), **node.op.destroys(node)}
        sources = dict.fromkeys(node.inputs[index].owner for indices in shared.values() for index in indices)
        own = sum(size(output) for key, output in enumerate(node.outputs) if not shared.get(key))
        top[node] = max(most, now + own)
        left[node] = own + sum(left[each] for each in sources if each is not None)
    return {node: top[node] - left[node] for node in nodes}
