"""Compiled functions in the formats of other runtimes: ``export``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, NoReturn

from .. import functions
from .._core.arrays.array import Array
from .._core.engines.handle import Handle
from .._core.engines.registry import load
from .._core.kernels.types import ArrayType
from .._core.values.arguments import check_callable, shown
from .._core.values.called import boundary
from .._core.values.caller import line_of
from .._core.values.native import Native
from ..container.container import flatten, unflatten
from ..errors import BackendFeatureError
from ..modes.trace.crossing import Crossing, common_backend
from ..modes.trace.trace import Trace, trace_call
from ..modes.trace.traced import known_type
from .building.running import GraphFunction
from .compiling import Compiled
from .core.basic import Apply, Constant, Op
from .core.feature import Client
from .core.fgraph import FunctionGraph
from .core.names import leaf_names, leaf_parameters
from .fusion.lowering import can_lower, lowered_run
from .kernels.executors import Schedule
from .kernels.hosting import run_of
from .kernels.kernelop import KernelOp
from .loops.ops import BodiesOp
from .run.options import Options, checked_options
from .run.pipeline import Rewriting
from .run.rewrite_registry import selected

# The engines whose exporters write the formats.
FORMATS = {"stablehlo": "jax", "torch": "torch", "onnx": "torch"}


@boundary
def export(
    function: Callable[..., Any], /, *examples: Any, to: str, dynamic: str | int | Iterable[str | int] = ()
) -> Any:
    """Return a function in a format that other runtimes take.

    The function is traced for the examples, whatever their backend, on the engine that writes the format. Loops and
    branches stay what they are where the format has them.

    Parameters
    ----------
    function
        A function of arrays and nests of them, or what ``compile`` made of one, whose ``include`` and ``rewrites`` are
        kept. It returns arrays, or a nest of them.
    *examples
        Its arguments. Of arrays the shapes and dtypes count. Other values, and arrays from outside that the function
        reads, are part of what is exported.
    to
        ``"stablehlo"`` for a ``jax.export.Exported``, ``"torch"`` for a ``torch.export.ExportedProgram``, and
        ``"onnx"`` for a ``torch.onnx.ONNXProgram``, which needs ``onnxscript``: ``pip install unifyarr[onnx]``.
    dynamic
        Names or positions of parameters whose arrays have a first axis of any length, one for all of them. The function
        is traced for three lengths, and what follows from them is computed anew.

    Returns
    -------
    exported
        It takes the arrays among the arguments one by one, in the order in which they stand there. It returns those of
        the result, and then the new values of the arguments that the function writes to, in their order.

    Raises
    ------
    BackendFeatureError
        If something has no counterpart there: prints and checks, random numbers, operations that run Python, arrays of
        unknown length, and what the engine's exporter refuses. The error has the line.
    BackendNotFoundError
        If the engine that writes the format isn't installed.
    ValueError
        If ``to`` or ``dynamic`` names something that isn't there.

    Notes
    -----
    ``scan`` and ``fori_loop`` are written out step by step in ``"torch"`` and ``"onnx"``; ``while_loop``, ``cond`` and
    ``switch`` are torch's operators of these names, and ONNX's ``Loop`` and ``If``. In StableHLO all are loops and
    branches.

    Examples
    --------
    >>> import numpy as np
    >>> import unifyarr as ua
    >>> def scaled(x):
    ...     x /= ua.max(x)
    ...     return ua.sum(x)
    >>> exported = ua.export(scaled, ua.asarray([1.0, 4.0]), to="stablehlo")
    >>> [each.tolist() for each in exported.call(np.asarray([2.0, 8.0]))]
    [1.25, [0.25, 1.0]]

    Source: ``jax.export``, ``torch.export``, ``torch.onnx``.
    """
    if to not in FORMATS:
        raise ValueError(f"to is one of {', '.join(map(repr, FORMATS))}, not {shown(to)}")
    backend = load(FORMATS[to])
    if isinstance(function, FunctionGraph):
        function = GraphFunction(function)
    options = checked_options(function, None, "pure", (), False, 1, False)
    if isinstance(function, Compiled):
        options, function = function._options, function._function
    check_callable(function, "export()")
    task = _Export(function, backend, to, options)
    leaves, spec = flatten((examples, {}), in_order=True)
    places = _dynamic_places(function, spec, leaves, dynamic)
    if not places:
        return task.exported(leaves, spec)
    return _of_any_length(task, leaves, spec, places)


class _Export:
    """The export of a function by an engine."""

    def __init__(self, function: Callable[..., Any], backend: Handle, to: str, options: Options) -> None:
        self.function, self.backend, self.to = function, backend, to
        self._rewrites = selected("pure", options.rewrites, options.include, options.exclude)

    def traced(self, leaves: Sequence[Any], spec: Any) -> Traceable:
        """Return the graph for some arguments; raise if something in it has no counterpart."""
        function, arrays = self.function, [x for x in leaves if isinstance(x, Array)]
        made = trace_call(
            _returning_copies(function), leaves, spec, Trace(Crossing(common_backend(arrays), self.backend))
        )
        for place in made.updates:
            if place >= len(arrays):
                line = line_of(*made.read_at[place - len(arrays)])
                raise BackendFeatureError(
                    f"the function writes to an array from outside, first used at {line}: pass it as an argument, "
                    "whose new value is a result then"
                )
        for each in made.effects:
            self.refuse(each.owner, "a program there prints and checks nothing")
        updates = [made.updates[place] for place in sorted(made.updates)]
        fgraph = FunctionGraph(made.inputs, [*made.computed, *updates])
        Rewriting(self.backend, self._rewrites, [()] * len(made.inputs), False, 0, {}, frozenset())(fgraph, pure=True)
        self._check(fgraph.toposort())
        to_engine = Crossing(common_backend(arrays), self.backend).to_engine
        return fgraph, list(map(to_engine, made.captured))

    def _check(self, nodes: Iterable[Apply]) -> None:
        for node in nodes:
            op, inner = node.op, node.op.nodes()
            kernel = getattr(op, "kernel", None)
            if inner is not None:
                if not isinstance(op, BodiesOp):
                    self.refuse(node, "the engine transforms it by itself")
                self._check(inner)
            elif op.raises:
                self.refuse(node, "a program there prints and checks nothing")
            elif op.name.startswith("draw_"):
                self.refuse(node, "random numbers are drawn by generators of the engine: pass them as arguments")
            elif op.natives is not None or getattr(kernel, "natives", None) is not None:
                self.refuse(node, "it runs Python")
            elif any(each.type is None or None in each.type.shape for each in node.outputs):
                self.refuse(node, "the length of what it gives follows from values: choose by ua.where()")

    def refuse(self, node: Any, why: object, cause: Exception | None = None) -> NoReturn:
        """Raise: a node has no counterpart."""
        line = "" if node.place is None else f", at {line_of(*node.place)}"
        raise BackendFeatureError(f"{node} has no counterpart in {self.to!r}{line}: {why}") from cause

    def bound(self, node: Apply) -> Callable[..., Any]:
        """Return a function of natives that runs a node, and raises with its line what the engine refuses."""
        return self.located(node, lowered_run(node) if can_lower(node) else run_of(self.backend, node))

    def located(self, node: Apply, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, whose errors have the line of a node."""
        line = None if node.place is None else line_of(*node.place)

        def call(*natives: Native, out: object = None) -> Any:
            try:
                with nullcontext() if line is None else self.backend.exporting_line(line):
                    return run(*natives)
            except BackendFeatureError:
                raise
            except Exception as error:
                self.refuse(node, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}", error)

        return call

    def exported(self, leaves: Sequence[Any], spec: Any) -> Any:
        """Return what the engine's exporter gives for arguments of these types."""
        fgraph, captured = self.traced(leaves, spec)
        run = self.schedule(fgraph, self.bound).run
        types = [each.type for each in fgraph.inputs[: len(fgraph.inputs) - len(captured)]]
        return self.written(lambda *natives: list(run(*natives, *captured)), types, leaves, spec)

    def schedule(self, fgraph: FunctionGraph, bound: Callable[[Apply], Callable[..., Any]]) -> Schedule:
        """Return what runs a graph while the exporter looks at it."""
        constant = self.backend.as_constant if self.backend.can_compile else None
        return Schedule(fgraph, {}, bound=bound, constant=constant)

    def written(self, run: Callable[..., list[Native]], types: Sequence[Any], leaves: Sequence[Any], spec: Any) -> Any:
        """Return what the engine's exporter gives for a function of natives of some types."""
        named = zip(leaf_names(self.function, spec), leaves, strict=True)
        return self.backend.exported(self.to, run, types, [name for name, x in named if isinstance(x, Array)])


