"""The nodes of loops and branches: operations with graphs of their own.

The last inputs of each are what the bodies captured. None is overwritten: what a loop carries is copied once, and
then written in place, if the engine can.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..._core.values import above
from ..._core.values.lazily import cached_property
from ..._core.values.native import Native
from ..._core.values.shapes import c_strides
from ...errors import BackendFeatureError
from ..core.basic import Apply, Op, Variable
from ..core.fgraph import FunctionGraph
from ..core.rewriter import Rewriter
from ..kernels.executors import Executor
from .bodies import Body, buffer, fresh
from .body_watch import BodyWatch, Checks
from .decided_branches import Known, branch_of, decided, inlined
from .hoisted_loops import hoisted
from .stages import Stages, stages_of


class BodiesOp(Op):
    """An operation that runs bodies."""

    can_wait = True
    waits = is_choice = False
    carried = rows = 0

    def __init__(self, name: str, bodies: Sequence[Body], *static: object, nout: int) -> None:
        self.bodies, self.backend = tuple(bodies), bodies[0].backend
        self._others = static
        super().__init__(name, parameters=(*self.bodies, *static), nout=nout)

    def __getstate__(self) -> dict[str, object]:
        # What runs it is made again where it's loaded.
        return {key: value for key, value in super().__getstate__().items() if key != "stages"}

    def rewritten_by(self, rewriting: Rewriter) -> BodiesOp:
        """Return the operation whose bodies are rewritten alike, and lowered to an engine's own compiler."""
        bodies = tuple([each.rewritten_by(rewriting.rewrites, rewriting.lowering) for each in self.bodies])
        if all(new is old for new, old in zip(bodies, self.bodies, strict=True)):
            return self
        made = copy.copy(self)
        made.bodies, made.parameters = bodies, (*bodies, *self._others)
        return made

    # What the bodies are called; those of a branch have numbers.
    titles: tuple[str, ...] = ("body",)

    def inside(self) -> Iterator[tuple[str, str]]:
        """Yield the names and texts of the graphs of the bodies, as they run."""
        for number, body in enumerate(self.bodies):
            name = self.titles[number] if number < len(self.titles) else f"branch {number}"
            yield name, str(body.rewritten)

    def nodes(self) -> Sequence[Apply]:
        """Return the nodes of the bodies, as they were traced."""
        return [node for body in self.bodies for node in body.fgraph.apply_nodes]

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same operation with other bodies."""
        raise NotImplementedError

    def decided(self, node: Apply, known: Known, outside: Mapping[Variable, Variable]) -> Sequence[Variable] | None:
        """Return variables for the outputs of a node without branches inside of which it's known which body runs."""
        return decided(self, node, known, outside)

    def bound(self, node: Apply, wait: bool = False) -> Callable[..., object]:
        """Return a function of natives; what it's made of when it's called first is compiled then, if it's to wait."""
        self.waits = wait
        for body in self.bodies:
            body.waits = wait
        return super().bound(node)

    def perform(self, node: Apply | None, inputs: Sequence[object], out: object = None) -> object:
        """Return the native of the output, or the tuple of them."""
        return self._as_outputs(self.results(inputs))

    def checked(self, node: Apply, inputs: Sequence[Any], out: object = None) -> object:
        """Do as ``perform`` does, and check the nodes of the bodies, where values can be seen."""
        hidden = self.backend.trace() is not None or any(map(self.backend.hides_values, inputs))
        watch = None if hidden or any(map(self.backend.records_gradient, inputs)) else Checks(node)
        return self._as_outputs(self.results(inputs, watch))

    def watched(self, watch: BodyWatch, *inputs: object) -> object:
        """Return what ``perform`` does; ``watch`` runs the bodies."""
        return self._as_outputs(self.results(inputs, watch))

    def _writing(self, body: Body) -> Executor:
        """Return the function that runs a body and writes what it carries, uncompiled where nobody waits for that."""
        return body.by_steps if body.is_early() else body.in_place

    def _as_outputs(self, results: Sequence[object]) -> object:
        return tuple(results) if self.nout > 1 else results[0]

    def results(self, inputs: Sequence[object], watch: BodyWatch | None = None) -> Sequence[Native]:
        """Return the natives of all outputs; ``watch`` runs the bodies, if that is given."""
        raise NotImplementedError

    def may_write(self, natives: Sequence[Native]) -> bool:
        """Return whether buffers may be written in place: not where the engine follows values."""
        backend = self.backend
        if not backend.mutable or backend.trace() is not None:
            return False
        return not any(backend.records_gradient(x) or backend.hides_values(x) for x in natives)


