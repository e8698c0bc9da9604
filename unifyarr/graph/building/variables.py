"""Functions of arrays, called on variables: each call is traced, and makes the nodes that it comes to."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.declaring.declare import Declaration
from ..._core.declaring.operands import Call
from ..._core.engines.current import current, use_backend
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import capture
from ..._core.values.caller import where
from ..._core.values.lengths import PartialShape
from ..._core.values.shapes import c_strides
from ...container.container import flatten, unflatten
from ...errors import TraceError, UnknownShapeError
from ...modes.trace.crossing import Crossing
from ...modes.trace.trace import EnclosedTrace, Trace
from ...modes.trace.traced import Traced, device_of, innermost_trace, type_of
from ..core.basic import Constant, Variable
from ..kernels.kernelop import KernelOp
from .arraytypes import known_array_type

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# How deep in lists and tuples variables are looked for, as among the indices of one key.
_DEPTH = 3
# The backend of a graph that is being rewritten.
_chosen: ContextVar[Handle | None] = ContextVar("unifyarr_building_for", default=None)


class BuildingTrace(Trace):
    """The trace of one call: variables of a graph are its inputs, and arrays from outside are constants."""

    def __init__(self, crossing: Crossing) -> None:
        super().__init__(crossing)
        self._arrays: dict[Variable, Array] = {}

    def stand_in(self, x: Array) -> Array:
        """Return a constant with the value that an array has now."""
        value = self.backend.copy(self.crossing.to_engine(x))
        return self.standing_for(x, Traced(Constant(value, type_of(self.backend, value)), x.device, None, self), self)

    def note(self, made: object) -> None:
        """Note the line that makes a node, unless a rewrite does: the node is of the line of what it replaces."""
        if _chosen.get() is None:
            super().note(made)

    def array_of(self, variable: Variable) -> Array:
        """Return the array that stands for a variable: one in C order, as far as that matters."""
        found = self._arrays.get(variable)
        if found is None:
            found = self._arrays[variable] = self._new_array_of(variable)
        return found

    def _new_array_of(self, variable: Variable) -> Array:
        if isinstance(variable, Constant) and variable.type is None:
            variable = self._constant(variable)
        type, device = known_array_type(variable), device_of(self.backend, None)
        self.layouts[variable] = c_strides(type.shape, type.dtype.itemsize)
        return wrap(Traced(variable, device, self.layouts[variable], self), self.handle)

    def refuse_length(self, shape: PartialShape) -> NoReturn:
        """Raise: a length is needed that the type of a variable doesn't say."""
        raise UnknownShapeError(
            f"{where()} needs the lengths of a variable of shape {shape!r}, which aren't known before the graph runs: "
            "give its type all lengths, array_type((2, 3), dtype), or take a function that doesn't need them, such as "
            "a reduction"
        )

    def _constant(self, variable: Constant) -> Constant:
        value = variable.data
        if not isinstance(value, self.backend.native_types):
            value = self.backend.from_numpy(np.array(value), copy=True)
        return Constant(value, type_of(self.backend, value), variable.name)


def apply(function: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """Return what a function of arrays gives for variables among its arguments: variables in the place of arrays.

    In a step of a loop it's an array, since there variables from outside stand for arrays too.
    """
    return _applied(function, None, args, kwargs)


def _applied(
    function: Callable[..., Any], backend: Handle | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> object:
    around = around_variables()
    if around is not None:
        return function(*_replaced(args, around), **{name: _replaced(each, around) for name, each in kwargs.items()})
    trace = BuildingTrace(Crossing(backend or backend_of_variables((args, kwargs))))
    with trace.running():
        given, named = _replaced(args, trace), {name: _replaced(each, trace) for name, each in kwargs.items()}
        leaves, spec = flatten(function(*given, **named))
        found = [read(trace.current(x)).variable if isinstance(x, Array) else x for x in leaves]
    return unflatten(spec, found)


def _replaced(value: Any, trace: BuildingTrace, depth: int = 0) -> Any:
    if isinstance(value, Variable):
        return trace.array_of(value)
    if type(value) in (list, tuple) and depth <= _DEPTH:
        return type(value)([_replaced(each, trace, depth + 1) for each in value])
    return value


def around_variables() -> BuildingTrace | None:
    """Return the trace of the call in which a step of a loop or a branch is traced."""
    trace = innermost_trace()
    while isinstance(trace, EnclosedTrace):
        trace = trace.enclosing
    return trace if isinstance(trace, BuildingTrace) else None


def takes_variables(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a loop or a branch that takes variables in the place of arrays too, and gives variables then."""

    @functools.wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Any:
        leaves, spec = flatten((args, kwargs))
        places = [place for place, each in enumerate(leaves) if isinstance(each, Variable)]
        if not places:
            return function(*args, **kwargs)

        def run(*arrays: Any) -> Result:
            given = dict(zip(places, arrays, strict=True))
            args, kwargs = unflatten(spec, [given.get(place, each) for place, each in enumerate(leaves)])
            return function(*args, **kwargs)

        return _applied(run, backend_of_variables((leaves,)), tuple([leaves[place] for place in places]), {})

    return call


def backend_of_variables(values: Any) -> Handle:
    """Return the backend of the nodes that variables come from, or of arrays beside them; or else the current one."""
    waiting, arrays = [values], []
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif type(value) in (list, tuple):
            waiting += value
        elif isinstance(value, Array):
            if value._backend.records:
                raise TraceError(
                    "a variable of a graph meets an array of a function that is traced: make the variable an argument"
                )
            arrays.append(value._backend)
        elif isinstance(value, Variable) and value.owner is not None and isinstance(value.owner.op, KernelOp):
            return value.owner.op.backend
    return _chosen.get() or (arrays[0] if arrays else current())


@contextlib.contextmanager
def building_for(backend: Handle) -> Iterator[None]:
    """Make nodes for a backend inside the block, where variables don't say for which, and arrays too."""
    token = _chosen.set(backend)
    try:
        with use_backend(backend.name):
            yield
    finally:
        _chosen.reset(token)


def called(self: Variable, declaration: Declaration, call: Call) -> object:
    """Return the variables that a call of a function on variables gives."""
    if call.out is not None:
        raise TypeError(
            f"out of {declaration.qualified_name}() is for arrays: variables of a graph are values, and what may be "
            "overwritten is decided by rewrites"
        )
    arguments = {name: value for name, value in call.arguments.items() if name != "out"}
    positional = [arguments.pop(name) for name in call.parameters.positional]
    positional += arguments.pop(call.parameters.variadic or "", ())
    return _applied(declaration.public, call.backend, tuple(positional), arguments)


def as_array(self: Variable) -> Any:
    """Return the array that a variable stands for in a step of a loop or in a branch."""
    around = around_variables()
    if around is None:
        raise TypeError(
            f"{self} is a variable of a graph that only a function meets here: pass it as an operand, or in the carry"
        )
    return capture(around.array_of(self))


def get_item(self: Variable, key: Any) -> Variable:
    """Return the variable of what an index selects."""
    found: Variable = apply(lambda x, key: x[key], self, key)
    return found
