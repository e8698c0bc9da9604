"""Regions run on NumPy's arrays: by NumPy's own loops on chunks that fit the cache, or one step after the other.

The loops are called by a small C extension, ``_machine``, which has faster ones for some arithmetic. A package that was
installed without a C compiler lacks it; then all regions run step by step.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..._core.kernels.types import ArrayType
from ..._core.values.logs import INFO, listener
from ...backends.base import HostLoops
from . import background, cache, warn
from ._private import error_settings
from .assembly import Assembly, assemble, cost, number_places, own_name
from .emit import source
from .region import Axis, FusedRegion, FusedStep, Operand, run_by_steps
from .task_loops import Loop, find_loop
from .threads import GRAIN, get_num_threads, main_thread

if TYPE_CHECKING:
    from ._machine import Program


def give_turns() -> None:
    """Do nothing: where a function of Python begins, the interpreter lets other threads go on."""


try:
    from . import _machine as _native
except ImportError:
    native: Any = None
else:
    native = _native
    native.watch(error_settings, warn.flags_to_watch)
    native.set_nothing(give_turns)
    native.set_main_thread(main_thread())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: native.set_main_thread(main_thread()))


# The estimated nanoseconds of all calls after which a region is compiled: about what a compiler takes.
HOT = 1e8
# The bytes of the widest vectors that loops of ours have, where the processor has them.
WIDEST = 64


def is_compiled() -> bool:
    """Return whether the compiled part is there: without it, regions run step by step, which is slower than nodes."""
    return native is not None


def bind(region: FusedRegion, host: HostLoops | None = None) -> Callable[..., Any]:
    """Return a function that runs a region: of NumPy arrays, one for each of ``region.arguments``, in their order.

    With ``host`` it's a function of another engine's arrays, without warnings. It returns ``NotImplemented``, and does
    nothing, if one of them isn't an array in the host's memory. Where a C compiler is there, the function is compiled
    in the background once its calls have taken some time.
    """
    program = program_of(region, host)
    if program is None:
        run = _by_steps(region, host)
        return run if host is None else _through_numpy(run, host)
    return program if host is None or host.exchange is not None else _through_numpy(program, host)


def program_of(region: FusedRegion, host: HostLoops | None = None) -> Program | None:
    """Return what the compiled part runs a region by, ``None`` if it can't; see ``bind``."""
    assembly = assemble(region) if native else None
    if assembly is None:
        return None
    run = _by_steps(region, host)
    program = _program(assembly, run, iter(()), host)
    program.hot = _Hot(weakref.ref(program), region, run, host)
    program.calls = max(int(HOT / (cost(assembly) + 1000)), 2)
    return program


