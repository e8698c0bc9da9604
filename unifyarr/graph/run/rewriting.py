"""From a traced graph to the one that runs: smaller, fused, and working in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..._core.engines.handle import Handle
from ..._core.values.shapes import c_strides
from ...errors import InconsistencyError
from ..core.allornothing import AllOrNothing
from ..core.basic import Apply, Constant, Variable, same_type
from ..core.destroyhandler import DestroyHandler
from ..core.feature import Client
from ..core.fgraph import FunctionGraph
from ..core.rewriting import canonicalize, fold_constants, inplace, keep_in, merge
from ..core.scheduling import settle_order
from ..core.supervisor import Supervisor
from ..fusion.finding import fuse
from ..fusion.machine import is_compiled
from ..fusion.recipes import are_loops
from ..kernels.cleanups import RULES, WHOLE_RULES, folded
from ..kernels.executors import shared
from ..kernels.into import computed_into
from ..kernels.kernelop import copied, is_writable, may_fail, stored
from ..kernels.windows import compute_in_window
from ..tracing.traced import known_type
from .ordering import mark, unmark


@dataclass(frozen=True)
class Rewriting:
    """What turns the traced graph of a program into the one that runs.

    ``strides`` has those of the graph's inputs, and ``is_on_host`` says whether all lie on the host. The first
    ``stores`` outputs are for inputs. ``stored`` maps the number of each that the graph writes there to the place of
    the input, and ``free`` has the places of all inputs that may be overwritten. In a ``small`` graph, the step of a
    loop, what is left of each call counts: single operations, and those of one element, are fused too.
    """

    backend: Handle
    mode: str
    strides: Sequence[tuple[int, ...]]
    is_on_host: bool
    stores: int
    stored: Mapping[int, int]
    free: frozenset[int]
    small: bool = False

    def __call__(self, fgraph: FunctionGraph, *, fuses: bool = True) -> None:
        """Turn the traced graph into the one that runs."""
        if self.mode != "pure":
            self._simplify(fgraph, fuses=fuses)
        if self.backend.mutable:
            self._write(fgraph)
            if self.mode != "pure":
                self._work_in_place(fgraph)

    def _simplify(self, fgraph: FunctionGraph, *, fuses: bool) -> None:
        on_numpy = self.backend.name == "numpy"
        if on_numpy:
            mark(fgraph, self.strides, self.stores)
        canonicalize(fgraph, RULES if self.backend.mutable else WHOLE_RULES)
        if self.backend.mutable:
            # The compilers of the other engines fold constants themselves.
            fold_constants(fgraph, folded)
        merge(fgraph)
        if on_numpy:
            unmark(fgraph, self.strides)
        if fuses and self.is_on_host and are_loops(self.backend) and is_compiled():
            fuse(fgraph, self._known_strides(fgraph), self.small)
        canonicalize(fgraph, [compute_in_window])

    def _known_strides(self, fgraph: FunctionGraph) -> dict[Variable, Sequence[int]]:
        """Return the strides of a graph's inputs and constants."""
        known: dict[Variable, Sequence[int]] = dict(zip(fgraph.inputs, self.strides, strict=True))
        for variable in (v for node in fgraph.apply_nodes for v in node.inputs if isinstance(v, Constant)):
            strides = self.backend.strides(variable.data)
            if strides is not None:
                known[variable] = strides
        return known

    def _write(self, fgraph: FunctionGraph) -> None:
        """Add the stores to written arguments, and copies so that each other result has memory of its own."""
        taken: set[Variable] = set()
        for number, (variable, memory) in enumerate(zip(list(fgraph.outputs), shared(fgraph), strict=True)):
            new = variable
            is_stored = number in self.stored
            if is_stored and variable is fgraph.inputs[self.stored[number]]:
                # It stays what it is.
                continue
            # Callers may write to what is returned. A broadcast is read-only, though a rewrite may have put it there.
            is_fit = is_stored or is_writable(variable)
            if any(each.owner is None for each in memory) or memory & taken or not is_fit:
                new = copied(self.backend, variable)
            if is_stored:
                new = stored(self.backend, fgraph.inputs[self.stored[number]], new)
            with fgraph.history.of("the storing of results"):
                fgraph.change_input(Client(None, number), new)
            taken |= memory
        fgraph.attach(DestroyHandler())
        fgraph.attach(AllOrNothing(may_fail))

    def _work_in_place(self, fgraph: FunctionGraph) -> None:
        fgraph.attach(Supervisor(each for place, each in enumerate(fgraph.inputs) if place not in self.free))
        stores = {number: fgraph.inputs[place] for number, place in self.stored.items()}
        stores = {number: target for number, target in stores.items() if fgraph.outputs[number] is not target}
        # One operation may compute several of them in their targets' memory, but only together (a swap of two, say).
        groups: dict[Apply | None, dict[int, Variable]] = {}
        for number, target in stores.items():
            groups.setdefault(_stored(fgraph, number).owner, {})[number] = target
        for group in groups.values():
            if len(group) == 1 or not _store_nothing(fgraph, group):
                for number, target in group.items():
                    if not _store_nothing(fgraph, {number: target}) and self._is_dense(fgraph, self.stored[number]):
                        _compute_there(fgraph, number, target)
        inplace(fgraph)
        settle_order(fgraph)

    def _is_dense(self, fgraph: FunctionGraph, place: int) -> bool:
        """Return whether an input is in C order without gaps: kernels have other loops for other memory."""
        shape, dtype = known_type(fgraph.inputs[place])
        return self.strides[place] == c_strides(shape, dtype.itemsize)


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
