"""The nodes of loops and branches: operations with graphs of their own.

The last inputs of each are what the bodies captured. None is overwritten: what a loop carries is copied once, and
then written in place, if the engine can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._core.declaring.types import ArrayType
from ..._core.engines.handle import Handle
from ..._core.values.shapes import c_strides
from ...errors import BackendFeatureError
from ..core.basic import Apply, Op
from ..kernels.executors import Executor
from .bodies import Body, buffer, fresh


class BodiesOp(Op):
    """An operation that runs bodies."""

    def __init__(self, name: str, bodies: Sequence[Body], *static: Any, nout: int) -> None:
        self.bodies, self.backend = tuple(bodies), bodies[0].backend
        super().__init__(name, parameters=(*self.bodies, *static), nout=nout)

    def parts(self) -> Iterator[Op]:
        """Yield the operations of the bodies."""
        for body in self.bodies:
            for node in body.fgraph.apply_nodes:
                yield from node.op.parts()

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: Any = None) -> Any:
        """Return the native of the output, or the tuple of them."""
        results = tuple(self.results(inputs))
        return results if self.nout > 1 else results[0]

    def results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the natives of all outputs."""
        raise NotImplementedError

    def may_write(self, natives: Sequence[Any]) -> bool:
        """Return whether buffers may be written in place: not where the engine follows values."""
        backend = self.backend
        return backend.mutable and backend.trace() is None and not any(map(backend.records_gradient, natives))


class ScanOp(BodiesOp):
    """A loop over the rows of arrays. Its inputs are what is carried, the arrays, and what the body captured.

    Its outputs are what is carried in the end, and the results of the steps along a new first axis.
    """

    def __init__(self, body: Body, carried: int, rows: int, length: int, reverse: bool) -> None:
        self.carried, self.rows, self.length, self.reverse = carried, rows, length, reverse
        super().__init__("scan", [body], carried, rows, length, reverse, nout=len(body.types))

    def results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return the natives of all outputs."""
        (body,), carried = self.bodies, self.carried
        state, xs, captured = inputs[:carried], inputs[carried : carried + self.rows], inputs[carried + self.rows :]
        if self.may_write(inputs):
            return self._in_place(state, xs, captured)

        def step(
            state: Sequence[Any], row: Sequence[Any], captured: Sequence[Any] = captured
        ) -> tuple[list[Any], list[Any]]:
            found = body.pure(*state, *row, *captured)
            return list(found[:carried]), list(found[carried:])

        types = body.types[carried:]
        found = self.backend.scan(step, state, xs, captured, types, self.length, self.reverse)
        if found is not None:
            return [*found[0], *found[1]]
        rows, state = [], list(state)
        for place in self._places():
            state, row = step(state, [x[place, ...] for x in xs])
            rows.append(row)
        if not rows:
            return [*state, *(buffer(self.backend, _along(0, each), inputs) for each in types)]
        stack = self.backend.kernel("stack")
        columns = zip(*(rows[::-1] if self.reverse else rows), strict=True)
        return [*state, *(stack(*column, axis=0) for column in columns)]

    def _places(self) -> range:
        return range(self.length)[:: -1 if self.reverse else 1]

    def _in_place(self, state: Sequence[Any], xs: Sequence[Any], captured: Sequence[Any]) -> list[Any]:
        (body,), carried, backend = self.bodies, self.carried, self.backend
        natives = (*state, *xs, *captured)
        state = body.owned(state)
        xs = [_in_c_order(backend, native) for native in xs]
        columns = [buffer(backend, _along(self.length, each), natives) for each in body.types[carried:]]
        run, assign = body.in_place, backend.assign
        for place in self._places():
            found = run(*state, *[x[place, ...] for x in xs], *captured)
            for column, native in zip(columns, found[carried:], strict=True):
                assign(column[place, ...], native)
        return [*state, *columns]


class WhileOp(BodiesOp):
    """A loop as long as a condition holds. Its inputs are what is carried, and what the functions captured."""

    def __init__(self, condition: Body, body: Body, carried: int) -> None:
        self.carried = carried
        super().__init__("while_loop", [condition, body], carried, nout=carried)

    def results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return what is carried in the end."""
        (condition, body), carried = self.bodies, self.carried
        state, captured = list(inputs[:carried]), inputs[carried:]
        if self.may_write(inputs):
            state = body.owned(state)
            holds, run = condition.in_place, body.in_place
            while bool(holds(*state, *captured)[0]):
                run(*state, *captured)
            return state
        found = self.backend.while_loop(
            lambda *state: condition.pure(*state, *captured)[0],
            lambda *state: _listed(body.pure, *state, *captured),
            state,
        )
        if found is None:
            found = state
            if any(map(self.backend.hides_values, inputs)):
                raise BackendFeatureError(
                    f"{self.backend.name} has no vmap() of while_loop(), whose elements take different numbers of "
                    "steps: loop as often as the slowest needs, with fori_loop(), and choose by ua.where()"
                )
            while bool(condition.pure(*found, *captured)[0]):
                # What an engine computes later would otherwise be computed from the beginning at each look.
                found = list(self.backend.persist(body.pure(*found, *captured)))
        return found


class SwitchOp(BodiesOp):
    """A choice between functions. Its inputs are the number of the chosen one, and what the functions captured."""

    def __init__(self, branches: Sequence[Body]) -> None:
        super().__init__("switch", branches, nout=len(branches[0].types))

    def results(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Return what the chosen function returns."""
        index, *captured = inputs
        if self.may_write(inputs) and not self.backend.hides_values(index):
            return self.bodies[int(index)].in_place(*captured)
        branches = [partial(_listed, each.pure) for each in self.bodies]
        found = self.backend.switch(index, branches, captured)
        if found is not None:
            return found
        if self.backend.hides_values(index):
            return self._selected(index, [branch(*captured) for branch in branches])
        return branches[int(index)](*captured)

    def _selected(self, index: Any, results: Sequence[Sequence[Any]]) -> list[Any]:
        """Return for each element of a batch what one of the functions gave."""
        where, equal = self.backend.kernel("where"), self.backend.kernel("equal")
        found = list(results[0])
        for number, each in enumerate(results[1:], 1):
            is_it = equal(index, self.backend.from_numpy(np.asarray(number, self.backend.dtype(index))))
            found = [where(is_it, new, old) for new, old in zip(each, found, strict=True)]
        return found


def _listed(run: Executor, *natives: Any) -> list[Any]:
    return list(run(*natives))


def _along(length: int, type: ArrayType) -> ArrayType:
    return ArrayType((length, *type.shape), type.dtype)


def _in_c_order(backend: Handle, native: Any) -> Any:
    """Return a native whose rows are in C order, as those are that a step owns: their sums have the same bits."""
    wanted = c_strides(tuple(backend.shape(native)), backend.dtype(native).itemsize)
    return native if backend.strides(native) == wanted else fresh(backend, native)
