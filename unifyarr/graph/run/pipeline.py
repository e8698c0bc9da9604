"""From a traced graph to the one that runs: smaller, fused, and working in place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any

from ..._core.engines.handle import Handle
from ..._core.values.shapes import c_strides
from ...errors import InconsistencyError
from ...modes.trace.traced import known_type
from ..building.rewriters import NodeRewriter
from ..building.variables import building_for
from ..core.allornothing import AllOrNothing
from ..core.basic import Apply, Constant, Variable, same_type
from ..core.destroyhandler import DestroyHandler
from ..core.feature import Client
from ..core.fgraph import FunctionGraph
from ..core.hoisting import hoist
from ..core.joining import join
from ..core.rewriting import Rule, attempt, canonicalize, fold_constants, inplace, keep_in, merge, named
from ..core.scheduling import settle_order
from ..core.supervisor import Supervisor
from ..core.untouched import Untouched
from ..core.written import Written
from ..fusion.finding import fuse
from ..fusion.lowering import Lowering, lower
from ..fusion.machine import is_compiled
from ..fusion.step_recipes import are_loops
from ..kernels.cleanups import RULES, folded, is_on_mutable, read_behind_writes
from ..kernels.commuting import commuted
from ..kernels.executors import shared
from ..kernels.failing import may_fail
from ..kernels.grouped import group_nodes
from ..kernels.into import computed_into
from ..kernels.kernelop import STORE, copied, is_kernel, is_writable, stored
from ..kernels.windows import compute_in_window, write_to_own
from ..stabilizing.stabilize import stabilize
from .ordering import Layouts, mark, unmark
from .rewrite_registry import REGISTERED, Own, Rewrite
from .trace_log import tell_refused_rewrite


@dataclass(frozen=True)
class Rewriting:
    """What turns the traced graph of a program into the one that runs.

    ``strides`` has those of the graph's inputs, and ``is_on_host`` says whether all lie on the host. The first
    ``stores`` outputs are for inputs. ``stored`` maps the number of each that the graph writes there to the place of
    the input, and ``free`` has the places of all inputs that may be overwritten. ``rewrites`` are run in their order.
    In a ``small`` graph, the step of a loop, what is left of each call counts: single operations are fused too.
    ``lowering`` says which of the engine's own compilers takes what is fused. The outputs from number ``read_at_once``
    on are read before anything else happens: they may be in the memory of others.
    """

    backend: Handle
    rewrites: Sequence[Rewrite]
    strides: Sequence[tuple[int, ...]]
    is_on_host: bool
    stores: int
    stored: Mapping[int, int]
    free: frozenset[int]
    small: bool = False
    lowering: Lowering | None = None
    read_at_once: int | None = None

    def __call__(self, fgraph: FunctionGraph, *, fuses: bool = True, pure: bool = False) -> None:
        """Turn the traced graph into the one that runs.

        Without ``fuses`` nothing is fused. With ``pure`` only the rewrites that people added run, on an engine that
        writes in place those that stand before memory is overwritten.
        """
        chosen = [each for each in self.rewrites if fuses or each.name != "fuse"]
        if pure and self.backend.mutable:
            chosen = list(takewhile(lambda each: each.name != "store", chosen))
        theirs = [each for each in chosen if not isinstance(each, Own)]
        chosen = theirs if pure else self._ordered(chosen)
        fgraph.history.told = {each.name for each in theirs}
        with building_for(self.backend):
            for of_nodes, group in groupby(chosen, lambda each: isinstance(each.function, NodeRewriter)):
                rewrites = list(group)
                if of_nodes:
                    # Until none of them changes anything.
                    with self._watched(fgraph) if any(each in theirs for each in rewrites) else nullcontext():
                        canonicalize(fgraph, [_rule(each) for each in rewrites])
                    continue
                for each in rewrites:
                    if each not in theirs:
                        with named(fgraph, each.name):
                            each.run(fgraph, self)
                    else:
                        with self._watched(fgraph), _taken_back_if_refused(fgraph, each), named(fgraph, each.name):
                            each.run(fgraph, self)
            for node in list(fgraph.apply_nodes):
                op = node.op.rewritten_by(self)
                if op is not node.op:
                    with fgraph.history.of(""):
                        fgraph.substitute(node, op)
        for name, reason in fgraph.history.refusals:
            tell_refused_rewrite(name, reason)

    def reference(self, fgraph: FunctionGraph) -> FunctionGraph:
        """Return the graph whose values the rewritten one must have: changed by the rewrites that change values."""
        if all(each.exact for each in self.rewrites):
            return fgraph
        found = fgraph.copy()
        rewrites = [each for each in self.rewrites if not each.exact or each.always or each.required]
        replace(self, rewrites=rewrites, lowering=None)(found, pure=True)
        return found

    def transformed(self, fgraph: FunctionGraph, backend: Handle) -> FunctionGraph:
        """Return the graph of a function that an engine transforms, rewritten by what people added.

        Nothing is overwritten there, as the engine's derivatives need the values.
        """
        if all(isinstance(each, Own) for each in self.rewrites):
            return fgraph
        found = fgraph.copy()
        found.attach(Untouched())
        replace(self, backend=backend, lowering=None)(found, pure=True)
        return found

    def _ordered(self, chosen: list[Rewrite]) -> list[Rewrite]:
        """Return the rewrites in their order: an engine's compiler gets the graph before ours.

        It has such rewrites itself, and looks for patterns that people write. Of loops it knows nothing.
        """
        place = next((place for place, each in enumerate(chosen) if each.name == "fuse"), None)
        if self.lowering is None or place is None:
            return chosen
        first = [each for each in chosen[:place] if not isinstance(each, Own) or each.name == "hoist"]
        # It adds up in any order.
        left = [each for each in chosen[:place] if each not in first and not each.required]
        return [*first, chosen[place], *left, *chosen[place + 1 :]]

    @contextmanager
    def _watched(self, fgraph: FunctionGraph) -> Iterator[None]:
        """Have the graph refuse what would overwrite values that are needed, or keep arguments from being written."""
        features = fgraph.features
        if not any(isinstance(each, DestroyHandler) for each in features):
            fgraph.attach(DestroyHandler())
            fgraph.attach(Supervisor(fgraph.inputs))
        if not any(isinstance(each, AllOrNothing) for each in features):
            # Nothing is stored yet.
            yield
            return
        written = Written({number: fgraph.inputs[place] for number, place in self.stored.items()})
        fgraph.attach(written)
        try:
            yield
        finally:
            fgraph.detach(written)

    def known_strides(self, fgraph: FunctionGraph) -> dict[Variable, Sequence[int]]:
        """Return the strides of a graph's inputs and constants."""
        known: dict[Variable, Sequence[int]] = dict(zip(fgraph.inputs, self.strides, strict=True))
        for variable in (v for node in fgraph.apply_nodes for v in node.inputs if isinstance(v, Constant)):
            strides = self.backend.strides(variable.data)
            if strides is not None:
                known[variable] = strides
        return known

    def is_dense(self, fgraph: FunctionGraph, place: int) -> bool:
        """Return whether an input is in C order without gaps: kernels have other loops for other memory."""
        shape, dtype = known_type(fgraph.inputs[place])
        return self.strides[place] == c_strides(shape, dtype.itemsize)


