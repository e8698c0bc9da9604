"""The executor of mode ``"debug"``: it runs the rewritten graph node by node, and compares it with the traced graph.

The checks are those of Theano's and PyTensor's DebugMode. The traced graph is the reference: each of its nodes runs on
copies of its inputs. The rewritten graph runs as in the other modes, in the same memory and with the same buffers.
After each node the effects of that node are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._core.calling.applications import computed
from ..._core.engines.comparing import native_values, restore, same, same_bits
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import checked
from ..._core.values.native import Native
from ...errors import BadOptimization, StochasticOrder
from ...modes.body_checks import check_outcome, outcome_of
from ...modes.kind_checks import check_parts, parts_of
from ...modes.side_effects import silenced
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.history import History
from ..core.memory import memory_plan
from ..core.nodes import sorted_nodes
from ..fusion.fusedop import FusedOp
from ..kernels.executors import Schedule, ScheduledNode
from ..kernels.into import innermost
from ..kernels.user_op_nodes import UserOp
from .noderun import NodeRun, check_types, results_of
from .recorded import Storage

Rewrite = Callable[[FunctionGraph], object]


class DebugProgram:
    """An executor that raises a ``DebugModeError`` where an operation doesn't do what it declares.

    Parameters
    ----------
    fgraph
        The traced graph, which doesn't change. Two copies of it are rewritten; ``self.fgraph`` is the one that runs.
    rewrite
        A function that rewrites a copy of the graph. It must do the same each time.
    backend
        The backend of the natives.

    On a mutable engine everything is checked, and destroyed or dead memory is filled with garbage, so that a later
    read of it is found. On an immutable engine only values and types are checked. NaN and infinities are values like
    others. An error leaves the inputs as they were.

    Raises
    ------
    BadViewMap, BadDestroyMap, BadInplace, BadThunkOutput, InvalidValueError
        At the call, at the node that did it.
    BadOrder
        At the call, if a node reads memory that another node has overwritten.
    BadOptimization
        At the call, for the first variable whose value differs from that of the variable that it replaces.
    StochasticOrder
        At construction, if two copies are rewritten differently. An order that depends on the hashes of strings isn't
        found, since it's the same throughout a process.
    """

    def __init__(self, fgraph: FunctionGraph, rewrite: Rewrite, backend: Handle) -> None:
        self.pure, self.backend = fgraph, backend
        self.fgraph, again = fgraph.copy(), fgraph.copy()
        # A copy has its nodes in the same order.
        self._origins = dict(zip(sorted_nodes(self.fgraph.outputs), sorted_nodes(fgraph.outputs), strict=True))
        self.fgraph.history.rewrites, again.history.rewrites = [], []
        with self.fgraph.history.of(getattr(rewrite, "__name__", repr(rewrite))):
            rewrite(self.fgraph)
        rewrite(again)
        self._schedule = self._scheduled(self.fgraph)
        check_same(self._schedule, self._scheduled(again), backend, (self.fgraph.history, again.history))
        self._stands_for = stands_for(self.fgraph, fgraph, self._origins)
        self._places = ScheduleVariables.of(self._schedule, self.fgraph)

    def _scheduled(self, fgraph: FunctionGraph) -> Schedule:
        return Schedule(fgraph, memory_plan(fgraph) if self.backend.mutable else {})

    def __call__(self, *natives: Native) -> list[Native]:
        """Return the natives of the outputs."""
        before = list(map(self._copy, natives))
        with checked(True):
            try:
                with silenced():
                    reference = self._reference(before)
                return self._run(natives, reference)
            except BaseException:
                if self.backend.mutable:
                    restore(self.backend, natives, before)
                raise

    def _copy(self, native: Native) -> Native:
        return self.backend.copy(native) if self.backend.mutable else native

    def _reference(self, natives: list[Native]) -> dict[Variable, Any]:
        """Return the values of all variables of the traced graph, computed on copies."""
        held = dict(zip(self.pure.inputs, natives, strict=True))
        for node in self.pure.toposort():
            inputs = [self._copy(v.data if isinstance(v, Constant) else held[v]) for v in node.inputs]
            results = self._checked_results(node, inputs)
            # An operation may have kept what it returned.
            held.update(zip(node.outputs, map(self._copy, results), strict=True))
        held.update((v, v.data) for v in self.pure.outputs if isinstance(v, Constant))
        return held

    def _checked_results(self, node: Apply, inputs: list[Any]) -> Sequence[Native]:
        """Return the results of a node, after comparing them with those of its operation's body, if it has one."""
        backend, op = self.backend, node.op
        parts, copies = [], []
        if isinstance(op, UserOp):
            copies = list(map(self._copy, inputs))
            parts = parts_of(op.record, backend, inputs, lambda given: computed(op.application, backend, *given))
        results = results_of(backend, node, inputs)
        check_types(backend, node, inputs, results)
        if isinstance(op, UserOp):
            application = op.application
            body = outcome_of(lambda: [native_values(backend, x) for x in application.compose(backend, copies)])
            values = [native_values(backend, x) for x in results]
            check_outcome(f"{node} on backend {backend.name!r}", body, values)
            check_parts(op.record, backend, parts, values)
        return backend.persist(results)

    def _run(self, natives: tuple[Any, ...], expected: Mapping[Variable, Any]) -> list[Native]:
        return self._run_checked(
            self._places, natives, lambda storage, place: self._check_value(storage, place, expected)
        )

    def _run_checked(
        self,
        places: ScheduleVariables,
        natives: Sequence[Native],
        check: Callable[[Storage, int], None] = lambda *each: None,
    ) -> list[Native]:
        """Run a schedule node by node; ``check`` looks at the value at a place, as soon as it's there."""
        schedule, storage = places.schedule, Storage(self.backend, places.variables)
        for place, native in (*enumerate(schedule.start), *zip(schedule.inputs, natives, strict=True)):
            if native is not None:
                storage.put(place, native)
                check(storage, place)
        for number, instruction in enumerate(schedule.instructions):
            run = NodeRun(storage, instruction, places.is_read(number), places.is_live(number))
            run.run(self._reference_of(instruction.node))
            for place in instruction.outputs:
                check(storage, place)
            for place in instruction.dead:
                storage.drop(place)
        return [storage.read(place, None) for place in schedule.outputs]

    def _reference_of(self, node: Apply) -> Callable[[Sequence[Native]], Sequence[Native]] | None:
        """Return what computes the results of a destructive twin, or of a fused operation, in the other way."""
        op = innermost(node.op)
        if isinstance(op, FusedOp):
            # Its parts are checked in their turn. What it's written into isn't read.
            composed = op.composed.graph
            places = ScheduleVariables.of(Schedule(composed, {}), composed)
            return lambda inputs: self._run_checked(places, inputs[: len(composed.inputs)])
        if op is not node.op:
            pure = Apply(op, node.inputs[:-1], [each.type for each in node.outputs])
            return lambda inputs: results_of(self.backend, pure, inputs[:-1])
        origin = self._origins.get(node)
        if origin is None or node.op not in origin.op.inplace:
            return None
        return lambda inputs: results_of(self.backend, origin, inputs)

    def _check_value(self, storage: Storage, place: int, expected: Mapping[Variable, object]) -> None:
        variable = self._places.variables[place]
        for original in self._stands_for.get(variable, ()):
            if not same(native_values(self.backend, expected[original]), storage.values[place]):
                new, old = (each if each.owner is None else f"{each} of {each.owner}" for each in (variable, original))
                rewriters = self.fgraph.history.rewriters(variable)
                advice = (
                    f"look at what {' and '.join(rewriters)} did"
                    if rewriters
                    else ("since no rewrite put it there, look at whether the operation always computes the same")
                )
                raise BadOptimization(
                    f"{new} on backend {self.backend.name!r} has another value than {old}, which it replaces in the "
                    f"rewritten graph; it's the first variable with a wrong value: {advice}"
                )


