"""The executor of mode ``"debug"``: a graph runs node by node beside the graph that it was made of, and checks itself.

The checks are those of Theano's and PyTensor's DebugMode. Of the graph as it was traced every node runs on copies of
everything, so that nothing but its values counts: that is the reference. The rewritten graph runs as it would
otherwise, on the same memory and with the same buffers, and after each node it's looked at what that has done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .._core.comparing import native_values, same_bits
from .._core.handle import Handle
from ..errors import BadOptimization, StochasticOrder
from .basic import Apply, Constant, Variable
from .executors import Schedule
from .fgraph import FunctionGraph, sorted_nodes
from .memory import memory_plan
from .noderun import NodeRun, check_types, results_of, same
from .storage import Storage

Rewrite = Callable[[FunctionGraph], object]


class DebugProgram:
    """A program that runs a graph, and raises a ``DebugModeError`` where anything isn't as declared.

    Parameters
    ----------
    fgraph
        The graph as it was traced. It stays as it is: rewritten are copies, of which ``self.fgraph`` is the one that
        runs.
    rewrite
        What rewrites a copy of the graph. It has to do the same each time.
    backend
        What the natives are of.

    On a mutable engine everything is checked, and what is destroyed or dead is overwritten with garbage, so that a
    read of it shows. On an immutable one, where nothing can be overwritten, the values and their types are. That there
    is a NaN, or an infinity, is no error: it's a value. An error leaves the inputs as they were.

    Raises
    ------
    BadViewMap, BadDestroyMap, BadInplace, BadThunkOutput, InvalidValueError
        At the call, of the node that did it.
    BadOrder
        At the call, if a node reads what another one has overwritten.
    BadOptimization
        At the call, of the first variable whose value isn't that of the variable that it stands for.
    StochasticOrder
        At once, if two copies aren't rewritten to the same. What depends on the hashes of strings is the same
        throughout a process, and isn't found.
    """

    def __init__(self, fgraph: FunctionGraph, rewrite: Rewrite, backend: Handle) -> None:
        self.pure, self.backend = fgraph, backend
        self.fgraph, again = fgraph.copy(), fgraph.copy()
        # Copies have the nodes in the same order, as long as they are.
        self._origins = dict(zip(sorted_nodes(self.fgraph.outputs), sorted_nodes(fgraph.outputs), strict=True))
        rewrite(self.fgraph)
        rewrite(again)
        self._schedule = self._scheduled(self.fgraph)
        check_same(self._schedule, self._scheduled(again), backend)
        self._stands_for = stands_for(self.fgraph, fgraph, self._origins)
        self._variables, self._last_reads, self._kept = _places(self._schedule, self.fgraph)

    def _scheduled(self, fgraph: FunctionGraph) -> Schedule:
        return Schedule(fgraph, memory_plan(fgraph) if self.backend.mutable else {})

    def __call__(self, *natives: Any) -> list[Any]:
        """Return the natives of the outputs."""
        before = list(map(self._copy, natives))
        expected = self._reference(before)
        try:
            return self._run(natives, expected)
        except BaseException:
            for native, copy in zip(natives, before, strict=True):
                values = (native_values(self.backend, each) for each in (native, copy))
                if self.backend.mutable and not same_bits(*values):
                    self.backend.assign(native, copy)
            raise

    def _copy(self, native: Any) -> Any:
        return self.backend.copy(native) if self.backend.mutable else native

    def _reference(self, natives: list[Any]) -> dict[Variable, Any]:
        """Return what the variables of the graph as it was traced are, computed on copies of everything."""
        held = dict(zip(self.pure.inputs, natives, strict=True))
        for node in self.pure.toposort():
            inputs = [self._copy(v.data if isinstance(v, Constant) else held[v]) for v in node.inputs]
            results = results_of(node, inputs)
            check_types(self.backend, node, inputs, results)
            # An operation may have kept what it returned.
            held.update(zip(node.outputs, map(self._copy, results), strict=True))
        held.update((v, v.data) for v in self.pure.outputs if isinstance(v, Constant))
        return held

    def _run(self, natives: tuple[Any, ...], expected: Mapping[Variable, Any]) -> list[Any]:
        schedule, storage = self._schedule, Storage(self.backend, self._variables)
        for place, native in (*enumerate(schedule.start), *zip(schedule.inputs, natives, strict=True)):
            if native is not None:
                storage.put(place, native)
                self._check_value(storage, place, expected)
        for number, step in enumerate(schedule.steps):
            run = NodeRun(storage, step, self._is_read(number), self._is_live(number))
            run.run(self._pure(step.node))
            for place in step.outputs:
                self._check_value(storage, place, expected)
            for place in step.dead:
                storage.drop(place)
        return [storage.read(place, None) for place in schedule.outputs]

    def _is_read(self, number: int) -> Callable[[int], bool]:
        return lambda place: self._last_reads.get(place, -1) > number

    def _is_live(self, number: int) -> Callable[[int], bool]:
        return lambda place: place in self._kept or self._last_reads.get(place, -1) > number

    def _pure(self, node: Apply) -> Apply | None:
        """Return the node as it was traced, if it's rewritten to be a destructive twin."""
        origin = self._origins.get(node)
        return origin if origin is not None and node.op in origin.op.inplace else None

    def _check_value(self, storage: Storage, place: int, expected: Mapping[Variable, Any]) -> None:
        variable = self._variables[place]
        for original in self._stands_for.get(variable, ()):
            if not same(native_values(self.backend, expected[original]), storage.values[place]):
                new, old = (each if each.owner is None else f"{each} of {each.owner}" for each in (variable, original))
                raise BadOptimization(
                    f"{new} on backend {self.backend.name!r} has another value than {old}, "
                    "which it stands for since the graph was rewritten, and is the first that has: look at the rewrite "
                    "that put it there, or, if the operation is the same, at whether it always computes the same"
                )