@contextmanager
def _taken_back_if_refused(fgraph: FunctionGraph, rewrite: Rewrite) -> Iterator[None]:
    """Take back all changes that a rewrite makes inside the block if the graph refuses them."""
    try:
        with fgraph.transaction():
            yield
    except InconsistencyError as error:
        fgraph.history.refuse(error, rewrite.name)


def _rule(rewrite: Rewrite) -> Rule:
    """Return the rewriter of nodes. What one of people changes itself is taken back if the graph refuses it."""
    function: Any = rewrite.function
    if isinstance(rewrite, Own):
        return function  # type: ignore[no-any-return]

    def rule(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable | None] | None:
        with _taken_back_if_refused(fgraph, rewrite):
            return function(fgraph, node)  # type: ignore[no-any-return]
        return None

    return NodeRewriter(rule, name=rewrite.name)


def _inlined(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable] | None:
    return node.op.inlined(node)


def _hoist(fgraph: FunctionGraph, task: Rewriting) -> None:
    hoist(fgraph)


def _note_order(fgraph: FunctionGraph, task: Rewriting) -> None:
    """Note in which order eager sums add up, before copies and what is overwritten go."""
    if task.backend.has_strides:
        mark(fgraph, task.backend, task.strides, task.stores, task.free)


def _settle_order_of_sums(fgraph: FunctionGraph, task: Rewriting) -> None:
    if task.backend.has_strides:
        unmark(fgraph, task.backend, task.strides, task.free)


