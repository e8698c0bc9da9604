"""Loops and branches in a running trace: their functions are traced, and become the bodies of one node."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.arrays.recipes import root_of
from ..._core.kernels.types import ArrayType
from ..._core.values.shapes import c_strides
from ...errors import InplaceUpdateError
from ...functions.creation import arange
from ...modes.trace.kernel_calls import node_of
from ...modes.trace.trace import Trace
from ...modes.trace.traced import Traced, device_of
from ...transformations.run import write
from ..core.basic import Op, Variable
from .bodies import Body, strides_in, trace_body
from .ops import ScanOp, SwitchOp, WhileOp

# A function of arrays, which returns a list of arrays.
Function = Callable[..., list[Array]]


def scan(
    trace: Trace, step: Function, carry: Sequence[Array], xs: Sequence[Array], length: int, reverse: bool
) -> tuple[list[Array], list[Array]]:
    """Return what is carried in the end, and the results of all steps, each along a new first axis.

    ``step`` is a function of what is carried and of a row of each array, and returns what is carried and results.
    """
    bodies = Bodies(trace, [step], carry, xs)
    if stale := [place for place, x in enumerate(xs) if bodies.writes_to(x)]:
        return scan(
            trace, _reading(step, len(carry), xs, stale), carry, _numbered(trace, xs, stale, length), length, reverse
        )
    (found,), count, carried = bodies.found, len(carry), bodies.carried
    body = bodies.body(0, [*found.results[:count], *bodies.ends(0), *found.results[count:]], carried)
    types = [*body.types[:carried], *(ArrayType((length, *each.shape), each.dtype) for each in body.types[carried:])]
    made = bodies.node(lambda: ScanOp(body, carried, len(xs), length, reverse), types)
    bodies.update(made[count:carried])
    return made[:count], made[carried:]


def _reading(step: Function, count: int, xs: Sequence[Array], stale: Sequence[int]) -> Function:
    """Return a step that reads its rows of some arrays when it runs, as earlier steps may have written to them."""

    def run(*given: Array) -> list[Array]:
        *left, number = given
        for place in stale:
            left.insert(count + place, xs[place][number, ...].copy())
        return step(*left)

    return run


def _numbered(trace: Trace, xs: Sequence[Array], stale: Sequence[int], length: int) -> list[Array]:
    """Return the arrays whose rows don't change, and the numbers of the rows."""
    numbers = arange(length, device=xs[0].device, backend=trace.backend.name)
    return [*[x for place, x in enumerate(xs) if place not in stale], numbers]


def while_loop(trace: Trace, condition: Function, body: Function, carry: Sequence[Array]) -> list[Array]:
    """Return what is carried once ``condition`` is false; both are functions of what is carried."""
    bodies = Bodies(trace, [condition, body], carry)
    if any(each.written is not None for each in bodies.found[0].captured):
        raise InplaceUpdateError(
            "the condition of while_loop() writes to an array from outside, prints or checks: let the body do it"
        )
    holds = bodies.body(0, bodies.found[0].results, 0)
    run = bodies.body(1, [*bodies.found[1].results, *bodies.ends(1)], bodies.carried)
    made = bodies.node(lambda: WhileOp(holds, run, bodies.carried), run.types)
    bodies.update(made[len(carry) :])
    return made[: len(carry)]


def switch(trace: Trace, index: Array, branches: Sequence[Function]) -> list[Array]:
    """Return what one of several functions without arguments returns, which return arrays of the same types."""
    bodies = Bodies(trace, branches)
    made_of = [
        bodies.body(number, [*found.results, *bodies.ends(number)], 0) for number, found in enumerate(bodies.found)
    ]
    count = len(bodies.found[0].results)
    made = bodies.node(lambda: SwitchOp(made_of), made_of[0].types, [trace.native_of(index)])
    bodies.update(made[count:])
    return made[:count]