def stands_for(
    rewritten: FunctionGraph, original: FunctionGraph, origins: Mapping[Apply, Apply]
) -> dict[Variable, list[Variable]]:
    """Return for variables of a rewritten graph those of the original that must have the same value.

    Who is left over of the original, and the outputs, used something there and use something now: the new stands for
    the old. What was tried and taken back has left nothing behind.
    """
    pairs = list(zip(rewritten.outputs, original.outputs, strict=True))
    for node in rewritten.apply_nodes:
        origin = origins.get(node)
        if origin is not None:
            pairs += zip((*node.inputs, *node.outputs), (*origin.inputs, *origin.outputs), strict=True)
    found: dict[Variable, dict[Variable, None]] = {}
    for new, old in pairs:
        if not isinstance(old, Constant):
            found.setdefault(new, {})[old] = None
    return {new: list(old) for new, old in found.items()}


def check_same(first: Schedule, second: Schedule, backend: Handle) -> None:
    """Raise if a graph was rewritten in two different ways."""
    for number, (one, other) in enumerate(zip(first.steps, second.steps, strict=False)):
        if one.node.op != other.node.op or one[1:] != other[1:]:
            raise StochasticOrder(
                f"a graph on backend {backend.name!r} was rewritten twice, and node {number} was first {one.node}, "
                f"then {other.node}, or they have other inputs, other buffers or another end: let rewrites and "
                "features not depend on the order of a set, nor on id() or hash()"
            )
    constants = zip(first.start, second.start, strict=False)
    if len(first.steps) != len(second.steps) or not all(_equal(*each, backend) for each in constants):
        raise StochasticOrder(
            f"a graph on backend {backend.name!r} was rewritten twice, first to {len(first.steps)} nodes, then to "
            f"{len(second.steps)}, or with other constants: let rewrites do the same each time"
        )


def _equal(first: Any, second: Any, backend: Handle) -> bool:
    if first is None or second is None or first is second:
        return first is second
    return same_bits(native_values(backend, first), native_values(backend, second))


def _places(schedule: Schedule, fgraph: FunctionGraph) -> tuple[dict[int, Variable], dict[int, int], set[int]]:
    """Return the variables by their places, which node reads a place last, and what outlives the run."""
    variables = dict(zip((*schedule.inputs, *schedule.outputs), (*fgraph.inputs, *fgraph.outputs), strict=True))
    last: dict[int, int] = {}
    for number, step in enumerate(schedule.steps):
        variables.update(zip((*step.inputs, *step.outputs), (*step.node.inputs, *step.node.outputs), strict=True))
        last.update(dict.fromkeys(step.inputs, number))
    constants = (place for place, variable in variables.items() if isinstance(variable, Constant))
    return variables, last, {*schedule.inputs, *schedule.outputs, *constants}
