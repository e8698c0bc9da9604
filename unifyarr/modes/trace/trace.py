"""Running a function once on arrays that stand for variables of a graph.

An argument that the function wrote is one whose native is another variable at the end, and an array from outside that
it captured is one more input.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read, settled
from ..._core.arrays.recipes import geometry, is_recipe, like, root_of, steps_with
from ..._core.arrays.views import indices_of, steps_at
from ..._core.arrays.weak import WeakFloat, known
from ..._core.engines.current import use_backend
from ..._core.engines.dtypes import DType
from ..._core.engines.handle import Handle
from ..._core.engines.natives import mismatch
from ..._core.engines.tracing import running, tracing
from ..._core.kernels.types import ArrayType
from ..._core.values.called import boundary
from ..._core.values.caller import users_place, where
from ..._core.values.lengths import PartialShape
from ...container.container import flatten, unflatten
from ...errors import TraceError, UnknownShapeError
from ...graph.core.basic import Variable
from ...graph.core.fgraph import FunctionGraph
from ...graph.core.names import leaf_names
from ..capturing import Captured, Capturing
from ..debug import debug
from .crossing import Crossing, common_backend
from .floats import Floats, Scalar
from .handle import TraceHandle, handle_for
from .selection import Selection
from .survivors import MadeInTrace, check_unchanged
from .traced import Examples, Traced, device_of, plain, type_of
from .traced_call import TracedCall

if TYPE_CHECKING:
    from ..._core.declaring.declare import Declaration
    from ..._core.declaring.operands import Call
    from .transformed import TransformedFunction


# The types of results that are no arrays and refer to none.
VALUES = frozenset({bool, int, float, complex, str, bytes, type(None)})


class Trace(Capturing):
    """One run of a function, and the arrays that it has captured."""

    is_transformed = is_batched = False
    handle: TraceHandle
    # Whether the examples aren't those of a trace around, which goes on.
    owns_examples = True

    def __init__(self, crossing: Crossing, *, checks: bool = False, lowers: bool = False) -> None:
        super().__init__(crossing.engine, handle_for(crossing.engine, lowers=lowers))
        self.crossing, self.checks = crossing, checks
        self.scalars: list[tuple[Scalar, Traced]] = []
        # The places of float arguments whose values were asked for.
        self.asked: set[int] = set()
        self.examples = Examples(self.backend)
        # The strides of variables, as far as somebody asked for them.
        self.layouts: dict[Variable, tuple[int, ...]] = {}
        self._made = MadeInTrace()
        # The chain that orders effects, once there's one.
        self.chain: Array | None = None
        # By which instructions of the user's code arrays were captured.
        self.read_at: list[tuple[CodeType, int]] = []

    def note(self, made: object) -> None:
        """Note a native or a float that was made in the trace, and mustn't outlive it."""
        self._made.note(made)

    def takes(self, backend: Handle | None) -> bool:
        """Return whether arrays of a backend are captured: of the engine, and of the one that they live on."""
        return backend is self.backend or backend is self.crossing.array_backend

    def input(self, x: Array, name: str) -> Traced:
        """Return a new input of the graph that stands for an array."""
        own = x._backend is self.backend
        if own and not is_recipe(x):
            type, device = type_of(self.backend, settled(x._native)), self.backend.device(settled(x._native))
        else:
            type, device = ArrayType(x.shape, x.dtype.dtype), x.device if own else device_of(self.backend, None)
        if not own and not self.backend.supports_dtype(type.dtype):
            type = type_of(self.backend, self.crossing.to_engine(x))
        found = self.unknown(type, name, device)
        self.examples.offer(found.variable, lambda: self.crossing.to_engine(x))
        found.layout = self.layouts[found.variable] = geometry(x).strides
        return found

    def native_of(self, x: Array) -> Traced:
        """Return the native of an array, which is captured if it's from outside."""
        x = self.capture(x)
        if x._backend is not self.handle:
            raise mismatch(self.backend, x._backend)
        native: Traced = read(x)
        return native

    def unknown(self, type: ArrayType, name: str, device: Any = None) -> Traced:
        """Return a new input of the graph of which the type is known, and no example."""
        device = device_of(self.backend, None) if device is None else device
        return Traced(Variable(plain(type), name), device, trace=self)

    def stand_in(self, x: Array) -> Array:
        """Return a new array that stands for an input."""
        traced = self.input(x, f"captured {len(self.captured)}")
        stand_in = self.standing_for(x, traced, self)
        self.captured.append(Captured(x, stand_in, traced))
        self.read_at.append(users_place())
        return stand_in

    def ask(self, places: frozenset[int]) -> None:
        """Note that what is traced depends on the values of some floats."""
        self.asked |= places

    def scalar(self, x: WeakFloat, dtype: DType, backend: Handle, device: Any) -> Any:
        """Return a native 0-d array that stands for a float, ``None`` if this trace has ended."""
        trace = running()
        if backend is self.handle and trace is self:
            return self._input_of(Scalar(x, dtype, device))
        if trace is None or not self._is_around(trace):
            return None
        # In here a transformation is traced.
        with tracing(self):
            array = wrap(self._input_of(Scalar(x, dtype, None)), self.handle)
        return read(trace.capture(array))

    def _is_around(self, trace: Any) -> bool:
        while trace is not None:
            trace = trace.around
            if trace is self:
                return True
        return False

    def _input_of(self, scalar: Scalar) -> Traced:
        for other, found in self.scalars:
            if other.value is scalar.value and other[1:] == scalar[1:]:
                return found
        device = device_of(self.backend, scalar.device)
        found = self.unknown(ArrayType((), scalar.dtype.dtype), f"float {len(self.scalars)}", device)
        self.examples.offer(found.variable, lambda: scalar.maker(self.backend)(scalar.value.value))
        found.layout = self.layouts[found.variable] = ()
        self.scalars.append((scalar, found))
        return found

    def refuse_length(self, shape: PartialShape) -> NoReturn:
        """Raise: a length is needed that isn't known when a function is traced."""
        raise UnknownShapeError(
            f"{where()} needs the lengths of an array of shape {shape!r}, such as x[mask], ua.nonzero(mask), "
            "ua.repeat(x, counts) and what is computed of these have. They aren't known when a compiled function is "
            "traced: reduce the array (ua.sum(x[mask])), ask how many elements it has with x[mask].size or "
            "ua.count_nonzero(mask), write it back by the same mask (x[mask] = y), choose with "
            "ua.where(mask, value, x), or do it outside"
        )

    def check(self, declaration: Declaration, call: Call) -> None:
        """Hold the kernel of a function against its body, for the values of the example."""

        def example(value: Any) -> Any:
            if isinstance(value, (tuple, list)):
                return type(value)(map(example, value))
            return wrap(self._example(read(value)), self.backend) if isinstance(value, Array) else value

        arguments = {name: example(value) for name, value in call.arguments.items() if name != "out"}
        if not declaration.updated_by(arguments):
            positional = [arguments.pop(name) for name in call.parameters.positional]
            positional += arguments.pop(call.parameters.variadic or "", ())
            with self.suspended(), debug():
                declaration.public(*positional, **arguments)

    def _example(self, native: Traced) -> Any:
        """Return the value of what is passed to a function, for the example."""
        if not isinstance(native, Selection):
            return self.examples.of(native.variable)
        dense, mask = (self.examples.of(each.variable) for each in (native.dense, native.mask))
        nonzero: Callable[..., Any] = self.backend.kernel("nonzero")
        return self.backend.kernel("gather")(dense, *nonzero(mask))

    def recording(self, function: Callable[..., Any]) -> TransformedFunction:
        """Return what transforms a function inside the trace."""
        from .transformed import TransformedFunction

        return TransformedFunction(function, self)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Trace what happens inside the block, in this thread."""
        self._outer = running()
        with tracing(self):
            try:
                yield
            finally:
                self.forget()

    def end(self, function: Callable[..., Any], results: Sequence[Any]) -> None:
        """Raise if something of the trace outlives it, after the run of a function that returned these objects."""
        self.scalars.clear()
        self.chain = None
        if self.owns_examples:
            self.examples.clear()
        self._made.check(function, results, self.asked)

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Run what happens inside the block where the trace was begun: nothing of it is recorded."""
        with tracing(self._outer):
            yield


