"""A topological order that is kept up to date as constraints come and go.

Every node has a label, and whatever must run before it has a smaller one. A new constraint that the labels contradict
is settled as by Pearce and Kelly (2006): only nodes between the two labels, and of these only those that depend on the
one node or are needed by the other, change places among themselves. A constraint that goes needs no work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from ...errors import CycleError, SearchLimitError
from .basic import Apply

if TYPE_CHECKING:
    from .fgraph import FunctionGraph

# The distance between the first labels, which leaves room for new nodes.
GAP = 2**40

# Sort from scratch if more than this many constraints, and more than 1/8 of the nodes, are pending.
BULK = 64


class NodeOrder:
    """Labels of a graph's nodes, consistent with its edges and with its features' constraints."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self._fgraph = fgraph
        self.labels: dict[Apply, int] = {}
        self._used: set[int] = set()
        self._last = 0
        self._limit: float = inf
        # The node before which new nodes go, if their inputs allow it.
        self.anchor: Apply | None = None
        # Nodes with constraints that the labels may contradict: node -> the others that it must run after, or None if
        # all of them must be looked at.
        self._suspects: dict[Apply, set[Apply] | None] = {}

    def sort(self, nodes: Iterable[Apply]) -> list[Apply]:
        """Return nodes in the order."""
        return sorted(nodes, key=self.labels.__getitem__)

    def arrange(self, nodes: Sequence[Apply]) -> None:
        """Set another order of all nodes, which fits the constraints."""
        old = {node: self.labels[node] for node in nodes}
        self.labels.update(zip(nodes, sorted(self.labels.values()), strict=True))
        self._fgraph.history.record(self._restore, old, self._last)

    def add(self, node: Apply) -> None:
        """Give a label to a new node, after those of its inputs."""
        label = self._room(node)
        if label > self._last:
            self._fgraph.history.record(setattr, self, "_last", self._last)
            self._last = label
        self.labels[node] = label
        self._used.add(label)

    def _room(self, node: Apply) -> int:
        end = self._last + GAP
        if self.anchor is None:
            return end
        labels = self.labels
        floor = max((labels[v.owner] for v in node.inputs if v.owner is not None), default=-end)
        place = labels.get(self.anchor, floor)
        gaps = [GAP >> shift for shift in range(1, 41)]
        near = [place - gap for gap in gaps] if place > floor else [floor + gap for gap in gaps]
        return next((label for label in near if label > floor and label not in self._used), end)

    def remove(self, node: Apply) -> None:
        """Forget a node."""
        label = self.labels.pop(node)
        self._used.remove(label)
        self._suspects.pop(node, None)
        self._fgraph.history.record(self._restore, {node: label}, self._last)

    def _restore(self, labels: dict[Apply, int], last: int) -> None:
        self._last = last
        self._used.difference_update([self.labels[node] for node in labels])
        self.labels.update(labels)
        self._used.update(labels.values())

    def suspect(self, node: Apply, before: Apply | None = None) -> None:
        """Note that a node must run after another one or, without that, that any of its constraints may be new."""
        if before is None:
            self._suspects[node] = None
        else:
            others = self._suspects.setdefault(node, set())
            if others is not None:
                others.add(before)

    def settle(self) -> None:
        """Make the labels consistent with all constraints.

        Raises
        ------
        CycleError
            If the constraints contradict each other.
        """
        if len(self._suspects) > max(BULK, len(self.labels) // 8):
            self._sort_anew()
            self._suspects.clear()
        elif self._suspects:
            for node, others in list(self._suspects.items()):
                self._settle(node, self.before(node) if others is None else self._still(node, others))
                del self._suspects[node]
            # A dict emptied item by item keeps its table size, so that iterating it stays slow; clear() shrinks it.
            self._suspects.clear()

    def _settle(self, node: Apply, before: Iterable[Apply]) -> None:
        labels = self.labels
        low = labels[node]
        late = {each for each in before if labels[each] >= low}
        if not late:
            return
        forward = self._forward(node, late)
        backward = self._backward(late, low)
        moving = [*self.sort(backward), *self.sort(forward)]
        old = {each: labels[each] for each in moving}
        labels.update(zip(moving, sorted(old.values()), strict=True))
        self._fgraph.history.record(self._restore, old, self._last)

    def _sort_anew(self) -> None:
        """Sort all nodes, keeping their old order where possible: faster than settling many constraints one by one."""
        labels = self.labels
        found: set[Apply] = set()
        moving: list[Apply] = []
        for first in self.sort(labels):
            # The path to the current node, and the predecessors that each node on it still waits for.
            path, on_path, waiting = [first], {first}, [iter(self.sort(self.before(first)))]
            while path:
                node = path[-1]
                each = next((each for each in waiting[-1] if each not in found), None) if node not in found else None
                if each is None:
                    if node not in found:
                        found.add(node)
                        moving.append(node)
                    on_path.remove(path.pop())
                    waiting.pop()
                elif each in on_path:
                    raise self._cycle([each, *path[: path.index(each) : -1]])
                else:
                    path.append(each)
                    on_path.add(each)
                    waiting.append(iter(self.sort(self.before(each))))
        new = dict(zip(moving, sorted(labels.values()), strict=True))
        if new != labels:
            self._fgraph.history.record(self._restore, dict(labels), self._last)
            labels.update(new)

    def _still(self, node: Apply, others: Iterable[Apply]) -> Iterator[Apply]:
        """Yield the suspected predecessors of a node that it still must run after."""
        for other in others:
            if any(variable.owner is other for variable in node.inputs) or (
                other in self.labels and any(node in feature.after(other) for feature in self._fgraph.features)
            ):
                yield other

    def _forward(self, node: Apply, late: set[Apply]) -> Iterable[Apply]:
        """Return a node and the nodes that depend on it, as far as the last of ``late``, which must come before it."""
        labels = self.labels
        high = max(labels[each] for each in late)
        reached: dict[Apply, Apply | None] = {node: None}
        if node in late:
            raise self._cycle([node])
        stack = [node]
        steps = 0
        while stack:
            this = stack.pop()
            here = labels[this]
            for each in self._after(this):
                steps += 1
                if steps > self._limit:
                    raise SearchLimitError(f"no cycle was found in {steps} steps from {node}", nodes=(node,))
                # An edge against the order is a constraint that is still pending.
                if here < labels[each] <= high and each not in reached:
                    reached[each] = this
                    if each in late:
                        raise self._cycle(_way(each, reached))
                    stack.append(each)
        return reached

    def _backward(self, late: set[Apply], low: int) -> Iterable[Apply]:
        labels = self.labels
        reached = set(late)
        stack = list(late)
        steps = 0
        while stack:
            this = stack.pop()
            here = labels[this]
            for each in self.before(this):
                steps += 1
                if steps > self._limit:
                    raise SearchLimitError(
                        f"the nodes that {this} needs were not found in {steps} steps", nodes=(this,)
                    )
                if low < labels[each] < here and each not in reached:
                    reached.add(each)
                    stack.append(each)
        return reached

    def nearby(self, node: Apply, wanted: Callable[[Apply], bool], limit: int) -> Apply | None:
        """Return the first wanted node among a limited number of nodes that depend on a node."""
        queue, reached = deque([node]), {node}
        while queue and len(reached) <= limit:
            for each in islice(self._after(queue.popleft()), limit):
                if each not in reached:
                    if wanted(each):
                        return each
                    reached.add(each)
                    queue.append(each)
        return None

    def _after(self, node: Apply) -> Iterator[Apply]:
        clients = self._fgraph.clients
        for output in node.outputs:
            for client, _ in clients[output]:
                if client is not None:
                    yield client
        for feature in self._fgraph.features:
            yield from feature.after(node)

    def before(self, node: Apply) -> Iterator[Apply]:
        """Yield the nodes that must run before a node."""
        for variable in node.inputs:
            if variable.owner is not None:
                yield variable.owner
        for feature in self._fgraph.features:
            yield from feature.before(node)

    def _cycle(self, nodes: list[Apply]) -> CycleError:
        """Return the error for a cycle: each node must run before the next, and the last before the first."""
        # The error names a constraint of a feature, if there is one, rather than a use of a result.
        turns = (nodes[turn:] + nodes[:turn] for turn in range(len(nodes)))
        nodes = next((each for each in turns if not any(v.owner is each[-1] for v in each[0].inputs)), nodes)
        first, last = nodes[0], nodes[-1]
        shared = (feature.shared(last, first) for feature in self._fgraph.features)
        variable = next((each for each in shared if each is not None), None)
        why = (
            f"{last} needs the memory of {variable} as it was before {first} overwrites it"
            if variable is not None
            else (f"{first} needs what {last} computes")
        )
        shown = " → ".join(str(each.op) for each in ([*nodes[:3], nodes[-1]] if len(nodes) > 4 else nodes))
        return CycleError(
            f"{why}, but it also depends on it ({shown}): one of them has to work on a copy",
            variable=first.inputs[0] if variable is None else variable,
            nodes=(first, last),
        )

    @contextmanager
    def limited(self, steps: int | None) -> Iterator[None]:
        """Raise a ``SearchLimitError`` inside the block if settling a constraint takes more steps along edges."""
        before, self._limit = self._limit, inf if steps is None else steps
        try:
            yield
        finally:
            self._limit = before


def _way(node: Apply, reached: dict[Apply, Apply | None]) -> list[Apply]:
    """Return the path from the start of a search to a node that it reached."""
    way: list[Apply] = []
    each: Apply | None = node
    while each is not None:
        way.append(each)
        each = reached[each]
    return way[::-1]
