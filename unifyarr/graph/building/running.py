"""Calling a graph on arrays: its operations run one by one, or become nodes of the trace that is running."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ... import functions
from ..._core.arrays.array import Array, wrap
from ..._core.arrays.convert import backend_of
from ..._core.arrays.ownership import read
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import capture, running
from ..._core.kernels.types import ArrayType
from ..._core.values.native import Native
from ...errors import BackendFeatureError, ShapeError
from ...modes.trace.crossing import common_backend
from ...modes.trace.kernel_calls import node_of, node_of_values, record
from ...modes.trace.trace import EnclosedTrace, Trace
from ...modes.trace.traced import Traced, device_of, type_of
from ...transformations.run import write
from ..core.basic import Apply, Constant, Op, Variable
from ..core.destroyhandler import DestroyHandler
from ..core.fgraph import FunctionGraph
from ..core.names import describe
from ..kernels.executors import shared
from ..kernels.hosting import Hosted, OnCopies, is_users, run_of
from ..kernels.kernelop import COPY, STORE, KernelOp, kernel_op
from .arraytypes import as_array_type, values_of
from .variables import around_variables, backend_of_variables


def call(self: FunctionGraph, arrays: Sequence[object]) -> Any:
    """Return the outputs of a graph for arrays or variables."""
    if any(isinstance(x, Variable) for x in arrays):
        return _on_variables(self, arrays)
    given = [capture(x) for x in _as_arrays(self, arrays)]
    backend = common_backend(given)
    trace = running()
    if isinstance(trace, Trace) and (not given or backend is trace.handle):
        fgraph = _without_overwriting(self, trace.backend)
        results = [wrap(each, trace.handle) for each in _Recorded(fgraph, trace).outputs(list(map(read, given)))]
    else:
        fgraph = _without_overwriting(self, backend)
        natives = _Run(fgraph, backend).results(list(map(read, given)))
        results = [wrap(each, backend) for each in natives]
    updates = fgraph.update_mapping
    write([given[place] for place in updates.values()], [read(results[number]) for number in updates], given)
    computed = tuple(x for number, x in enumerate(results) if number not in updates)
    return computed[0] if len(computed) == 1 else computed


def _as_arrays(fgraph: FunctionGraph, arrays: Sequence[object]) -> list[Array]:
    """Return the arguments as arrays; raise if their number, shapes or dtypes aren't those of the inputs."""
    _check_count(fgraph, arrays)
    beside = next((found.name for x in arrays if (found := backend_of(x)) is not None), None)
    given = [x if isinstance(x, Array) else functions.asarray(x, backend=beside) for x in arrays]  # type: ignore[call-overload]
    for x, variable in zip(given, fgraph.inputs, strict=True):
        _check_type(variable, x.shape, x.dtype)
    return given


def _check_count(fgraph: FunctionGraph, given: Sequence[object]) -> None:
    names = ", ".join(map(str, fgraph.inputs))
    if len(given) != len(fgraph.inputs):
        raise TypeError(f"the graph has {len(fgraph.inputs)} inputs, {names or 'none'}, but was called on {len(given)}")


def fits(variable: Variable, shape: tuple[int | None, ...], dtype: object) -> bool:
    """Return whether a shape and a dtype are those of a variable, as far as both are known."""
    if variable.type is None:
        return True
    # Each length of a shape with unknown lengths can be read only so.
    wanted, lengths = tuple(variable.type.shape), list(tuple.__iter__(shape))
    return (
        len(wanted) == len(lengths)
        and all(n is None or m is None or n == m for n, m in zip(wanted, lengths, strict=True))
        and str(dtype) == str(variable.type.dtype)
    )


def _check_type(variable: Variable, shape: tuple[int | None, ...], dtype: object) -> None:
    if not fits(variable, shape, dtype):
        raise ShapeError(
            f"input {variable} of the graph is {describe(variable.type)}, but was given {dtype} {tuple(shape)}"
        )


def _on_variables(fgraph: FunctionGraph, given: Sequence[object]) -> object:
    """Return variables that are computed of others by copies of the graph's nodes, which overwrite nothing."""
    around = around_variables()
    if around is not None:
        return fgraph(*[around.array_of(x) if isinstance(x, Variable) else x for x in given])
    _check_count(fgraph, given)
    if fgraph.update_mapping:
        place = min(fgraph.update_mapping.values())
        raise TypeError(
            f"the graph writes to its input {fgraph.inputs[place]}, but a variable is a value, which nothing writes "
            "to: call a graph that returns the new value, FunctionGraph(fgraph.inputs, fgraph.outputs)"
        )
    backend = backend_of_variables(list(given))
    found: dict[Variable, Variable] = {}
    for x, variable in zip(given, fgraph.inputs, strict=True):
        found[variable] = value = x if isinstance(x, Variable) else as_constant(x, backend)
        if value.type is not None:
            _check_type(variable, value.type.shape, value.type.dtype)
    inlined = _without_overwriting(fgraph, backend)
    found = dict(zip(inlined.inputs, found.values(), strict=True))
    for node in inlined.toposort():
        made = node.copy(found.get(each, each) for each in node.inputs)
        found.update(zip(node.outputs, made.outputs, strict=True))
    results = tuple([found.get(each, each) for each in inlined.outputs])
    return results[0] if len(results) == 1 else results