class ScanOp(BodiesOp):
    """A loop over the rows of arrays. Its inputs are what is carried, the arrays, and what the body captured.

    Its outputs are what is carried in the end, and the results of the steps along a new first axis.
    """

    def __init__(self, body: Body, carried: int, rows: int, length: int, reverse: bool) -> None:
        self.carried, self.rows, self.length, self.reverse = carried, rows, length, reverse
        super().__init__("scan", [body], carried, rows, length, reverse, nout=len(body.types))

    def hoisted(self, node: Apply, unused: Sequence[bool]) -> Sequence[Variable | None] | None:
        """Return variables for the outputs, of a loop that computes only what isn't the same at each step."""
        return hoisted(self, node, unused)

    def certain(self) -> Sequence[bool]:
        """Return whether there's a step."""
        return [self.length > 0]

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same loop with another step."""
        return ScanOp(bodies[0], carried, rows, self.length, self.reverse)

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the graph of the body by ``ua.scan``."""
        count, end, graph = self.carried, self.carried + self.rows, self.bodies[0].fgraph

        def step(state: list[Array], row: list[Array]) -> tuple[list[Array], list[Array]]:
            found = _outputs(graph, *state, *row, *arrays[end:])
            return found[:count], found[count:]

        carry, xs = list(arrays[:count]), list(arrays[count:end])
        state, rows = above.package.scan(step, carry, xs, length=self.length, reverse=self.reverse)
        return [*state, *rows]

    def results(self, inputs: Sequence[Any], watch: BodyWatch | None = None) -> Sequence[Native]:
        """Return the natives of all outputs."""
        (body,), carried = self.bodies, self.carried
        state, xs, captured = inputs[:carried], inputs[carried : carried + self.rows], inputs[carried + self.rows :]
        if self.may_write(inputs):
            return self._in_place(state, xs, captured, watch)
        run = self._run(body.pure, watch)

        def step(
            state: Sequence[object], row: Sequence[object], captured: Sequence[object] = captured
        ) -> tuple[list[object], list[object]]:
            found = run(*state, *row, *captured)
            return list(found[:carried]), list(found[carried:])

        types = body.types[carried:]
        found = None
        if watch is None:
            found = self.backend.scan(step, state, xs, captured, types, self.length, self.reverse)
        if found is not None:
            return [*found[0], *found[1]]
        rows, state = [], list(state)
        for place in self._places():
            state, row = step(state, [self.backend.row(x, place) for x in xs])
            rows.append(row)
        if not rows:
            return [*state, *(buffer(self.backend, _along(0, each), inputs) for each in types)]
        stack = self.backend.kernel("stack")
        columns = zip(*(rows[::-1] if self.reverse else rows), strict=True)
        return [*state, *(stack(*column, axis=0) for column in columns)]

    @cached_property
    def stages(self) -> Stages | None:
        """What runs all steps in the compiled part, if it can."""
        (body,) = self.bodies
        if not body.is_on_host or body.has_effects:
            return None
        return stages_of(self.backend, [body.rewritten], body.strides, self.carried, self.rows, self.waits)

    def _run(self, plain: Executor, watch: BodyWatch | None) -> Executor:
        return plain if watch is None else watch.steps(self.bodies[0], plain, last=self.length - 1)

    def _places(self) -> range:
        return range(self.length)[:: -1 if self.reverse else 1]

    def _in_place(
        self, state: Sequence[Any], xs: Sequence[Any], captured: Sequence[Any], watch: BodyWatch | None
    ) -> list[Native]:
        (body,), carried, backend = self.bodies, self.carried, self.backend
        natives = (*state, *xs, *captured)
        first, state = state, body.owned(state)
        xs = [_in_c_order(backend, native) for native in xs]
        columns = [buffer(backend, _along(self.length, each), natives) for each in body.types[carried:]]
        if watch is None and self.length and self.stages is not None:
            end = self.stages.run(state, xs, captured, columns, self.length, self.reverse)
            if end is not None:
                return [*end, *columns]
            state = body.owned(first)
        run, assign = self._run(self._writing(body), watch), backend.assign
        for place in self._places():
            found = run(*state, *[x[place, ...] for x in xs], *captured)
            for column, native in zip(columns, found[carried:], strict=True):
                assign(column[place, ...], native)
        return [*state, *columns]