def _fold_constants(fgraph: FunctionGraph, task: Rewriting) -> None:
    # The compilers of the other engines fold constants themselves.
    if task.backend.mutable:
        fold_constants(fgraph, folded)


def _merge(fgraph: FunctionGraph, task: Rewriting) -> None:
    merge(fgraph)
    pairs = list(commuted(fgraph))
    if pairs and task.backend.has_strides:
        # The first of operands that lie in different orders may decide how the result lies.
        strides = Layouts(fgraph, task.backend, task.strides, task.free).strides
        alike = [[strides[each.outputs[0]] for each in pair] for pair in pairs]
        pairs = [pair for pair, (one, two) in zip(pairs, alike, strict=True) if one is not None and one == two]
    for node, other in pairs:
        attempt(fgraph, list(zip(node.outputs, other.outputs, strict=True)))
    if pairs:
        merge(fgraph)


def _join(fgraph: FunctionGraph, task: Rewriting) -> None:
    join(fgraph)


def _fuse(fgraph: FunctionGraph, task: Rewriting) -> None:
    if task.lowering is not None:
        lower(fgraph, task.backend, task.lowering, task.strides)
    elif task.is_on_host and are_loops(task.backend) and is_compiled():
        fuse(fgraph, task.known_strides(fgraph), task.small)


def _store(fgraph: FunctionGraph, task: Rewriting) -> None:
    """Add the stores to written arguments, and copies so that each other result has memory of its own."""
    if not task.backend.mutable:
        return
    taken: set[Variable] = set()
    for number, (variable, memory) in enumerate(zip(list(fgraph.outputs), shared(fgraph), strict=True)):
        new = variable
        is_stored = number in task.stored
        if is_stored and variable is fgraph.inputs[task.stored[number]]:
            # It stays what it is.
            continue
        # Callers may write to what is returned. A broadcast is read-only, though a rewrite may have put it there.
        is_read = task.read_at_once is not None and number >= task.read_at_once
        is_fit = is_read or is_stored or is_writable(variable)
        if any(each.owner is None for each in memory) or not (is_read or memory.isdisjoint(taken)) or not is_fit:
            new = copied(task.backend, variable)
        if is_stored:
            new = stored(task.backend, fgraph.inputs[task.stored[number]], new)
        with fgraph.history.of("the storing of results"):
            fgraph.change_input(Client(None, number), new)
        taken |= memory
    watching = next((each for each in fgraph.features if isinstance(each, Supervisor)), None)
    if watching is None:
        fgraph.attach(DestroyHandler())
    else:
        # From here on arguments that are written may be overwritten.
        fgraph.detach(watching)
    fgraph.attach(AllOrNothing(may_fail))
    fgraph.attach(Supervisor(each for place, each in enumerate(fgraph.inputs) if place not in task.free))


