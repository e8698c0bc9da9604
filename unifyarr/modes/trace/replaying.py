"""One node for each call of a transformed function: the function's graph, and what runs it in the function's place."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.ownership import read
from ..._core.engines.handle import Handle
from ..._core.engines.tracing import running
from ..._core.values.native import Native
from ..._core.writing.inplace import assign
from ...container.container import flatten
from ...graph.core.basic import Apply, Op
from ...graph.core.fgraph import FunctionGraph
from ...graph.core.rewriter import Rewriter
from ...graph.core.rewriting import canonicalize, merge
from ...graph.kernels.cleanups import RULES
from ...graph.kernels.executors import Schedule
from ..scope import Scope
from .traced_call import TracedCall

# Runs what a function is transformed to on the arrays of a call; returns the result's leaves and structure.
Runner = Callable[[Callable[..., Any], Sequence["Array"]], tuple[list[Any], Any]]
# What stands for the arrays among the leaves of a call.
ARRAY = object()


class Replay:
    """The graph of a function, which runs in its place inside transformations.

    ``written`` has the leaves of the arguments that the function writes, ``rebound`` the captured arrays that it
    writes, and ``engine`` the backend that transforms it.
    """

    def __init__(self, made: TracedCall, leaves: Sequence[object], engine: Handle) -> None:
        self.engine = engine
        places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Array)]
        self.written = [places[place] for place in made.updates if place < len(places)]
        self.rebound = [place - len(places) for place in made.updates if place >= len(places)]
        self.met = len(made.captured)
        # The captured arrays keep the values of the example.
        self._made = replace(made, captured=[])
        fgraph = FunctionGraph(made.inputs, [*made.updates.values(), *made.computed])
        canonicalize(fgraph, RULES)
        merge(fgraph)
        self._runs(fgraph)

    def _runs(self, fgraph: FunctionGraph) -> None:
        self.fgraph, self._schedule = fgraph, Schedule(fgraph, {})

    def of(self, fgraph: FunctionGraph) -> Replay:
        """Return what runs another graph of the same inputs and outputs."""
        made = copy.copy(self)
        made._runs(fgraph)
        return made

    def __call__(self, met: Sequence[Array], *args: object, **kwargs: object) -> object:
        """Return the function's result, and make its writes to arguments and captured arrays."""
        scope = running()
        assert isinstance(scope, Scope)
        inputs = [*(x for x in flatten((args, kwargs))[0] if isinstance(x, Array)), *map(scope.capture, met)]
        results = self._schedule(*map(read, inputs))
        updates = self._made.updates
        for place, native in zip(updates, results, strict=False):
            assign(inputs[place], native)
        return self._made.returned(inputs, [wrap(native, scope.handle) for native in results[len(updates) :]])


class TransformedOp(Op):
    """A call of a transformed function without its arrays: first those that were passed, then the captured ones.

    ``fgraph`` is the graph of the function. What that writes is written to copies; what these are in the end is what
    the last outputs are.
    """

    def __init__(self, name: str, call: TracedTransformation, run: Callable[..., Sequence[object]], nout: int) -> None:
        self.backend, self.fgraph, self._call, self._run = call.backend, call.replay.fgraph, call, run
        super().__init__(name, parameters=(call,), nout=nout)

    def rewritten_by(self, rewriting: Rewriter) -> TransformedOp:
        """Return the operation that transforms the rewritten function."""
        fgraph = rewriting.transformed(self.fgraph, self._call.replay.engine)
        if fgraph is self.fgraph:
            return self
        call = self._call.of(self._call.replay.of(fgraph))
        made = TransformedOp(self.name, call, self.backend.traced_once(call), self.nout)
        # Equal ones are rewritten alike.
        made.parameters = (self.parameters, tuple(rewriting.rewrites))
        return made

    def nodes(self) -> Iterable[Apply]:
        """Return the nodes of the function's graph."""
        return self.fgraph.apply_nodes

    def perform(self, node: Apply | None, inputs: Sequence[object], out: object = None) -> object:
        """Return the result for natives, or the tuple of them."""
        results = self._run(*inputs)
        return tuple(results) if self.nout > 1 else results[0]


class TracedTransformation:
    """What a call of a transformed function does with natives, by the graph of the function.

    ``written`` is which of these that writes, and ``updates`` whether the caller wants to know what they are then.
    ``leaves`` and ``spec`` have the result, with ``ARRAY`` in place of the arrays, once it was called.
    """

    def __init__(self, backend: Handle, run: Runner, replay: Replay, written: Sequence[int], updates: bool) -> None:
        self.backend, self.replay, self._run, self._written, self._updates = backend, replay, run, written, updates
        self.leaves: list[object] = []
        self.spec: object = None

    def of(self, replay: Replay) -> TracedTransformation:
        """Return what does the same with another graph."""
        return TracedTransformation(self.backend, self._run, replay, self._written, self._updates)

    def __call__(self, *natives: Native) -> list[Native]:
        """Return all natives that come of a call: those of the result, and then what was written."""
        backend, copies = self.backend, self._written if self.backend.mutable else ()
        arrays = [wrap(backend.copy(x) if place in copies else x, backend) for place, x in enumerate(natives)]
        count = len(arrays) - self.replay.met
        leaves, self.spec = self._run(functools.partial(self.replay, arrays[count:]), arrays[:count])
        self.leaves = [ARRAY if isinstance(x, Array) else x for x in leaves]
        updated = [arrays[place] for place in self._written] if self._updates else []
        return [read(x) for x in (*leaves, *updated) if isinstance(x, Array)]
