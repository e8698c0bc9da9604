"""Loops and branches of functions of a trace's natives, as transformations inside of the trace have them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.engines.tracing import capture, running, tracing
from ..._core.values.native import Native
from ...modes.tape.entries import NotInline
from ...modes.trace.handle import TraceHandle
from ...modes.trace.trace import Trace
from ...modes.trace.traced import Traced, innermost_trace
from . import loop_nodes


def trace_of(handle: object) -> Trace:
    """Return the running trace, of which a handle's natives must be."""
    trace = innermost_trace()
    if not isinstance(trace, Trace) or not isinstance(handle, TraceHandle) or handle.base is not trace.backend:
        raise NotInline
    return trace


def arrays_of(natives: Sequence[Native]) -> list[Array]:
    """Return arrays of the running trace."""
    trace = running()
    assert trace is not None
    return [wrap(native, trace.handle) for native in natives]


def met(arrays: Sequence[Array]) -> list[Native]:
    """Return natives of the running trace for arrays of those around it."""
    return [read(capture(x)) for x in arrays]


def scan(
    handle: TraceHandle,
    step: Callable[..., tuple[list[Any], list[Any]]],
    state: Sequence[Traced],
    xs: Sequence[Traced],
    constants: Sequence[Traced],
    types: Sequence[Any],
    length: int,
    reverse: bool,
) -> tuple[list[Traced], list[Traced]]:
    """Return what is carried after all steps, and the results of the steps."""
    trace, count = trace_of(handle), len(state)
    with tracing(trace):
        carry, rows, fixed = map(arrays_of, (state, xs, constants))

        def run(*arrays: Array) -> list[Array]:
            natives = list(map(read, arrays))
            new, results = step(natives[:count], natives[count:], met(fixed))
            return arrays_of([*new, *results])

        ends, stacked = loop_nodes.scan(trace, run, carry, rows, length, reverse)
        return list(map(read, ends)), list(map(read, stacked))


def while_loop(
    handle: TraceHandle,
    condition: Callable[..., Any],
    body: Callable[..., list[Any]],
    state: Sequence[Traced],
    constants: Sequence[Traced],
) -> list[Traced]:
    """Return what is carried once the condition is false."""
    trace = trace_of(handle)
    with tracing(trace):
        carry, fixed = map(arrays_of, (state, constants))

        def holds(*arrays: Array) -> list[Array]:
            return arrays_of([condition(*map(read, arrays), *met(fixed))])

        def run(*arrays: Array) -> list[Array]:
            return arrays_of(body(*map(read, arrays), *met(fixed)))

        return list(map(read, loop_nodes.while_loop(trace, holds, run, carry)))


def switch(
    handle: TraceHandle, index: Traced, branches: Sequence[Callable[..., list[Any]]], operands: Sequence[Traced]
) -> list[Traced]:
    """Return what one of several functions of the operands returns."""
    trace = trace_of(handle)
    with tracing(trace):
        (number,), arrays = arrays_of([index]), arrays_of(operands)
        functions = [lambda each=each: arrays_of(each(*met(arrays))) for each in branches]
        return list(map(read, loop_nodes.switch(trace, number, functions)))
