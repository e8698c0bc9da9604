"""The function of a loop or branch, traced inside another trace.

What it meets of that trace, or of the outside, becomes an input of its graph. Types are known, and no values: those are
others at each step.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import read
from ..._core.engines.handle import Handle
from ..._core.kernels.types import ArrayType
from ..._core.values.lazily import cached_property
from ..._core.values.shapes import c_strides
from ...container.container import flatten
from ...modes.trace.crossing import Crossing
from ...modes.trace.engine import TraceEngine
from ...modes.trace.handle import enclosed_handle
from ...modes.trace.implicit import assigning_nothing
from ...modes.trace.layouts import strides_of
from ...modes.trace.selection import outside
from ...modes.trace.trace import EnclosedTrace, Trace, trace_call
from ...modes.trace.traced import Traced, known_type
from ...modes.trace.transformed import InnerBackend
from ..core.basic import Variable
from ..core.fgraph import FunctionGraph
from ..core.memory import memory_plan
from ..core.rewriting import canonicalize, merge
from ..core.untouched import Untouched
from ..fusion.lowering import Lowering
from ..kernels.cleanups import RULES
from ..kernels.executors import Executor, Schedule, bound_and_compiled, located
from ..kernels.hosting import bound_on
from ..run.debugmode import DebugProgram
from ..run.pipeline import Rewriting
from ..run.rewrite_registry import Own, Rewrite, selected


class BodyTrace(EnclosedTrace):
    """The trace of a body in another trace, whose examples and layouts it shares."""

    owns_examples = False

    def __init__(self, enclosing: Trace) -> None:
        backend = enclosing.backend
        # Where the engine traces too, a native may not outlive that trace.
        inside = InnerBackend if enclosing.is_transformed else TraceEngine
        super().__init__(enclosing, Crossing(backend), enclosed_handle(backend, enclosing.handle, inside))
        self.is_transformed, self.is_batched = enclosing.is_transformed, enclosing.is_batched
        self.examples, self.layouts = enclosing.examples, enclosing.layouts

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Run what happens inside the block where the trace around was begun, whose examples are real arrays."""
        with self.enclosing.suspended():
            yield

    def input(self, x: Array, name: str) -> Traced:
        """Return a new input of the graph that stands for an array of the trace around."""
        native = outside(read(x))
        found, variable = self.unknown(native.type, name, native.device), native.variable
        self.examples.offer(found.variable, lambda: self.examples.of(variable))
        found.layout = self.layouts[found.variable] = strides_in(self.enclosing, native)
        return found


class CapturedInput(NamedTuple):
    """An array from outside that a body captured: that of the trace around, and the input that stands for it."""

    array: Array
    input: Variable
    # What it is in the end, if the body writes to it.
    written: Variable | None


class Found(NamedTuple):
    """What the trace of a body found: its inputs, what it captured, and what it returns."""

    inputs: list[Variable]
    captured: list[CapturedInput]
    results: list[Variable]


def trace_body(function: Callable[..., list[Array]], given: Sequence[Array], enclosing: Trace) -> Found:
    """Trace a function of arrays of a trace that is running, which returns a list of arrays.

    It owns its arguments: no other array changes where it writes to them.
    """

    @functools.wraps(function)
    def body(*given: Array) -> list[Array]:
        return [x.copy() for x in function(*given)]

    leaves, spec = flatten((tuple(given), {}))
    made = assigning_nothing(enclosing, function, lambda: trace_call(body, leaves, spec, BodyTrace(enclosing)))
    captured = [
        CapturedInput(x, made.inputs[place], made.updates.get(place))
        for place, x in enumerate(made.captured, len(leaves))
    ]
    return Found(made.inputs[: len(leaves)], captured, made.computed)


# Attributes that follow from a body's graph and are made on first use.
_DERIVED = frozenset({"pure", "plain", "rewritten", "in_place", "by_steps", "checked", "has_effects", "_was_run"})