class WhileOp(BodiesOp):
    """A loop as long as a condition holds. Its inputs are what is carried, and what the functions captured."""

    titles = ("condition", "body")
    ends = False

    def __init__(self, condition: Body, body: Body, carried: int) -> None:
        self.carried = carried
        super().__init__("while_loop", [condition, body], carried, nout=carried)

    def hoisted(self, node: Apply, unused: Sequence[bool]) -> Sequence[Variable | None] | None:
        """Return variables for the outputs, of a loop that computes only what isn't the same at each step."""
        return hoisted(self, node, unused)

    def certain(self) -> Sequence[bool]:
        """Return that the condition is computed at least once."""
        return [True, False]

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same loop with other functions."""
        condition, body = bodies
        return WhileOp(condition, body, carried)

    @cached_property
    def stages(self) -> Stages | None:
        """What runs all steps in the compiled part, if it can."""
        if not all(each.is_on_host and not each.has_effects for each in self.bodies):
            return None
        graphs, strides = [each.rewritten for each in self.bodies], self.bodies[0].strides
        return stages_of(self.backend, graphs, strides, self.carried, wait=self.waits)

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the graphs of the condition and the body by ``ua.while_loop``."""
        condition, body = [each.fgraph for each in self.bodies]
        captured = arrays[self.carried :]

        def holds(state: list[Array]) -> object:
            return condition(*state, *captured)

        def step(state: list[Array]) -> list[Array]:
            return _outputs(body, *state, *captured)

        found: Sequence[Array] = above.package.while_loop(holds, step, list(arrays[: self.carried]))
        return found

    def results(self, inputs: Sequence[Any], watch: BodyWatch | None = None) -> Sequence[Any]:
        """Return what is carried in the end."""
        (condition, body), carried = self.bodies, self.carried
        state, captured = list(inputs[:carried]), inputs[carried:]
        if self.may_write(inputs):
            state = body.owned(state)
            if watch is None and self.stages is not None:
                end = self.stages.run(state, (), captured, ())
                if end is not None:
                    return end
                state = body.owned(inputs[:carried])
            holds, run = self._runs(self._writing(condition), self._writing(body), watch)
            # An object without a truth of its own would always be true.
            is_true = bool if hasattr(self.backend.native_type, "__bool__") else self.backend.holds_anywhere
            while is_true(holds(*state, *captured)[0]):
                run(*state, *captured)
            return state
        found = None
        if watch is None:
            found = self.backend.while_loop(
                lambda *natives: condition.pure(*natives)[0], partial(_listed, body.pure), state, captured
            )
        return self._by_steps(state, captured, watch) if found is None else found

    def _by_steps(self, state: Sequence[Any], captured: Sequence[Any], watch: BodyWatch | None) -> Sequence[object]:
        """Return what is carried in the end, by a loop of Python: until no element of a batch goes on."""
        (condition, body), backend = self.bodies, self.backend
        is_batch, where = any(map(backend.hides_values, (*state, *captured))), backend.kernel("where")
        condition_runs, run = self._runs(condition.pure, body.pure, watch)
        while True:
            goes_on = condition_runs(*state, *captured)[0]
            holds = backend.holds_anywhere(goes_on)
            if holds is None:
                raise BackendFeatureError(
                    f"{backend.name} has no vmap() of while_loop(), whose elements take different numbers of steps: "
                    "loop as often as the slowest needs, with fori_loop(), and choose by ua.where()"
                )
            if not holds:
                return state
            # What an engine computes later would otherwise be computed from the beginning at each look.
            new = backend.persist(run(*state, *captured))
            # An element of a batch that is done keeps its values.
            state = [where(goes_on, *pair) for pair in zip(new, state, strict=True)] if is_batch else list(new)

    def _runs(self, holds: Executor, run: Executor, watch: BodyWatch | None) -> tuple[Executor, Executor]:
        if watch is None:
            return holds, run
        condition, body = self.bodies
        return watch.steps(condition, holds, what="the condition at "), watch.steps(body, run)


