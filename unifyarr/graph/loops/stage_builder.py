"""The nodes of a loop's step as views and *stages*, which the compiled part runs one after the other.

A stage is a program of fused loops, one call of a loop of NumPy's, or else a call of Python, on memory that is known
before the first step. From step to step memory stays where it is, moves on by a row, or is exchanged with that of a
partner. Calls of Python take what stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.kernels.record import Alias
from ..._core.kernels.types import ArrayType
from ..._core.values.native import Native
from ...modes.trace.traced import known_type
from ..core.basic import Apply, Constant, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.memory import memory_plan
from ..fusion import machine
from ..fusion.cores import CoreCall
from ..fusion.fusedop import FusedOp
from ..fusion.index_maps import DENSE, orders
from ..fusion.single_calls import FoldCall, PickCall, single_call
from ..fusion.threads import LONG
from ..kernels.executors import bound_and_compiled
from ..kernels.hosting import run_of
from ..kernels.into import WrittenInto, innermost
from ..kernels.kernelop import COPY, STORE, KernelOp
from .python_calls import call_of

# Up to how many bytes what is carried has two buffers: both stay in the cache.
BESIDE = 1 << 17

# Makes a native of those that are there already.
Maker = Callable[[Sequence[Any]], Any]
Plan = Mapping[Variable, Variable]


class NotStaged(Exception):
    """A node of a step can't be a stage."""


class LoopNative(NamedTuple):
    """A native of one call of a loop: how it's made, and the number of the native whose memory it shows, or its own.

    ``is_fresh`` if it's memory of any values.
    """

    make: Maker
    memory: int
    is_view: bool = False
    is_fresh: bool = False


