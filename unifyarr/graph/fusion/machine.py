"""Regions run on NumPy's arrays: by NumPy's own loops on chunks that fit the cache, or one step after the other.

The loops are called by a small C extension, ``_machine``. A package that was installed without a C compiler lacks it;
then all regions run step by step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import warn
from .assembly import Assembly, assemble, cost, number_places, own_name
from .loops import Loop, find_loop
from .region import Region, Step, run_by_steps
from .threads import LONG, Parallel

try:
    from . import _machine as _native
except ImportError:
    native: Any = None
else:
    native = _native
    native.watch(warn.setting(), warn.flags_to_watch)


def is_compiled() -> bool:
    """Return whether the compiled part is there: without it, regions run step by step, which is slower than nodes."""
    return native is not None


def can_run(step: Step) -> bool:
    """Return whether a step of a region can be run, with the bits of NumPy's function."""
    return find_loop(step) is not None


def bind(region: Region) -> Callable[..., None]:
    """Return a function that runs a region: of NumPy arrays, one for each of ``region.arguments``, in their order."""

    def by_steps(*arrays: np.ndarray) -> None:
        run_by_steps(region, arrays)

    assembly = assemble(region) if native else None
    return by_steps if assembly is None else _program(assembly, by_steps)


def _program(assembly: Assembly, by_steps: Callable[..., None]) -> Any:
    region = assembly.region
    windows = tuple(
        (
            each.argument,
            assembly.roles[i],
            each.start,
            tuple(-1 if axis.axis is None else axis.axis for axis in each.axes),
            tuple(axis.step for axis in each.axes),
            int(i in assembly.forward),
        )
        for i, each in enumerate(assembly.windows)
    )
    instructions = tuple(
        (
            *_address(each.step),
            each.kind,
            each.number,
            number_places(assembly, each.places),
            0,
            each.step.dtypes[-1].itemsize,
        )
        for each in assembly.instructions
    )
    report = warn.Report(region.steps)
    program = native.Program(
        shape=region.shape,
        arguments=region.arguments,
        windows=windows,
        constants=assembly.constants,
        slots=assembly.slots,
        instructions=instructions,
        capacity=assembly.capacity,
        reduces=assembly.reduces,
        ordered=assembly.ordered,
        n_steps=len(region.steps),
        fallback=by_steps,
        report=report,
    )
    if cost(assembly) > LONG:
        program.parallel = Parallel(program, by_steps, report)
    return program


def _address(step: Step) -> tuple[int, int]:
    loop = find_loop(step) or Loop()
    if loop.ufunc is not None:
        address: tuple[int, int] = native.find_loop(loop.ufunc, loop.index)
        return address
    return native.own_loop(own_name(step)), step.dtypes[-1].itemsize
