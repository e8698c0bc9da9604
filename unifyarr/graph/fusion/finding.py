"""The rewrite that makes one node of each region."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from ..._core.kernels.types import ArrayType
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.nodes import copy_nodes
from ..core.rewriting import attempt
from ..kernels.kernelop import KernelOp, is_filled, kernel_of
from ..kernels.windows import roots
from .assembly import can_assemble
from .composed import Composed
from .fusedop import FusedOp, FusedPlan, Output
from .grouping import Grouping, Member, is_number, operands, read_by, whole
from .index_maps import Seen, is_index_map, shape_of
from .region import Axis, FusedStep, Operand

# How many operations are worth a region. One operation and a write to a window are one call of NumPy's anyway.
FEWEST = 2
# Of how many steps a single operation is worth one: a formula, which its kernel computes by as many calls.
MANY = 10
# How long rows are at least that are worth a region on engines that compute in several threads, where rows of parts of
# arrays can't be joined to longer ones.
ROW = 64


def fuse(fgraph: FunctionGraph, strides: Mapping[Variable, Sequence[int]], small: bool = False) -> int:
    """Make one node of each region, and return how many there are.

    Nothing is overwritten yet: it's a rewrite of values. ``strides`` has those of the graph's inputs and of
    constants. If ``small``, single operations are regions too.
    """
    grouping = Grouping(fgraph, strides)
    regions = [_without_conflicts(fgraph, grouping, members) for members in grouping.regions()]
    worth = [members for members in regions if _is_worth_it(members, 1 if small else FEWEST)]
    with fgraph.history.of("fuse"):
        return sum(_replace(fgraph, members) for members in worth)


def _is_worth_it(members: Sequence[Member], fewest: int) -> bool:
    computing = [member for member in members if member.recipe is not None]
    if len(computing) < fewest and not any(len(each.recipe.steps) >= MANY for each in computing if each.recipe):
        return False
    op, shape = computing[0].node.op, computing[0].shape
    if not isinstance(op, KernelOp) or op.backend.name == "numpy":
        return True
    # One row, long rows, or arrays as a whole, which are one row too.
    if math.prod(shape[:-1]) == 1 or shape[-1] >= ROW:
        return True
    size = math.prod(shape)
    return len(computing) == len(members) and all(math.prod(shape_of(each.base)) == size for each in _read(members))


def _read(members: Sequence[Member]) -> Iterator[Seen]:
    """Yield what members read, but for numbers."""
    for member in members:
        for variable, shown in zip(operands(member.node), read_by(member), strict=True):
            if not is_number(variable):
                yield shown


def _without_conflicts(fgraph: FunctionGraph, grouping: Grouping, members: list[Member]) -> list[Member]:
    """Leave out writes to windows that couldn't be made in the memory of the array."""
    writes = [member for member in members if member.recipe is None]
    if not writes:
        return members
    inside = {member.node for member in members}
    level = max(grouping.levels[node] for node in inside)
    reads = list(dict.fromkeys(each for each in _read(members) if each.base.owner not in inside))
    left_out: set[Apply] = set()
    targets: set[Variable] = set()
    for member in writes:
        x = member.node.inputs[0]
        memory = roots(x)
        window = window_of(member)
        # Other windows of the array itself may be read: what is written waits for that.
        conflicts = any(roots(each.base) & memory and (each.base is not x or each.axes != window[1]) for each in reads)
        # What reads the old value after the region's results would keep it from being overwritten.
        later = not is_filled(x) and any(
            node is None or (node not in inside and grouping.levels[node] > level)
            for root in memory
            for node in _readers(fgraph, root)
        )
        if conflicts or later or (memory & targets and not is_filled(x)):
            left_out.add(member.node)
        targets |= memory
    return [member for member in members if member.node not in left_out]


def _readers(fgraph: FunctionGraph, variable: Variable) -> Iterator[Apply | None]:
    """Yield the nodes that read a variable or a view of it; ``None`` if the caller does."""
    for node, index in fgraph.clients[variable]:
        yield node
        if node is not None:
            for key, sources in node.op.views(node).items():
                if index in sources:
                    yield from _readers(fgraph, node.outputs[key])


def window_of(member: Member) -> tuple[tuple[int, ...], tuple[Axis, ...]]:
    """Return where a member writes: start and axes of an operand."""
    window = kernel_of(member.node).static["window"]
    axes = tuple(Axis(axis, step) for axis, (_, step, length) in enumerate(window) if length != 1)
    return tuple(start for start, _, _ in window), axes