def as_constant(x: object, backend: Handle) -> Constant:
    """Return a constant with the value that an array, or data, has now."""
    array = x if isinstance(x, Array) else functions.asarray(x, backend=backend.name)  # type: ignore[call-overload]
    value = array._backend.copy(read(array))
    return Constant(value, type_of(array._backend, value))


def _without_overwriting(fgraph: FunctionGraph, backend: Handle) -> FunctionGraph:
    """Return the graph, or a copy in which what overwrites its inputs works on copies of these.

    Raises
    ------
    InconsistencyError
        If there's no order in which each operation reads values that weren't overwritten.
    """
    if not any(node.op.victims(node) for node in fgraph.apply_nodes):
        return fgraph
    copied = fgraph.copy()
    if not any(isinstance(each, DestroyHandler) for each in copied.features):
        copied.attach(DestroyHandler())
    for node in list(copied.apply_nodes):
        if node.op.victims(node):
            copied.substitute(node, _pure(node, backend))
    return copied


def _pure(node: Apply, backend: Handle) -> Op:
    """Return an operation that computes the same as a node, and overwrites none of its inputs."""
    op = node.op
    is_known = isinstance(op, KernelOp) and (op.name != STORE or op.backend is not backend)
    return elsewhere(op, backend) if is_known else OnCopies(backend, op, node)  # type: ignore[arg-type]


class _Run:
    """A run of a graph that overwrites nothing, on natives of a backend."""

    def __init__(self, fgraph: FunctionGraph, backend: Handle) -> None:
        self.fgraph, self.backend = fgraph, backend

    def results(self, natives: list[Any]) -> list[Any]:
        """Return the outputs, in memory of their own."""
        found: list[Any] = []
        taken: set[Variable] = set()
        for value, memory in zip(self.outputs(natives), shared(self.fgraph), strict=True):
            if self.backend.mutable and (memory & taken or any(each.owner is None for each in memory)):
                value = self.backend.copy(value)
            taken |= memory
            found.append(value)
        return found

    def outputs(self, natives: list[Native]) -> list[Any]:
        """Return the outputs, which may share memory with the inputs and with each other."""
        values: dict[Variable, object] = dict(zip(self.fgraph.inputs, natives, strict=True))
        for node in self.fgraph.toposort():
            given = [self._value(values, variable) for variable in node.inputs]
            values.update(zip(node.outputs, self.run(node, given), strict=True))
        return [self._value(values, variable) for variable in self.fgraph.outputs]

    def run(self, node: Apply, natives: list[Any]) -> Sequence[Any]:
        """Return the results of a node."""
        found = _called(node, self.backend, self.backend, natives)
        if found is not None:
            return found
        op = _measured(_op_on(node, self.backend), self.backend.shape, natives)
        if op is not node.op:
            node = Apply(op, node.inputs, [each.type for each in node.outputs])
        found = op.perform(node, natives) if isinstance(op, KernelOp) else run_of(self.backend, node)(*natives)
        return tuple(found) if len(node.outputs) > 1 else (found,)

    def _value(self, values: dict[Variable, object], variable: Variable) -> object:
        if isinstance(variable, Constant) and variable not in values:
            values[variable] = self.constant(variable.data)
        return values[variable]

    def constant(self, data: object) -> Native:
        """Return a native with the value of a constant."""
        return data if isinstance(data, self.backend.native_types) else self.backend.from_numpy(values_of(data))


def run_graph(fgraph: FunctionGraph, backend: Handle, natives: Sequence[Native]) -> list[Any]:
    """Return the outputs of a graph for natives of a backend, in memory of their own; it overwrites none of these."""
    return _Run(_without_overwriting(fgraph, backend), backend).results(list(natives))


