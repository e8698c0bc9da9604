"""Regions for an engine's own compiler: each becomes one node, which runs a function that the engine compiled.

What the compiler can't have stays a node of its own: loops and branches, whose bodies are lowered by themselves, what
may raise because of values, random numbers, users' operations, lengths that aren't known. Each node has a level, which
rises where a region reads what such a node gives: what is on one level is one region.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from ..._core.arrays.array import Array
from ..._core.engines.handle import Handle
from ..._core.kernels.record import Alias
from ..._core.values.native import Native
from ...backends.base import GraphCompiler
from ...backends.forks import free_after_fork
from ..core.basic import Apply, Constant, Op, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.nodes import copy_nodes
from ..core.rewriting import attempt
from ..kernels.executors import Schedule
from ..kernels.failing import may_fail
from ..kernels.hosting import run_of
from ..kernels.kernelop import KernelOp, has_alias, is_writable
from ..kernels.laidout import LaidOut
from .composed import Composed
from .other_engines import ByKernels

# A region of fewer operations isn't worth its compilation: to call what was compiled takes as long as three kernels on
# few elements. On as many elements as these two operations are worth it.
FEWEST = 3
_LARGE = 1 << 16


class Lowering(NamedTuple):
    """What compiles the regions of a graph.

    Attributes
    ----------
    name, compiler
        An engine's compiler, and what it's called.
    devices
        The engine's own devices of the graph's inputs.
    at_once
        Whether the first call compiles, and not the second one.
    tell
        A function that is told of each region: its name, the seconds that its compilation took, and the exception that
        ended it, or ``None``.
    """

    name: str
    compiler: GraphCompiler
    devices: Sequence[object]
    at_once: bool
    tell: Callable[[str, float, Exception | None], None]


def lower(fgraph: FunctionGraph, backend: Handle, lowering: Lowering, strides: Sequence[Sequence[int]]) -> int:
    """Make one node of each region, and return how many there are; ``strides`` has those of the graph's inputs."""
    with fgraph.history.of("fuse"):
        for node in fgraph.toposort():
            if isinstance(node.op, LaidOut):
                # What is compiled adds up in an order of its own.
                attempt(fgraph, [(node.outputs[0], node.inputs[0])])
        regions = _Regions(fgraph, backend, lowering, strides)
        found = list(filter(_is_worth_it, regions.by_level()))
        return sum(_replace(fgraph, backend, lowering, regions, nodes) for nodes in found)


def _is_worth_it(nodes: Sequence[Apply]) -> bool:
    types = [each.type for node in nodes for each in (*node.inputs, *node.outputs)]
    # A region has no lengths that aren't known.
    is_large = any(type is not None and prod(n or 0 for n in type.shape) >= _LARGE for type in types)
    return len(nodes) >= (min(FEWEST, 2) if is_large else FEWEST)


