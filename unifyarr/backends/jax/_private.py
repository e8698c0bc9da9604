"""What JAX has no public name for, each with what happens without it. The backend uses nothing else of the kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any

import jax
import jax.extend

try:
    # Says whether JAX was in use before its settings are changed.
    from jax._src.xla_bridge import backends_are_initialized
except ImportError:

    def backends_are_initialized() -> bool:
        """Return False: nobody is warned then."""
        return False


try:
    # The tracers of ``jax.grad`` and of ``jax.jvp``.
    from jax._src.interpreters.ad import LinearizeTracer
    from jax.interpreters.ad import JVPTracer
except ImportError:
    # Any tracer, to be on the safe side.
    LinearizeTracer = JVPTracer = jax.core.Tracer

try:
    # Computes outside of all traces.
    from jax.core import eval_context
except ImportError:
    eval_context = jax.ensure_compile_time_eval

try:
    # The trace that is running: without it, dead tracers would be left behind silently.
    from jax.extend.core import find_top_trace
except ImportError as error:
    raise ImportError(
        f"JAX {jax.__version__} doesn't tell which trace is running (jax.extend.core.find_top_trace): install one "
        "that unifyarr was tested with, pip install 'unifyarr[jax]'"
    ) from error

try:
    # The same, read from where JAX keeps it in half the time.
    from jax._src.core import trace_state_strong_ref as trace_cell
except ImportError:

    class _TraceCell:
        @property
        def value(self) -> object:
            return find_top_trace(())

    trace_cell = _TraceCell()

trace_state: Callable[[], object] = partial(attrgetter("value"), trace_cell)

try:
    # Makes an array of NumPy's memory in a fourth of the time.
    from jaxlib.xla_client import batched_device_put
except ImportError:
    batched_device_put = None

with eval_context():
    # What ``find_top_trace`` returns where none is running.
    NO_TRACE = find_top_trace(())

# The concrete classes of arrays: an instance check of ``jax.Array`` itself runs through Python.
ARRAYS: tuple[type[Any], ...] = tuple(jax.Array.__subclasses__()) or (jax.Array,)


# Where an array of the first class says how it lies on devices, and whether somebody put it there: what its properties
# read, in Python.
SHARDING, COMMITTED = (
    private if hasattr(ARRAYS[0], private) else public
    for private, public in (("_sharding", "sharding"), ("_committed", "committed"))
)


def known_value(native: Any) -> Any:
    """Return the value of a tracer through which gradients are taken outside of any other trace, ``None`` of others."""
    concrete = getattr(native, "to_concrete_value", None)
    return None if concrete is None else concrete()


__all__ = [
    "ARRAYS",
    "COMMITTED",
    "NO_TRACE",
    "SHARDING",
    "JVPTracer",
    "LinearizeTracer",
    "backends_are_initialized",
    "batched_device_put",
    "eval_context",
    "find_top_trace",
    "known_value",
    "trace_cell",
    "trace_state",
]
