"""The instructions of a region: which loop runs on which buffers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .loops import REDUCTIONS, WHOLE_EXPONENT, find_loop, first_value, is_exact, runs_in_place
from .region import CAST, WHERE, Operand, Region, Step

# The bytes that a chunk touches, as measured (larger than the first cache is no fault), and how many elements it has.
TOUCHED = 48 << 10
SHORTEST, LONGEST = 1024, 4096
# The longest row that is reduced chunk by chunk: all of it is in buffers.
LONGEST_ROW = 32768

# The kinds of instructions, as in native/program.h.
ELEMENTWISE, BY_ROW, REDUCE, REDUCE_FIRST = range(4)
# What happens to a window, as there.
READ, COPIED, COMPUTED, COMPUTED_ROWS = range(4)
COPY = "copy"


class Place(NamedTuple):
    """Where the elements of a chunk are: in a ``"window"``, ``"constant"`` or ``"slot"`` of this number."""

    where: str
    number: int


class Instruction(NamedTuple):
    """A step on places, the last of them its result's; ``number`` is the step's in the region, or -1 for a copy."""

    step: Step
    number: int
    kind: int
    places: tuple[Place, ...]


class Assembly(NamedTuple):
    """A region as instructions: ``windows`` are its reads and then its writes, ``slots`` pairs (itemsize, by row)."""

    region: Region
    windows: tuple[Operand, ...]
    constants: tuple[np.ndarray, ...]
    slots: tuple[tuple[int, bool], ...]
    instructions: tuple[Instruction, ...]
    capacity: int
    # What happens to each window; and those that loops read which differ for negative strides.
    roles: tuple[int, ...]
    forward: frozenset[int]
    # Whether rows are reduced; and whether that's in the order of additions that NumPy has in C-contiguous arrays.
    reduces: bool
    ordered: bool


def assemble(region: Region) -> Assembly | None:
    """Return a region's instructions, or ``None`` if it has to run step by step."""
    reduces = any(step.reduces for step in region.steps)
    if 0 in region.shape or (reduces and not 0 < region.shape[-1] <= LONGEST_ROW):
        return None
    assembler = _Assembler(region, reduces)
    return assembler.result() if assembler.is_possible() else None


