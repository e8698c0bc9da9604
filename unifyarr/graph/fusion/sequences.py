"""Schedules of fused operations alone, in the memory of arguments: one call of the compiled part.

An optimizer's step is one, of as many operations as there are parameters. On small arrays a call of each from Python
takes about as long as its loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kernels.executors import Schedule
from . import machine
from .fusedop import FusedOp


def joined(schedule: Schedule, functions: Sequence[Callable[..., object]]) -> Callable[..., list[object]] | None:
    """Return what runs a schedule, whose nodes are run by ``functions``; ``None`` if Python has to call them."""
    programs = [function for function in functions if machine.is_program(function)]
    if not programs or len(programs) < len(functions):
        return None
    constants = {place: data for place, data in enumerate(schedule.start) if data is not None}
    numbers = {place: number for number, place in enumerate((*schedule.inputs, *constants))}
    places = []
    for program, each in zip(programs, schedule.instructions, strict=True):
        if not isinstance(each.node.op, FusedOp) or program.returns is None:
            return None
        given = tuple(numbers[place] for place in each.inputs)
        places.append(given)
        for output, place in each.node.op.host.items():
            numbers[each.outputs[output]] = given[place]
    results = tuple(numbers[place] for place in schedule.outputs)
    run: Callable[..., list[Any]] = machine.native.sequence(
        tuple(programs), tuple(places), results, tuple(constants.values()), len(schedule.inputs)
    )
    return run
