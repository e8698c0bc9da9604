"""Sums in the order of eager calls, in which NumPy and torch go through memory.

A compiled function may compute a result in memory that is used again, or leave out a copy. Where its axes could then
lie in another way than in an eager call, what adds it up reads it through a ``LaidOut``, which copies it if they do.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..._core.engines.handle import Handle
from ..._core.kernels.record import Alias
from ..._core.values.shapes import c_strides
from ...backends.base.values import FLOATING
from ...modes.trace.layouts import as_if_known, known_strides
from ...modes.trace.traced import known_type
from ..core.basic import Apply, Constant, Variable
from ..core.feature import Client
from ..core.fgraph import FunctionGraph
from ..core.rewriting import attempt
from ..kernels.kernelop import COPY, has_alias, is_kernel, record_of
from ..kernels.laidout import LaidOut, Strides, is_alike, lay_out


def mark(fgraph: FunctionGraph, backend: Handle, given: Sequence[Strides], stores: int, free: Collection[int]) -> None:
    """Write down how what is added up lies in memory when the function runs by itself, where that isn't certain.

    ``given`` are the strides of the graph's inputs, and ``free`` the places of those that may be overwritten. The first
    outputs, ``stores`` of them, are written to arguments, however they lie in memory.
    """
    for number, variable in enumerate(fgraph.outputs[:stores]):
        if variable.owner is not None and isinstance(variable.owner.op, LaidOut):
            with fgraph.history.of("the storing of results"):
                fgraph.change_input(Client(None, number), variable.owner.inputs[0])
    adding = [node for node in fgraph.toposort() if _adds(node, backend)]
    if not adding:
        return
    layouts = Layouts(fgraph, backend, given, free)
    if not layouts.vary:
        return
    with fgraph.history.of("the order of sums"):
        for node in adding:
            for index, variable in enumerate(node.inputs):
                strides = layouts.strides[variable]
                is_certain = variable not in layouts.loose and layouts.is_certain(variable) and _is_left(variable)
                if strides and None not in known_type(variable).shape and not is_certain:
                    fgraph.change_input(Client(node, index), lay_out(backend, variable, known_type(variable), strides))


def _adds(node: Apply, backend: Handle) -> bool:
    """Return whether last bits of a node depend on how its arguments lie in memory."""
    record = record_of(node)
    if record is None:
        return False
    chars = FLOATING if record.adds else backend.by_layout.get(record.name, "")
    return any(each.type is not None and each.type.dtype.char in chars for each in node.inputs)


def unmark(fgraph: FunctionGraph, backend: Handle, given: Sequence[Strides], free: Collection[int]) -> None:
    """Remove what is certain, now that copies and what was overwritten are gone."""
    marked = [node for node in fgraph.toposort() if isinstance(node.op, LaidOut)]
    if not marked:
        return
    layouts = Layouts(fgraph, backend, given, free)
    for node in marked:
        (variable,) = node.inputs
        (shape, dtype), strides = known_type(variable), layouts.strides[variable]
        assert isinstance(node.op, LaidOut)
        same = strides is not None and is_alike(shape, dtype.itemsize, strides, node.op.strides)
        if same and layouts.is_certain(variable):
            with fgraph.history.of("the order of sums"):
                attempt(fgraph, [(node.outputs[0], variable)])


class Layouts:
    """How the variables of a graph lie in memory where each result has memory of its own.

    ``strides`` has ``None`` where that isn't known. ``vary`` says whether anything isn't in C order without gaps.
    ``loose`` has what may lie in another way once copies are left out, and what is computed of that.
    """

    def __init__(self, fgraph: FunctionGraph, backend: Handle, given: Sequence[Strides], free: Collection[int]) -> None:
        self.strides: dict[Variable, Strides | None] = dict(zip(fgraph.inputs, given, strict=True))
        self._inputs = {*fgraph.inputs}
        self.loose: set[Variable] = set()
        for node in fgraph.toposort():
            for variable in node.inputs:
                if isinstance(variable, Constant):
                    self.strides[variable] = backend.strides(variable.data)
            after = _after(node, [self.strides[variable] for variable in node.inputs])
            self.strides |= zip(node.outputs, after, strict=True)
            if not self.loose.isdisjoint(node.inputs) or self._may_be_left_out(node):
                self.loose.update(node.outputs)
        self.vary = not all(_is_plain(*each) for each in self.strides.items())
        kept = {variable for place, variable in enumerate(fgraph.inputs) if place not in free}
        # Of all memory that a result of this type may be computed in.
        self._kinds: dict[object, set[Strides | None]] = {}
        for variable, strides in self.strides.items():
            if _root(variable) is variable and variable not in kept and not isinstance(variable, Constant):
                self._kinds.setdefault(known_type(variable), set()).update(_possible(variable, strides))
        for node in fgraph.apply_nodes:
            # A result may be computed in the window that it's computed from.
            results = {known_type(each) for each in node.outputs}
            for view in node.inputs:
                if _is_overwritable(view, kept) and known_type(view) in results:
                    self._kinds.setdefault(known_type(view), set()).add(self.strides[view])

    def _may_be_left_out(self, node: Apply) -> bool:
        """Return whether a node copies to another layout, and a rewrite may leave that out."""
        if is_kernel(node, COPY):
            (source,), (result,) = node.inputs, node.outputs
            shape, dtype = as_if_known(known_type(result))
            before, after = self.strides[source], self.strides[result]
            return before is None or after is None or not is_alike(shape, dtype.itemsize, before, after)
        if not is_kernel(node, "reshape") or not is_kernel(node.inputs[0].owner, "reshape"):
            return False
        # Two reshapes become one, of what the first one may have copied.
        first = node.inputs[0].owner
        return first is not None and not _is_plain(first.inputs[0], self.strides[first.inputs[0]])

    def is_certain(self, variable: Variable) -> bool:
        """Return whether a variable can't lie otherwise, whatever memory is used again."""
        root = _root(variable)
        return root in self._inputs or isinstance(root, Constant) or len(self._kinds[known_type(root)]) == 1


