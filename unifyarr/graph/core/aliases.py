"""Which variables of a graph may be in the same memory: roots, and the members of their alias classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import TypeVar

from .basic import Apply, Region, Variable

Key = TypeVar("Key")
Value = TypeVar("Value")

# The memory that a variable may share: root -> part of it, ``None`` if the part isn't known.
Roots = tuple[tuple[Variable, Region | None], ...]


def overlap(x1: Region | None, x2: Region | None) -> bool:
    """Return whether two parts of a root may have an element in common."""
    return x1 is None or x2 is None or not x1.isdisjoint(x2)


class AliasClasses:
    """The roots of each variable, and the members of each root; a variable that isn't here is its own root."""

    def __init__(self) -> None:
        # The roots of each variable that isn't its own root.
        self.roots: dict[Variable, Roots] = {}
        # The members of each root, without the root itself.
        self.members: dict[Variable, dict[Variable, Region | None]] = {}

    def roots_of(self, variable: Variable) -> Roots:
        """Return the roots whose memory a variable may share, and which part of each."""
        return self.roots.get(variable) or ((variable, None),)

    def members_of(self, root: Variable) -> Iterator[tuple[Variable, Region | None]]:
        """Yield the variables that may share the memory of a root, and which part of it."""
        if root not in self.roots:
            yield root, None
        yield from self.members.get(root, {}).items()

    def put(self, variable: Variable, roots: Roots) -> None:
        """Make a variable a member of these classes, and of no others; without roots it's its own."""
        for root, _ in self.roots.pop(variable, ()):
            remove(self.members, root, variable)
        if roots:
            self.roots[variable] = roots
        for root, region in roots:
            self.members.setdefault(root, {})[variable] = region

    def of_outputs(self, node: Apply, gone: Set[Variable]) -> list[tuple[Variable, Roots]]:
        """Return the roots of each output; empty for an output that is its own root.

        ``gone`` has the roots that the node destroys: their memory belongs to the first output that is in some of it.
        """
        views, destroys = node.op.views(node), node.op.destroys(node)
        if not views and len(destroys) <= 1:
            return []
        sources = {key: (*destroys.get(key, ()), *views.get(key, ())) for key in range(len(node.outputs))}
        heirs: dict[Variable, Variable] = {}
        for key, inputs in sources.items():
            for root, _ in (each for index in inputs for each in self.roots_of(node.inputs[index])):
                if root in gone:
                    heirs.setdefault(root, node.outputs[key])
        # Parts of different buffers can't be compared.
        blurred = {heir for heir, number in Counter(heirs.values()).items() if number > 1}
        found: list[dict[Variable, Region | None]] = []
        for key, inputs in sources.items():
            roots: dict[Variable, Region | None] = {}
            for index in inputs:
                for root, parent in self.roots_of(node.inputs[index]):
                    heir = heirs.get(root, root)
                    region = None if heir in blurred else self._region(node, key, index, root, parent)
                    roots[heir] = region if roots.get(heir, region) == region else None
            found.append(roots)
        shares = Counter(root for roots in found for root in roots)
        return [
            (output, () if roots == {output: None} and shares[output] == 1 else tuple(roots.items()))
            for output, roots in zip(node.outputs, found, strict=True)
        ]

    def _region(self, node: Apply, output: int, input: int, root: Variable, parent: Region | None) -> Region | None:
        variable = node.inputs[input]
        if parent is None and (root is not variable or variable in self.roots):
            return None
        return node.op.region(node, output, input, parent)


def remove(table: dict[Variable, dict[Key, Value]], root: Variable, key: Key) -> None:
    """Remove an item of a nested mapping, and the inner mapping if it's empty then."""
    entries = table.get(root)
    if entries is not None:
        entries.pop(key, None)
        if not entries:
            del table[root]