Traceable = tuple[FunctionGraph, list[Any]]


def _returning_copies(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose results are new arrays: no runtime knows of views."""

    def run(*args: Any) -> Any:
        leaves, spec = flatten(function(*args), in_order=True)
        for x in leaves:
            if not isinstance(x, Array) and x is not None:
                raise TypeError(f"an exported function returns arrays, or a nest of them, not {shown(x)}")
        return unflatten(spec, [x if x is None else x.copy() for x in leaves])

    run.__name__ = getattr(function, "__name__", type(function).__name__)
    return run


# Any length of the first axis


class _Linear:
    """A number that follows from the length: ``slope`` times that, and ``offset``."""

    def __init__(self, slope: int, offset: int) -> None:
        self.slope, self.offset = slope, offset


def _dynamic_places(
    function: Callable[..., Any], spec: Any, leaves: Sequence[Any], dynamic: str | int | Iterable[str | int]
) -> list[int]:
    """Return the places of the leaves that are arrays of any length."""
    wanted = {*([dynamic] if isinstance(dynamic, (str, int)) else dynamic)}
    named = [parameter for parameter, _ in leaf_parameters(function, spec)]
    order = list(dict.fromkeys(named))
    chosen = {order[each] if isinstance(each, int) and each < len(order) else each for each in wanted}
    if unknown := chosen - {*named}:
        raise ValueError(
            f"dynamic names {', '.join(map(repr, unknown))}, but the parameters are {', '.join(map(str, order))}"
        )
    return [
        place
        for place, (name, x) in enumerate(zip(named, leaves, strict=True))
        if name in chosen and isinstance(x, Array)
    ]


def _of_any_length(task: _Export, leaves: Sequence[Any], spec: Any, places: Sequence[int]) -> Any:
    lengths = {leaves[place].shape[0] if leaves[place].ndim else -1 for place in places}
    if len(lengths) != 1 or -1 in lengths:
        raise ValueError("the arrays that dynamic names have first axes of one length, as in the examples")
    first: int = max(*lengths, 2)
    sizes = (first, 2 * first, 3 * first)
    found = []
    for size in sizes:
        resized = list(leaves)
        for place in places:
            x = leaves[place]
            resized[place] = functions.zeros((size, *x.shape[1:]), dtype=x.dtype, backend=x._backend.name)
        found.append(task.traced(resized, spec))
    graphs, captured = [each[0] for each in found], found[0][1]
    length: list[Any] = []
    statics = _statics(task, graphs, sizes, length)
    arrays = [place for place, x in enumerate(leaves) if isinstance(x, Array)]
    dynamic = [arrays.index(place) for place in places]

    def bound(node: Apply) -> Callable[..., Any]:
        if node not in statics:
            return task.bound(node)
        op: Any = node.op
        kernel = op.backend.kernel(op.name)
        kernel = getattr(kernel, "lowered", kernel)
        is_copied = op.writes and op.backend.mutable

        def run(*natives: Any) -> Any:
            given = (op.backend.copy(natives[0]), *natives[1:]) if is_copied else natives
            return kernel(*given, **_filled(statics[node], length[0]))

        return task.located(node, run)

    fgraph, types = graphs[0], []
    for place, each in enumerate(fgraph.inputs[: len(arrays)]):
        type = known_type(each)
        shape: Any = (None, *type.shape[1:]) if place in dynamic else type.shape
        types.append(ArrayType(shape, type.dtype))
    schedule = task.schedule(fgraph, bound)

    def run(*natives: Any) -> list[Any]:
        length[:] = [natives[dynamic[0]].shape[0]]
        return list(schedule.run(*natives, *captured))

    return task.written(run, types, leaves, spec)


def _statics(
    task: _Export, graphs: Sequence[FunctionGraph], sizes: Sequence[int], length: list[Any]
) -> dict[Apply, Any]:
    """Return the static arguments of the nodes of the first graph that follow from the length.

    Constants there that follow from it become nodes, which compute them.
    """
    orders = [graph.toposort() for graph in graphs]
    known = [{each: place for place, each in enumerate(graph.inputs)} for graph in graphs]
    found: dict[Apply, Any] = {}
    numbers: list[tuple[Client, _Linear]] = []
    count = 0
    if len({*map(len, orders)}) > 1:
        raise BackendFeatureError("the function computes something else for other lengths: export it for each")
    for nodes in zip(*orders, strict=True):
        node = nodes[0]
        refuse = "what it does follows from the length in another way than by a sum: export it for each length"
        if len({each.op.name for each in nodes}) > 1 or len({len(each.inputs) for each in nodes}) > 1:
            task.refuse(node, refuse)
        for place, variables in enumerate(zip(*(each.inputs for each in nodes), strict=True)):
            if not _are_same(task.backend, variables, known):
                number = _number(task.backend, variables, sizes)
                if number is None:
                    task.refuse(node, refuse)
                numbers.append((Client(node, place), number))
        if any(each.op != node.op for each in nodes):
            if not isinstance(node.op, KernelOp):
                task.refuse(node, refuse)
            try:
                found[node] = _merged([each.op.static for each in nodes], sizes)
            except ValueError:
                task.refuse(node, refuse)
        for outputs in zip(*(each.outputs for each in nodes), strict=True):
            for places, variable in zip(known, outputs, strict=True):
                places[variable] = -1 - count
            count += 1
    for client, number in numbers:
        assert client.node is not None
        new = LengthOp(task.backend, number, length)
        graphs[0].change_input(client, Apply(new, (), [client.node.inputs[client.position].type]).outputs[0])
    return found


def _are_same(backend: Handle, variables: Sequence[Any], known: Sequence[dict[Any, int]]) -> bool:
    if isinstance(variables[0], Constant):
        if not all(isinstance(each, Constant) for each in variables):
            return False
        values = [backend.to_numpy(each.data) for each in variables]
        return all(x.shape == values[0].shape and x.tobytes() == values[0].tobytes() for x in values)
    return len({places.get(each) for each, places in zip(variables, known, strict=True)}) == 1


def _number(backend: Handle, variables: Sequence[Any], sizes: Sequence[int]) -> _Linear | None:
    """Return what gives constants that are one number for some lengths, ``None`` if nothing does."""
    if not all(isinstance(each, Constant) for each in variables):
        return None
    values = [backend.to_numpy(each.data) for each in variables]
    if any(x.ndim or x.dtype.kind not in "iuf" or not float(x).is_integer() for x in values):
        return None
    try:
        found = _merged([int(x) for x in values], sizes)
    except ValueError:
        return None
    return found if isinstance(found, _Linear) else None


class LengthOp(Op):
    """A number that follows from the length, as a 0-d array."""

    def __init__(self, backend: Handle, number: _Linear, length: Sequence[Any]) -> None:
        self.backend, self.number, self.length = backend, number, length
        super().__init__("length", parameters=(id(number),))

    def perform(self, node: Apply, inputs: Sequence[Native], out: object = None) -> Any:
        """Return the number."""
        type: Any = node.outputs[0].type
        return self.backend.from_length(_filled(self.number, self.length[0]), type.dtype)


def _merged(values: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return what gives some values for some lengths; ``ValueError`` if no sum does."""
    first = values[0]
    if all(type(each) is type(first) and each == first for each in values):
        return first
    if all(type(each) is int for each in values):
        slope, rest = divmod(values[1] - first, sizes[1] - sizes[0])
        if not rest and values[2] - values[1] == values[1] - first:
            return _Linear(slope, first - slope * sizes[0])
    elif all(type(each) is tuple and len(each) == len(first) for each in values):
        return tuple([_merged(each, sizes) for each in zip(*values, strict=True)])
    elif all(type(each) is dict and each.keys() == first.keys() for each in values):
        return {key: _merged([each[key] for each in values], sizes) for key in first}
    raise ValueError


def _filled(given: Any, length: Any) -> Any:
    if isinstance(given, _Linear):
        found = length if given.slope == 1 else given.slope * length
        return found + given.offset if given.offset else found
    if type(given) is tuple:
        return tuple([_filled(each, length) for each in given])
    if type(given) is dict:
        return {key: _filled(each, length) for key, each in given.items()}
    return given