class Bodies:
    """The functions of a loop or branch, traced, as bodies of one node.

    The inputs of each body are what is carried, the arrays from outside that some body writes to, the rows, and the
    other arrays from outside that some body captured.
    """

    def __init__(
        self, trace: Trace, functions: Sequence[Function], carry: Sequence[Array] = (), xs: Sequence[Array] = ()
    ) -> None:
        self._trace = trace
        self._state, self._rows = ([trace.native_of(x) for x in arrays] for arrays in (carry, xs))
        self.found = [trace_body(function, self._given(), trace) for function in functions]
        self._captured = [{id(each.array): each for each in found.captured} for found in self.found]
        captured = [each for found in self.found for each in found.captured]
        written = {id(each.array) for each in captured if each.written is not None}
        every = {id(each.array): each.array for each in captured}
        self._written = [x for key, x in every.items() if key in written]
        self._read = [x for key, x in every.items() if key not in written]
        self.carried = len(self._state) + len(self._written)
        self._outside = [trace.native_of(x) for x in self._written], [trace.native_of(x) for x in self._read]
        self._inputs = [self._inputs_of(number) for number in range(len(functions))]

    def writes_to(self, x: Array) -> bool:
        """Return whether some body writes to the memory of an array."""
        return any(root_of(x) is root_of(each) for each in self._written)

    def _given(self) -> list[Array]:
        """Return arrays of the trace that stand for what is carried, and for a row of each array."""
        trace = self._trace
        rows = [ArrayType(each.shape[1:], each.dtype) for each in self._rows]
        types = [*(each.type for each in self._state), *rows]
        return [_like(trace, each, type) for each, type in zip((*self._state, *self._rows), types, strict=True)]

    def _inputs_of(self, number: int) -> tuple[list[Variable], list[Variable]]:
        """Return the inputs of a body that stand for arrays from outside, new ones for those that it didn't meet."""
        captured = self._captured[number]
        written, read = (
            [
                captured[id(x)].input if id(x) in captured else Variable(native.type)
                for x, native in zip(*each, strict=True)
            ]
            for each in zip((self._written, self._read), self._outside, strict=True)
        )
        return written, read

    def ends(self, number: int) -> list[Variable]:
        """Return what the arrays that some body writes to are at the end of one."""
        ends = []
        for x, variable in zip(self._written, self._inputs[number][0], strict=True):
            found = self._captured[number].get(id(x))
            ends.append(variable if found is None or found.written is None else found.written)
        return ends

    def body(self, number: int, outputs: Sequence[Variable], carried: int) -> Body:
        """Return a body with these outputs, the first of which are the first inputs of the next step."""
        trace, count = self._trace, len(self._state)
        own, (written, read) = self.found[number].inputs, self._inputs[number]
        inputs = [*own[:count], *written, *own[count:], *read]
        strides = [c_strides(each.shape, each.dtype.itemsize) for each in self._state]
        strides += [strides_in(trace, each) for each in self._outside[0]]
        strides += [c_strides(each.shape[1:], each.dtype.itemsize) for each in self._rows]
        strides += [strides_in(trace, each) for each in self._outside[1]]
        is_on_host = all(each.device == "cpu" for each in self._natives())
        return Body(trace.backend, inputs, outputs, carried, count, strides, is_on_host)

    def _natives(self) -> list[Traced]:
        return [*self._state, *self._outside[0], *self._rows, *self._outside[1]]

    def node(self, op: Callable[[], Op], types: Sequence[ArrayType], first: Sequence[Traced] = ()) -> list[Array]:
        """Return the results of a new node, whose first inputs are ``first``; without results it isn't needed."""
        natives = [*first, *self._natives()]
        if not types:
            return []
        device = natives[0].device if natives else device_of(self._trace.backend, None)
        return [wrap(each, self._trace.handle) for each in node_of(op(), natives, types, device)]

    def update(self, ends: Sequence[Array]) -> None:
        """Write to the arrays from outside that bodies write to."""
        write(self._written, [read(x) for x in ends], [*self._written, *self._read])


def _like(trace: Trace, native: Traced, type: ArrayType) -> Array:
    """Return an array of a trace that stands for what has no value yet, in C order."""
    found = trace.unknown(type, "carried", native.device)
    found.layout = trace.layouts[found.variable] = c_strides(type.shape, type.dtype.itemsize)
    # Values are for what types don't tell: any will do, where the others are.
    place = trace.backend.own_device(native.device)
    trace.examples.offer(
        found.variable, lambda: trace.backend.from_numpy(np.ones(type.shape, type.dtype), device=place)
    )
    return wrap(found, trace.handle)
