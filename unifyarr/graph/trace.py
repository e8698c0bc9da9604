"""Running a function once on arrays that stand for variables of a graph.

An argument that the function wrote is one whose native is another variable at the end, and an array from outside that
it met stands for one more input.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._core.capturing import Capturing
from .._core.handle import Handle, without_fast_paths
from .._core.selection import use_backend
from .._core.tracing import Running, running
from .._core.views import Step, geometry, is_recipe, make_view, root_of, steps_with
from .._core.wrapper import is_array, read, wrap
from ..container import flatten, unflatten
from .backend import Traced, handle_for, type_of
from .basic import Variable
from .crossing import Crossing, home_of
from .fgraph import FunctionGraph
from .names import leaf_names

if TYPE_CHECKING:
    from ..array import Array
    from .transformed import Recording


class Trace(Capturing):
    """One run of a function, and what it has met."""

    def __init__(self, crossing: Crossing) -> None:
        super().__init__(crossing.engine, handle_for(crossing.engine))
        self.crossing = crossing
        self._outer: Running | None = None

    def takes(self, backend: Handle | None) -> bool:
        """Say whether arrays of a backend are captured: of the engine, and of the one that they live on."""
        return backend is self.backend or backend is self.crossing.home

    def input(self, x: Array, name: str) -> Traced:
        """Return a new input of the graph that stands for an array."""
        native = self.crossing.enter(x)
        return Traced(Variable(type_of(self.backend, native), name), native, geometry(x).strides)

    def capture(self, x: Array) -> None:
        """Let an array that was made outside stand for an input, as long as the trace runs."""
        if not self.takes(x._backend) or id(x) in self._met:
            return
        saved = {"_backend": x._backend}
        self._met[id(x)] = (x, saved)
        root = root_of(x)
        if is_recipe(x):
            self.capture(root)
        else:
            traced = self.input(x, f"captured {len(self.captured)}")
            for slot in ("_native", "_born", "_owned", "_run"):
                if hasattr(x, slot):
                    saved[slot] = getattr(x, slot)
            self.captured.append((x, traced))
            x._native, x._born, x._owned, x._run = traced, self, False, None
        x._backend = self.handle

    def recording(self, function: Callable[..., Any]) -> Recording:
        """Return what transforms a function inside the trace."""
        from .transformed import Recording

        return Recording(function, self)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Trace what happens inside the block, in this thread."""
        self._outer = running.get()
        token = running.set(self)
        try:
            with without_fast_paths():
                yield
        finally:
            running.reset(token)
            self.give_back()

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Run what happens inside the block where the trace was begun: nothing of it is recorded."""
        token = running.set(self._outer)
        try:
            yield
        finally:
            running.reset(token)


@dataclass
class TracedCall:
    """The graph of one call of a function, and how what it returned is made again."""

    # The arguments' arrays first, then what was captured.
    inputs: list[Variable]
    captured: list[Array]
    # What an input is in the end, by the place of the input, of those that were written.
    updates: dict[int, Variable]
    # What was returned and isn't an input or a view of one.
    computed: list[Variable]
    spec: Any
    # For each leaf of what was returned: an input and the steps of a view of it, a value as it is, or what's computed.
    _leaves: list[tuple[int, tuple[Step, ...]] | tuple[None, Any] | None]

    def __post_init__(self) -> None:
        self._is_leaf: bool = self.spec.is_leaf()

    def returned(self, inputs: Sequence[Array], computed: Sequence[Array]) -> Any:
        """Return what the function returns, of other inputs and other computed arrays."""
        found = iter(computed)
        leaves = []
        for leaf in self._leaves:
            if leaf is None:
                leaves.append(next(found))
            elif leaf[0] is None:
                leaves.append(leaf[1])
            else:
                view = inputs[leaf[0]]
                for step in leaf[1]:
                    view = make_view(view, step)
                leaves.append(view)
        return leaves[0] if self._is_leaf else unflatten(self.spec, leaves)


def trace_call(function: Callable[..., Any], leaves: Sequence[Any], spec: Any, trace: Trace) -> TracedCall:
    """Run a function on the leaves of its arguments, with arrays of a new trace in place of the arrays among them."""
    where = use_backend(trace.backend.name) if trace.crossing.creates else contextlib.nullcontext()
    with trace.running(), where:
        named = zip(leaves, leaf_names(function, spec), strict=True)
        given = [wrap(trace.input(x, name), trace.handle) for x, name in named if is_array(x)]
        inputs = [x._native for x in given]
        stand_ins = iter(given)
        args, kwargs = unflatten(spec, [next(stand_ins) if is_array(x) else x for x in leaves])
        result, result_spec = flatten(function(*args, **kwargs))
        captured = [x for x, _ in trace.captured]
        inputs += [traced for _, traced in trace.captured]
        roots = {id(x): place for place, x in enumerate((*given, *captured))}
        made = [_made(x, roots) for x in result]
        updates = {
            place: x._native.variable
            for place, (x, before) in enumerate(zip((*given, *captured), inputs, strict=True))
            if x._native is not before
        }
        computed = [read(x).variable for x, how in zip(result, made, strict=True) if how is None]
    return TracedCall([each.variable for each in inputs], captured, updates, computed, result_spec, made)


def trace(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> FunctionGraph:
    """Return the graph of a function: of what it computes and writes, as it was done.

    Parameters
    ----------
    function
        A function of arrays, containers and nests of them, and of other values, which it's traced for.
    *args, **kwargs
        Examples of its arguments: they keep their values.

    Returns
    -------
    fgraph
        Its inputs are the arrays among the arguments, and then those from outside that the function met. Its outputs
        are what arrays that it wrote are in the end, ``fgraph.update_mapping`` says which input each of them is for,
        and then what it returned, as far as that isn't an input or a view of one.

    Raises
    ------
    TraceError
        If what the function does depends on values of arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def step(x, y):
    ...     x += y
    ...     return ua.sin(x)
    >>> fgraph = ua.graph.trace(step, ua.zeros(3), ua.ones(3))
    >>> fgraph.toposort()
    [add(x, y), sin(add.out)]
    >>> fgraph.update_mapping
    {0: 0}
    """
    leaves, spec = flatten((args, kwargs))
    home = home_of(leaf for leaf in leaves if is_array(leaf))
    made = trace_call(function, leaves, spec, Trace(Crossing(home)))
    fgraph = FunctionGraph(made.inputs, [*made.updates.values(), *made.computed], clone=False)
    fgraph.update_mapping = dict(enumerate(made.updates))
    return fgraph


def _made(leaf: Any, roots: Mapping[int, int]) -> Any:
    if is_array(leaf) and id(root_of(leaf)) in roots:
        return roots[id(root_of(leaf))], steps_with(leaf)
    return None if is_array(leaf) and isinstance(leaf._native, Traced) else (None, leaf)
