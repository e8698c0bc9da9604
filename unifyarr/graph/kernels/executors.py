"""Running a graph on natives: step by step on reused buffers, or compiled as a whole by the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..._core.calling.programs import CALL, LIST, SPREAD, TUPLE, Instruction, Program
from ..._core.engines.handle import Handle
from ..._core.values.caller import attributed
from ..core.basic import Apply, Constant, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.memory import buffers, memory_plan
from .hosting import bound_on, run_of
from .into import innermost

# Takes the natives of the inputs, and returns those of the outputs.
Executor = Callable[..., Sequence[Any]]
# Takes a schedule and the functions that run its nodes, and returns one function that runs all, or ``None``.
Joined = Callable[["Schedule", Sequence[Callable[..., Any]]], "Callable[..., list[Any]] | None"]


class ScheduledNode(NamedTuple):
    """One node of a schedule.

    It has the places of the node's inputs and outputs, the places of the buffers that it may write to, one for each
    output, and the places that are dead after it.
    """

    node: Apply
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    buffers: tuple[int | None, ...]
    dead: tuple[int, ...]


class Schedule:
    """The nodes of a graph in a fixed order, which are run as a program. Each variable has a place, a number.

    With ``borrow`` the next call uses the memory of the results again. ``bound`` returns the function that runs a node,
    by default the operation's own.
    ``constant``, if given, returns what each run uses of a constant. ``joined`` returns one function that runs the
    schedule, of what runs its nodes; or ``None``.
    """

    def __init__(
        self,
        fgraph: FunctionGraph,
        plan: Mapping[Variable, Variable],
        *,
        borrow: bool = False,
        bound: Callable[[Apply], Callable[..., Any]] | None = None,
        constant: Callable[[Any], Any] | None = None,
        joined: Joined | None = None,
    ) -> None:
        self._constant = constant
        nodes = fgraph.toposort()
        places: dict[Variable, int] = {}
        for variable in (
            *fgraph.inputs,
            *(v for node in nodes for v in (*node.inputs, *node.outputs)),
            *fgraph.outputs,
        ):
            places.setdefault(variable, len(places))
        self.inputs = [places[variable] for variable in fgraph.inputs]
        self.outputs = [places[variable] for variable in fgraph.outputs]
        self.start = [variable.data if isinstance(variable, Constant) else None for variable in places]
        keep = {places[v] for v in (*fgraph.inputs, *fgraph.outputs)}
        keep |= {places[v] for v in places if isinstance(v, Constant)}
        last: dict[int, int] = {}
        for number, node in enumerate(nodes):
            used = [*node.inputs, *node.outputs, *(plan[each] for each in node.outputs if each in plan)]
            last.update((places[variable], number) for variable in used)
        dead: dict[int, list[int]] = {}
        for place, number in last.items():
            if place not in keep:
                dead.setdefault(number, []).append(place)
        # A map: first variable in a result's memory -> the result. The last call's result is its buffer.
        borrowed = dict(_borrowed(fgraph, plan)) if borrow else {}
        self._kept = {places[first]: places[result] for first, result in borrowed.items()}
        self._buffers: dict[int, Any] = {}
        self.instructions = [
            ScheduledNode(
                node,
                tuple(places[v] for v in node.inputs),
                tuple(places[v] for v in node.outputs),
                tuple(_buffer(output, places, plan, borrowed) for output in node.outputs),
                tuple(dead.get(number, ())),
            )
            for number, node in enumerate(nodes)
        ]

        # Called itself where calls have to cost little.
        functions = [(bound or (lambda node: node.op.bound(node)))(each.node) for each in self.instructions]
        run = None if joined is None or self._kept else joined(self, functions)
        self.run = self._program(functions) if run is None else run

    def __call__(self, *natives: object) -> list[Any]:
        """Return the natives of the outputs."""
        return self.run(*natives)

    def _program(self, functions: Sequence[Callable[..., object]]) -> Callable[..., Any]:
        """Return a program of the nodes, whose slots are the inputs, the constants, and all other places."""
        constants = [place for place, data in enumerate(self.start) if data is not None]
        values = [None, *(self.start[place] for place in constants), *self._kept]
        slots = {place: number for number, place in enumerate(self.inputs)}
        none, used = len(slots), len(slots) + 1
        made = {place: used + number for number, place in enumerate(constants)}
        used += len(constants)
        keys = {place: used + number for number, place in enumerate(self._kept)}
        used += len(keys)
        code = []
        if self._constant is None:
            slots |= made
        for place in range(len(self.start)):
            if place not in slots:
                slots[place] = used
                used += 1
        if self._constant is not None:
            code += [Instruction(CALL, (self._constant, ()), (made[p],), (slots[p],), ()) for p in constants]
        # The buffer is taken out, so that another thread makes its own.
        take, keep = (self._buffers.pop, ()), (self._buffers.__setitem__, ())
        code += [Instruction(CALL, take, (keys[p], none), (slots[p],), ()) for p in self._kept]
        for (node, inputs, outputs, given, dead), function in zip(self.instructions, functions, strict=True):
            out = given if node.op.written_to is None else (inputs[node.op.written_to],)
            arguments = [slots[place] for place in inputs]
            names: tuple[str, ...] = ()
            if any(place is not None for place in out):
                to, names = tuple(none if place is None else slots[place] for place in out), ("out",)
                if len(out) > 1:
                    code.append(Instruction(TUPLE, tuple, to, (used,), ()))
                    to = (used,)
                arguments.append(to[0])
            filled = tuple([slots[place] for place in outputs])
            ends = tuple([slots[place] for place in dead])
            ends = (*ends, used) if arguments[-1:] == [used] else ends
            operation = CALL if len(outputs) == 1 else SPREAD
            code.append(Instruction(operation, (function, names), tuple(arguments), filled, ends))
        code += [Instruction(CALL, keep, (keys[p], slots[x]), (used,), ()) for p, x in self._kept.items()]
        code.append(Instruction(LIST, None, tuple([slots[place] for place in self.outputs]), (used,), ()))
        program: Callable[..., Any] = Program(len(self.inputs), tuple(values), used + 1, tuple(code), used)
        return program


def _buffer(
    output: Variable,
    places: Mapping[Variable, int],
    plan: Mapping[Variable, Variable],
    borrowed: Mapping[Variable, Variable],
) -> int | None:
    if output in plan:
        return places[plan[output]]
    return places[output] if output in borrowed else None


def _borrowed(fgraph: FunctionGraph, plan: Mapping[Variable, Variable]) -> Iterator[tuple[Variable, Variable]]:
    """Yield pairs: the first node output in a result's memory, which could be written to a buffer; the result."""
    held = buffers(fgraph.toposort())
    planned = set(plan.values())
    for result in fgraph.outputs:
        for first in held.get(result, ()):
            node = first.owner
            alone = len(held[result]) == 1 and first not in plan and first not in planned
            if alone and node is not None and first.index in node.op.out and same_type(first.type, result.type):
                yield first, result


