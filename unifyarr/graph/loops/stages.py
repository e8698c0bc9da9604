"""The steps of a loop in the compiled part, one after the other without Python, where each is nothing but fused loops.

Each node of a step is a view, or a *stage*: a program and the memory that it reads and writes. From step to step memory
stays where it is, moves on by a row, or is exchanged with that of a partner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._core.declaring.types import ArrayType
from ..._core.engines.handle import Handle
from ..core.basic import Apply, Constant, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.memory import memory_plan
from ..fusion import machine
from ..fusion.fusedop import FusedOp
from ..kernels.into import Into, innermost
from ..kernels.kernelop import COPY, STORE, VIEWS, KernelOp
from ..tracing.traced import known_type

# Makes a native of those that are there already.
Maker = Callable[[Sequence[Any]], Any]


class NotFused(Exception):
    """A node of a step can't be a stage."""


class Made(NamedTuple):
    """A native of one call: how it's made, and the number of the native whose memory it shows, or its own.

    ``is_fresh`` if it's memory of any values.
    """

    make: Maker
    memory: int
    is_view: bool = False
    is_fresh: bool = False


class Stages:
    """A loop whose steps the compiled part runs.

    ``graphs`` are functions of what is carried, rows and captured arrays, which write in place: the step, or a
    condition and the step. The first ``carried`` outputs of the step are in the memory of its first inputs; the others
    are the rows of ``columns``.
    """

    def __init__(self, backend: Handle, graphs: Sequence[FunctionGraph], carried: int, rows: int, wait: bool) -> None:
        self.backend, self.carried, self.rows, self.wait = backend, carried, rows, wait
        self._loops = None if backend.name == "numpy" else backend.host_loops()
        *conditions, step = graphs
        self._inputs = len(step.inputs)
        self.made: list[Made] = [Made(_no_maker, number) for number in range(self._inputs)]
        # A map: number of a native -> the column whose row it is.
        self.columns: dict[int, int] = {}
        # A map: number of what is carried -> that of the memory where its next value is, and back.
        self.partners: dict[int, int] = {}
        # Pairs: a program, and the numbers of its arrays.
        self.stages: list[tuple[Any, tuple[int, ...]]] = []
        self._numbers: dict[Variable, int] = {}
        self.truth, self.tested = -1, -1
        for condition in conditions:
            self._add(condition, {})
            self.truth, self.tested = self._numbers[condition.outputs[0]], len(self.stages)
        results = step.outputs[carried:]
        own = _computed_in_columns(results)
        self._add(step, own)
        for place, variable in enumerate(results):
            if place not in own.values():
                column = self._new(_no_maker)
                self.columns[column] = place
                self._copy(self._numbers[variable], column, known_type(variable))
        if self.tested == len(self.stages):
            raise NotFused
        self._used = sorted({number for _, numbers in self.stages for number in numbers} | {max(self.truth, 0)})
        places = {number: place for place, number in enumerate(self._used)}
        self._stages = tuple((program, tuple(places[each] for each in numbers)) for program, numbers in self.stages)

    def _add(self, graph: FunctionGraph, columns: Mapping[Variable, int]) -> None:
        """Add the nodes of a graph; ``columns`` has what is computed where the rows of columns are."""
        nodes = graph.toposort()
        self._numbers |= {variable: number for number, variable in enumerate(graph.inputs)}
        plan = memory_plan(graph, writable=lambda node, key: _takes_out(node, key) and node.outputs[key] not in columns)
        for node in nodes:
            for variable in node.inputs:
                if isinstance(variable, Constant) and variable not in self._numbers:
                    data = variable.data
                    self._numbers[variable] = self._new(lambda natives, data=data: data)
            if isinstance(innermost(node.op), FusedOp):
                self._add_fused(node, plan, columns)
            elif isinstance(node.op, KernelOp):
                self._add_kernel(graph, node, plan, columns)
            else:
                raise NotFused

    def _add_fused(self, node: Apply, plan: Mapping[Variable, Variable], columns: Mapping[Variable, int]) -> None:
        op, given, into = node.op, [self._numbers[each] for each in node.inputs], {}
        while isinstance(op, Into):
            into[op.key] = given.pop()
            op = op.op
        assert isinstance(op, FusedOp)
        arrays = list(given)
        for key, (variable, output) in enumerate(zip(node.outputs, op.plan.outputs, strict=True)):
            if key in op.host:
                number = given[op.host[key]]
            elif key in into:
                number = into[key]
            elif variable in plan:
                number = self._numbers[plan[variable]]
            else:
                number = self._new_result(variable, columns, None if output.base is None else given[output.base])
            if key not in op.host:
                if output.base is not None:
                    self._copy(given[output.base], number, output.type)
                arrays.append(number)
            self._numbers[variable] = number
        self._stage(op.program(self.wait), arrays)

    def _add_kernel(
        self, graph: FunctionGraph, node: Apply, plan: Mapping[Variable, Variable], columns: Mapping[Variable, int]
    ) -> None:
        op, result = node.op, node.outputs[0]
        assert isinstance(op, KernelOp)
        given = [self._numbers[each] for each in node.inputs]
        if op.name in VIEWS and op.name != "bitcast":
            self._numbers[result] = self._new_view(op.bound(node), given[0])
        elif op.name == COPY:
            self._numbers[result] = self._new_result(result, columns, given[0])
            self._copy(given[0], self._numbers[result], known_type(result))
        elif op.name == STORE:
            self._numbers[result] = given[0]
            if self._can_exchange(graph, node, *given, plan):
                self._exchange(*given)
            else:
                self._copy(given[1], given[0], known_type(result))
        elif op.name == "set_window" and len(given) == 2:
            self._numbers[result] = given[0] if op.target == 0 else self._new_result(result, columns, given[0])
            if op.target != 0:
                self._copy(given[0], self._numbers[result], known_type(result))
            self._set_window(node, given[1], self._numbers[result])
        else:
            raise NotFused

    def _set_window(self, node: Apply, value: int, target: int) -> None:
        assert isinstance(node.op, KernelOp)
        shape = tuple(length for _, _, length in node.op.static["window"])
        type = known_type(node.inputs[1])
        if type.shape != shape or type.dtype != known_type(node.inputs[0]).dtype:
            raise NotFused
        view = KernelOp(self.backend, "get_window", node.op.static, 1)
        self._copy(value, self._new_view(view.bound(None), target), type)

    # Memory that is exchanged

    def _can_exchange(
        self, graph: FunctionGraph, store: Apply, target: int, source: int, plan: Mapping[Variable, Variable]
    ) -> bool:
        """Return whether what is stored can stay where it is, which is the memory of the array for the next step."""
        value, stored = store.inputs[1], store.outputs[0]
        is_alone = self.made[source].is_fresh and source not in self.partners and target not in self.partners
        is_kept = all(self._numbers.get(reused) != source for reused in plan.values())
        if target >= self.carried or not is_alone or not is_kept or any(node for node, _ in graph.clients[stored]):
            return False
        others = [(node, place) for node, place in graph.clients[value] if node is not store]
        return all(
            node is not None and place not in node.op.victims(node) and not node.op.views(node)
            for node, place in others
        )

    def _exchange(self, target: int, source: int) -> None:
        copy = self.backend.copy
        # Of the same strides as the other one.
        self.made[source] = Made(lambda natives: copy(natives[target]), source)
        self.partners |= {target: source, source: target}

    # Memory

    def _new(self, make: Maker, **how: bool) -> int:
        self.made.append(Made(make, len(self.made), **how))
        return len(self.made) - 1

    def _new_view(self, view: Callable[[Any], Any], base: int) -> int:
        self.made.append(Made(lambda natives: view(natives[base]), self.made[base].memory, is_view=True))
        return len(self.made) - 1

    def _new_result(self, variable: Variable, columns: Mapping[Variable, int], like: int | None = None) -> int:
        """Return the number of memory for a result: a column's row, or laid out as another native, or in C order."""
        if variable in columns:
            number = self._new(_no_maker)
            self.columns[number] = columns[variable]
            return number
        if like is not None:
            copy = self.backend.copy
            return self._new(lambda natives: copy(natives[like]))
        shape, dtype = known_type(variable)
        if self._loops is None:
            return self._new(lambda natives: np.empty(shape, dtype), is_fresh=True)
        room = self._loops.room(shape, dtype)
        return self._new(lambda natives: room(), is_fresh=True)

    # Stages

    def _copy(self, source: int, target: int, type: ArrayType) -> None:
        if source != target:
            self._stage(machine.copying(ArrayType(tuple(type.shape), type.dtype), self._loops), [source, target])

    def _stage(self, program: Any, arrays: Sequence[int]) -> None:
        # What takes long runs in several threads, one step at a time.
        if program is None or program.parallel is not None:
            raise NotFused
        self.stages.append((program, tuple(arrays)))

    # Calls

    def run(
        self,
        state: Sequence[Any],
        xs: Sequence[Any],
        captured: Sequence[Any],
        columns: Sequence[Any],
        length: int = -1,
        reverse: bool = False,
    ) -> list[Any] | None:
        """Run all steps, and return what is carried in the end; ``None``, if that isn't possible: nothing is done.

        ``state`` may be written. Without a length, steps are run until the condition is false.
        """
        first = length - 1 if reverse else 0
        given = [*state, *(x[first, ...] for x in xs), *captured]
        if self._loops is not None and not self._loops.is_plain([*given, *columns]):
            return None
        natives: list[Any] = []
        for number, made in enumerate(self.made):
            column = self.columns.get(number)
            if number < self._inputs:
                natives.append(given[number])
            else:
                natives.append(made.make(natives) if column is None else columns[column][first, ...])
        arrays = self._as_arrays(natives)
        if arrays is None:
            return None
        moves = self._moves(arrays, xs, columns, reverse)
        moved = tuple(moves.get(self.made[number].memory, (0, False)) for number in self._used)
        arrays_used = tuple(arrays[number] for number in self._used)
        truth = arrays[self.truth] if self.truth >= 0 else None
        done = machine.native.repeat(self._stages, arrays_used, moved, length, self.tested, truth)
        if done is None:
            return None
        return [natives[self.partners.get(place, place) if done % 2 else place] for place in range(self.carried)]

    def _moves(
        self, arrays: Mapping[int, np.ndarray], xs: Sequence[Any], columns: Sequence[Any], reverse: bool
    ) -> dict[int, tuple[int, bool]]:
        """Return a map: number of memory that moves -> by how many bytes after a step, and whether there and back."""
        rows = {self.carried + place: x for place, x in enumerate(xs)}
        rows |= {number: columns[column] for number, column in self.columns.items()}
        moves = {number: (self._step(x) * (-1 if reverse else 1), False) for number, x in rows.items()}
        at = {number: arrays[number].__array_interface__["data"][0] for number in self.partners}
        return moves | {number: (at[partner] - at[number], True) for number, partner in self.partners.items()}

    def _as_arrays(self, natives: Sequence[Any]) -> dict[int, np.ndarray] | None:
        """Return the arrays of numbers; ``None`` if a native has no memory on the host, or a view shows no memory."""
        to_numpy = np.asarray if self._loops is None else self._loops.to_numpy
        memory = [self.made[number].memory for number in self._used]
        try:
            arrays = {number: to_numpy(natives[number]) for number in (*self._used, *memory, *self.partners)}
        except Exception:
            # An engine raises an error of some class for what has no memory.
            return None
        pairs = zip(self._used, memory, strict=True)
        return arrays if all(np.may_share_memory(arrays[one], arrays[base]) for one, base in pairs) else None

    def _step(self, native: Any) -> int:
        """Return how many bytes a row of a native is after the one before."""
        strides = self.backend.strides(native)
        assert strides is not None
        return int(strides[0])


