"""The instructions of a region: which loop runs on which buffers."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .buffers import BufferPlace, Buffers, is_in_place
from .known import FIRST, known_of
from .region import CAST, MADE, WHERE, FusedRegion, FusedStep, Operand
from .task_loops import WHOLE_EXPONENT, Task, TaskOperation, find_loop, first_value, is_exact
from .tasks import COPY, MOST_OPERANDS, alone, grouped

# The bytes that a chunk touches, as measured (larger than the first cache is no fault), and how many elements it has.
TOUCHED = 48 << 10
SHORTEST, LONGEST = 1024, 4096
# The elements of a chunk where one loop does it all, and nothing that a buffer holds is read again.
ALONE = 16384
# Shorter rows are joined to longer ones, as in native/axes.h.
SHORT = 32
# The longest row that is reduced chunk by chunk: all of it is in buffers.
LONGEST_ROW = 32768

# The kinds of instructions, as in native/program.h.
ELEMENTWISE, BY_ROW, REDUCE, REDUCE_FIRST = range(4)
# What happens to a window, as there.
READ, COPIED, COMPUTED, COMPUTED_ROWS = range(4)


class MachineInstruction(NamedTuple):
    """A task on places: of its inputs, its outputs, and of what it saves or what a reduction begins with.

    ``checks`` are the instructions of a generated loop's operations: they find out which of them raised a flag.
    """

    task: Task
    kind: int
    places: tuple[BufferPlace, ...]
    checks: tuple[MachineInstruction, ...] = ()


class Assembly(NamedTuple):
    """A region as instructions: ``windows`` are its reads and then its writes.

    ``slots`` are triples (itemsize, by row, the window that a loop saves there before it overwrites it, or -1).
    """

    region: FusedRegion
    windows: tuple[Operand, ...]
    constants: tuple[np.ndarray, ...]
    slots: tuple[tuple[int, bool, int], ...]
    instructions: tuple[MachineInstruction, ...]
    # Of all values, and whether each is the same along a row.
    dtypes: tuple[np.dtype[Any], ...]
    still: tuple[bool, ...]
    capacity: int
    # What happens to each window; and those that loops read which differ for negative strides.
    roles: tuple[int, ...]
    forward: frozenset[int]
    # The windows that are written late, since others of their arguments are read; and for each window that reads what
    # such a one writes how many elements after that, along each axis.
    late: frozenset[int]
    ahead: tuple[tuple[int, ...] | None, ...]
    # Whether rows are reduced; and whether that's in the order of additions that NumPy has in C-contiguous arrays.
    reduces: bool
    ordered: bool


def assemble(region: FusedRegion, generated: bool = False, watches: bool = True) -> Assembly | None:
    """Return a region's instructions, or ``None`` if it has to run step by step.

    If ``generated``, steps are grouped into loops that can be generated as C. Unless it ``watches`` flags, nothing has
    to be saved to find out which step raised them.
    """
    assembler = _Assembler(region, watches)
    return assembler.result(generated) if assembler.is_possible() else None


def can_assemble(region: FusedRegion) -> bool:
    """Return whether a region has instructions, and needn't run step by step."""
    return _Assembler(region, True).is_possible()


