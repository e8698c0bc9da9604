"""Which nodes overwrite memory that others use, and the order in which that is right.

A *root* is a variable that has memory of its own. Its views, and their views, are the members of its alias class. A
node that destroys a member destroys the old value of all of them, so every reader of a member must run before. The
destroyer's output is a new root in the same memory.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from ...errors import AliasedInputError, CycleError, IndestructibleError, MultipleDestroyersError, ProtectedError
from .aliases import AliasClasses, Roots, overlap, remove
from .basic import Apply, Op, Region, Variable
from .feature import Feature
from .fgraph import FunctionGraph

# If a destroyed root has more uses than this, some nodes that need the destroyer are looked at before all readers.
MANY = 32


class DestroyHandler(Feature):
    """Proves that each value is read by all its readers before it's destroyed, and refuses what it can't prove.

    It works incrementally: a change takes its node, and the views that depend on it, out of the alias classes. The next
    validation puts them back, checks the new conditions, and adds the new constraints to the graph's order.
    """

    alone = True

    def __init__(self) -> None:
        self.aliases = AliasClasses()
        # For each destroyer, what it destroys: the position of the input, the root and the part of it.
        self.destroyed: dict[Apply, tuple[tuple[int, Variable, Region | None], ...]] = {}
        self.destroyers: dict[Variable, dict[Apply, tuple[Region | None, ...]]] = {}
        # The variables that must not change, with the reason, and those of each root.
        self.watched: dict[Variable, str] = {}
        self.pins: dict[Variable, dict[Variable, Region | None]] = {}
        # What the next validation must look at.
        self._stale: set[Apply] = set()
        self._unchecked: dict[Apply, None] = {}
        self._unchecked_pins: dict[Variable, None] = {}

    # Events of the graph

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Start watching a graph; its nodes are looked at when it's validated."""
        self._fgraph = fgraph
        self._stale.update(fgraph.apply_nodes)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Forget the graph."""
        self.__init__()  # type: ignore[misc]

    def for_copy(self, variables: dict[Variable, Variable]) -> DestroyHandler:
        """Return a new handler for a copy of the graph."""
        return DestroyHandler()

    def on_import(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Look at the node at the next validation."""
        self._stale.add(node)

    def on_prune(self, fgraph: FunctionGraph, node: Apply) -> None:
        """Forget the node."""
        self._forget(node)
        self._stale.discard(node)
        self._unchecked.pop(node, None)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | None, index: int, old: Variable, new: Variable
    ) -> None:
        """Look at the node, and what depends on its being a view, at the next validation."""
        if node is not None:
            self._forget(node)

    def on_change_op(self, fgraph: FunctionGraph, node: Apply, old: Op) -> None:
        """Look at the node, and what depends on its being a view, at the next validation."""
        self._forget(node)

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Look at what has changed."""
        self._refresh()
        for node in list(self._unchecked):
            self._check(node)
            del self._unchecked[node]
        for variable in list(self._unchecked_pins):
            self._check_pin(variable)
            del self._unchecked_pins[variable]
        for each in (self._stale, self._unchecked, self._unchecked_pins):
            # A dict emptied item by item keeps its table size, so that iterating it stays slow; clear() shrinks it.
            each.clear()
        fgraph.order.settle()

    # Constraints on the order

    def after(self, node: Apply) -> Iterator[Apply]:
        """Yield the nodes that destroy what a node reads: they must run after it."""
        if self.destroyers:
            for variable in node.inputs:
                for root, region in self.aliases.roots_of(variable):
                    for destroyer, regions in self.destroyers.get(root, {}).items():
                        if destroyer is not node and any(overlap(region, each) for each in regions):
                            yield destroyer

    def before(self, node: Apply) -> Iterator[Apply]:
        """Yield the readers of what a node destroys: they must run before it."""
        for _, root, region in self.destroyed.get(node, ()):
            for member, part in self.aliases.members_of(root):
                if overlap(part, region):
                    for client, _ in self._fgraph.clients[member]:
                        if client is not None and client is not node:
                            yield client

    def shared(self, before: Apply, after: Apply) -> Variable | None:
        """Return the root that one node reads and the other one destroys."""
        for _, root, region in self.destroyed.get(after, ()):
            if self._reads(before, root, region):
                return root
        return None

    def _reads(self, node: Apply, root: Variable, region: Region | None) -> bool:
        parts = (part for variable in node.inputs for part in self.aliases.roots_of(variable))
        return any(other is root and overlap(part, region) for other, part in parts)

    # Changes

    def _forget(self, node: Apply) -> list[Apply]:
        """Forget a node and the views that depend on it, and return the nodes that this affects."""
        stack, found = [node], []
        while stack:
            each = stack.pop()
            if each in self._stale:
                continue
            self._stale.add(each)
            found.append(each)
            self._set_destroyed(each, ())
            for output in each.outputs:
                if output in self.aliases.roots:
                    self._set_roots(output, ())
                    stack += self._readers(output)
        return found

    def _refresh(self) -> None:
        """Put back into the alias classes what was taken out, in the order of evaluation."""
        labels, order = self._fgraph.order.labels, self._fgraph.order
        heap = [(labels[node], node) for node in self._stale]
        heapq.heapify(heap)
        while heap:
            _, node = heapq.heappop(heap)
            self._stale.discard(node)
            for destroyer in self.after(node):
                order.suspect(destroyer, node)
            destroyed = self._destroyed(node)
            if destroyed:
                self._set_destroyed(node, destroyed)
                self._unchecked[node] = None
                order.suspect(node)
            for output, roots in self.aliases.of_outputs(node, {root for _, root, _ in destroyed}):
                if roots:
                    self._set_roots(output, roots)
                    for reader in self._readers(output):
                        for each in self._forget(reader):
                            heapq.heappush(heap, (labels[each], each))

    def _readers(self, variable: Variable) -> list[Apply]:
        return [client.node for client in self._fgraph.clients[variable] if client.node is not None]

    def _destroyed(self, node: Apply) -> tuple[tuple[int, Variable, Region | None], ...]:
        victims = node.op.victims(node)
        return tuple((index, *each) for index in victims for each in self.aliases.roots_of(node.inputs[index]))

    def _set_roots(self, variable: Variable, roots: Roots) -> None:
        self._unpin(variable)
        self.aliases.put(variable, roots)
        self._pin(variable)

    def _set_destroyed(self, node: Apply, destroyed: tuple[tuple[int, Variable, Region | None], ...]) -> None:
        for _, root, _ in self.destroyed.pop(node, ()):
            remove(self.destroyers, root, node)
        if destroyed:
            self.destroyed[node] = destroyed
        for _, root, region in destroyed:
            regions = self.destroyers.setdefault(root, {})
            regions[node] = (*regions.get(node, ()), region)

    # Refusals

    def watch(self, variable: Variable, reason: str) -> None:
        """Refuse from now on that anything destroys a variable; ``reason`` completes the error message."""
        self.watched[variable] = reason
        self._pin(variable)

    def unwatch(self, variable: Variable) -> None:
        """Allow again that a variable is destroyed."""
        self._unpin(variable)
        del self.watched[variable]
        self._pin(variable)

    def _pin(self, variable: Variable) -> None:
        # ``_check`` asks an indestructible root itself.
        if variable not in self.watched and not (variable.indestructible and variable in self.aliases.roots):
            return
        for root, region in self.aliases.roots_of(variable):
            self.pins.setdefault(root, {})[variable] = region
        self._unchecked_pins[variable] = None

    def _unpin(self, variable: Variable) -> None:
        if variable not in self.watched and not variable.indestructible:
            return
        for root, _ in self.aliases.roots_of(variable):
            remove(self.pins, root, variable)
        self._unchecked_pins.pop(variable, None)

    def _check(self, node: Apply) -> None:
        """Raise if a node destroys what it mustn't."""
        for index, root, region in self.destroyed.get(node, ()):
            if root.indestructible:
                self._refuse_pinned(node, root)
            for pinned, part in self.pins.get(root, {}).items():
                if overlap(part, region):
                    self._refuse_pinned(node, pinned)
            for other, regions in self.destroyers[root].items():
                if other is not node and any(overlap(region, each) for each in regions):
                    raise MultipleDestroyersError(
                        f"{node} and {other} both overwrite the memory of {root}: one of them has to work on a copy",
                        variable=root,
                        nodes=(node, other),
                    )
            self._check_inputs(node, index, root, region)
            if len(self.aliases.members.get(root, ())) + len(self._fgraph.clients[node.inputs[index]]) > MANY:
                self._check_nearby(node, root, region)

    def _check_nearby(self, node: Apply, root: Variable, region: Region | None) -> None:
        # The order would find this too, but only after it has looked at all readers.
        reader = self._fgraph.order.nearby(node, lambda each: self._reads(each, root, region), MANY)
        if reader is not None:
            raise CycleError(
                f"{node} overwrites the memory of {root}, which {reader} reads, but {reader.op} depends on it: "
                "one of them has to work on a copy",
                variable=root,
                nodes=(node, reader),
            )

    def _check_inputs(self, node: Apply, index: int, root: Variable, region: Region | None) -> None:
        for other, variable in enumerate(node.inputs):
            if other != index and not node.op.tolerates(node, index, other):
                for each, part in self.aliases.roots_of(variable):
                    if each is root and overlap(part, region):
                        raise AliasedInputError(
                            f"{node} overwrites its input {index} while its input {other} shares memory with it "
                            f"(that of {root}), which {node.op} doesn't tolerate: give it a copy",
                            variable=root,
                            nodes=(node, node),
                        )

    def _check_pin(self, variable: Variable) -> None:
        for root, part in self.aliases.roots_of(variable):
            for node, regions in self.destroyers.get(root, {}).items():
                if any(overlap(part, region) for region in regions):
                    self._refuse_pinned(node, variable)

    def _refuse_pinned(self, node: Apply, variable: Variable) -> None:
        nodes = (node,) if variable.owner is None else (node, variable.owner)
        reason = self.watched.get(variable)
        if reason:
            raise ProtectedError(f"{node} overwrites {variable}, {reason}", variable=variable, nodes=nodes)
        raise IndestructibleError(
            f"{node} overwrites {variable}, which is a constant or marked as indestructible: give it a copy",
            variable=variable,
            nodes=nodes,
        )

    def may_destroy(self, variable: Variable) -> bool:
        """Return whether a quick check finds no reason why a node can't destroy a variable."""
        for root, region in self.aliases.roots_of(variable):
            pinned, destroyers = self.pins.get(root), self.destroyers.get(root)
            if (
                root.indestructible
                or (pinned and any(overlap(part, region) for part in pinned.values()))
                or (destroyers and any(overlap(part, region) for parts in destroyers.values() for part in parts))
            ):
                return False
        return True