def executor(
    fgraph: FunctionGraph,
    backend: Handle,
    *,
    borrow: bool = False,
    donate: Mapping[int, int] | None = None,
    exact: bool = False,
    bound: Callable[[Apply], Callable[..., Any]] | None = None,
    joined: Joined | None = None,
) -> Executor:
    """Return a function that runs a graph on a backend.

    With ``borrow`` the next call uses the memory of the results again. The other two are for engines that compile the
    whole graph: ``donate`` maps each input that may be used up to the output that takes its memory, and ``exact`` asks
    for the same results as those of the kernels called one by one. The last two, for the others, are those of a
    schedule.
    """
    if not backend.can_compile:
        return Schedule(fgraph, memory_plan(fgraph), borrow=borrow, bound=bound or bound_on(backend), joined=joined)
    schedule = Schedule(fgraph, {}, bound=bound_on(backend), constant=backend.as_constant)
    whole: Executor = backend.compiled(schedule, donate=donate, exact=exact)
    return whole


def located(backend: Handle) -> Callable[[Apply], Callable[..., Any]] | None:
    """Return what binds nodes so that what a trace records of their runs is of their lines; ``None`` in no trace."""
    if not backend.records:
        return None

    def bound(node: Apply) -> Callable[..., Any]:
        run, place = node.op.bound(node), node.place

        def call(*natives: object) -> Any:
            with attributed(place):
                return run(*natives)

        return call

    return bound


def bound_and_compiled(backend: Handle, node: Apply) -> Callable[..., object]:
    """Return what runs a node, and wait until its loops are compiled by the C compiler, if they can be."""
    op: Any = node.op
    run: Callable[..., Any] = op.bound(node, wait=True) if innermost(op).can_wait else run_of(backend, node)
    return run


def shared(fgraph: FunctionGraph) -> list[frozenset[Variable]]:
    """Return for each output of a graph the set of variables in whose memory it may be."""
    held = buffers(fgraph.toposort())
    return [held.get(variable, frozenset([variable])) for variable in fgraph.outputs]
