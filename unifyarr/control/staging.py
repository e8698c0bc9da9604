"""Loops and branches where an engine hides values: inside its own traces, and in ``vmap``.

There a function is traced as in a compiled function, and the node of its loop runs at once, in the engine's form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._core.arrays.array import Array, wrap
from .._core.arrays.ownership import read
from .._core.writing.inplace import assign
from ..container.container import flatten
from ..graph.core.fgraph import FunctionGraph
from ..graph.kernels.executors import Schedule, located
from ..modes.trace.crossing import Crossing
from ..modes.trace.trace import Trace, trace_call


def hidden_among(arrays: Iterable[Array]) -> Array | None:
    """Return the first of some arrays whose values the engine hides, ``None`` if there's none."""
    return next((x for x in arrays if x._backend.hides_values(read(x))), None)


class Staging(Trace):
    """A trace whose graph runs at once, inside a transformation or a trace of the engine."""

    is_transformed = True


def staged(function: Callable[[], Any], like: Array) -> Any:
    """Return the result of a function that is traced and then run where arrays like one are, with its writes."""
    backend = like._backend
    leaves, spec = flatten(((), {}))
    made = trace_call(function, leaves, spec, Staging(Crossing(backend)))
    run = Schedule(
        FunctionGraph(made.inputs, [*made.updates.values(), *made.computed, *made.effects]), {}, bound=located(backend)
    )
    results = run(*map(read, made.captured))
    count = len(made.updates)
    for place, native in zip(made.updates, results[:count], strict=True):
        assign(made.captured[place], native)
    return made.returned(
        made.captured, [wrap(native, backend) for native in results[count : count + len(made.computed)]]
    )
