"""JAX's private names, each beside the public way that serves without it; the backend uses no others."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import jax
import jax.extend

from ..private import private

backends_are_initialized: Callable[[], bool] = private("jax._src.xla_bridge.backends_are_initialized") or bool

# The tracers of ``jax.grad`` and of ``jax.jvp``; else any tracer may carry a derivative.
LinearizeTracer: Any = private("jax._src.interpreters.ad.LinearizeTracer") or jax.core.Tracer
JVPTracer: Any = private("jax.interpreters.ad.JVPTracer") or jax.core.Tracer

# Computes outside of all traces.
eval_context: Any = private("jax.core.eval_context") or jax.ensure_compile_time_eval

# The concrete classes of arrays: an instance check of ``jax.Array`` itself runs through Python.
ARRAYS: tuple[type[Any], ...] = tuple(jax.Array.__subclasses__()) or (jax.Array,)

# Attributes of the first class for the sharding of an array and whether it is committed: JAX's properties read them in
# Python.
SHARDING, COMMITTED = (
    public if private(f"jax.Array._{public}", ARRAYS[0]) is None else f"_{public}"
    for public in ("sharding", "committed")
)

# Makes an array of NumPy's memory in a fourth of the time.
batched_device_put: Any = private("jaxlib.xla_client.batched_device_put")


class _Traces(threading.local):
    def __init__(self) -> None:
        self.known: deque[object] = deque(maxlen=256)


def _opaque_trace() -> object:
    # States of one trace are equal, and callers compare by identity.
    state, known = jax.extend.core.get_opaque_trace_state(), _traces.known
    if state == NO_TRACE:
        return NO_TRACE
    found = next((each for each in reversed(known) if each == state), None)
    if found is None:
        known.append(found := state)
    return found


class _TraceCell:
    @property
    def value(self) -> object:
        return find_trace()


_find_top_trace: Any = private("jax.extend.core.find_top_trace")
with eval_context():
    # The trace where none is running.
    NO_TRACE: object = jax.extend.core.get_opaque_trace_state() if _find_top_trace is None else _find_top_trace(())
_traces = _Traces()
find_trace: Callable[[], object] = _opaque_trace if _find_top_trace is None else partial(_find_top_trace, ())
# An object whose attribute ``value`` is the trace that is running.
trace_cell: Any = None if _find_top_trace is None else private("jax._src.core.trace_state_strong_ref")
trace_cell = _TraceCell() if trace_cell is None else trace_cell
trace_state: Callable[[], object] = partial(attrgetter("value"), trace_cell)

_concrete_value: Any = private("jax.core.Tracer.to_concrete_value")


def known_value(native: Any) -> Any:
    """Return the value of a tracer through which gradients are taken outside of any other trace, ``None`` of others."""
    return native.to_concrete_value() if _concrete_value is not None and isinstance(native, jax.core.Tracer) else None