def _after(node: Apply, inputs: Sequence[Strides | None]) -> Sequence[Strides | None]:
    if has_alias(node, Alias.WRITE) and not _repeats(node.inputs[0], inputs[0]):
        # An eager write is made in the memory of the array.
        return inputs[:1]
    strides = [each for each in inputs if each is not None]
    known = known_strides(node, strides) if len(strides) == len(inputs) else None
    return [None] * len(node.outputs) if known is None else known


def _repeats(variable: Variable, strides: Strides | None) -> bool:
    """Return whether elements are one in memory, as of a broadcast constant: there only a copy is written."""
    lengths = known_type(variable).shape
    return any(step == 0 and length != 1 for step, length in zip(strides or (), lengths, strict=False))


def _possible(variable: Variable, strides: Strides | None) -> Sequence[Strides | None]:
    """Return how memory of its own of a variable may lie: a write that isn't made in place makes a copy, in C order."""
    node = variable.owner
    if node is None or not has_alias(node, Alias.WRITE) or node.op.destroy_map:
        return [strides]
    shape, dtype = as_if_known(known_type(variable))
    return [strides, c_strides(shape, dtype.itemsize)]


def _root(variable: Variable) -> Variable:
    """Return what a variable is in the memory of."""
    while (node := variable.owner) is not None and (isinstance(node.op, LaidOut) or has_alias(node, Alias.VIEW)):
        variable = node.inputs[0]
    return variable


def _is_overwritable(view: Variable, kept: Collection[Variable]) -> bool:
    """Return whether a variable is a view of what is computed, or of one that isn't among those to be ``kept``."""
    root = _root(view)
    return root is not view and root not in kept and not isinstance(root, Constant)


def _is_left(variable: Variable) -> bool:
    """Return whether no copy is left out between a variable and its memory, and nothing that is overwritten."""
    while (node := variable.owner) is not None and has_alias(node, Alias.VIEW):
        variable = node.inputs[0]
        if is_kernel(node, "get_window") and has_alias(variable.owner, Alias.WRITE):
            return False
    return not is_kernel(node, COPY)


def _is_plain(variable: Variable, strides: Strides | None) -> bool:
    if strides is None:
        return False
    shape, dtype = as_if_known(known_type(variable))
    return is_alike(shape, dtype.itemsize, strides, c_strides(shape, dtype.itemsize))