class _Recorded(_Run):
    """A graph whose operations become nodes of the trace that is running; the natives are those of the trace."""

    def __init__(self, fgraph: FunctionGraph, trace: Trace) -> None:
        super().__init__(fgraph, trace.backend)
        self.trace = trace

    def constant(self, data: object) -> Traced:
        """Return a constant of the trace."""
        return self.trace.handle.from_numpy(values_of(data))

    def run(self, node: Apply, natives: list[Traced]) -> Sequence[Traced]:
        """Return the results of a new node."""
        called = _called(node, self.backend, self.trace.handle, natives)
        if called is not None:
            return called
        trace, op = self.trace, _measured(self._op(node), lambda each: _shape(each.variable), natives)
        if (
            isinstance(op, KernelOp)
            and any(None in _shape(each) for each in node.outputs)
            and any(_shape(each.variable) != _shape(old) for each, old in zip(natives, node.inputs, strict=True))
        ):
            # The arrays say more than the variables did.
            found = record(trace.backend, op.name, natives, op.static, None, offered=False)
            return found if isinstance(found, tuple) else (found,)
        variables = [each.variable for each in natives]
        types = [as_array_type(each) for each in self._types(node, op, variables)]
        known = [each for each in types if each is not None]
        if len(known) == len(types):
            device = natives[0].device if natives else device_of(trace.backend, None)
            return node_of(op, natives, known, device)
        made = Apply(op, variables, types)
        with trace.suspended():
            values = run_of(trace.backend, made)(*(trace.examples.of(each) for each in variables))
        return node_of_values(trace, op, natives, values if len(types) > 1 else (values,))

    def _op(self, node: Apply) -> Op:
        backend, op = self.backend, _op_on(node, self.backend)
        # What an engine transforms needs to know the derivative.
        is_hosted = isinstance(self.trace, EnclosedTrace) and is_users(op.op if isinstance(op, OnCopies) else op)
        return Hosted(backend, op, len(node.outputs)) if is_hosted else op

    def _types(self, node: Apply, op: Op, variables: Sequence[Variable]) -> Sequence[Any]:
        own = [each.type for each in node.outputs]
        return own if all(as_array_type(each) is not None for each in own) else node.op.output_types(variables)


def _shape(variable: Variable) -> tuple[int | None, ...]:
    """Return the shape of a variable, as far as it's known."""
    return () if variable.type is None else tuple(variable.type.shape)


def _called(node: Apply, backend: Handle, handle: Handle, natives: Sequence[Native]) -> list[Any] | None:
    """Compute a node of another backend's operations by functions of arrays; ``None`` for other nodes."""
    op = node.op.op if isinstance(node.op, OnCopies) else node.op
    if getattr(op, "backend", backend) is backend:
        return None
    found = op.called([wrap(x, handle) for x in natives])
    return None if found is None else list(map(read, found))


def _op_on(node: Apply, backend: Handle) -> Op:
    """Return the operation of a node on a backend; raise if it was made for another one alone."""
    op = node.op
    if isinstance(op, KernelOp):
        return elsewhere(op, backend)
    own = getattr(op, "backend", backend)
    if isinstance(op, OnCopies) and own is not backend and is_users(op.op):
        return OnCopies(backend, op.op, node)
    if not is_users(op) and own is not backend:
        raise BackendFeatureError(
            f"{op} was made for backend {own.name!r}, and doesn't run on {backend.name!r}: trace the function with "
            "arrays of that"
        )
    return op


def _measured(op: Op, shape: Callable[[Any], Sequence[int | None]], natives: Sequence[object]) -> Op:
    """Return an operation that reads a window of all of an axis, whose length is known now."""
    if not isinstance(op, KernelOp) or all(length is not None for _, _, length in op.static.get("window", ())):
        return op
    each = zip(op.static["window"], shape(natives[0]), strict=True)
    window = tuple([(start, step, whole if length is None else length) for (start, step, length), whole in each])
    return KernelOp(op.backend, op.name, {**op.static, "window": window}, op.nout, op.target)


def elsewhere(op: KernelOp, backend: Handle) -> KernelOp:
    """Return the pure operation of a kernel on a backend."""
    if op.name == STORE:
        raise BackendFeatureError("a graph that stores results in arguments runs as it is: call what it was made from")
    if op.target is None and op.backend is backend:
        return op
    if op.name == COPY:
        return KernelOp(backend, COPY, {}, 1)
    static = op.static
    if backend.name != op.backend.name and static.get("device") is not None:
        # Another engine's device is its default one here.
        static = {**static, "device": None}
    return kernel_op(backend, op.name, static, op.nout)


class GraphFunction:
    """A graph as a function of arrays, which ``compile`` takes; later changes of the graph don't change it."""

    __name__ = "graph"

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph.copy()
        names = [str(each) for each in self.fgraph.inputs]
        unique = len(set(names)) == len(names) and all(map(str.isidentifier, names))
        kind = inspect.Parameter.POSITIONAL_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name if unique else f"input{k}", kind) for k, name in enumerate(names)]
        )

    def __call__(self, *arrays: Any) -> Any:
        """Return the outputs of the graph for arrays."""
        return self.fgraph(*arrays)

    def any_lengths(self) -> list[ArrayType | None]:
        """Return the types of the inputs with unknown lengths, ``None`` for the others; nothing if it writes to any."""
        if self.fgraph.update_mapping:
            return []
        types = [each.type for each in self.fgraph.inputs]
        return [each if isinstance(each, ArrayType) and None in each.shape else None for each in types]

    def __repr__(self) -> str:
        return f"<graph of {len(self.fgraph.apply_nodes)} operations>"

    def __reduce__(self) -> tuple[object, ...]:
        return GraphFunction, (self.fgraph,)