def _work_in_place(fgraph: FunctionGraph, task: Rewriting) -> None:
    if not task.backend.mutable:
        return
    stores = {number: fgraph.inputs[place] for number, place in task.stored.items()}
    # One operation may compute several of them in their targets' memory, but only together (a swap of two, say).
    groups: dict[Apply | None, dict[int, Variable]] = {}
    for number, target in stores.items():
        if is_kernel(fgraph.outputs[number].owner, STORE):
            groups.setdefault(_stored(fgraph, number).owner, {})[number] = target
    for group in groups.values():
        if len(group) == 1 or not _store_nothing(fgraph, group):
            for number, target in group.items():
                if not _store_nothing(fgraph, {number: target}) and task.is_dense(fgraph, task.stored[number]):
                    _compute_there(fgraph, number, target)
    inplace(fgraph)


def _group(fgraph: FunctionGraph, task: Rewriting) -> None:
    if task.backend.mutable and not task.is_on_host:
        group_nodes(fgraph, task.backend)


def _group_stores(fgraph: FunctionGraph, task: Rewriting) -> None:
    if task.backend.mutable and not task.is_on_host:
        group_nodes(fgraph, task.backend, stores=True)


def _schedule(fgraph: FunctionGraph, task: Rewriting) -> None:
    if task.backend.mutable:
        settle_order(fgraph)


def _on_whole_graphs(fgraph: FunctionGraph, node: Apply) -> Sequence[Variable | None] | None:
    # Where the engine compiles the graph as a whole. XLA copies an array that is read between two writes to it, though
    # the windows are apart. Elsewhere the value would be held for longer than its window.
    return None if is_on_mutable(node) else read_behind_writes(fgraph, node)


# It runs in all bodies, as what people add.
STABILIZE = Rewrite(stabilize, default=False, exact=False)
STABILIZE.is_ours = True

REGISTERED.extend(
    [
        Own(NodeRewriter(_inlined, name="inline_graphs")),
        Own(_hoist, name="hoist"),
        Own(_note_order, name="note_order", required=True),
        *(Own(NodeRewriter(rule)) for rule in RULES),
        Own(NodeRewriter(_on_whole_graphs, name="read_behind_writes")),
        Own(_fold_constants, name="fold_constants"),
        Own(_merge, name="merge"),
        Own(_join, name="join"),
        Own(_settle_order_of_sums, name="settle_order", required=True),
        STABILIZE,
        Own(_fuse, name="fuse"),
        Own(NodeRewriter(compute_in_window)),
        Own(NodeRewriter(write_to_own)),
        Own(_group, name="group"),
        Own(_store, name="store", always=True),
        Own(_work_in_place, name="inplace"),
        Own(_group_stores, name="group_stores"),
        Own(_schedule, name="schedule"),
    ]
)


def _stored(fgraph: FunctionGraph, number: int) -> Variable:
    store = fgraph.outputs[number].owner
    assert store is not None
    return store.inputs[1]


def _compute_there(fgraph: FunctionGraph, number: int, target: Variable) -> None:
    """Try to compute a value in the memory of its target, which the node doesn't read."""
    value = _stored(fgraph, number)
    node = value.owner
    if node is None or value.index not in node.op.out or may_fail(node) or not same_type(value.type, target.type):
        return
    with suppress(InconsistencyError), fgraph.history.of("inplace"), fgraph.transaction():
        new = computed_into(node, value.index, target)
        fgraph.replace(fgraph.outputs[number], value)
        fgraph.replace_all(zip(node.outputs, new.outputs, strict=True))


def _store_nothing(fgraph: FunctionGraph, targets: Mapping[int, Variable]) -> bool:
    """Try to compute values in the memory of their targets, so that they needn't be stored there."""
    try:
        with fgraph.history.of("inplace"), fgraph.transaction():
            values = {number: _stored(fgraph, number) for number in targets}
            for number, value in values.items():
                fgraph.replace(fgraph.outputs[number], value)
            for number, target in targets.items():
                if keep_in(fgraph, values[number], target) is None:
                    raise InconsistencyError(f"{values[number]} can't be computed in the memory of {target}")
    except InconsistencyError:
        return False
    return True