class _Regions:
    """Which nodes of a graph the compiler can have, found by running each kernel on stand-ins, and their levels."""

    def __init__(
        self, fgraph: FunctionGraph, backend: Handle, lowering: Lowering, strides: Sequence[Sequence[int]]
    ) -> None:
        self._backend, self._compiler = backend, lowering.compiler
        self._stand_ins: dict[Variable, object] = {}
        # Views belong to whatever reads them.
        self.views: set[Apply] = set()
        self.levels: dict[Apply, int] = {}
        self._inside: set[Apply] = set()
        self._device = next(iter(lowering.devices), None)
        for variable, steps, device in zip(fgraph.inputs, strides, lowering.devices, strict=True):
            self._stand_ins[variable] = self._stand_in(variable, steps, device)
        for node in fgraph.toposort():
            self._enter(node)

    def by_level(self) -> list[list[Apply]]:
        """Return the nodes of each region in the order of evaluation, without views."""
        found: dict[int, list[Apply]] = {}
        for node, level in self.levels.items():
            if node in self._inside and node not in self.views:
                found.setdefault(level, []).append(node)
        return list(found.values())

    def _enter(self, node: Apply) -> None:
        results = self._results(node)
        inside = results is not None
        if results is None:
            results = [self._stand_in(each, None, self._device) for each in node.outputs]
        else:
            self._inside.add(node)
            if has_alias(node, Alias.VIEW):
                self.views.add(node)
        self._stand_ins |= zip(node.outputs, results, strict=True)
        owners = {each.owner for each in node.inputs if each.owner is not None}
        self.levels[node] = max(
            (self.levels[each] + (inside and not self._is_inside(each)) for each in owners), default=0
        )

    def _is_inside(self, node: Apply) -> bool:
        # A view is on the side of what it shows.
        while node in self.views:
            owner = node.inputs[0].owner
            if owner is None:
                return True
            node = owner
        return node in self._inside

    def _results(self, node: Apply) -> list[Native] | None:
        """Return stand-ins of a node's results, ``None`` if the compiler can't have the node."""
        if not can_lower(node):
            return None
        given = [each.data if isinstance(each, Constant) else self._stand_ins[each] for each in node.inputs]
        if any(each is None for each in given) or not all(map(self._is_taken, node.outputs)):
            return None
        found = self._compiler.results(lowered_run(node), given)
        return found if found is not None and len(found) == len(node.outputs) else None

    def _stand_in(self, variable: Variable, strides: Sequence[int] | None, device: object) -> Any:
        type = variable.type
        if type is None or None in type.shape or not self._is_taken(variable):
            return None
        # Memory that goes backwards is of another engine's arrays, and copied.
        known = strides is not None and all(step >= 0 for step in strides)
        return self._compiler.stand_in(type.shape, type.dtype, strides if known else None, device)

    def _is_taken(self, variable: Variable) -> bool:
        return variable.type is not None and variable.type.dtype.name in self._compiler.dtypes


def can_lower(node: Apply) -> bool:
    """Return whether a node is a kernel that only computes values, of lengths that are known."""
    op = node.op
    if not isinstance(op, KernelOp) or op.name.startswith("draw_") or may_fail(node):
        return False
    return all(each.type is not None and None not in each.type.shape for each in (*node.inputs, *node.outputs))


def lowered_run(node: Apply) -> Callable[..., object]:
    """Return a function of natives that computes a node, by the engine's own function where its compiler wants that."""
    op: Any = node.op
    function = getattr(op.backend.kernel(op.name), "lowered", None) if op.name in op.backend.kernels else None
    return run_of(op.backend, node) if function is None else partial(function, **op.static)


def _replace(
    fgraph: FunctionGraph, backend: Handle, lowering: Lowering, regions: _Regions, nodes: Sequence[Apply]
) -> bool:
    inside = set(nodes)
    arguments: dict[Variable, None] = {}
    for node in nodes:
        for variable in node.inputs:
            _add_arguments(variable, inside, regions.views, arguments)
    old = [each for node in nodes for each in node.outputs if _is_needed(fgraph, each, inside, regions.views)]
    composed = Composed([*arguments], old, copy_nodes(arguments, old))
    node = Apply(LoweredOp(backend, lowering, composed, len(old)), arguments, [each.type for each in old])
    if not attempt(fgraph, zip(old, node.outputs, strict=True)):
        return False
    for variable in node.outputs:
        fgraph.history.inherit(variable, [each for one in nodes for each in one.outputs])
    return True


def _add_arguments(
    variable: Variable, inside: Collection[Apply], views: Collection[Apply], found: dict[Variable, None]
) -> None:
    """Add what a region reads for a variable: what its views show."""
    if isinstance(variable, Constant) and not variable.type.shape:  # type: ignore[union-attr]
        # Numbers are a part of what is compiled.
        return
    owner = variable.owner
    if owner in views and owner is not None:
        for each in owner.inputs:
            _add_arguments(each, inside, views, found)
    elif owner not in inside:
        found[variable] = None


def _is_needed(fgraph: FunctionGraph, variable: Variable, inside: Collection[Apply], views: Collection[Apply]) -> bool:
    """Return whether anything outside of a region needs a variable, or a view of it."""
    for node, _ in fgraph.clients[variable]:
        if node is not None and node in views:
            if any(_is_needed(fgraph, each, inside, views) for each in node.outputs):
                return True
        elif node not in inside:
            return True
    return False