class SwitchOp(BodiesOp):
    """A choice between functions. Its inputs are the number of the chosen one, and what the functions captured."""

    titles = ()
    is_choice = True

    def __init__(self, branches: Sequence[Body]) -> None:
        super().__init__("switch", branches, nout=len(branches[0].types))

    def remade(self, bodies: Sequence[Body], carried: int, rows: int) -> Op:
        """Return the same choice between other functions."""
        return SwitchOp(bodies)

    def decided(self, node: Apply, known: Known, outside: Mapping[Variable, Variable]) -> Sequence[Variable] | None:
        """Return the results of the branch that is known to run; else do so inside of the branches."""
        body = branch_of(self.bodies, node, known, outside)
        return decided(self, node, known, outside) if body is None else inlined(body, node.inputs[1:])

    def joined(self, other: Op) -> SwitchOp | None:
        """Return the choice between functions that do what those of both do."""
        if not isinstance(other, SwitchOp) or len(other.bodies) != len(self.bodies):
            return None
        pairs = list(zip(self.bodies, other.bodies, strict=True))
        return SwitchOp([one.beside(two) for one, two in pairs]) if all(map(_are_apart, pairs)) else None

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the graphs of the branches by ``ua.switch``."""
        branches = [partial(_outputs, each.fgraph) for each in self.bodies]
        found: Sequence[Array] = above.package.switch(arrays[0], branches, *arrays[1:])
        return found

    def results(self, inputs: Sequence[Any], watch: BodyWatch | None = None) -> Sequence[Any]:
        """Return what the chosen function returns."""
        index, *captured = inputs
        if watch is not None:
            number = int(index)
            return watch.branch(self.bodies[number], number)(*captured)
        if self.may_write(inputs) and not self.backend.hides_values(index):
            return self._writing(self.bodies[int(index)])(*captured)
        branches = [partial(_listed, each.pure) for each in self.bodies]
        found = self.backend.switch(index, branches, captured)
        if found is not None:
            return found
        if self.backend.hides_values(index):
            return self._selected(index, [branch(*captured) for branch in branches])
        return branches[int(self.backend.to_numpy(index))](*captured)

    def _selected(self, index: Any, results: Sequence[Sequence[Any]]) -> list[object]:
        """Return for each element of a batch what one of the functions gave."""
        backend, where, equal = self.backend, self.backend.kernel("where"), self.backend.kernel("equal")
        found, dtype = list(results[0]), backend.dtype(index)
        device = backend.own_place(index)
        for number, each in enumerate(results[1:], 1):
            is_it = equal(index, backend.from_numpy(np.asarray(number, dtype), device=device))
            found = [where(is_it, new, old) for new, old in zip(each, found, strict=True)]
        return found


def _are_apart(pair: tuple[Body, Body]) -> bool:
    one, two = pair
    return one.is_on_host == two.is_on_host and {*one.fgraph.inputs}.isdisjoint(two.fgraph.inputs)


def _outputs(graph: FunctionGraph, *arrays: Array) -> list[Array]:
    """Return the outputs of a graph for arrays, however many they are."""
    found = graph(*arrays)
    return [found] if len(graph.outputs) == 1 else list(found)


def _listed(run: Executor, *natives: object) -> list[Native]:
    return list(run(*natives))


def _along(length: int, type: ArrayType) -> ArrayType:
    return ArrayType((length, *type.shape), type.dtype)


def _in_c_order(backend: Handle, native: Native) -> Any:
    """Return a native whose rows are in C order, as those are that a step owns: their sums have the same bits."""
    wanted = c_strides(tuple(backend.shape(native)), backend.dtype(native).itemsize)
    return native if backend.strides(native) == wanted else fresh(backend, native)