def stands_for(
    rewritten: FunctionGraph, original: FunctionGraph, origins: Mapping[Apply, Apply]
) -> dict[Variable, list[Variable]]:
    """Return a map: variable of a rewritten graph -> variables of the original that must have the same value.

    The pairs are the graphs' outputs, and the inputs and outputs of each node that both graphs have. So changes that
    were taken back play no part.
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


def check_same(first: Schedule, second: Schedule, backend: Handle, histories: Sequence[History] = ()) -> None:
    """Raise if a graph was rewritten in two different ways."""
    for number, (one, other) in enumerate(zip(first.instructions, second.instructions, strict=False)):
        if one.node.op != other.node.op or one[1:] != other[1:]:
            names = [
                name for history, each in zip(histories, (one, other), strict=False) for name in _put(history, each)
            ]
            by = f" (put there by {' and '.join(dict.fromkeys(names))})" if names else ""
            raise StochasticOrder(
                f"a graph on backend {backend.name!r} was rewritten twice, and node {number} was first {one.node}, "
                f"then {other.node}{by}, or with other inputs, buffers or dead variables: make rewrites and features "
                "independent of the order of a set, and of id() and hash()"
            )
    constants = zip(first.start, second.start, strict=False)
    if len(first.instructions) != len(second.instructions) or not all(_equal(*each, backend) for each in constants):
        raise StochasticOrder(
            f"a graph on backend {backend.name!r} was rewritten twice, first to {len(first.instructions)} nodes, then "
            f"to {len(second.instructions)}, or with other constants: make rewrites do the same each time"
        )


def _put(history: History, instruction: ScheduledNode) -> list[str]:
    return [name for output in instruction.node.outputs[:1] for name in history.rewriters(output)]


def _equal(first: object, second: object, backend: Handle) -> bool:
    if first is None or second is None or first is second:
        return first is second
    return same_bits(native_values(backend, first), native_values(backend, second))


class ScheduleVariables(NamedTuple):
    """A schedule with the variable of each place, the last node that reads it, and the places that outlive the run."""

    schedule: Schedule
    variables: dict[int, Variable]
    last_reads: dict[int, int]
    kept: set[int]

    @staticmethod
    def of(schedule: Schedule, fgraph: FunctionGraph) -> ScheduleVariables:
        """Return the places of the schedule of a graph."""
        variables = dict(zip((*schedule.inputs, *schedule.outputs), (*fgraph.inputs, *fgraph.outputs), strict=True))
        last: dict[int, int] = {}
        for number, (node, inputs, outputs, _, _) in enumerate(schedule.instructions):
            variables.update(zip((*inputs, *outputs), (*node.inputs, *node.outputs), strict=True))
            last.update(dict.fromkeys(inputs, number))
        constants = (place for place, variable in variables.items() if isinstance(variable, Constant))
        return ScheduleVariables(schedule, variables, last, {*schedule.inputs, *schedule.outputs, *constants})

    def is_read(self, number: int) -> Callable[[int], bool]:
        """Return a function that says whether a place is read after a step."""
        return lambda place: self.last_reads.get(place, -1) > number

    def is_live(self, number: int) -> Callable[[int], bool]:
        """Return a function that says whether the value at a place is needed after a step."""
        return lambda place: place in self.kept or self.last_reads.get(place, -1) > number