class _Assembler:
    def __init__(self, region: Region, reduces: bool):
        self.region = region
        self.reduces = reduces
        self.n_reads, self.n_constants = len(region.reads), len(region.constants)
        self.dtypes = [region.arguments[each.argument][1] for each in region.reads]
        self.dtypes += [each.dtype for each in region.constants]
        self.dtypes += [step.dtypes[-1] for step in region.steps]
        # Whether each value is one for each row; None for constants, which suit both.
        self.by_row: list[bool | None] = [False] * self.n_reads + [None] * self.n_constants
        for step in region.steps:
            inputs = {self.by_row[each] for each in step.inputs} - {None}
            self.by_row.append(step.reduces or (False not in inputs and reduces))

    def is_possible(self) -> bool:
        """Return whether all loops are there, and all dtypes as they're said to be."""
        return all(map(self._step_is_possible, self.region.steps)) and all(
            self._write_is_possible(slot, operand) for slot, operand in self.region.writes
        )

    def _step_is_possible(self, step: Step) -> bool:
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
            return varies or self.n_reads <= exponent < self.n_reads + self.n_constants
        return True

    def _write_is_possible(self, slot: int, operand: Operand) -> bool:
        spread = [size > 1 and each.axis is None for size, each in zip(self.region.shape, operand.axes, strict=True)]
        if self.by_row[slot] and self.reduces:
            if operand.axes[-1].axis is not None and self.region.shape[-1] > 1:
                return False
            spread[-1] = False
        return not any(spread) and self.region.arguments[operand.argument][1] == self.dtypes[slot]

    def result(self) -> Assembly:
        region = self.region
        # First what is only copied, then the steps: (step, number, inputs, the value that it makes).
        work: list[tuple[Step, int, tuple[int, ...], int]] = []
        copies: dict[int, int] = {}
        n_values = len(self.dtypes)
        for position, (slot, _) in enumerate(region.writes):
            if slot < self.n_reads + self.n_constants:
                copies[position] = n_values + len(copies)
                self.dtypes.append(self.dtypes[slot])
                self.by_row.append(False)
                work.append((Step(COPY, (slot,), (self.dtypes[slot],) * 2), -1, (slot,), copies[position]))
        begin = self.n_reads + self.n_constants
        work += [(step, i, step.inputs, begin + i) for i, step in enumerate(region.steps)]

        places = {i: Place("window", i) for i in range(self.n_reads)}
        places |= {self.n_reads + i: Place("constant", i) for i in range(self.n_constants)}
        late = self._place_writes(work, copies, places)
        instructions = self._place_slots(work, late, places)
        for value, window in late:
            kind = BY_ROW if self.by_row[value] else ELEMENTWISE
            step = Step(COPY, (value,), (self.dtypes[value],) * 2)
            instructions.append(Instruction(step, -1, kind, (places[value], window)))
        sums = any(step.reduces and step.dtypes[-1].kind in "fc" for step in region.steps)
        windows = (*region.reads, *(operand for _, operand in region.writes))
        roles = [READ] * self.n_reads + [COPIED] * len(region.writes)
        forward: set[int] = set()
        for each in instructions:
            *given, result = each.places[: len(each.step.dtypes)]
            if not is_exact(each.step):
                forward.update(place.number for place in given if place.where == "window")
            if result.where == "window" and each.step.name != COPY:
                roles[result.number] = COMPUTED if each.kind == ELEMENTWISE else COMPUTED_ROWS
        return Assembly(
            *(region, windows, self.constants, tuple(self.slots), tuple(instructions), self._capacity()),
            *(tuple(roles), frozenset(forward), self.reduces, sums),
        )

    def _place_writes(
        self, work: list[Any], copies: dict[int, int], places: dict[int, Place]
    ) -> list[tuple[int, Place]]:
        """Compute values in their windows, where no later step reads the argument; return those to be copied there."""
        region, late = self.region, []
        last_read: dict[int, int] = {}
        for time, (_, _, inputs, _) in enumerate(work):
            for each in inputs:
                if each < self.n_reads:
                    last_read[region.reads[each].argument] = time
        made = {value: time for time, (*_, value) in enumerate(work)}
        for position, (slot, operand) in enumerate(region.writes):
            value = copies.get(position, slot)
            window = Place("window", self.n_reads + position)
            time, until = made[value], last_read.get(operand.argument, -1)
            step = work[time][0]
            if value not in places and (until < time or (until == time and runs_in_place(step))):
                places[value] = window
            else:
                late.append((value, window))
        return late

    def _place_slots(
        self, work: list[Any], late: list[tuple[int, Place]], places: dict[int, Place]
    ) -> list[Instruction]:
        """Give each other value a buffer, which another one may have had before; return the instructions."""
        last_use = {each: time for time, (_, _, inputs, _) in enumerate(work) for each in inputs}
        last_use |= dict.fromkeys((value for value, _ in late), len(work))
        self.slots: list[tuple[int, bool]] = []
        starts: list[np.ndarray] = []
        free: dict[tuple[int, bool], list[Place]] = {}
        instructions = []
        for time, (step, number, inputs, value) in enumerate(work):
            dead = {each for each in inputs if last_use[each] == time and places[each].where == "slot"}
            given = tuple(places[each] for each in inputs)
            in_place = runs_in_place(step)
            for each in dead if in_place else ():
                free.setdefault(self._buffer(each), []).append(places[each])
            if value not in places:
                buffer = self._buffer(value)
                if free.get(buffer):
                    places[value] = free[buffer].pop()
                else:
                    places[value] = Place("slot", len(self.slots))
                    self.slots.append(buffer)
            if value not in last_use and places[value].where == "slot":
                dead = {*dead, value}
            for each in dead if not in_place else dead & {value}:
                free.setdefault(self._buffer(each), []).append(places[each])
            kind = BY_ROW if self.by_row[value] else ELEMENTWISE
            result: tuple[Place, ...] = (places[value],)
            if step.reduces:
                kind = REDUCE_FIRST if REDUCTIONS[step.name] is None else REDUCE
                if kind == REDUCE:
                    result = (places[value], Place("constant", self.n_constants + len(starts)))
                    starts.append(first_value(step))
            instructions.append(Instruction(step, number, kind, (*given, *result)))
        self.constants = (*map(np.asarray, self.region.constants), *starts)
        return instructions

    def _buffer(self, value: int) -> tuple[int, bool]:
        return self.dtypes[value].itemsize, bool(self.by_row[value])

    def _capacity(self) -> int:
        region = self.region
        windows = (*region.reads, *(operand for _, operand in region.writes))
        width = sum(itemsize for itemsize, by_row in self.slots if not by_row)
        width += sum(region.arguments[each.argument][1].itemsize for each in windows)
        fits = min(max(TOUCHED // max(width, 1), SHORTEST), LONGEST) // 64 * 64
        return max(fits, self.region.shape[-1]) if self.reduces else fits


def own_name(step: Step) -> str:
    """Return the name of a loop of the machine's own."""
    if step.name == CAST:
        return "cast " + "".join(dtype.str.lstrip("<>|=").replace("b1", "?") for dtype in step.dtypes)
    return WHERE if step.name == WHERE else COPY


def number_places(assembly: Assembly, places: Sequence[Place]) -> tuple[int, ...]:
    """Return places as the machine numbers them: windows, constants, slots."""
    n_windows = len(assembly.windows)
    begin = {"window": 0, "constant": n_windows, "slot": n_windows + len(assembly.constants)}
    return tuple(begin[each.where] + each.number for each in places)


def cost(assembly: Assembly) -> float:
    """Return about how many nanoseconds a run takes."""
    a_step = sum(0.4 if is_exact(each.step) else 4.0 for each in assembly.instructions)
    return a_step * math.prod(assembly.region.shape)