def _by_steps(region: FusedRegion, host: HostLoops | None) -> Callable[..., None]:
    def by_steps(*arrays: np.ndarray) -> None:
        run_by_steps(region, arrays)

    def quietly(*arrays: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            run_by_steps(region, arrays)

    return by_steps if host is None else quietly


def _through_numpy(run: Callable[..., None], host: HostLoops) -> Callable[..., Any]:
    """Return a function of an engine's arrays that don't tell C where they lie."""

    def through_numpy(*natives: Any) -> Any:
        try:
            arrays = [host.to_numpy(each) for each in natives]
        except Exception:
            # An engine raises an error of some class for what has no memory.
            return NotImplemented
        return run(*arrays)

    return through_numpy


def is_program(function: object) -> TypeGuard[Program]:
    """Return whether a function is run by the compiled part alone."""
    return native is not None and isinstance(function, native.Program)


def copying(shape: Sequence[int], target: ArrayType, host: HostLoops | None = None) -> Program | None:
    """Return the program that copies an array to one of a shape that it's broadcast to; see ``program_of``."""
    return program_of(_copy(tuple(shape), tuple(target.shape), target.dtype), host)


@lru_cache(maxsize=1024)
def _copy(source: tuple[int, ...], target: tuple[int, ...], dtype: np.dtype[np.generic]) -> FusedRegion:
    new = len(target) - len(source)
    axes = [Axis(None if axis < new or source[axis - new] == 1 else axis - new) for axis in range(len(target))]
    read = Operand(0, (0,) * len(source), tuple(axes))
    written = Operand(1, (0,) * len(target), tuple(map(Axis, range(len(target)))))
    return FusedRegion(target, ((source, dtype), (target, dtype)), (read,), (), (), ((0, written),))


def compile_now(function: object) -> bool:
    """Compile what ``bind`` returned, and wait for it; return whether it runs generated code now.

    It does not where there is no compiler, or no steps that C and NumPy define alike.
    """
    if not is_program(function):
        return False
    if function.better is None and function.hot is not None:
        start, region = perf_counter(), function.hot.region
        function.better = _compiled(region, function.hot.by_steps, function.hot.host)
        logger = listener("compile", INFO)
        if logger is not None:
            how = "NumPy's own loops go on" if function.better is None else "generated code runs from now on"
            logger.info("a loop of %d fused steps: %s, %.2f s", len(region.steps), how, perf_counter() - start)
    return function.better is not None


class _Hot:
    """Has a program compiled which is called often."""

    def __init__(
        self, program: weakref.ref[Program], region: FusedRegion, by_steps: Callable[..., None], host: HostLoops | None
    ):
        self._program, self.region, self.by_steps, self.host = program, region, by_steps, host

    def __call__(self) -> None:
        """Compile in the background, or load from the cache."""
        background.later(self._compile)

    def _compile(self) -> None:
        program = self._program()
        if program is not None:
            compile_now(program)


def _compiled(region: FusedRegion, by_steps: Callable[..., None], host: HostLoops | None) -> Program | None:
    """Return a program with generated loops; ``None`` if there are none."""
    assembly = assemble(region, generated=True, watches=host is None)
    tasks = [each.task for each in assembly.instructions if each.checks] if assembly else []
    if assembly is None or not tasks:
        return None
    kernels = cache.functions(source(tasks, assembly.dtypes, assembly.still), len(tasks))
    return None if kernels is None else _program(assembly, by_steps, iter(kernels), host)


def _program(
    assembly: Assembly, by_steps: Callable[..., None], kernels: Iterator[int], host: HostLoops | None
) -> Program:
    region = assembly.region
    windows = tuple(
        (
            each.argument,
            assembly.roles[i],
            each.start,
            tuple(-1 if axis.axis is None else axis.axis for axis in each.axes),
            tuple(axis.step for axis in each.axes),
            tuple(axis.wrap for axis in each.axes),
            int(i in assembly.forward),
            int(i in assembly.late),
            assembly.ahead[i],
            int(i < len(region.reads) and assembly.still[i]),
        )
        for i, each in enumerate(assembly.windows)
    )
    instructions = tuple(_instructions(assembly, kernels))
    report = warn.Report(region.steps)
    program: Program = native.Program(
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
        exchange=host and host.exchange,
        watches=host is None,
    )
    program.asked = warn.asker(region.steps)
    program.cost, program.grain = int(cost(assembly)), GRAIN
    if program.cost >= GRAIN:
        program.threads = get_num_threads if host is None else host.num_threads
    return program


def _instructions(assembly: Assembly, kernels: Iterator[int]) -> Iterator[tuple[object, ...]]:
    """Yield instructions as the machine takes them; generated loops are the next of ``kernels``."""
    for each in assembly.instructions:
        places = number_places(assembly, each.places)
        first = each.task.operations[0]
        if each.checks:
            yield (next(kernels), 0, each.kind, -1, places, len(each.checks), 0)
        else:
            itemsize = first.step.dtypes[-1].itemsize
            noted = -1 if first.step.quiet else first.number
            yield (*_address(first.step), each.kind, noted, places, 0, itemsize)
        yield from _instructions(assembly._replace(instructions=each.checks), kernels)


def _address(step: FusedStep) -> tuple[int, int]:
    loop = find_loop(step) or Loop()
    if loop.ufunc is not None:
        # A reduction adds up in the order of NumPy's loop; other packages' ufuncs may have the names of NumPy's.
        widest = 0 if step.reduces or "." in step.name else WIDEST
        address: tuple[int, int] = native.find_loop(loop.ufunc, loop.number, widest)
        return address
    return native.own_loop(own_name(step)), step.dtypes[-1].itemsize
