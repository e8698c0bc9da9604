"""Outputs that have to be in the memory of an input, where the caller reads them."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import InconsistencyError
from .basic import Variable
from .feature import Feature
from .fgraph import FunctionGraph


class Written(Feature):
    """Refuses changes after which outputs of the graph aren't written to the memory of their inputs.

    ``targets`` maps the number of each such output to its input.
    """

    def __init__(self, targets: Mapping[int, Variable]) -> None:
        self._targets = dict(targets)

    def on_validate(self, fgraph: FunctionGraph) -> None:
        """Raise if an output is computed in other memory."""
        for number, target in self._targets.items():
            output = fgraph.outputs[number]
            if not _overwrites(output, target):
                raise InconsistencyError(
                    f"{output} isn't written to {target} any more: replace what it's computed of, or let the rewrite "
                    'stand before "store"'
                )


def _overwrites(variable: Variable, target: Variable) -> bool:
    """Return whether a variable is another one, or was computed in its memory."""
    waiting = [variable]
    while waiting:
        each = waiting.pop()
        if each is target:
            return True
        node = each.owner
        if node is not None:
            waiting += [node.inputs[place] for place in node.op.destroys(node).get(each.index, ())]
    return False
