"""A function compiled for one cache key: its graph, what runs that, and where its results go."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ..._core.arrays.array import Array, wrap
from ..._core.arrays.overlap import overlapping
from ..._core.arrays.ownership import LOCK, Writing, read, rebind, release
from ..._core.arrays.recipes import geometry, is_recipe
from ..._core.values.native import Native
from ..._core.values.shapes import c_strides
from ..._core.writing.inplace import check_target, finish_all, put
from ..._core.writing.write_log import tell_copied
from ...errors import BackendFeatureError, CompileWarning
from ...modes.side_effects import raise_noted
from ...modes.trace.crossing import Crossing, Store, stores_of
from ...modes.trace.trace import Trace, trace_call
from ...modes.trace.traced import device_of
from ...modes.trace.traced_call import TracedCall
from ..core.basic import Apply, same_type
from ..core.fgraph import FunctionGraph
from ..fusion.fusedop import FusedOp
from ..fusion.lowering import LoweredOp, Lowering
from ..fusion.sequences import joined
from ..kernels.executors import Executor, bound_and_compiled, executor
from ..kernels.failing import may_fail
from ..kernels.into import innermost
from ..kernels.kernelop import KernelOp
from .any_lengths import AnyLengthsTrace, Types
from .handling import Handling
from .options import Options
from .pipeline import Rewriting
from .rewrite_registry import Rewrite, selected
from .staleness import check_current
from .trace_log import tell_in_python, tell_lowered, tell_refused

# So many calls copy arrays that something else refers to, for the executor that uses up all that are written: one of
# their own would be compiled for them.
COPIES = 4


class Program:
    """A function compiled for one cache key.

    ``leaves`` and ``spec`` are the flattened arguments that it's traced with. ``mutable`` has the positions of arrays
    that the caller doesn't need any more. ``floats`` has the places of leaves that are floats of any value, and
    ``types`` those of arguments that may have any lengths.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: list[Any],
        spec: Any,
        crossing: Crossing,
        mutable: Sequence[int],
        options: Options,
        floats: Sequence[int] = (),
        types: Types | None = None,
    ) -> None:
        self.crossing, self.backend, self.options = crossing, crossing.engine, options
        self.name = getattr(function, "__name__", type(function).__name__)
        rewrites = selected(options.mode, options.rewrites, options.include, options.exclude)
        compiler = self._graph_compiler(leaves, rewrites)
        # A program for any lengths serves each call in the general way, which looks at the arguments.
        self.has_any_lengths = types is not None
        if types is None:
            trace = Trace(crossing, checks=options.mode == "debug", lowers=compiler is not None)
        else:
            trace, compiler = AnyLengthsTrace(crossing, types), None
        self.made = trace_call(function, leaves, spec, trace, floats)
        # In mode "debug" each call but the first traces again.
        self._again = partial(self._traced_again, function, spec, floats) if options.mode == "debug" else None
        self._is_new = True
        self.arrays = [place for place, leaf in enumerate(leaves) if isinstance(leaf, Array)]
        targets = [*(leaves[place] for place in self.arrays), *self.made.captured]
        # Those of the graph's inputs: what follows from floats is 0-d.
        strides = [geometry(x).strides for x in targets] + [()] * (len(self.made.inputs) - len(targets))
        for place, each in enumerate(types or ()):
            if each is not None:
                strides[place] = c_strides(each.shape, each.dtype.itemsize)
        is_on_host = all(x.device == "cpu" for x in targets)
        # The inputs that are written. The graph doesn't write to those that are ``deferred``: their new values are
        # assigned when all results are there.
        self.written = list(self.made.updates)
        self.deferred = {place for place, x in enumerate(targets) if self._is_deferred(x)}
        self.mutable = [place for place in mutable if place not in self.written and place not in self.deferred]
        stored = {number: place for number, place in enumerate(self.written) if place not in self.deferred}
        free = frozenset((*stored.values(), *self.mutable))
        in_parts = crossing.two_engines and not options.by_nodes
        self.stores = [
            store
            for place, new in self.made.updates.items()
            for store in (stores_of(place, self.made.inputs[place], new) if in_parts else [Store(place, new)])
        ]
        lowering = None if compiler is None else self._lowering(compiler, targets)
        self._rewriting = Rewriting(
            self.backend, rewrites, strides, is_on_host, len(self.stores), stored, free, lowering=lowering
        )
        self._build()
        # Whether it was said that the engine doesn't compile it.
        self._told = False
        # How many calls have copied.
        self._copies = 0

    def _graph_compiler(self, leaves: Sequence[object], rewrites: Sequence[Rewrite]) -> str | None:
        """Return the name of the engine's compiler that takes what is fused, ``None`` if none does."""
        asked, mode = self.options.fuse, self.options.mode
        known = self.backend.graph_compilers()
        if asked is not None and asked not in known:
            raise BackendFeatureError(
                f"fuse={asked!r} names a compiler of torch's, which {self.backend.name} hasn't: leave fuse out, or "
                'compile for torch, backend="torch"'
            )
        if mode != "fast" or all(each.name != "fuse" for each in rewrites):
            return None
        if asked is not None or self.crossing.two_engines:
            return asked
        devices = {self.backend.own_device(leaf.device) for leaf in leaves if isinstance(leaf, Array)} if known else ()
        return next((name for name, each in known.items() if any(map(each.is_default, devices))), None)

    def _lowering(self, compiler: str, targets: Sequence[Array]) -> Lowering:
        devices = [device_of(self.backend, None) if self.crossing.two_engines else x.device for x in targets]
        devices += [device_of(self.backend, each.device) for each in self.made.floats.scalars]
        return Lowering(
            compiler,
            self.backend.graph_compilers()[compiler],
            [self.backend.own_device(each) for each in devices],
            # Those who ask for it expect that the first call takes long.
            self.options.fuse is not None,
            partial(tell_lowered, self.name),
        )

    def _is_deferred(self, x: Array) -> bool:
        # Views that are recipes, arrays of another engine, and variables of engines whose arrays are immutable.
        variable = not self.backend.mutable and self.backend.can_write(x._native)
        return is_recipe(x) or self.crossing.two_engines or variable

    def _build(self) -> None:
        traced = self._traced()
        self.destroyed = frozenset((*self.written, *self.mutable))
        whole = self.crossing.to_compiled if not self.options.by_nodes else self.crossing.to_engine
        self.to_engine: Callable[[Array], object] = whole if self.crossing.two_engines else read
        self._executors: dict[tuple[int, ...], Executor] = {}
        if self.options.mode == "debug":
            from .debugmode import DebugProgram

            checked = DebugProgram(self._rewriting.reference(traced), self._rewriting, self.backend)
            self.fgraph, self._executors[()] = checked.fgraph, self._ended(checked)
        else:
            self._rewriting(traced)
            self.fgraph = traced
            if self.options.monitor is not None:
                from .monitoring import MonitoredProgram

                run = MonitoredProgram(traced, self.backend, self.options.monitor, self.destroyed)
                self._executors[()] = self._ended(run)
        # A graph that the engine compiles as a whole returns natives that nothing else refers to.
        # A check that fails leaves arguments as they were, so that none is used up.
        writes_new = self.backend.destroys and not self.made.effects
        self.returns_new = writes_new and not self.crossing.two_engines and not self.options.by_nodes
        self.reusing = self._results_reusing() if self.returns_new else {}
        # Donated argument -> the result that takes its memory.
        self._result_in = {place: number for number, place in enumerate(self.written)} | self.reusing
        candidates = {*self.written, *self.reusing} if self.returns_new else set()
        self.handling, self._by_steps = self._handling(candidates - self.deferred), self._handling(set())

    def _traced(self) -> FunctionGraph:
        return FunctionGraph(
            self.made.inputs, [*(each.value for each in self.stores), *self.made.computed, *self.made.effects]
        )

    def by_single_steps(self) -> FunctionGraph:
        """Return the graph that would run if nothing were fused."""
        if not any(isinstance(innermost(node.op), (FusedOp, LoweredOp)) for node in self.fgraph.apply_nodes):
            return self.fgraph
        fgraph = self._traced()
        self._rewriting(fgraph, fuses=False)
        return fgraph

    def _handling(self, donated: set[int]) -> Handling:
        numbered = [(number, place, steps) for number, (place, _, steps) in enumerate(self.stores)]
        return Handling(
            tuple(place not in donated for place in range(len(self.arrays) + len(self.made.captured))),
            tuple(sorted(donated)),
            tuple(sorted(self.destroyed - donated)),
            tuple((number, place) for number, place, _ in numbered if place in donated),
            tuple(
                each
                for each in numbered
                if each[1] not in donated and (each[1] in self.deferred or not self.backend.mutable)
            ),
        )

    def _results_reusing(self) -> dict[int, int]:
        """Map each argument that may be donated to a result of the same type that can use its memory."""
        taken: dict[int, int] = {}
        for place in self.mutable:
            fitting = (
                number
                for number in range(len(self.stores), len(self.fgraph.outputs))
                if number not in taken.values()
                and same_type(self.fgraph.outputs[number].type, self.fgraph.inputs[place].type)
            )
            number = next(fitting, None)
            if number is not None:
                taken[place] = number
        return taken

    @property
    def writes_back(self) -> bool:
        """Whether a call does more than run the graph and return its results."""
        how = self.handling
        return bool(how.donated or how.rebound or how.assigned)

    def executor(self, donated: tuple[int, ...] = ()) -> Executor:
        """Return what runs the graph on natives, and uses up those of some arguments."""
        found = self._executors.get(donated)
        if found is None:
            exact = not all(map(_is_plain, self.fgraph.apply_nodes))
            donate = {place: self._result_in[place] for place in donated}
            bound = partial(bound_and_compiled, self.backend) if self.options.wait else None
            borrow = self.options.borrow
            found = executor(
                self.fgraph, self.backend, borrow=borrow, donate=donate, exact=exact, bound=bound, joined=joined
            )
            found = self._executors[donated] = self._ended(found)
        return found

    def _ended(self, run: Executor) -> Executor:
        """Return what runs the graph, and raises what a check has found before anything is written back."""
        if not self.made.effects:
            return run

        def run_to_end(*natives: Native) -> Sequence[Any]:
            *results, chain = run(*natives)
            raise_noted(int(self.backend.to_numpy(chain)))
            return results

        return run_to_end

    @property
    def refusal(self) -> str | None:
        """Why the engine's compiler doesn't compile the graph, ``None`` if it does; it may show at the first call."""
        if not self.backend.can_compile or self.options.by_nodes:
            return None
        reason = getattr(self.executor(), "refusal", None)
        if reason is None:
            return None
        reason = _uncompiled(self.fgraph) or reason
        return f"{self.backend.name} runs this operation by operation, and doesn't compile it: {reason}"

    # Running

    def _traced_again(
        self, function: Callable[..., object], spec: object, floats: Sequence[int], leaves: Sequence[object]
    ) -> TracedCall:
        return trace_call(function, leaves, spec, Trace(self.crossing), floats)

    def __call__(self, leaves: Sequence[Any], eager: Callable[[], object], run: Executor | None = None) -> object:
        """Return the function's result for the leaves of arguments of this program's cache key.

        ``eager`` runs the function itself. ``run``, if given, runs the graph step by step in place of the executor.
        """
        if self._again is not None and not self._is_new:
            check_current(self.name, self.made, self._again(leaves))
        self._is_new = False
        targets = [*(leaves[place] for place in self.arrays), *self.made.captured]
        scalars = self.scalars([leaves[place] for place in self.made.floats.places], run is not None)
        if self.destroyed and self.clash(targets):
            # Overlapping arguments are written in an order that only the function itself knows.
            tell_in_python(self.name, "arguments that it writes overlap others")
            return eager()
        how = self.handling if run is None else self._by_steps
        # A donated argument needs no check, unless an engine's trace is running that began after the array was made.
        # A captured array may have been protected since the trace.
        is_free = self.backend.trace() is None and all(type(targets[place]) is Array for place in how.donated)
        for place in how.checked if is_free else self.destroyed:
            check_target(targets[place])
        results = self.write(targets, scalars, how, run) if how.donated else self._run(targets, scalars, how, run)
        if not self._told and self.backend.can_compile and run is None:
            self._told = True
            if self.refusal is not None:
                tell_refused(self.name, self.refusal)
                warnings.warn(self.refusal, CompileWarning, stacklevel=4)
        backend = self.crossing.array_backend
        computed = [wrap(native, backend) for native in results[len(self.stores) :]]
        if run is None and self.returns_new:
            shared = {number - len(self.stores) for number in self.reusing.values()}
            for number, x in enumerate(computed):
                x._owned = number not in shared
        return self.made.returned(targets, computed)

    def scalars(self, floats: Sequence[float], by_steps: bool) -> list[Native]:
        """Return the natives of the graph's last inputs, which follow from the floats among the arguments."""
        values = self.made.floats.values(*floats)
        return [make(value) for make, value in zip(self.makers(by_steps), values, strict=True)]

    def makers(self, by_steps: bool = False) -> list[Callable[[float], Any]]:
        """Return what makes the natives of floats, for the graph as it's run."""
        compiled = self.backend.can_compile and not by_steps and not self.options.by_nodes
        return self.made.floats.makers(self.backend, compiled=compiled)

    def clash(self, targets: Sequence[Array]) -> bool:
        """Return whether one of the arrays that are written overlaps another one."""
        return any(not self.destroyed.isdisjoint(pair) for pair in overlapping(targets))

    def write(
        self, targets: Sequence[Array], scalars: Sequence[Any], how: Handling, run: Executor | None = None
    ) -> list[Native]:
        """Run the graph, which uses up natives of its arguments, write back the stores, and return the results."""
        copied: list[Array] = []
        # No other thread may read an array while its native is used up.
        with LOCK:
            results = self._run(targets, scalars, how, run, copied)
        for x in copied:
            tell_copied(x)
        return results

    def _run(
        self,
        targets: Sequence[Array],
        scalars: Sequence[Any],
        how: Handling,
        run: Executor | None,
        copied: list[Array] | None = None,
    ) -> list[Native]:
        """Run the graph, write back the stores, and return the results.

        The arrays that would have been donated, and are copied instead, are added to ``copied``.
        """
        # ``run`` calls kernels one by one, which take natives.
        to_engine = self.to_engine if run is None else self.crossing.to_engine
        natives = [to_engine(x) if kept else None for x, kept in zip(targets, how.kept, strict=True)]
        natives += scalars
        if not (how.donated or how.rebound or how.assigned or self.crossing.two_engines):
            # Nothing is written.
            return list((self._ended(run) if run else self.executor(()))(*natives))
        writing, pending = Writing(), []
        used_up: list[int] = []
        is_free = self.backend.trace() is None
        may_copy, copies = is_free and self._copies < COPIES, 0
        try:
            writing.under_way = True
            for place in how.donated:
                taken = release(targets[place], writing, len(used_up), untraced=is_free)
                assert taken is not None
                pending.append(taken)
                natives[place] = taken.native
                if taken.number is None:
                    if copied is not None:
                        copied.append(targets[place])
                    if not may_copy:
                        continue
                    natives[place] = self.backend.copy(taken.native)
                    copies = 1
                    # What isn't written keeps its own native: the memory of the copy is used.
                    if place not in self.reusing:
                        taken.number = len(used_up)
                used_up.append(place)
            self._copies += copies
            run = self._ended(run) if run else self.executor(tuple(used_up))
            results = list(run(*natives, results=writing.results) if used_up else run(*natives))
            if self.crossing.two_engines:
                results = [self.crossing.copy_back(each) for each in results]
            if len(used_up) == len(how.donated) and not (copies or how.assigned):
                # An interrupt leaves the end of them to ``writing``.
                for number, place in how.rebound:
                    rebind(targets[place], results[number], owned=True)
                for place, number in self.reusing.items():
                    rebind(targets[place], results[number])
            else:
                replaced = [
                    place for place, taken in zip(how.donated, pending, strict=True) if taken.number is not None
                ]
                finish_all(self._writes(targets, how, replaced, results))
        finally:
            writing.under_way = False
            writing.end(pending)
        return results

    def _writes(
        self, targets: Sequence[Array], how: Handling, replaced: list[int], results: list[Any]
    ) -> list[Callable[[], object]]:
        """Return functions that write the results back."""
        rebound = [partial(rebind, targets[place], results[number], owned=True) for number, place in how.rebound]
        assigned = [partial(put, targets[place], results[number], *steps) for number, place, steps in how.assigned]
        reusing = [
            partial(rebind, targets[place], results[self.reusing[place]]) for place in replaced if place in self.reusing
        ]
        return [*rebound, *assigned, *reusing]


