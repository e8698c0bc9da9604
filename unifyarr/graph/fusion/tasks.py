"""The tasks of a region: its steps one by one, or those that can be generated as C in groups, each one loop."""

from __future__ import annotations

from collections.abc import Collection

from .emit import can_emit
from .known import known_of
from .region import WHERE, FusedRegion
from .task_loops import Task, TaskOperation

COPY = "copy"
# The most values that a group reads and writes: MOST_OPERANDS in native/program.h.
MOST_OPERANDS = 60


def alone(operation: TaskOperation) -> Task:
    """Return the task of one operation, by the loop of its step."""
    return Task((operation,), operation.inputs, (operation.value,))


def grouped(region: FusedRegion, operations: list[TaskOperation], by_row: list[bool | None]) -> list[Task]:
    """Return tasks for operations in which those that can be generated are together, as far as their order allows."""
    levels: dict[int, int] = {}
    emitted: dict[int, bool] = {}
    roots: dict[int, int] = {}
    groups: dict[int, list[TaskOperation]] = {}
    others: dict[int, list[TaskOperation]] = {}
    read = {i for each in operations for i in each.inputs} | {slot for slot, _ in region.writes}
    constants = range(len(region.reads), len(region.reads) + len(region.constants))
    for each in operations:
        # A result that nothing reads may still be worth a warning, but a compiler leaves it out.
        emits = each.number >= 0 and by_row[each.value] is False and can_emit(each.step) and each.value in read
        # NumPy has another way for bounds that differ from element to element.
        emits = emits and (each.step.name != "clip" or all(i in constants for i in each.inputs[1:]))
        emits = emits and not _may_be_known(each, roots)
        # What can't be generated runs after the group of its level.
        level = max((levels.get(i, 0) + (emits and not emitted.get(i, True)) for i in each.inputs), default=0)
        levels[each.value], emitted[each.value] = level, emits
        (groups if emits else others).setdefault(level, []).append(each)
    written = {slot for slot, _ in region.writes}
    tasks = []
    for level in sorted({*groups, *others}):
        group = groups.get(level, [])
        made = {each.value for each in group}
        used = {i for each in operations if each.value not in made for i in each.inputs} | written
        task = _group(group, used)
        if len(group) > 1 and len(task.inputs) + len(task.outputs) <= MOST_OPERANDS:
            tasks.append(task)
        else:
            tasks += map(alone, group)
        tasks += map(alone, others.get(level, []))
    return tasks


def _may_be_known(operation: TaskOperation, roots: dict[int, int]) -> bool:
    """Return whether a compiler may know the result, as that of ``n - n``; note the value that it follows from.

    It would divide by such a result when it compiles, or leave out what computes the value: no flag would be raised.
    """
    step = operation.step
    first, *others = [roots.get(i, i) for i in operation.inputs[step.name == WHERE :]]
    follows = all(each == first for each in others)
    roots[operation.value] = first if follows else operation.value
    is_exact = step.dtypes[0].kind in "biu" or step.dtypes[-1].kind == "b"
    is_doubled = step.name == "add" and len(set(operation.inputs)) == 1
    return bool(others) and follows and is_exact and not is_doubled and not known_of(step.name).varies


def _group(operations: list[TaskOperation], used: Collection[int]) -> Task:
    made = {each.value for each in operations}
    inputs = dict.fromkeys(i for each in operations for i in each.inputs if i not in made)
    return Task(tuple(operations), tuple(inputs), tuple(each.value for each in operations if each.value in used))