class LoweredOp(Op):
    """Operations that an engine's compiler takes as one function; ``host`` maps outputs to inputs they're written to.

    ``composed`` has the single operations.
    """

    can_wait = True

    def __init__(
        self,
        backend: Handle,
        lowering: Lowering,
        composed: Composed,
        nout: int,
        host: Mapping[int, int] | None = None,
    ) -> None:
        self.backend, self.lowering, self.composed, self.host = backend, lowering, composed, dict(host or {})
        super().__init__(
            f"{lowering.name}{composed.label}",
            destroy_map={key: (place,) for key, place in self.host.items()},
            parameters=(backend.name, lowering.name, id(composed), tuple(sorted(self.host.items()))),
            nout=nout,
        )

    def parts(self) -> Iterator[Op]:
        """Yield the operations that it's composed of."""
        for op in self.composed.ops:
            yield from op.parts()

    def called(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """Run the single operations."""
        return self.composed.called(arrays)

    def twins(self, node: Apply) -> list[Op]:
        """Return the operations that write one more output to an input of the graph."""
        # All is read before anything is written. The compiler finds memory for what isn't an argument by itself.
        taken = {*self.host.values()}
        return [
            LoweredOp(self.backend, self.lowering, self.composed, self.nout, {**self.host, key: place})
            for key in range(self.nout)
            if key not in self.host
            for place, variable in enumerate(node.inputs)
            if place not in taken
            and variable.owner is None
            and same_type(variable.type, node.outputs[key].type)
            and is_writable(variable)
        ]

    def perform(self, node: Apply, inputs: Sequence[object], out: object = None) -> object:
        """Return the result for natives, or the tuple of results."""
        return self.bound(node)(*inputs)

    def bound(self, node: Apply, wait: bool = False) -> Callable[..., object]:
        """Return a function of natives that runs what the engine compiled."""
        return _Lowered(self, wait or self.lowering.at_once)


# Compilers have state of their own.
_LOCK = free_after_fork(threading.RLock(), patience=0)


class _Lowered:
    """Runs a region: compiled for natives that lie so in memory, at the first call, or at the second one."""

    def __init__(self, op: LoweredOp, at_once: bool) -> None:
        self._op, self._compiler, self._is_due = op, op.lowering.compiler, at_once
        self._known: dict[Any, Callable[..., list[Any]]] = {}
        self._by_kernels = ByKernels(op.backend, op.composed, op.host)
        self._noted = tuple(op.host.values())
        # Where each output is found: an input, or a result of what was compiled.
        left = [key for key in range(op.nout) if key not in op.host]
        self._results = [(op.host[key], True) if key in op.host else (left.index(key), False) for key in range(op.nout)]

    def __call__(self, *natives: Any, out: object = None) -> object:
        compiler = self._compiler
        if not compiler.is_plain(natives):
            return self._by_kernels(natives)
        key = tuple(map(compiler.layout, natives))
        run = self._known.get(key)
        if run is None:
            if not self._is_due:
                # Many are called once.
                self._is_due = True
                return self._by_kernels(natives)
            with _LOCK:
                run = self._known.get(key) or self._known.setdefault(key, self._compile(natives))
        if run is self._by_kernels:
            return self._by_kernels(natives)
        found = run(*natives)
        for place in self._noted:
            compiler.note_write(natives[place])
        results = [natives[place] if is_input else found[place] for place, is_input in self._results]
        return results[0] if len(results) == 1 else tuple(results)

    def _compile(self, natives: Sequence[Native]) -> Callable[..., Any]:
        op, start = self._op, time.perf_counter()
        schedule = Schedule(op.composed.graph, {}, bound=lowered_run)
        run: Callable[..., object] = self._by_kernels
        failure = None
        try:
            run = self._compiler.compiled(schedule.run, natives, op.host)
        # Compilers that aren't there, or give up, raise errors of many classes. Nothing has run yet.
        except Exception as error:
            failure = error
        op.lowering.tell(op.name, time.perf_counter() - start, failure)
        return run