def _replace(fgraph: FunctionGraph, members: Sequence[Member]) -> bool:
    building = _Building(fgraph, members)
    wanted = [member for member in members if any(building.is_used_outside(member.node.outputs[0]))]
    plan = building.plan(wanted)
    old = [member.node.outputs[0] for member in wanted]
    composed = Composed([*building.arguments], old, copy_nodes(building.arguments, old))
    op = FusedOp(building.backend, plan, composed)
    if not can_assemble(op.as_region()):
        return False
    node = Apply(op, building.arguments, [each.type for each in old])
    if not attempt(fgraph, zip(old, node.outputs, strict=True)):
        return False
    computed = [member.node.outputs[0] for member in members]
    for variable in node.outputs:
        fgraph.history.inherit(variable, computed)
    return True


# An operand of a step while its slot's number isn't known: "read", "constant" or "step", and the place among these.
Slot = tuple[str, int]


class _Building:
    """The plan of a region, in the making."""

    def __init__(self, fgraph: FunctionGraph, members: Sequence[Member]) -> None:
        self.fgraph, self.members = fgraph, members
        self.backend = kernel_of(members[0].node).backend
        self.inside = {member.node for member in members}
        self.arguments: dict[Variable, int] = {}
        self.reads: dict[Operand, Slot] = {}
        self.constants: list[np.ndarray] = []
        self.steps: list[tuple[FusedStep, tuple[Slot, ...]]] = []
        # What a result of a write to a window is written to, and the slots of all results.
        self.targets: dict[Variable, int] = {}
        self._slots: dict[Variable, Slot] = {}
        self._numbers: dict[tuple[np.dtype, bytes], Slot] = {}
        for member in members:
            self._add(member)

    def _add(self, member: Member) -> None:
        given = [self._read(*each) for each in zip(operands(member.node), read_by(member), strict=True)]
        output = member.node.outputs[0]
        if member.recipe is None:
            self.targets[output] = self._target(member.node.inputs[0])
            self._slots[output] = given[0]
            return
        given += [self._number(each) for each in member.recipe.constants]
        for step in member.recipe.steps:
            self.steps.append((step, tuple(given[each] for each in step.inputs)))
            given.append(("step", len(self.steps) - 1))
        self._slots[output] = given[-1]

    def _read(self, variable: Variable, shown: Seen) -> Slot:
        if is_number(variable):
            assert isinstance(variable, Constant)
            return self._number(np.reshape(self.backend.to_numpy(variable.data), ()))
        base, start, axes = shown
        if base.owner in self.inside:
            return self._slots[base]
        operand = Operand(self._argument(base), start, axes)
        return self.reads.setdefault(operand, ("read", len(self.reads)))

    def _target(self, x: Variable) -> int:
        """Return the number of an array that a window of is written."""
        if is_filled(x) and len(self.fgraph.clients[x]) > 1:
            assert x.owner is not None
            x = x.owner.copy(()).outputs[0]
        return self._argument(x)

    def _argument(self, variable: Variable) -> int:
        return self.arguments.setdefault(variable, len(self.arguments))

    def _number(self, value: np.ndarray) -> Slot:
        key = (value.dtype, value.tobytes())
        if key not in self._numbers:
            self._numbers[key] = ("constant", len(self.constants))
            self.constants.append(value)
        return self._numbers[key]

    def is_used_outside(self, variable: Variable) -> Iterator[bool]:
        """Yield for each use of a variable whether it needs the array."""
        for node, _ in self.fgraph.clients[variable]:
            if node is not None and is_index_map(node):
                yield from self.is_used_outside(node.outputs[0])
            else:
                yield node not in self.inside

    def plan(self, wanted: Collection[Member]) -> FusedPlan:
        """Return the plan, with the results of these members as outputs."""
        first = {"read": 0, "constant": len(self.reads), "step": len(self.reads) + len(self.constants)}

        def number(slot: Slot) -> int:
            return first[slot[0]] + slot[1]

        outputs = []
        for member in wanted:
            variable = member.node.outputs[0]
            type = _type_of(variable)
            slot = number(self._slots[variable])
            if member.recipe is None:
                outputs.append(Output(slot, type, *window_of(member), self.targets[variable]))
            else:
                axes = (*whole(type.shape), *([Axis(None)] if member.gives_rows else []))
                outputs.append(Output(slot, type, (0,) * len(type.shape), axes, None))
        return FusedPlan(
            self.members[0].space,
            tuple(map(_type_of, self.arguments)),
            tuple(self.reads),
            tuple(self.constants),
            tuple(step._replace(inputs=tuple(map(number, slots))) for step, slots in self.steps),
            tuple(outputs),
        )


def _type_of(variable: Variable) -> ArrayType:
    assert variable.type is not None
    return ArrayType(shape_of(variable), variable.type.dtype)
