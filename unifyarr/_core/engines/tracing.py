"""The mode of a thread or task: the trace that is running, and whether ``debug()`` checks its calls.

A trace sees every call that takes an array of the traced backend. An array that was made outside is *captured* by the
first call that takes it: for as long as the trace runs, another array stands for it. Functions and methods that users
call ask for the stand-in of an array, by ``capture`` or ``current``, before they look at its slots.

A call asks for the mode first, and is plain only where there is none. The mode is a context variable, so that a thread
which traces or checks costs the others nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn, Protocol, TypeVar, cast

from ...errors import UnknownShapeError
from ..values.lengths import PartialShape
from ..values.records import Record
from .handle import Handle

# An array, whose class is above.
Captured = TypeVar("Captured")


class Running(Protocol):
    """What the rest of the package asks of a trace.

    Arrays, declarations and calls are of classes above this module, which only hands them on.
    """

    @property
    def checks(self) -> bool:
        """Whether kernels are held against bodies."""

    def check(self, declaration: Any, call: Any) -> None:
        """Hold the kernel of a function against its body, as far as values are known."""

    @property
    def backend(self) -> Handle:
        """The backend whose arrays it takes over."""

    @property
    def handle(self) -> Handle:
        """The one that stands for it inside."""

    @property
    def around(self) -> Running | None:
        """What this run is nested in."""

    def takes(self, backend: Handle | None) -> bool:
        """Return whether it takes over arrays of a backend."""

    def enter(self, call: Any) -> dict[int, Any]:
        """Replace what a call was passed by stand-ins; return the arrays replaced, by the stand-in's identity."""

    def take(self, value: Any, *, is_written: bool = False) -> Any:
        """Return what stands for an array of ours or of the engine; anything else as it is."""

    def capture(self, x: Any) -> Any:
        """Return what stands for an array inside, which is captured if it was made outside."""

    def current(self, x: Any) -> Any:
        """Return what stands for an array as far as it was captured; else the array itself."""

    def original(self, x: Any) -> Any:
        """Return the array that a stand-in stands for, of any other array itself."""

    def refuse_length(self, shape: PartialShape) -> NoReturn:
        """Raise: inside, a length is needed that isn't known."""


class BodyNotes(Protocol):
    """What is told of what the body of a function does, to do it again without the body (``calling/programs.py``)."""

    # Whether it does no more than call kernels, by what follows from shapes and dtypes; whether it does something else
    # where the engine records gradients or traces; and whether what it does depends on strides.
    is_repeatable: bool
    watches_gradients: bool
    watches_layout: bool

    def call(self, kernel: Any, operands: Any, static: Any, results: Any) -> None:
        """Note that a kernel was called on arrays, and which arrays hold its results."""

    def pass_through(self, look: Any, x: Any) -> None:
        """Note that the body looks at an array, by a function that returns its native as it is."""

    def constant(self, x: Any) -> None:
        """Note an array whose values follow from the arguments that are no arrays."""

    def view(self, x: Any, step: Any, view: Any) -> None:
        """Note a view of an array that a step makes."""


class Mode(Record):
    """What has to see the calls of a thread or task: a trace, the checks of ``debug()``, a recording, or several.

    A checked call runs without further checks, and without plain calls all the same. ``tape`` is the backend that
    records calls of arrays for derivatives, where the running trace is such a record and values are known.
    """

    trace: Running | None
    checks: bool
    recording: BodyNotes | None = None
    tape: Handle | None = None


# Kernels that do no call, by their names, and declarations of operations whose kernels don't: the bodies compute.
declined: ContextVar[frozenset[object]] = ContextVar("unifyarr_declined", default=frozenset())
# ``None`` where nothing has to see calls, so that they may be plain.
mode: ContextVar[Mode | None] = ContextVar("unifyarr_mode", default=None)


def running() -> Running | None:
    """Return the trace that is running in this thread or task, if any."""
    found = mode.get()
    return None if found is None else found.trace


def checking() -> bool:
    """Return whether ``debug()`` checks the calls of this thread or task."""
    found = mode.get()
    return found is not None and found.checks