class StageBuilder:
    """Stages of one or two graphs on common inputs: what is carried, a row of each array, and captured arrays.

    ``strides`` has those of the inputs.
    """

    def __init__(
        self, backend: Handle, strides: Sequence[tuple[int, ...]], carried: int, rows: int, calls: bool, wait: bool
    ) -> None:
        self.backend, self.carried, self.wait = backend, carried, wait
        self._loops = None if backend.name == "numpy" else backend.host_loops()
        self._strides, self._calls = strides, calls
        self.made = [LoopNative(nothing, number) for number in range(len(strides))]
        # A map: number of a native -> the column whose row it is.
        self.columns: dict[int, int] = {}
        # A map: number of what is carried -> that of the memory where its next value is, and back.
        self.partners: dict[int, int] = {}
        # Pairs: a program or core, and the numbers of its arrays; or a maker of a call, and none.
        self.stages: list[tuple[Any, tuple[int, ...]]] = []
        self.numbers: dict[Variable, int] = {}
        self._inputs = [*range(len(strides))]
        self._rows = range(carried, carried + rows)
        self._own: Mapping[Variable, int] = {}

    def add(self, graph: FunctionGraph) -> None:
        """Add the nodes of a graph."""
        if self._calls and self._rows:
            self._inputs[self._rows.start : self._rows.stop] = [
                self._row(number, known_type(graph.inputs[number])) for number in self._rows
            ]
        nodes, own = graph.toposort(), self._own
        self.numbers |= zip(graph.inputs, self._inputs, strict=True)
        order = _orders(graph, nodes, self._strides)
        plan = memory_plan(graph, writable=lambda node, key: key in node.op.out and node.outputs[key] not in own)
        for node in nodes:
            for variable in node.inputs:
                if isinstance(variable, Constant) and variable not in self.numbers:
                    self.numbers[variable] = self._new(_always(variable.data))
            if is_stage(node, order):
                self._add_stage(graph, node, plan, order)
            else:
                self._add_call(node, plan, order)

    def add_step(self, graph: FunctionGraph) -> None:
        """Add the nodes of the step, whose first outputs are carried on, and the others the rows of columns."""
        results = graph.outputs[self.carried :]
        self._own = {} if self._calls else _computed_in_columns(results)
        self.add(graph)
        for place, variable in enumerate(results):
            if place not in self._own.values():
                column = self._new(nothing)
                self.columns[column] = place
                self._copy(self.numbers[variable], column, known_type(variable))

    def _row(self, number: int, type: ArrayType) -> int:
        """Return the number of memory that stays, to which a row is copied."""
        made = self._new_in_c_order(type)
        self._copy(number, made, type)
        return made

    def _add_stage(self, graph: FunctionGraph, node: Apply, plan: Plan, order: Mapping[Variable, int]) -> None:
        core = single_call(node, order)
        if isinstance(core, PickCall):
            self._add_picks(node, core, plan)
            return
        if core is not None:
            self._add_core(node, core, plan)
            return
        if isinstance(node.op, KernelOp):
            self._add_kernel(graph, node, plan)
            return
        op, given, into = node.op, [self.numbers[each] for each in node.inputs], {}
        while isinstance(op, WrittenInto):
            into[op.key] = given.pop()
            op = op.op
        assert isinstance(op, FusedOp)
        beside = self._beside(op, given)
        op = op.without(beside)
        arrays = list(given)
        for key, (variable, output) in enumerate(zip(node.outputs, op.plan.outputs, strict=True)):
            if key in op.host:
                number = given[op.host[key]]
            elif key in into:
                number = into[key]
            else:
                number = self._new_result(variable, plan, None if output.base is None else given[output.base])
            if key in beside:
                self._exchange(beside[key], number)
            if key not in op.host:
                if output.base is not None:
                    self._copy(given[output.base], number, output.type)
                arrays.append(number)
            self.numbers[variable] = number
        self.stages.append((op.program(self.wait), tuple(arrays)))

    def _add_picks(self, node: Apply, core: PickCall, plan: Plan) -> None:
        op, result, given = node.op, node.outputs[0], [self.numbers[each] for each in node.inputs]
        assert isinstance(op, KernelOp)
        if not core.writes:
            number, others = self._new_result(result, plan), given[1:]
            self.stages.append((core, (given[0], number, *others)))
        else:
            number, others = given[0] if op.target == 0 else self._new_result(result, {}, given[0]), given[1:]
            if any(self.made[each].memory == self.made[number].memory for each in others):
                # NumPy copies what it would overwrite before it's read.
                raise NotStaged
            self._copy(given[0], number, known_type(result))
            self.stages.append((core, (number, *others)))
        self.numbers[result] = number

    def _add_core(self, node: Apply, core: CoreCall | FoldCall, plan: Plan) -> None:
        given = [self.numbers[each] for each in node.inputs]
        for result in node.outputs:
            self.numbers[result] = self._new_result(result, plan)
        self.stages.append((core, (*given, *(self.numbers[each] for each in node.outputs))))

    def _add_kernel(self, graph: FunctionGraph, node: Apply, plan: Plan) -> None:
        op, result, given = node.op, node.outputs[0], [self.numbers[each] for each in node.inputs]
        assert isinstance(op, KernelOp)
        type = known_type(result)
        if op.record.alias is Alias.VIEW:
            self.numbers[result] = self._new_view(op.bound(node), given[0])
        elif op.name == COPY:
            self.numbers[result] = self._new_result(result, {}, given[0])
            self._copy(given[0], self.numbers[result], type)
        elif op.name == STORE:
            self.numbers[result] = given[0]
            if self._can_exchange(graph, node, given[0], given[1], plan):
                self._exchange(given[0], given[1])
            else:
                self._copy(given[1], given[0], type)
        else:
            self.numbers[result] = number = given[0] if op.target == 0 else self._new_result(result, {}, given[0])
            self._copy(given[0], number, type)
            window = KernelOp(self.backend, "get_window", op.static, 1).bound(None)
            self._copy(given[1], self._new_view(window, number), _window(node), known_type(node.inputs[1]).shape)

    def _add_call(self, node: Apply, plan: Plan, order: Mapping[Variable, int]) -> None:
        destroys = node.op.destroys(node)
        given = [self.numbers[each] for each in node.inputs]
        fresh = []
        # What is said to be a view, but computed anew at each step, is a copy to us.
        views = {} if isinstance(node.op, KernelOp) else node.op.views(node)
        for key, (variable, type) in enumerate(zip(node.outputs, map(known_type, node.outputs), strict=True)):
            if views.get(key) or len(destroys.get(key, ())) > 1 or None in type.shape:
                raise NotStaged
            if key in destroys:
                self.numbers[variable] = given[destroys[key][0]]
                continue
            if order[variable] != DENSE and sum(length != 1 for length in type.shape) > 1:
                # Sums of what lies otherwise in memory may have other last bits.
                raise NotStaged
            self.numbers[variable] = self._new_result(variable, plan)
            fresh.append((key, self.numbers[variable]))
        run = bound_and_compiled(self.backend, node) if self.wait else run_of(self.backend, node)
        self.stages.append((call_of(node, run, given, fresh, self.backend.assign), ()))

    # Memory that is exchanged

    def _can_exchange(self, graph: FunctionGraph, store: Apply, target: int, source: int, plan: Plan) -> bool:
        """Return whether what is stored can stay where it is, which is the memory of the array for the next step."""
        value, stored = store.inputs[1], store.outputs[0]
        is_alone = self.made[source].is_fresh and source not in self.partners and target not in self.partners
        is_kept = all(self.numbers.get(reused) != source for reused in plan.values())
        if self._calls or target >= self.carried or not is_alone or not is_kept:
            return False
        others = [(node, place) for node, place in graph.clients[value] if node is not store]
        is_last = not any(node for node, _ in graph.clients[stored])
        return is_last and all(
            node is not None and place not in node.op.victims(node) and not node.op.views(node)
            for node, place in others
        )

    def _beside(self, op: FusedOp, given: Sequence[int]) -> dict[int, int]:
        """Return a map: outputs that are better computed beside what is carried than in its memory -> that memory.

        Loops that are watched for flags save what they overwrite, before.
        """
        if self._calls or self._loops is not None:
            return {}
        return {
            key: given[place]
            for key, place in op.host.items()
            if given[place] < self.carried
            and given[place] not in self.partners
            and op.plan.outputs[key].base is None
            and op.plan.outputs[key].type.dtype.itemsize * math.prod(op.plan.outputs[key].type.shape) <= BESIDE
        }

    def _exchange(self, target: int, source: int) -> None:
        # Of the same strides as the other one.
        self.made[source] = LoopNative(self._like(target), source)
        self.partners |= {target: source, source: target}

    # Memory

    def _new(self, make: Maker, *, is_fresh: bool = False) -> int:
        self.made.append(LoopNative(make, len(self.made), is_fresh=is_fresh))
        return len(self.made) - 1

    def _new_view(self, view: Callable[[object], object], base: int) -> int:
        self.made.append(LoopNative(lambda natives: view(natives[base]), self.made[base].memory, is_view=True))
        return len(self.made) - 1

    def _new_result(self, variable: Variable, plan: Plan, like: int | None = None) -> int:
        """Return the number of memory for a result: a column's row, or laid out as another native, or in C order."""
        if variable in self._own:
            number = self._new(nothing)
            self.columns[number] = self._own[variable]
            return number
        if variable in plan:
            return self.numbers[plan[variable]]
        return self._new_in_c_order(known_type(variable)) if like is None else self._new(self._like(like))

    def _new_in_c_order(self, type: ArrayType) -> int:
        shape, dtype = type
        if self._loops is None:
            return self._new(lambda natives: np.empty(shape, dtype), is_fresh=True)
        room = self._loops.room(shape, dtype)
        return self._new(lambda natives: room(), is_fresh=True)

    def _like(self, number: int) -> Maker:
        copy = self.backend.copy
        return lambda natives: copy(natives[number])

    def _copy(self, source: int, target: int, type: ArrayType, shape: Sequence[int] | None = None) -> None:
        if source != target:
            program = machine.copying(type.shape if shape is None else shape, type, self._loops)
            if program is None or program.cost > LONG:
                raise NotStaged
            self.stages.append((program, (source, target)))