class EnclosedTrace(Trace):
    """A trace in another one, whose arrays it captures as it does those from outside of both."""

    def __init__(self, enclosing: Trace, crossing: Crossing, handle: TraceHandle) -> None:
        super().__init__(crossing)
        self.enclosing, self.handle = enclosing, handle

    def takes(self, backend: Handle | None) -> bool:
        """Return whether arrays of a backend are captured: those of the other trace, and what that captures."""
        return backend is self.enclosing.handle or self.enclosing.takes(backend)

    @property
    def around(self) -> Trace:
        """The trace that it was begun in."""
        return self.enclosing


def trace_call(
    function: Callable[..., object], leaves: Sequence[object], spec: object, trace: Trace, floats: Sequence[int] = ()
) -> TracedCall:
    """Run a function on the leaves of its arguments, with arrays of a new trace in place of the arrays among them.

    ``floats`` has the places of those leaves that are floats whose values may differ at each call. What outlives the
    trace is an error.
    """
    made = _traced_call(function, leaves, spec, trace, floats)
    values = [how[1] for how in made.leaves if how is not None and how[0] is None]
    trace.end(function, [x for x in values if type(x) not in VALUES])
    return made


def _traced_call(
    function: Callable[..., Any], leaves: Sequence[Any], spec: Any, trace: Trace, floats: Sequence[int] = ()
) -> TracedCall:
    leaves = list(leaves)
    for place in floats:
        leaves[place] = WeakFloat(leaves[place], place, trace, frozenset([place]))
    engine = use_backend(trace.backend.name) if trace.crossing.creates_on_engine else contextlib.nullcontext()
    with trace.running(), engine:
        named = zip(leaves, leaf_names(function, spec), strict=True)
        given = [like(x, wrap(trace.input(x, name), trace.handle)) for x, name in named if isinstance(x, Array)]
        inputs = [x._native for x in given]
        stand_ins = iter(given)
        args, kwargs = unflatten(spec, [next(stand_ins) if isinstance(x, Array) else x for x in leaves])
        passed = flatten((args, kwargs), in_order=True)
        result, result_spec = flatten(function(*args, **kwargs), in_order=True)
        check_unchanged(function, (args, kwargs), passed)
        result = [trace.current(x) if isinstance(x, Array) else x for x in result]
        captured = [each.array for each in trace.captured]
        inputs += [each.before for each in trace.captured]
        given += [each.stand_in for each in trace.captured]
        roots = {id(x): place for place, x in enumerate(given)}
        made = [_made(x, roots) for x in result]
        updates = {
            place: x._native.variable
            for place, (x, before) in enumerate(zip(given, inputs, strict=True))
            if x._native is not before
        }
        computed = []
        for x, how in zip(result, made, strict=True):
            if how is None:
                computed.append(read(x).variable)
            elif how[0] is not None:
                # As results of their own, which an argument isn't.
                computed += [trace.handle.copy(index).variable for index in indices_of(how[1])]
        scalars = [each for each, _ in trace.scalars]
        variables = [*(each.variable for each in inputs), *(each.variable for _, each in trace.scalars)]
        # What is returned as it was passed is a number.
        made = [how and _without_natives(how) for how in made]
    chain = None if trace.chain is None else read(trace.chain).variable
    how_floats = Floats(scalars, floats, frozenset(trace.asked), trace.backend)
    return TracedCall(variables, captured, updates, computed, result_spec, made, how_floats, trace.read_at, chain)