def own(array: Array) -> None:
    """Note that nothing else has the native of a result."""
    array._owned = True


def _is_plain(node: Apply) -> bool:
    # A compiler may drop errors and draw other random numbers. What a user's kernel does isn't known.
    parts = list(node.op.parts())
    return not may_fail(node) and all(isinstance(op, KernelOp) and not op.name.startswith("draw_") for op in parts)


# Why an operation keeps a graph from a compiler that goes on where a kernel would raise.
_RAISING = "{} may raise for some values, such as an index out of bounds or a singular matrix; compiled code doesn't"
_DRAWING = "{} would draw other random numbers in compiled code"
_FOREIGN = "{} may raise or draw random numbers, which isn't known of an operation that a user declares"


def _uncompiled(fgraph: FunctionGraph) -> str:
    """Return which operations keep a graph from the engine's compiler, and why; an empty text if none does."""
    reasons: dict[str, set[str]] = {_RAISING: set(), _DRAWING: set(), _FOREIGN: set()}
    _note_reasons(fgraph.apply_nodes, "", reasons)
    return "; ".join(reason.format(", ".join(sorted(names))) for reason, names in reasons.items() if names)


def _note_reasons(nodes: Iterable[Apply], place: str, reasons: dict[str, set[str]]) -> None:
    for node in nodes:
        inner = node.op.nodes()
        if inner is not None:
            _note_reasons(inner, f" (inside {node.op.name})", reasons)
            continue
        for op in node.op.parts():
            if not isinstance(op, KernelOp):
                reasons[_FOREIGN].add(f"{op.name}{place}")
            elif op.name.startswith("draw_"):
                reasons[_DRAWING].add(f"{op.name}{place}")
            elif may_fail(node):
                reasons[_RAISING].add(f"{op.name}{place}")
