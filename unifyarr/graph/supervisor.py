"""What has to outlive the evaluation, and must not be overwritten in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from .basic import Apply, Variable
from .destroyhandler import DestroyHandler
from .feature import Feature
from .fgraph import FunctionGraph


class Supervisor(Feature):
    """Protects variables, and with ``outputs`` all outputs of the graph, from being destroyed at all.

    The ``DestroyHandler``, which has to be there before it, only sees to it that each node reads right values; what is
    needed after the evaluation is said here.
    """

    def __init__(self, protected: Iterable[Variable] = (), *, outputs: bool = True) -> None:
        self.protected = list(protected)
        self.outputs = outputs
        self._uses: Counter[Variable] = Counter()

    def on_attach(self, fgraph: FunctionGraph) -> None:
        """Protect what the graph has now."""
        self._handler = handler_of(fgraph)
        for variable in self.protected:
            self._watch(variable, "which is protected")
        for variable in fgraph.outputs if self.outputs else ():
            self._watch(variable, "which is an output")

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Protect nothing any more."""
        for variable in list(self._uses.elements()):
            self._unwatch(variable)

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
    """Return the handler that a graph has."""
    for feature in fgraph.features:
        if isinstance(feature, DestroyHandler):
            return feature
    raise LookupError("the graph has no DestroyHandler: attach one first")


def fast_inplace_check(fgraph: FunctionGraph, variables: Iterable[Variable]) -> list[Variable]:
    """Return those variables that may perhaps be destroyed: what is refused in any case costs no attempt."""
    handler = handler_of(fgraph)
    return [variable for variable in variables if handler.may_destroy(variable)]
