"""An order of a graph's nodes that holds few results at a time.

The method is that of Sethi and Ullman (1970) for registers, and of Liu (1987) for memory. Of the inputs that a node
needs, compute first the one whose computation takes the most memory beyond its result. That's optimal for trees. Where
results are shared it's a heuristic. In such an order, then, a node runs sooner if it frees as much memory as it takes:
so the gradient by a layer's weights is computed when that by its output is there, and not after all layers. An order is
taken only if it's better than the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from . import lifetimes
from .basic import Apply, Variable
from .fgraph import FunctionGraph
from .memory import buffers
from .names import bytes_of


def settle_order(fgraph: FunctionGraph) -> None:
    """Put the nodes of a graph in an order that its features allow and that holds little memory at a time."""
    before, after = list(fgraph.toposort()), _depth_first(fgraph)
    orders = [before]
    for order in (after, _freeing(fgraph, after)):
        # In many graphs all are the same.
        if order not in orders:
            orders.append(order)
    if len(orders) == 1:
        return
    # The first of those that hold as little as any.
    best = min(orders, key=lambda nodes: peak(fgraph, nodes))
    if best is not before:
        fgraph.order.arrange(best)


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


def _freeing(fgraph: FunctionGraph, nodes: Sequence[Apply]) -> list[Apply]:
    """Return an order of nodes in which each that frees as much memory as it takes runs as soon as it can."""
    ready = _Ready(fgraph, nodes)
    for node in nodes:
        ready.run(node)
        while (sooner := ready.next()) is not None:
            ready.run(sooner)
    return list(ready.done)


class _Ready:
    """The nodes that can run after those that are ``done``, of some in an order."""

    def __init__(self, fgraph: FunctionGraph, nodes: Sequence[Apply]) -> None:
        self.done: dict[Apply, None] = {}
        self._places = {node: place for place, node in enumerate(nodes)}
        held = buffers(nodes)
        self._touched = {
            node: {
                root
                for variable in (*node.inputs, *node.outputs)
                for root in held.get(variable, (variable,))
                if root.owner is not None
            }
            for node in nodes
        }
        # The nodes that have yet to use a buffer. A result is used to the end.
        self._users: dict[Variable, set[Apply | None]] = {}
        for node, roots in self._touched.items():
            for root in roots:
                self._users.setdefault(root, set()).add(node)
        for variable in fgraph.outputs:
            for root in held.get(variable, ()):
                self._users.setdefault(root, set()).add(None)
        self._missing: dict[Apply, int] = {}
        self._followers: dict[Apply, list[Apply]] = {}
        for node in nodes:
            needed = set(fgraph.order.before(node))
            self._missing[node] = len(needed)
            for each in needed:
                self._followers.setdefault(each, []).append(node)
        self._waiting: list[int] = []
        self._nodes = nodes
        for node in nodes:
            self._look_at(node)

    def run(self, node: Apply) -> None:
        """Note that a node runs next, unless it has."""
        if node in self.done:
            return
        self.done[node] = None
        for root in self._touched[node]:
            users = self._users[root]
            users.discard(node)
            if len(users) == 1:
                (last,) = users
                if last is not None:
                    self._look_at(last)
        for each in self._followers.get(node, ()):
            self._missing[each] -= 1
            self._look_at(each)

    def next(self) -> Apply | None:
        """Return the first node that can run and frees as much memory as it takes, ``None`` if there's none."""
        while self._waiting:
            node = self._nodes[heappop(self._waiting)]
            if node not in self.done:
                return node
        return None

    def _look_at(self, node: Apply) -> None:
        if self._missing[node] == 0 and node not in self.done and self._taken(node) <= 0:
            heappush(self._waiting, self._places[node])

    def _taken(self, node: Apply) -> int:
        """Return how many bytes more are held after a node than before it."""
        taken = 0
        for root in self._touched[node]:
            is_new, is_last = root.owner is node, len(self._users[root]) == 1
            taken += size(root) * (is_new - is_last)
        return taken


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
