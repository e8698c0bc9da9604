"""Graphs with other variables in the place of some of theirs, as ``compile(givens=)`` has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ... import functions
from ..._core.arrays.array import Array
from ..._core.engines import dtypes
from ...errors import ShapeError
from ..core.basic import Constant, Variable, same_type
from ..core.fgraph import FunctionGraph
from ..core.names import describe
from ..core.nodes import sorted_nodes
from .arraytypes import as_array_type
from .running import as_constant, fits
from .variables import backend_of_variables

Givens = Mapping[Variable, object] | Iterable[tuple[Variable, object]]


def with_givens(fgraph: FunctionGraph, givens: Givens) -> FunctionGraph:
    """Return a graph in which variables are replaced, all at once: what a replacement is made of stays as it was.

    Its inputs are those that are still read, in their order, and then the other variables that replacements are made
    of.
    """
    replaced = {_in_graph(fgraph, old): new for old, new in dict(givens).items()}
    values = {old: _as_variable(fgraph, old, new) for old, new in replaced.items()}
    inputs = {variable: variable.copy() for variable in fgraph.inputs}
    before = _Copies(fgraph, inputs)
    after = _Copies(fgraph, {**inputs, **{old: before.of(new) for old, new in values.items()}})
    outputs = [after.of(each) for each in fgraph.outputs]
    written = {fgraph.inputs[place] for place in fgraph.update_mapping.values()}
    for old in replaced:
        if old in written:
            raise TypeError(f"givens replace {old}, which the graph writes to: replace what is computed of it")
    kept = [each for each in fgraph.inputs if each not in replaced or each in before.read]
    made = FunctionGraph([*(inputs[each] for each in kept), *before.new], outputs, clone=False)
    places = {each: place for place, each in enumerate(kept)}
    made.update_mapping = {number: places[fgraph.inputs[place]] for number, place in fgraph.update_mapping.items()}
    return made


class _Copies:
    """Copies of what computes variables from known ones; ``new`` has copies of variables that no graph computes."""

    def __init__(self, fgraph: FunctionGraph, known: Mapping[Variable, Variable]) -> None:
        self._fgraph, self._copies = fgraph, dict(known)
        # Dictionaries, used as ordered sets.
        self.new: dict[Variable, None] = {}
        self.read: dict[Variable, None] = {}

    def of(self, variable: Variable) -> Variable:
        """Return the copy of a variable."""
        for node in sorted_nodes([variable], self._copies):
            made = node.copy([self._leaf(each) for each in node.inputs])
            self._copies.update(zip(node.outputs, made.outputs, strict=True))
        return self._leaf(variable)

    def _leaf(self, variable: Variable) -> Variable:
        own = self._fgraph.own(variable)
        mine = variable if own is None else own
        self.read[mine] = None
        for each in (variable, mine):
            if each in self._copies:
                return self._copies[each]
        if isinstance(variable, Constant):
            return variable
        made = self._copies[variable] = variable.copy()
        self.new[made] = None
        return made


def _in_graph(fgraph: FunctionGraph, variable: object) -> Variable:
    if not isinstance(variable, Variable):
        raise TypeError(f"givens replace variables of the graph, not {type(variable).__name__}: {{x: ua.exp(z)}}")
    found = fgraph.own(variable)
    if found is None:
        raise ValueError(
            f"givens replace {variable}, which isn't in the graph: take one of fgraph.inputs, or a variable that the "
            "graph was made of"
        )
    return found


def _as_variable(fgraph: FunctionGraph, old: Variable, new: object) -> Variable:
    """Return a replacement as a variable, of the type of what it replaces."""
    if not isinstance(new, Variable):
        wanted = as_array_type(old.type)
        backend = backend_of_variables([fgraph.outputs])
        if not isinstance(new, Array) and wanted is not None:
            new = functions.asarray(new, dtype=dtypes.as_dtype(wanted.dtype), backend=backend.name)  # type: ignore[call-overload]
        new = as_constant(new, backend)
    if not (same_type(old.type, new.type) or new.type is None or fits(old, tuple(new.type.shape), new.type.dtype)):
        raise ShapeError(
            f"givens replace {old}, which is {describe(old.type)}, by {describe(new.type)}: give it the same shape and "
            "dtype, such as by ua.broadcast_to() and ua.astype()"
        )
    return new
