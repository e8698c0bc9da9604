"""What stands for an array inside a trace, and the values that it has for the example."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol

import numpy as np

from ..._core.engines.handle import Handle
from ..._core.engines.tracing import running
from ..._core.kernels.types import ArrayType
from ..._core.values.caller import where
from ..._core.values.lengths import shape_of
from ..._core.values.native import Native
from ...errors import TraceError
from ...graph.core.basic import Apply, Constant, Variable
from ...graph.kernels.hosting import performed_on
from ..scope import Scope
from ..side_effects import silenced


class Traced(Native):
    """The native of an array inside a trace: a variable, which has a type, and the device it will be on.

    ``layout`` has the strides, or what has the same ones: views of an array are the same after a write as before. With
    ``None`` they follow from how the variable is computed, once somebody asks.
    """

    __slots__ = ("__weakref__", "device", "layout", "variable")

    def __init__(
        self,
        variable: Variable,
        device: Hashable,
        layout: tuple[int, ...] | Traced | None = None,
        trace: Recorder | None = None,
    ) -> None:
        self.variable, self.device, self.layout = variable, device, layout
        trace = trace or innermost_trace()
        if trace is not None:
            trace.note(self)

    @property
    def type(self) -> ArrayType:
        """The shape and dtype."""
        found = known_type(self.variable)
        return ArrayType(shape_of(found.shape), found.dtype) if None in found.shape else found

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, in which ``None`` is a length that isn't known."""
        found = known_type(self.variable).shape
        return shape_of(found) if None in found else found

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype as NumPy has it."""
        found: np.dtype[Any] = known_type(self.variable).dtype
        return found


class Recorder(Protocol):
    """What the recording of kernels needs of a trace."""

    # Whether kernels are held against bodies.
    checks: bool
    # Whether what is traced runs inside a transformation of the engine.
    is_transformed: bool
    # Whether what is traced runs for all elements of a batch at once.
    is_batched: bool
    examples: Examples
    # The strides of variables, as far as somebody asked for them.
    layouts: dict[Variable, tuple[int, ...]]

    @property
    def backend(self) -> Handle:
        """The backend that is traced."""

    @property
    def handle(self) -> Handle:
        """The one that stands for it in the trace."""

    def note(self, made: object) -> None:
        """Note a native or a float that was made in the trace, and mustn't outlive it."""

    def suspended(self) -> AbstractContextManager[None]:
        """Run what happens inside the block where the trace was begun."""


def innermost_trace(backend: Handle | None = None) -> Any:
    """Return the trace that is running, in which transformations may run whose values are its variables.

    With ``backend`` it's the innermost one of that backend.
    """
    trace = running()
    while isinstance(trace, Scope) or (trace is not None and backend not in (None, trace.backend)):
        trace = trace.around
    return trace


class Examples:
    """The values of a trace's variables for the example, each computed when it's asked for.

    A trace knows types. Values are for what types don't tell: a kernel without a rule on an engine that doesn't tell
    what it gives either, a transformation that the engine has to run, and mode ``"debug"``. An input whose value was
    not given has none.
    """

    def __init__(self, backend: Handle) -> None:
        self._backend = backend
        self._known: dict[Variable, object] = {}
        self._made: dict[Variable, Callable[[], object]] = {}

    def offer(self, variable: Variable, make: Callable[[], object]) -> None:
        """Remember a function that returns the value of an input, which is called at most once."""
        self._made[variable] = make

    def copy(self) -> Examples:
        """Return the same examples, to compute others of the values."""
        copied = Examples(self._backend)
        copied._known, copied._made = dict(self._known), dict(self._made)
        return copied

    def clear(self) -> None:
        """Forget all values, and the functions that return some."""
        self._known.clear()
        self._made.clear()

    def put(self, variable: Variable, value: object) -> None:
        """Remember the value of a variable."""
        self._known[variable] = value

    def of(self, variable: Variable) -> Any:
        """Return the value of a variable, computed from those of the inputs."""
        with silenced():
            return evaluate(variable, self._known, self._source, self._perform)

    def _perform(self, node: Apply, inputs: list[object]) -> Iterable[object]:
        op = node.op
        results = op.perform(node, inputs) if op.natives is None else performed_on(self._backend, node)(*inputs)
        return results if len(node.outputs) > 1 else (results,)

    def _source(self, variable: Variable) -> object:
        if isinstance(variable, Constant):
            return variable.data
        make = self._made.pop(variable, None)
        if make is None:
            raise TraceError(
                f"{where()} needs the value of {variable}, which isn't known when a compiled function is traced: pass "
                "an array in its place"
            )
        return make()


def evaluate(
    variable: Variable,
    known: dict[Variable, Any],
    source: Callable[[Variable], Any],
    run: Callable[[Apply, list[Any]], Iterable[Any]],
) -> Any:
    """Return what is known of a variable, found out first for all that it's computed from.

    ``source`` says it of variables without an owner, ``run`` of the outputs of a node, given that of its inputs.
    """
    waiting = [variable]
    while waiting:
        last = waiting[-1]
        node = last.owner
        if last in known:
            waiting.pop()
        elif node is None:
            known[last] = source(last)
        else:
            missing = [each for each in node.inputs if each not in known]
            waiting += missing
            if not missing:
                known.update(zip(node.outputs, run(node, [known[each] for each in node.inputs]), strict=True))
    return known[variable]


def known_type(variable: Variable) -> ArrayType:
    """Return the type of a variable of a trace, which is always known."""
    found = variable.type
    assert isinstance(found, ArrayType)
    return found


def plain(type: ArrayType) -> ArrayType:
    """Return the type of a variable of a graph, where ``None`` is a length as any other."""
    return type if type.shape.__class__ is tuple else ArrayType(tuple(tuple.__iter__(type.shape)), type.dtype)


def type_of(backend: Handle, native: Native) -> ArrayType:
    """Return the type of a native array."""
    return ArrayType(tuple(backend.shape(native)), backend.dtype(native))


def device_of(backend: Handle, device: object) -> Any:
    """Return what users get for an engine's own device, or for the default one, ``None``."""
    return backend.devices()[0] if device is None else _device_of(backend, device)


@cache
def _device_of(backend: Handle, device: object) -> object:
    return backend.device(backend.from_numpy(np.zeros((), np.int32), device=device))
