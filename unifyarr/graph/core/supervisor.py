"""Variables that must outlive the evaluation, and must not be overwritten in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..._core.values.called import boundary
from .basic import Apply, Variable
from .checks import check_graph, check_known, check_variables
from .destroyhandler import DestroyHandler
from .feature import Feature
from .fgraph import FunctionGraph


class Supervisor(Feature):
    """Protects variables from being destroyed; with ``outputs`` all outputs of the graph, too.

    Attach the ``DestroyHandler`` first. It only guarantees that each node reads right values. Variables that are needed
    after the evaluation are protected here.
    """

    def __init__(self, protected: Iterable[Variable] = (), *, outputs: bool = True) -> None:
        self.protected = list(protected)
        check_variables("what is protected", self.protected)
        self.outputs = outputs
        self._uses: Counter[Variable] = Counter()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Protect the variables that the graph has now."""
        self._handler = handler_of(fgraph)
        check_known(fgraph, "what is protected", self.protected)
        for variable in self.protected:
            self._watch(variable, "which is protected")
        for variable in fgraph.outputs if self.outputs else ():
            self._watch(variable, "which is an output")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Protect nothing any more."""
        for variable in list(self._uses.elements()):
            self._unwatch(variable)

    def relies_on(self, other: Feature) -> bool:
        """Return whether the other feature is the ``DestroyHandler``, which refuses what this one forbids."""
        return isinstance(other, DestroyHandler)

    def for_copy(self, variables: dict[Variable, Variable]) -> Supervisor:
        """Return a supervisor of the copies."""
        return Supervisor([variables[each] for each in self.protected if each in variables], outputs=self.outputs)

    def on_change_input(
        self, fgraph: FunctionGraph, node: Apply | None, index: int, old: Variable, new: Variable
    ) -> None:
        """Protect the new output in place of the old one."""
        if node is None and self.outputs:
            self._unwatch(old)
            self._watch(new, "which is an output")

    def _watch(self, variable: Variable, reason: str) -> None:
        self._uses[variable] += 1
        if self._uses[variable] == 1:
            self._handler.watch(variable, reason)

    def _unwatch(self, variable: Variable) -> None:
        self._uses[variable] -= 1
        if not self._uses[variable]:
            del self._uses[variable]
            self._handler.unwatch(variable)


def handler_of(fgraph: FunctionGraph) -> DestroyHandler:
    """Return the ``DestroyHandler`` of a graph."""
    check_graph(fgraph)
    for feature in fgraph.features:
        if isinstance(feature, DestroyHandler):
            return feature
    raise LookupError("the graph has no DestroyHandler: attach one first")


@boundary
def fast_inplace_check(fgraph: FunctionGraph, variables: Iterable[Variable]) -> list[Variable]:
    """Return the variables that may perhaps be destroyed, without those that are certainly refused."""
    handler, variables = handler_of(fgraph), list(variables)
    check_known(fgraph, "what may be destroyed", variables)
    return [variable for variable in variables if handler.may_destroy(variable)]
