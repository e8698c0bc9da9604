"""The trace that is running, if any, and what it takes over from outside.

Inside a trace every call that an array of the traced backend takes part in has to be seen. What was made outside is
*captured* when it's met: for as long as the trace runs, the array stands for an input of the graph.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..array import Array
    from .concerns import Call
    from .handle import Handle


class Running(Protocol):
    """What the rest of the package asks of a trace."""

    @property
    def backend(self) -> Handle:
        """The backend whose arrays it takes over."""

    @property
    def handle(self) -> Handle:
        """The one that stands for it inside."""

    def takes(self, backend: Handle | None) -> bool:
        """Say whether it takes over arrays of a backend."""

    def enter(self, call: Call) -> None:
        """Take over what a call was passed."""

    def capture(self, x: Array) -> None:
        """Take over an array, if it was made outside."""


running: ContextVar[Running | None] = ContextVar("unifyarr_trace", default=None)


def capture(x: Any) -> None:
    """Let the running trace take over an array that was made outside."""
    trace = running.get()
    if trace is not None and x is not None:
        trace.capture(x)


def inside(handle: Handle) -> Handle:
    """Return the backend that stands for one inside the running trace: itself elsewhere."""
    trace = running.get()
    if trace is None or not (trace.takes(handle) or trace.handle.name == handle.name):
        return handle
    # NumPy's arrays may be those of another engine inside, which they say when they're asked for their backend.
    return trace.handle