def _without_natives(how: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return how a result is made of an argument or a value, without the trace's natives: indices are results too."""
    place, given = how
    return (None, known(given)) if place is None else (place, steps_at(given, lambda index: None))


@boundary
def trace(function: Callable[..., object], /, *args: object, **kwargs: object) -> FunctionGraph:
    """Return the graph of a function: of what it computes and writes, as it was done.

    Parameters
    ----------
    function
        A function of arrays, containers and nests of them, and of other values, which it's traced for.
    *args, **kwargs
        Examples of its arguments: they keep their values.

    Returns
    -------
    fgraph
        Its inputs are the arrays among the arguments, and then those from outside that the function met. Its outputs
        are what arrays that it wrote are in the end, ``fgraph.update_mapping`` says which input each of them is for,
        and then what it returned, as far as that isn't an input or a view of one.

    Raises
    ------
    TraceError
        If what the function does depends on values of arrays.

    Examples
    --------
    >>> import unifyarr as ua
    >>> def step(x, y):
    ...     x += y
    ...     return ua.sin(x)
    >>> fgraph = ua.graph.trace(step, ua.zeros(3), ua.ones(3))
    >>> fgraph.toposort()
    [add(x, y), sin(add.out)]
    >>> fgraph.update_mapping
    {0: 0}
    """
    if not callable(function):
        raise TypeError(f"trace() takes a function, not {type(function).__name__}")
    leaves, spec = flatten((args, kwargs), in_order=True)
    home = common_backend([leaf for leaf in leaves if isinstance(leaf, Array)])
    made = trace_call(function, leaves, spec, Trace(Crossing(home)))
    fgraph = FunctionGraph(made.inputs, [*made.updates.values(), *made.computed], clone=False)
    fgraph.update_mapping = dict(enumerate(made.updates))
    return fgraph


def _made(leaf: object, roots: Mapping[int, int]) -> Any:
    if isinstance(leaf, Array) and id(root_of(leaf)) in roots:
        return roots[id(root_of(leaf))], steps_with(leaf)
    if isinstance(leaf, Traced):
        raise TraceError("a compiled function returns what its trace is made of: return the array that holds it")
    return None if isinstance(leaf, Array) and isinstance(leaf._native, Traced) else (None, leaf)