def begin(trace: Running | None) -> tuple[Running | None, Callable[[], None]]:
    """Begin a trace, or, with ``None``, what is in no trace; return what ran before, and what ends the new one."""
    found = mode.get()
    outer, checks = (None, False) if found is None else (found.trace, found.checks)
    if trace is None:
        inner = Mode(None, True) if checks else None
    else:
        # As the constructor does, which is a function of Python's.
        inner = tuple.__new__(Mode, (trace, checks, None, None if checks else trace.handle.tape))
    return outer, partial(mode.reset, mode.set(inner))


@contextlib.contextmanager
def tracing(trace: Running | None) -> Iterator[None]:
    """Run what happens inside the block in a trace, or, with ``None``, in no trace."""
    _, end = begin(trace)
    try:
        yield
    finally:
        end()


@contextlib.contextmanager
def checked(checks: bool) -> Iterator[None]:
    """Run what happens inside the block with the checks of ``debug()``, or as the inner part of a checked call."""
    with _within(Mode(running(), checks)):
        yield


@contextlib.contextmanager
def _within(inner: Mode | None) -> Iterator[None]:
    token = mode.set(inner)
    try:
        yield
    finally:
        mode.reset(token)


@contextlib.contextmanager
def recorded(recording: BodyNotes, trace: Running | None = None) -> Iterator[None]:
    """Run what happens inside the block unchecked, with each thing noted that bodies do."""
    with _within(Mode(trace, False, recording)):
        yield


def recording() -> BodyNotes | None:
    """Return what notes what bodies do in this thread or task, if any."""
    found = mode.get()
    return None if found is None else found.recording


def refuse_length(shape: PartialShape, /) -> NoReturn:
    """Raise: a length of a shape is needed that isn't known."""
    trace = running()
    if trace is not None:
        trace.refuse_length(shape)
    raise UnknownShapeError(
        f"an array of shape {shape!r} has lengths that aren't known before its values are computed, and this needs "
        "them: compute them first, x.compute() or x.persist()"
    )


def unrepeatable() -> None:
    """Note, if a recording runs, that what happens here follows from more than the shapes and dtypes of a call."""
    found = mode.get()
    if found is not None and found.recording is not None:
        found.recording.is_repeatable = False


def watch_gradients() -> None:
    """Note, if a recording runs, that what happens here depends on whether gradients are recorded or values known."""
    found = mode.get()
    if found is not None and found.recording is not None:
        found.recording.watches_gradients = True


def watch_layout() -> None:
    """Note, if a recording runs, that what happens here depends on strides."""
    found = mode.get()
    if found is not None and found.recording is not None:
        found.recording.watches_layout = True


def capture(x: Captured) -> Captured:
    """Return what stands for an array in the running trace, which captures it if it was made outside."""
    found = mode.get()
    return x if found is None or found.trace is None else cast(Captured, found.trace.capture(x))


def take(value: Any, *, is_written: bool = False) -> Any:
    """Return what stands for an array of ours or of an engine in the running trace; anything else as it is."""
    found = mode.get()
    return value if found is None or found.trace is None else found.trace.take(value, is_written=is_written)


def current(x: Captured) -> Captured:
    """Return what stands for an array in the running trace, if that has captured it; else the array itself."""
    found = mode.get()
    return x if found is None or found.trace is None else cast(Captured, found.trace.current(x))


def original(x: Captured) -> Captured:
    """Return the array that a stand-in of the running trace stands for, of any other array itself."""
    trace = running()
    return x if trace is None else cast(Captured, trace.original(x))


def run_of(handle: Handle) -> Running | None:
    """Return the trace or record that is running whose natives a backend's are, ``None`` for an engine's."""
    trace = running()
    while trace is not None and trace.handle is not handle:
        trace = trace.around
    return trace


def goes_on(trace: Running) -> bool:
    """Return whether a trace, or one that was begun in it, is running."""
    each = running()
    while each is not None and each is not trace:
        each = each.around
    return each is not None


def inside(handle: Handle) -> Handle:
    """Return the backend that stands for one inside the running trace: itself elsewhere."""
    trace = running()
    if trace is None or not (trace.takes(handle) or trace.handle.name == handle.name):
        return handle
    # NumPy's arrays may be those of another engine inside, which they say when they're asked for their backend.
    return trace.handle
