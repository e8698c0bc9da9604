"""The buffers that an evaluation uses, and the steps from which and until which each is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import InconsistencyError
from .basic import Apply, Constant, Variable
from .fgraph import FunctionGraph
from .memory import buffers
from .names import bytes_of


@dataclass
class Lifetime:
    """A buffer: the variables that are in it, at once or one after another, and the steps during which it's held.

    A step has the number of its node in the graph's order. Memory that is there before the first step begins at -1;
    memory that is still there after the last step ends at the number of steps.
    """

    root: Variable
    first: int
    last: int
    variables: list[Variable] = field(default_factory=list)

    @property
    def is_given(self) -> bool:
        """Whether the memory is there before the first step, as that of an input or a constant is."""
        return self.root.owner is None

    @property
    def bytes(self) -> int | None:
        """The size in bytes, ``None`` if it isn't known."""
        return bytes_of(self.root)


def settled(fgraph: FunctionGraph) -> list[Apply]:
    """Return the nodes in the graph's order; if the graph is inconsistent, in its last consistent order."""
    try:
        return fgraph.toposort()
    except InconsistencyError:
        return fgraph.order.sort(fgraph.apply_nodes)


def lifetimes(
    fgraph: FunctionGraph, nodes: Sequence[Apply], plan: Mapping[Variable, Variable], *, views: bool = True
) -> list[Lifetime]:
    """Return the buffers that nodes use when they run in this order with this memory plan.

    Without ``views`` each result has memory of its own, as on engines with immutable arrays.
    """
    held = buffers(nodes) if views else {}
    found: dict[Variable, Lifetime] = {}

    def touch(variable: Variable, step: int) -> None:
        for root in held.get(variable, (variable,)):
            while root in plan:
                root = plan[root]
            each = found.setdefault(root, Lifetime(root, step if root.owner else -1, step))
            each.last = step
            each.variables.append(variable)

    for variable in fgraph.inputs:
        touch(variable, -1)
    for step, node in enumerate(nodes):
        for variable in (*node.inputs, *node.outputs):
            touch(variable, step)
    for variable in fgraph.outputs:
        touch(variable, len(nodes))
    for each in found.values():
        each.variables = list(dict.fromkeys(each.variables))
        if each.is_given:
            # The caller or the graph holds it all the time.
            each.first, each.last = -1, len(nodes)
    return sorted(found.values(), key=lambda each: (isinstance(each.root, Constant), each.first))


def peak(memory: Sequence[Lifetime], *, unknown: int = 0, inside: Mapping[int, int] | None = None) -> int:
    """Return the most bytes of temporaries and results that are held at one time.

    ``unknown`` is counted for a buffer of unknown size. ``inside`` has what steps hold inside, while they run.
    """
    changes: dict[int, int] = {}
    for step, size in (inside or {}).items():
        changes[step] = changes.get(step, 0) + size
        changes[step + 1] = changes.get(step + 1, 0) - size
    for each in memory:
        if not each.is_given:
            size = unknown if each.bytes is None else each.bytes
            changes[each.first] = changes.get(each.first, 0) + size
            changes[each.last + 1] = changes.get(each.last + 1, 0) - size
    held = most = 0
    for step in sorted(changes):
        held += changes[step]
        most = max(most, held)
    return most