def stages_of(
    backend: Handle, graphs: Sequence[FunctionGraph], carried: int, rows: int = 0, wait: bool = False
) -> Stages | None:
    """Return a loop whose steps the compiled part runs, ``None`` if some node of a step isn't for it."""
    if not machine.is_compiled() or not (backend.name == "numpy" or backend.host_loops() is not None):
        return None
    try:
        return Stages(backend, graphs, carried, rows, wait)
    except NotFused:
        return None


def _computed_in_columns(results: Sequence[Variable]) -> dict[Variable, int]:
    """Return a map: variables that can be computed in the row of a column, whose values are results -> the column."""
    found: dict[Variable, int] = {}
    for place, result in enumerate(results):
        first = result
        while (overwritten := _overwritten(first)) is not None:
            first = overwritten
        node = first.owner
        is_made = node is not None and (isinstance(innermost(node.op), FusedOp) or node.op.name == COPY)
        if is_made and first not in found and same_type(first.type, result.type):
            found[first] = place
    return found


def _overwritten(variable: Variable) -> Variable | None:
    """Return what a variable has overwritten element for element, ``None`` if nothing, or if that isn't known."""
    node = variable.owner
    if node is None:
        return None
    places = node.op.destroys(node).get(variable.index, ())
    return node.inputs[places[0]] if len(places) == 1 else None


def _takes_out(node: Apply, key: int) -> bool:
    return isinstance(innermost(node.op), FusedOp) and key in node.op.out


def _no_maker(natives: Sequence[Any]) -> Any:
    raise AssertionError("what is passed to a loop isn't made by it")
