"""What runs a function for one kind of arguments: its graph, rewritten to work in place, and where results go."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .._core.inplace import assign, check_target
from .._core.ownership import LOCK, release
from .._core.views import Window, is_recipe, overlapping, rebind
from .._core.wrapper import is_array, read, wrap
from ..errors import InconsistencyError
from .allornothing import AllOrNothing
from .basic import Apply, Op, Variable, same_type
from .cleanups import RULES, folded
from .crossing import Crossing, Store, stores_of
from .destroyhandler import DestroyHandler
from .executors import Executor, executor, shared
from .feature import Client
from .fgraph import FunctionGraph
from .kernels import FALLIBLE, KernelOp, copied, stored
from .rewriting import canonicalize, fold_constants, inplace, keep_in, merge
from .scheduling import settle_order
from .supervisor import Supervisor
from .trace import Trace, trace_call
from .windows import compute_in_window

if TYPE_CHECKING:
    from ..array import Array


# In place of a lock where none is needed.
UNLOCKED = contextlib.nullcontext()


class Options(NamedTuple):
    """How functions are compiled; see ``compile``."""

    mode: str
    borrow: bool


class Handling(NamedTuple):
    """What a call does with its arguments, by their places.

    ``entered`` says for each whether its native is computed with as it is. ``exchanged`` are the others, whose natives
    may be used up, and are new ones afterwards; ``checked`` are those that must be writable as they are. ``rebound``
    and ``assigned`` say which result is which argument's new native, and which is written to one, or to a window of it.
    """

    entered: tuple[bool, ...]
    exchanged: tuple[int, ...]
    checked: tuple[int, ...]
    rebound: tuple[tuple[int, int], ...]
    assigned: tuple[tuple[int, int, tuple[Window, ...]], ...]


class Program:
    """What runs a function for one kind of arguments.

    ``leaves`` and ``spec`` are those of the arguments that it's traced with; ``mutable`` is which of the arrays among
    them the caller doesn't need any more.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        leaves: list[Any],
        spec: Any,
        crossing: Crossing,
        mutable: Sequence[int],
        options: Options,
    ) -> None:
        self.crossing, self.backend, self.options = crossing, crossing.engine, options
        self.made = trace_call(function, leaves, spec, Trace(crossing))
        targets = [*filter(is_array, leaves), *self.made.captured]
        # Which inputs are written, and which of them not by the graph itself, but when all is computed.
        self.written = list(self.made.updates)
        self.apart = {place for place, x in enumerate(targets) if self._is_apart(x)}
        self.mutable = [place for place in mutable if place not in self.written and place not in self.apart]
        self._build()

    def _is_apart(self, x: Array) -> bool:
        # What was lent, views that are recipes, and variables of engines whose arrays are immutable.
        variable = not self.backend.mutable and self.backend.can_write(x._native)
        return is_recipe(x) or self.crossing.lends or variable

    def _build(self) -> None:
        made = self.made
        in_parts = self.crossing.lends and self.options.mode != "debug"
        self._stores = [
            store
            for place, new in made.updates.items()
            for store in (stores_of(place, made.inputs[place], new) if in_parts else [Store(place, new)])
        ]
        traced = FunctionGraph(made.inputs, [*(each.value for each in self._stores), *made.computed])
        self._destroyed = frozenset((*self.written, *self.mutable))
        whole = self.crossing.passed if self.options.mode != "debug" else self.crossing.enter
        self._enter: Callable[[Array], Any] = whole if self.crossing.lends else read
        self._executors: dict[tuple[int, ...], Executor] = {}
        if self.options.mode == "debug":
            from .debugmode import DebugProgram

            checked = DebugProgram(traced, self._rewrite, self.backend)
            self.fgraph, self._executors[()] = checked.fgraph, checked
        else:
            self._rewrite(traced)
            self.fgraph = traced
        # What is compiled as a whole returns natives that nobody else has.
        self._fresh = self.backend.destroys and not self.crossing.lends and self.options.mode != "debug"
        self.given = self._given() if self._fresh else {}
        # Which result is for the memory of an argument that is used up.
        self._taking = {place: number for number, place in enumerate(self.written)} | self.given
        candidates = {*self.written, *self.given} if self._fresh else set()
        self._whole, self._by_steps = self._handling(candidates - self.apart), self._handling(set())

    def _handling(self, exchanged: set[int]) -> Handling:
        numbered = [(number, place, steps) for number, (place, _, steps) in enumerate(self._stores)]
        return Handling(
            tuple(place not in exchanged for place in range(len(self.made.inputs))),
            tuple(sorted(exchanged)),
            tuple(sorted(self._destroyed - exchanged)),
            tuple((number, place) for number, place, _ in numbered if place in exchanged),
            tuple(
                each
                for each in numbered
                if each[1] not in exchanged and (each[1] in self.apart or not self.backend.mutable)
            ),
        )

    def _rewrite(self, fgraph: FunctionGraph) -> None:
        """Make the graph that runs of one that is as it was traced."""
        if self.options.mode != "pure":
            self._simplify(fgraph)
        if self.backend.mutable:
            self._write(fgraph)
            if self.options.mode != "pure":
                self._work_in_place(fgraph)

    def _simplify(self, fgraph: FunctionGraph) -> None:
        canonicalize(fgraph, RULES)
        if self.backend.mutable:
            # The others' compilers do that.
            fold_constants(fgraph, folded)
        merge(fgraph)
        canonicalize(fgraph, [compute_in_window])

    def _write(self, fgraph: FunctionGraph) -> None:
        """Let the graph write what is written; of its other results, let each be in memory that nobody else has."""
        taken: set[Variable] = set()
        for number, (variable, memory) in enumerate(zip(list(fgraph.outputs), shared(fgraph), strict=True)):
            new = variable
            if any(each.owner is None for each in memory) or memory & taken:
                new = copied(self.backend, variable)
            if number < len(self.written) and self.written[number] not in self.apart:
                new = stored(self.backend, fgraph.inputs[self.written[number]], new)
            fgraph.change_input(Client(None, number), new)
            taken |= memory
        fgraph.attach(DestroyHandler())
        fgraph.attach(AllOrNothing(_may_fail))

    def _work_in_place(self, fgraph: FunctionGraph) -> None:
        free = {place for place in (*self.written, *self.mutable) if place not in self.apart}
        fgraph.attach(Supervisor(each for place, each in enumerate(fgraph.inputs) if place not in free))
        stores = {number: fgraph.inputs[place] for number, place in enumerate(self.written) if place not in self.apart}
        # One operation may compute several of them in their memory, and only together: two that it swaps, say.
        groups: dict[Apply | None, dict[int, Variable]] = {}
        for number, target in stores.items():
            groups.setdefault(_stored(fgraph, number).owner, {})[number] = target
        for group in groups.values():
            if len(group) == 1 or not _store_nothing(fgraph, group):
                for number, target in group.items():
                    _store_nothing(fgraph, {number: target})
        inplace(fgraph)
        settle_order(fgraph)

    def _given(self) -> dict[int, int]:
        """Return for arguments that aren't needed any more the result of each one's type that may take its memory."""
        given: dict[int, int] = {}
        for place in self.mutable:
            fitting = (
                number
                for number in range(len(self._stores), len(self.fgraph.outputs))
                if number not in given.values()
                and same_type(self.fgraph.outputs[number].type, self.fgraph.inputs[place].type)
            )
            number = next(fitting, None)
            if number is not None:
                given[place] = number
        return given

    def _executor(self, donated: tuple[int, ...]) -> Executor:
        found = self._executors.get(donated)
        if found is None:
            exact = not all(_is_plain(node.op) for node in self.fgraph.apply_nodes)
            donate = {place: self._taking[place] for place in donated}
            found = executor(self.fgraph, self.backend, borrow=self.options.borrow, donate=donate, exact=exact)
            self._executors[donated] = found
        return found

    # Running

    def __call__(self, arrays: list[Array], eager: Callable[[], Any], run: Executor | None = None) -> Any:
        """Return what the function returns for arrays of this kind.

        ``eager`` runs the function itself, and ``run`` the graph, step by step, in place of what runs it otherwise.
        """
        targets = [*arrays, *self.made.captured]
        destroyed = self._destroyed
        if destroyed and any(not destroyed.isdisjoint(pair) for pair in overlapping(targets)):
            # What overlaps is written in an order that only the function itself knows.
            return eager()
        how = self._whole if run is None else self._by_steps
        # What is exchanged can be, unless an engine's trace that began after it was made is running.
        for place in how.checked if not how.exchanged or self.backend.trace() is None else destroyed:
            check_target(targets[place])
        # Nobody else may read an array whose native is being used up.
        with LOCK if how.exchanged else UNLOCKED:
            results = self._run(targets, how, run)
        home = self.crossing.home
        computed = [wrap(native, home) for native in results[len(self._stores) :]]
        if self._fresh and run is None:
            shared = {number - len(self._stores) for number in self.given.values()}
            for number, x in enumerate(computed):
                x._owned = number not in shared
        return self.made.returned(targets, computed)

    def _run(self, targets: list[Array], how: Handling, run: Executor | None) -> list[Any]:
        """Run the graph, write what is written, and return the results."""
        # Step by step it's natives that are computed with.
        enter = self._enter if run is None else self.crossing.enter
        natives = [enter(x) if entered else None for x, entered in zip(targets, how.entered, strict=True)]
        donated = []
        try:
            for place in how.exchanged:
                natives[place], owned = release(targets[place])
                if owned:
                    donated.append(place)
            run = run or self._executor(tuple(donated))
            results = list(run(*natives))
            if self.crossing.lends:
                results = [self.crossing.leave(each) for each in results]
        except BaseException:
            for place in how.exchanged:
                if natives[place] is not None:
                    targets[place]._native = natives[place]
            raise
        for number, place in how.rebound:
            rebind(targets[place], results[number], owned=True)
        for number, place, steps in how.assigned:
            assign(targets[place], results[number], *steps)
        for place in donated:
            if place in self.given:
                rebind(targets[place], results[self.given[place]])
        return results


def _may_fail(op: Op) -> bool:
    return any(isinstance(each, KernelOp) and each.name in FALLIBLE for each in op.parts())


def _is_plain(op: Op) -> bool:
    # Compilers may leave out errors, and have random numbers of their own; what users' kernels do isn't known.
    return all(
        isinstance(each, KernelOp) and each.name not in FALLIBLE and not each.name.startswith("draw_")
        for each in op.parts()
    )


def _stored(fgraph: FunctionGraph, number: int) -> Variable:
    store = fgraph.outputs[number].owner
    assert store is not None
    return store.inputs[1]


def _store_nothing(fgraph: FunctionGraph, targets: Mapping[int, Variable]) -> bool:
    """Compute values in the memory of their targets, where that can be: they needn't be stored there then."""
    try:
        with fgraph.transaction():
            values = {number: _stored(fgraph, number) for number in targets}
            for number, value in values.items():
                fgraph.replace(fgraph.outputs[number], value)
            for number, target in targets.items():
                if keep_in(fgraph, values[number], target) is None:
                    raise InconsistencyError(f"{values[number]} can't be computed in the memory of {target}")
    except InconsistencyError:
        return False
    return True