class _Assembler:
    def __init__(self, region: FusedRegion, watches: bool):
        reduces = any(step.reduces for step in region.steps)
        self.region, self.reduces, self.watches = region, reduces, watches
        self.n_reads, self.n_constants = len(region.reads), len(region.constants)
        self.dtypes = [region.arguments[each.argument][1] for each in region.reads]
        self.dtypes += [each.dtype for each in region.constants]
        self.dtypes += [step.dtypes[-1] for step in region.steps]
        # Whether each value is one for each row; None for constants, which suit both.
        self.by_row: list[bool | None] = [False] * self.n_reads + [None] * self.n_constants
        # The values that follow from constants alone, which are single numbers when the steps run one by one.
        self.single = set(range(self.n_reads, self.n_reads + self.n_constants))
        for number, step in enumerate(region.steps, len(self.by_row)):
            inputs = {self.by_row[each] for each in step.inputs} - {None}
            self.by_row.append(step.reduces or (False not in inputs and reduces))
            if self.single.issuperset(step.inputs):
                self.single.add(number)

    def is_possible(self) -> bool:
        """Return whether all loops are there, rows are short enough, and all dtypes as they're said to be."""
        shape, writes = self.region.shape, self.region.writes
        if 0 in shape or (self.reduces and not 0 < shape[-1] <= LONGEST_ROW):
            return False
        if not all(map(self._step_is_possible, self.region.steps)):
            return False
        late = [(slot, operand) for slot, operand in writes if self._others(operand)]
        for slot, operand in late:
            # Elements of one window only, in the order of the space, wait in buffers.
            alone = sum(each.argument == operand.argument for _, each in writes) == 1
            alike = all(each.axes == operand.axes for each in self._others(operand))
            if not alone or not alike or (self.reduces and self.by_row[slot]):
                return False
        return all(self._write_is_possible(slot, operand) for slot, operand in writes)

    def _others(self, written: Operand) -> list[Operand]:
        """Return the other windows that are read of an argument of which one is written."""
        return [each for each in self.region.reads if each.argument == written.argument and each != written]

    def _step_is_possible(self, step: FusedStep) -> bool:
        given = tuple(self.dtypes[each] for each in step.inputs)
        if given != step.dtypes[:-1] or find_loop(step) is None:
            return False
        if step.reduces:
            return self.by_row[step.inputs[0]] is False
        if step.name in WHOLE_EXPONENT:
            # This loop has another way for an exponent that stands still, which is more exact.
            exponent = step.inputs[1]
            still = exponent < self.n_reads and any(each.axis is None for each in self.region.reads[exponent].axes)
            varies = self.by_row[exponent] is False and not still and max(self.region.shape, default=1) > 1
            varies = varies and exponent not in self.single
            return varies or self.n_reads <= exponent < self.n_reads + self.n_constants
        return True

    def _write_is_possible(self, slot: int, operand: Operand) -> bool:
        spread = [size > 1 and each.axis is None for size, each in zip(self.region.shape, operand.axes, strict=True)]
        if self.by_row[slot] and self.reduces:
            if operand.axes[-1].axis is not None and self.region.shape[-1] > 1:
                return False
            spread[-1] = False
        return not any(spread) and self.region.arguments[operand.argument][1] == self.dtypes[slot]

    def result(self, generated: bool) -> Assembly:
        region = self.region
        # First what is only copied, then the steps.
        operations: list[TaskOperation] = []
        copies: dict[int, int] = {}
        for position, (slot, _) in enumerate(region.writes):
            if slot < self.n_reads + self.n_constants:
                copies[position] = len(self.dtypes)
                operations.append(self._copy(slot, len(self.dtypes)))
                self.dtypes.append(self.dtypes[slot])
                self.by_row.append(False)
        begin = self.n_reads + self.n_constants
        operations += [TaskOperation(step, i, step.inputs, begin + i) for i, step in enumerate(region.steps)]
        tasks = grouped(region, operations, self.by_row) if generated else list(map(alone, operations))

        places = {i: BufferPlace("window", i) for i in range(self.n_reads)}
        places |= {self.n_reads + i: BufferPlace("constant", i) for i in range(self.n_constants)}
        late = self._place_writes(tasks, copies, places)
        buffers = Buffers(self.dtypes, self.by_row)
        buffers.place(tasks, {value for value, _ in late}, places)
        self.saved = {(time, each): buffers.fresh(each) for time, task in enumerate(tasks) for each in task.saved}
        n_slots = len(buffers.slots)
        windows_saved = {place.number: value for (_, value), place in self.saved.items()}
        self.starts: list[np.ndarray] = []
        instructions = [
            self._instruction(task, places, buffers, {each: self.saved[time, each] for each in task.saved})
            for time, task in enumerate(tasks)
        ]
        instructions += [
            self._instruction(alone(self._copy(value, -1)), {**places, -1: at}, buffers, {}) for value, at in late
        ]
        constants = (*map(np.asarray, region.constants), *self.starts)
        windows = (*region.reads, *(operand for _, operand in region.writes))
        waiting = {self.n_reads + i: each for i, (_, each) in enumerate(region.writes) if self._others(each)}
        written = {each.argument: each for each in waiting.values()}
        ahead = [written.get(each.argument) and _ahead(each, written[each.argument]) for each in region.reads]
        roles, forward = self._roles(instructions)
        slots = tuple((*each, windows_saved.get(i, -1)) for i, each in enumerate(buffers.slots))
        sums = any(step.reduces and step.dtypes[-1].kind in "fc" for step in region.steps)
        return Assembly(
            *(region, windows, constants, slots, tuple(instructions), tuple(self.dtypes), self._still()),
            *(self._capacity(buffers.slots[:n_slots], len(instructions), bool(waiting)), roles, forward),
            frozenset(waiting),
            *((*ahead, *(None for _ in region.writes)), self.reduces, sums),
        )

    def _copy(self, value: int, copied: int) -> TaskOperation:
        return TaskOperation(FusedStep(COPY, (value,), (self.dtypes[value],) * 2), -1, (value,), copied)

    def _still(self) -> tuple[bool, ...]:
        last = self._last_axes()
        shown = [[axis.axis for axis in each.axes[-last:]] for each in self.region.reads]
        reads = [bool(axes) and set(axes) == {None} for axes in shown]
        return (*reads, *(each is not False for each in self.by_row[self.n_reads :]))

    def _last_axes(self) -> int:
        """Return how many of the last axes are gone through as one, since rows would be short."""
        shape = self.region.shape
        lengths = itertools.accumulate(reversed(shape), operator.mul)
        return 1 if self.reduces else next((i for i, each in enumerate(lengths, 1) if each >= SHORT), len(shape) or 1)

    def _place_writes(
        self, tasks: list[Task], copies: dict[int, int], places: dict[int, BufferPlace]
    ) -> list[tuple[int, BufferPlace]]:
        """Compute values in their windows, where no later step reads the argument; return those to be copied there."""
        region, late = self.region, []
        last_read: dict[int, int] = {}
        for time, task in enumerate(tasks):
            for each in task.inputs:
                if each < self.n_reads:
                    last_read[region.reads[each].argument] = time
        made = {value: time for time, task in enumerate(tasks) for value in task.outputs}
        for position, (slot, operand) in enumerate(region.writes):
            value = copies.get(position, slot)
            window = BufferPlace("window", self.n_reads + position)
            time, until = made[value], last_read.get(operand.argument, -1)
            if self._others(operand) and value not in places:
                # It's in a buffer of its own, until nothing reads its elements any more.
                places[value] = window
                continue
            saved = self._overwritten(tasks[time], operand.argument)
            if value in places or until > time or (until == time and saved is None):
                late.append((value, window))
                continue
            places[value] = window
            if until == time and saved is not None:
                tasks[time] = tasks[time]._replace(saved=(*tasks[time].saved, *saved))
        return late

    def _overwritten(self, task: Task, argument: int) -> tuple[int, ...] | None:
        """Return what a task has to save that writes to an argument which it reads; ``None`` if it can't do that."""
        if len(task.operations) == 1:
            return () if is_in_place(task) else None
        if not self.watches:
            return ()
        found = tuple(each for each in task.inputs if each < self.n_reads and self._argument(each) == argument)
        return found if len((*task.inputs, *task.outputs, *task.saved, *found)) <= MOST_OPERANDS else None

    def _argument(self, read: int) -> int:
        return self.region.reads[read].argument

    def _instruction(
        self, task: Task, places: dict[int, BufferPlace], buffers: Buffers, saved: dict[int, BufferPlace]
    ) -> MachineInstruction:
        at = (*(places[each] for each in (*task.inputs, *task.outputs)), *(saved[each] for each in task.saved))
        step, value = task.operations[0].step, task.operations[0].inputs[0]
        if len(task.operations) > 1:
            checked = buffers.place_checks(task, places | saved)
            checks = (self._instruction(alone(each), checked, buffers, {}) for each in task.operations)
            return MachineInstruction(task, ELEMENTWISE, at, tuple(checks))
        if not step.reduces:
            value = task.outputs[0] if task.outputs[0] >= 0 else value
            return MachineInstruction(task, BY_ROW if self.by_row[value] else ELEMENTWISE, at)
        if known_of(step.name).begins is FIRST:
            return MachineInstruction(task, REDUCE_FIRST, at)
        self.starts.append(first_value(step))
        return MachineInstruction(task, REDUCE, (*at, BufferPlace("constant", self.n_constants + len(self.starts) - 1)))

    def _roles(self, instructions: Sequence[MachineInstruction]) -> tuple[tuple[int, ...], frozenset[int]]:
        """Return what happens to each window, and those that loops read which differ for negative strides."""
        roles = [READ] * self.n_reads + [COPIED] * len(self.region.writes)
        forward: set[int] = set()
        for each in instructions:
            step, n = each.task.operations[0].step, len(each.task.inputs)
            if not is_exact(step):
                forward.update(place.number for place in each.places[:n] if place.where == "window")
            for place in each.places[n : n + len(each.task.outputs)]:
                if place.where == "window" and step.name != COPY:
                    roles[place.number] = COMPUTED if each.kind == ELEMENTWISE else COMPUTED_ROWS
        return tuple(roles), frozenset(forward)

    def _capacity(self, slots: Sequence[tuple[int, bool]], count: int, late: bool) -> int:
        region = self.region
        if count == 1 and not late:
            return max(ALONE, region.shape[-1]) if self.reduces else ALONE
        windows = (*region.reads, *(operand for _, operand in region.writes))
        width = sum(itemsize for itemsize, by_row in slots if not by_row)
        width += sum(region.arguments[each.argument][1].itemsize for each in windows)
        fits = min(max(TOUCHED // max(width, 1), SHORTEST), LONGEST) // 64 * 64
        return max(fits, region.shape[-1]) if self.reduces else fits


def _ahead(read: Operand, written: Operand) -> tuple[int, ...] | None:
    """Return how many elements after it's computed a written element is read; ``None`` if none of them is."""
    apart = [one - other for one, other in zip(written.start, read.start, strict=True)]
    steps = {each.axis: each.step for each in written.axes}
    if any(distance % steps[axis] if axis in steps else distance for axis, distance in enumerate(apart)):
        return None
    return tuple(apart[each.axis] // each.step for each in written.axes if each.axis is not None)


def own_name(step: FusedStep) -> str:
    """Return the name of a loop of the machine's own."""
    if step.name == CAST:
        return "cast " + "".join(dtype.str.lstrip("<>|=").replace("b1", "?") for dtype in step.dtypes)
    return WHERE if step.name == WHERE else COPY


def number_places(assembly: Assembly, places: Sequence[BufferPlace]) -> tuple[int, ...]:
    """Return places as the machine numbers them: windows, constants, slots."""
    n_windows = len(assembly.windows)
    begin = {"window": 0, "constant": n_windows, "slot": n_windows + len(assembly.constants)}
    return tuple(begin[each.where] + each.number for each in places)


def cost(assembly: Assembly) -> float:
    """Return about how many nanoseconds a run takes."""
    operations = (each for instruction in assembly.instructions for each in instruction.task.operations)
    a_step = sum(0.4 if is_exact(each.step) and each.step.name not in MADE else 4.0 for each in operations)
    return a_step * math.prod(assembly.region.shape)