class Body:
    """A traced function of natives, which returns those of its outputs.

    The first ``carried`` inputs are what the first outputs are for, at the next step: ``given`` of them are in C order,
    the others arrays from outside. ``strides`` has those of all inputs.
    """

    # Whether loops are compiled by the C compiler before they run first.
    waits = False
    # The engine's own compiler that takes what is fused.
    lowering: Lowering | None = None
    _was_run = False

    def __init__(
        self,
        backend: Handle,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        carried: int,
        given: int,
        strides: Sequence[tuple[int, ...]],
        is_on_host: bool,
    ) -> None:
        self.backend, self.carried, self.strides, self.is_on_host = backend, carried, strides, is_on_host
        self.given = given
        # Those of a function that is compiled by default, until the node is in the graph of another one.
        self.rewrites: tuple[Rewrite, ...] = tuple(selected("fast", (), (), ()))
        self.fgraph = FunctionGraph(inputs, outputs)
        self.types = [known_type(each) for each in outputs]
        canonicalize(self.fgraph, RULES)
        merge(self.fgraph)

    @cached_property
    def has_effects(self) -> bool:
        """Whether a step prints or checks: it isn't run again then after it has failed."""
        return any(part.raises for node in self.fgraph.apply_nodes for part in node.op.parts())

    def __getstate__(self) -> dict[str, object]:
        # What runs it is made again where it's loaded.
        return {key: value for key, value in vars(self).items() if key not in _DERIVED}

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Body) and self._key() == other._key())

    def __hash__(self) -> int:
        # The names of the operations are enough: the graph may have large constants.
        names = sorted(node.op.name for node in self.fgraph.apply_nodes)
        return hash((self.backend.name, self.carried, self.given, tuple(names)))

    def _key(self) -> tuple[object, ...]:
        how = (self.backend.name, self.carried, self.given, self.is_on_host, [*map(tuple, self.strides)])
        compiler = None if self.lowering is None else self.lowering.name
        return (*how, self.rewrites, compiler, self.fgraph)

    def rewritten_by(self, rewrites: Sequence[Rewrite], lowering: Lowering | None = None) -> Body:
        """Return the same function, whose graph is rewritten by these, and lowered to an engine's own compiler."""
        if self.rewrites == tuple(rewrites) and self.lowering is lowering is None:
            return self
        made = copy.copy(self)
        made.rewrites, made.lowering = tuple(rewrites), lowering
        return made

    def with_graph(
        self,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        carried: int,
        given: int,
        strides: Sequence[tuple[int, ...]],
    ) -> Body:
        """Return another function that is rewritten and lowered in the same way."""
        made = Body(self.backend, inputs, outputs, carried, given, strides, self.is_on_host)
        made.rewrites, made.lowering, made.waits = self.rewrites, self.lowering, self.waits
        return made

    def reading(self, graph: FunctionGraph, read: Sequence[bool]) -> Body:
        """Return another function of the same carry, with those of its inputs that ``read`` says."""
        ends = list(compress(graph.inputs, read)), graph.outputs
        return self.with_graph(*ends, self.carried, self.given, list(compress(self.strides, read)))

    def beside(self, other: Body) -> Body:
        """Return the function that does what this one and another do, neither of which carries anything."""
        inputs, outputs = ([*one, *two] for one, two in zip(self._ends(), other._ends(), strict=True))
        return self.with_graph(inputs, outputs, 0, 0, [*self.strides, *other.strides])

    def _ends(self) -> tuple[list[Variable], list[Variable]]:
        return self.fgraph.inputs, self.fgraph.outputs

    def is_early(self) -> bool:
        """Return whether this run is the first one, for which nobody waits until an engine's compiler is done."""
        is_early = self.lowering is not None and not (self._was_run or self.waits or self.lowering.at_once)
        self._was_run = True
        return is_early

    @cached_property
    def pure(self) -> Executor:
        """The function, which writes to none of its arguments."""
        return Schedule(self.plain, {}, bound=located(self.backend), constant=self.backend.as_constant).run

    @functools.cached_property
    def plain(self) -> FunctionGraph:
        """The graph of ``pure``: rewritten by what people added, as far as it stands before what overwrites memory."""
        if all(isinstance(each, Own) for each in self.rewrites):
            return self.fgraph
        fgraph = FunctionGraph(self.fgraph.inputs, self.fgraph.outputs)
        if self.backend.mutable:
            # It runs where the engine follows values, for derivatives.
            fgraph.attach(Untouched())
        self._rewriting(fgraph, pure=True)
        return fgraph

    @cached_property
    def in_place(self) -> Executor:
        """The function that runs ``rewritten``."""
        bound = functools.partial(bound_and_compiled, self.backend) if self.waits else bound_on(self.backend)
        return Schedule(self.rewritten, memory_plan(self.rewritten), bound=bound).run

    @cached_property
    def by_steps(self) -> Executor:
        """The function that runs ``rewritten`` with nothing fused."""
        fgraph = self.by_single_steps()
        return Schedule(fgraph, memory_plan(fgraph), bound=bound_on(self.backend)).run

    @cached_property
    def rewritten(self) -> FunctionGraph:
        """The graph that writes what is carried to the memory of its first arguments, in C order.

        On an engine with immutable arrays it's that of ``pure``.
        """
        if not self.backend.mutable:
            return self.plain
        fgraph = FunctionGraph(self.fgraph.inputs, self.fgraph.outputs)
        self._rewrite(fgraph)
        return fgraph

    @cached_property
    def checked(self) -> DebugProgram:
        """The function that ``in_place`` is, or ``pure`` where nothing is mutable, with each node checked."""
        return DebugProgram(self._rewriting.reference(self.fgraph), self._rewrite, self.backend)

    def by_single_steps(self) -> FunctionGraph:
        """Return the graph of ``rewritten`` with nothing fused."""
        fgraph = FunctionGraph(self.fgraph.inputs, self.fgraph.outputs)
        self._rewrite(fgraph, fuses=False)
        return fgraph

    def _rewrite(self, fgraph: FunctionGraph, *, fuses: bool = True) -> None:
        self._rewriting(fgraph, fuses=fuses, pure=not self.backend.mutable)

    @property
    def _rewriting(self) -> Rewriting:
        stored = {place: place for place in range(self.carried)}
        free, count = frozenset(stored), self.carried
        lowering = self.lowering
        if lowering is not None:
            # All that a body reads lies where what the program was compiled for does. The first run compiles nothing.
            devices = [next(iter(lowering.devices), None)] * len(self.strides)
            lowering = lowering._replace(devices=devices, at_once=True)
        how = (self.backend, self.rewrites, self.strides, self.is_on_host, count, stored, free)
        # What the compiled part runs has a buffer for each result.
        read_at_once = count if count and not self.is_on_host else None
        return Rewriting(*how, small=True, lowering=lowering, read_at_once=read_at_once)

    def owned(self, natives: Sequence[Any]) -> list[Any]:
        """Return copies of what is carried, for ``in_place``."""
        copies = [fresh(self.backend, native) for native in natives[: self.given]]
        return [*copies, *map(self.backend.copy, natives[self.given :])]


def buffer(backend: Handle, type: ArrayType, like: Sequence[Any]) -> Any:
    """Return a new native in C order, on the device of others."""
    device = backend.own_device(backend.device(like[0])) if like else None
    if like and backend.device(like[0]) != "cpu":
        return backend.kernel("empty")(shape=type.shape, dtype=type.dtype, device=device)
    return backend.from_numpy(np.empty(type.shape, type.dtype), device=device, copy=False)


def fresh(backend: Handle, native: Any) -> object:
    """Return a copy in C order."""
    made = buffer(backend, ArrayType(tuple(backend.shape(native)), backend.dtype(native)), [native])
    backend.assign(made, native)
    return made


def strides_in(enclosing: Trace, native: Traced) -> tuple[int, ...]:
    """Return the strides of a native of a trace that is running."""
    found = strides_of(enclosing, native)
    return c_strides(native.shape, native.dtype.itemsize) if found is None else found