def all_stages(graph: FunctionGraph, strides: Sequence[tuple[int, ...]]) -> bool:
    """Return whether no node of a graph needs a call of Python."""
    nodes = graph.toposort()
    order = _orders(graph, nodes, strides)
    return all(is_stage(node, order) for node in nodes)


def _orders(graph: FunctionGraph, nodes: Sequence[Apply], strides: Sequence[tuple[int, ...]]) -> dict[Variable, int]:
    """Return how surely variables are in C order; what is fused is, except for windows of what isn't."""
    dense: set[Variable] = set()
    for node in nodes:
        op = innermost(node.op)
        if isinstance(op, FusedOp):
            pairs = zip(node.outputs, op.plan.outputs, strict=True)
            dense.update(variable for variable, output in pairs if output.base is None)
    return orders(nodes, dict(zip(graph.inputs, strides, strict=True)), dense)


def is_stage(node: Apply, order: Mapping[Variable, int]) -> bool:
    """Return whether a node is a view, or needs no call of Python; ``order`` has how variables lie in memory."""
    op = node.op
    inner = innermost(op)
    if isinstance(inner, FusedOp):
        program = inner.program()
        # What takes long runs in several threads.
        return program is not None and program.cost <= LONG
    if single_call(node, order) is not None:
        return True
    if not isinstance(op, KernelOp):
        return False
    if op.name in ("get_window", "set_window"):
        # Not every engine has views with negative steps.
        types = {each.dtype for each in map(known_type, node.inputs)}
        return len(types) == 1 and (op.backend.name == "numpy" or all(step > 0 for _, step, _ in op.static["window"]))
    return op.name in (COPY, STORE) or (op.record.alias is Alias.VIEW and op.name != "bitcast")


def _window(node: Apply) -> ArrayType:
    """Return the type of the window that a node writes to."""
    assert isinstance(node.op, KernelOp)
    return ArrayType(tuple(length for _, _, length in node.op.static["window"]), known_type(node.inputs[0]).dtype)


def nothing(natives: Sequence[Native]) -> Native:
    """Stand for the maker of what is passed to a loop."""
    raise AssertionError("what is passed to a loop isn't made by it")


def _always(data: object) -> Maker:
    return lambda natives: data


def _computed_in_columns(results: Sequence[Variable]) -> dict[Variable, int]:
    """Return a map: variables that can be computed in the row of a column, whose values are results -> the column."""
    found: dict[Variable, int] = {}
    for place, result in enumerate(results):
        *_, first = _overwritten(result)
        node = first.owner
        is_made = node is not None and (isinstance(innermost(node.op), FusedOp) or node.op.name == COPY)
        if is_made and first not in found and same_type(first.type, result.type):
            found[first] = place
    return found


def _overwritten(variable: Variable) -> Iterator[Variable]:
    """Yield a variable, what it has overwritten, what that has, and so on."""
    yield variable
    node = variable.owner
    places = () if node is None else node.op.destroys(node).get(variable.index, ())
    if node is not None and len(places) == 1:
        yield from _overwritten(node.inputs[places[0]])
