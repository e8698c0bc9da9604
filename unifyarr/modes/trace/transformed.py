"""Calls of transformed functions inside a trace become nodes of it, each with the function's own graph.

The function is traced where it runs, inside the transformation, since there it sees other arrays than its caller: parts
of a batch, on the engine that has derivatives. From then on the transformation is given what replays that graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.engines.current import use_backend
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import capture, running
from ..._core.kernels.types import ArrayType
from ..._core.values.native import Native
from ...container.container import flatten, unflatten
from ...errors import TraceError
from ...graph.core.basic import Apply, Constant, Op, Variable
from ...transformations.run import write
from ..scope import Scope
from .crossing import Crossing
from .engine import TraceEngine
from .handle import enclosed_handle
from .kernel_calls import node_of, node_of_values
from .replaying import ARRAY, Replay, Runner, TracedTransformation, TransformedOp
from .selection import outside
from .trace import EnclosedTrace, Trace, trace_call
from .traced import Examples, Traced, device_of, innermost_trace, type_of

# Takes a function, and returns the transformed one.
Transformation = Callable[[Callable[..., Any]], Callable[..., Any]]


class ConstantOp(Op):
    """Values that become an array of the engine anew in each run: a native may not outlive the one it was made in."""

    def __init__(self, backend: Handle, values: np.ndarray, device: object) -> None:
        self.backend, self.values, self.device = backend, values, device
        super().__init__("constant", parameters=(backend.name, Constant(values).signature(), str(device)))

    def parts(self) -> Iterator[Op]:
        """Yield nothing, since there's nothing to compute."""
        yield from ()

    def perform(self, node: Apply | None, inputs: Sequence[object], out: object = None) -> Native:
        """Return a native with the values."""
        return self.backend.from_numpy(self.values, device=self.device)


class InnerBackend(TraceEngine):
    """The engine of a trace inside a transformation."""

    def from_numpy(self, array: np.ndarray, *, device: object = None, copy: bool = True) -> Traced:
        """Return what stands for values."""
        backend = self.base
        op = ConstantOp(backend, array.copy(), device)
        dtype = array.dtype.newbyteorder("=")
        made = (
            ArrayType(array.shape, dtype) if backend.supports_dtype(dtype) else type_of(backend, op.perform(None, ()))
        )
        return node_of(op, (), (made,), device_of(backend, device), innermost_trace(backend))[0]

    def constant(self, array: np.ndarray, *, device: object = None) -> Traced:
        """Return a native of the trace that stands for a number."""
        return self.from_numpy(array, device=device)


class InnerTrace(EnclosedTrace):
    """The trace of a function inside a transformation, which is called in another trace.

    What it meets of that one, or of the outside, stands for inputs of both. ``born`` is the engine's own trace in which
    the transformation is called.
    """

    is_transformed = True

    def __init__(self, enclosing: Trace, born: object, name: str) -> None:
        scope = running()
        assert isinstance(scope, Scope)
        super().__init__(
            enclosing, Crossing(scope.handle), enclosed_handle(scope.handle, enclosing.handle, InnerBackend)
        )
        self._scope, self._born = scope, born
        self.is_batched = enclosing.is_batched or name == "vmap"
        # The values of the enclosing trace as they are inside the transformation.
        self._around: Examples | None = None

    def input(self, x: Array, name: str) -> Traced:
        """Return a new input of the graph that stands for an array."""
        if x._backend is not self.enclosing.handle:
            return super().input(x, name)
        native = outside(read(x))
        same = self.enclosing.backend.name == self.backend.name
        found, variable = self.unknown(native.type, name, native.device if same else None), native.variable
        self.examples.offer(found.variable, lambda: self._value_around(variable))
        return found

    def _value_around(self, variable: Variable) -> object:
        """Return the value of a variable of the enclosing trace."""
        if self._around is None:
            self._around = self.enclosing.examples.copy()
        with self.suspended():
            with self.enclosing.suspended():
                value = self._around.of(variable)
            # It's made in here, but is one from outside of the transformation.
            x = wrap(value, self.enclosing.backend)
            x._born = self._born
            return read(self._scope.capture(x))


