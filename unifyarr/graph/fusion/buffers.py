"""The buffers of intermediate values, which are used again when their value is dead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .task_loops import Task, runs_in_place


class BufferPlace(NamedTuple):
    """Where the elements of a chunk are: in a ``"window"``, ``"constant"`` or ``"slot"`` of this number."""

    where: str
    number: int


def is_in_place(task: Task) -> bool:
    """Return whether a task's result may be in the memory of one of its inputs.

    A generated loop saves them: its operations may have to run on the inputs again.
    """
    return len(task.operations) == 1 and runs_in_place(task.operations[0].step)


class Buffers:
    """The buffers of a region: ``slots`` are pairs (itemsize, whether there's one value for each row)."""

    def __init__(self, dtypes: Sequence[np.dtype[Any]], by_row: Sequence[bool | None]):
        self.slots: list[tuple[int, bool]] = []
        self._dtypes, self._by_row = dtypes, by_row
        self._free: dict[tuple[int, bool], list[BufferPlace]] = {}
        self._n_values = -1

    def place(self, tasks: Sequence[Task], needed: set[int], places: dict[int, BufferPlace]) -> None:
        """Give each value a buffer that has no place yet; those that are ``needed`` at the end keep theirs."""
        last = {each: time for time, task in enumerate(tasks) for each in task.inputs} | dict.fromkeys(
            needed, len(tasks)
        )
        for time, task in enumerate(tasks):
            dead = {each for each in task.inputs if last[each] == time}
            in_place = is_in_place(task)
            if in_place:
                self._drop(dead, places)
            for each in task.outputs:
                if each not in places:
                    places[each] = self._take(each)
            self._drop({*(() if in_place else dead), *(each for each in task.outputs if each not in last)}, places)

    def fresh(self, value: int) -> BufferPlace:
        """Return a buffer for values of this kind that nothing else uses."""
        self.slots.append((self._dtypes[value].itemsize, bool(self._by_row[value])))
        return BufferPlace("slot", len(self.slots) - 1)

    def place_checks(self, task: Task, places: dict[int, BufferPlace]) -> dict[int, BufferPlace]:
        """Return places for a task's operations one by one: all results in buffers that aren't used otherwise."""
        if self._n_values < 0:
            self._n_values = len(self.slots)
        free: dict[tuple[int, bool], list[BufferPlace]] = {}
        for number, buffer in enumerate(self.slots[self._n_values :], self._n_values):
            free.setdefault(buffer, []).append(BufferPlace("slot", number))
        self._free = free
        found = {each: places[each] for each in task.inputs}
        last = {each: time for time, operation in enumerate(task.operations) for each in operation.inputs}
        at = dict(found)
        for time, operation in enumerate(task.operations):
            at[operation.value] = found[operation.value] = self._take(operation.value)
            dead = {each for each in operation.inputs if last[each] == time} - {*task.inputs}
            self._drop({*dead, *({operation.value} - {*last})}, at)
        return found

    def _take(self, value: int) -> BufferPlace:
        buffer = self._dtypes[value].itemsize, bool(self._by_row[value])
        if self._free.get(buffer):
            return self._free[buffer].pop()
        return self.fresh(value)

    def _drop(self, values: set[int], places: dict[int, BufferPlace]) -> None:
        for each in values:
            if places[each].where == "slot":
                self._free.setdefault(self.slots[places[each].number], []).append(places[each])