class TransformedFunction:
    """A function that is transformed inside a trace, in one way or in several."""

    def __init__(self, function: Callable[..., object], trace: Trace) -> None:
        self._function, self._trace = function, trace
        self._replay: Replay | None = None
        # What the function met, as it was before that was written.
        self._met: Sequence[Array] = ()

    def __call__(
        self, name: str, transformation: Transformation, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> object:
        """Return what the transformed function returns, as one node of the graph.

        The leaves of the function's arguments are the first of these. What it writes is written at the first call.
        """
        trace = self._trace_for(name)
        leaves, spec = flatten((args, kwargs))
        leaves = [trace.capture(x) if isinstance(x, Array) else x for x in leaves]
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Array)]
        inputs = [trace.native_of(leaves[place]) for place in places]
        run = _runner(trace.backend, transformation, leaves, spec)
        is_first = self._replay is None
        replay = self._replay = self._replay or self._traced(trace, name, run, inputs)
        arrays = [*(leaves[place] for place in places), *self._met]
        inputs += [trace.native_of(x) for x in self._met]
        # What is no array here is one of the transformation's own.
        written = [places.index(place) for place in replay.written if place in places]
        written += [len(places) + place for place in replay.rebound]
        call = TracedTransformation(trace.backend, run, replay, written, is_first)
        outputs = iter(self._node(trace, name, call, inputs))
        result = [wrap(next(outputs), trace.handle) if x is ARRAY else x for x in call.leaves]
        if is_first:
            self._met = [wrap(native, trace.handle) for native in inputs[len(places) :]]
            write([arrays[place] for place in written], list(outputs), arrays)
        return unflatten(call.spec, result)

    def _traced(self, trace: Trace, name: str, run: Runner, inputs: Sequence[Traced]) -> Replay:
        """Trace the function where the transformation calls it."""

        @functools.wraps(self._function)
        def function(*args: object, **kwargs: object) -> NoReturn:
            inner = InnerTrace(trace, born, name)
            leaves, spec = flatten((args, kwargs))
            made = trace_call(_meeting(self._function), leaves, spec, inner)
            self._met = made.captured
            raise _Found(Replay(made, leaves, inner.backend))

        born: object = None

        def start(*natives: Any) -> list[Native]:
            nonlocal born
            born = trace.backend.trace()
            run(function, [wrap(native, trace.backend) for native in natives])
            return []

        with trace.suspended():
            try:
                if trace.backend.of_types(start, [native.type for native in inputs]) is None:
                    start(*(trace.examples.of(native.variable) for native in inputs))
            except _Found as found:
                return found.replay
        raise AssertionError(f"{self._function!r} wasn't called")

    def _node(self, trace: Trace, name: str, call: TracedTransformation, inputs: list[Traced]) -> tuple[Traced, ...]:
        """Return the outputs of a new node of a call, by the types that the engine tells, or by the example."""
        backend = trace.backend
        run = backend.traced_once(call)
        with trace.suspended():
            types = backend.of_types(run, [native.type for native in inputs])
            if types is None:
                values = run(*(trace.examples.of(native.variable) for native in inputs))
                return node_of_values(trace, TransformedOp(name, call, run, len(values)), inputs, values)
        made = [ArrayType(tuple(shape), dtype) for shape, dtype in types]
        device = inputs[0].device if inputs else device_of(backend, None)
        return node_of(TransformedOp(name, call, run, len(made)), inputs, made, device)

    def _trace_for(self, name: str) -> Trace:
        trace = each = running()
        while each is not self._trace:
            if not isinstance(each, InnerTrace):
                raise TraceError(f"the {name} of a compiled function outlived its trace: call it inside the function")
            each = each.enclosing
        assert isinstance(trace, Trace)
        return trace


class _Found(BaseException):
    """Ends a transformation, of which only the graph of the function is wanted: it's no error that engines look at."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay


def _runner(backend: Handle, transformation: Transformation, leaves: Sequence[object], spec: object) -> Runner:
    # Values that are no arrays are those of the trace, whatever the caller does to them afterwards.
    kept = [ARRAY if isinstance(x, Array) else x.copy() if isinstance(x, np.ndarray) else x for x in leaves]

    def run(function: Callable[..., object], arrays: Sequence[Array]) -> tuple[list[Any], Any]:
        given = iter(arrays)
        args, kwargs = unflatten(spec, [next(given) if leaf is ARRAY else leaf for leaf in kept])
        with use_backend(backend.name):
            return flatten(transformation(function)(*args, **kwargs))

    return run


def _meeting(function: Callable[..., object]) -> Callable[..., object]:
    # An array that is returned without having been used is captured, too.
    @functools.wraps(function)
    def meeting(*args: object, **kwargs: object) -> object:
        result = function(*args, **kwargs)
        for leaf in flatten(result)[0]:
            if isinstance(leaf, Array):
                capture(leaf)
        return result

    return meeting
