"""What the trace of a function comes to: the graph of one call, and what the function returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from ..._core.arrays.array import Array
from ..._core.arrays.recipes import make_view
from ..._core.arrays.views import Elements, ViewStep
from ..._core.writing.indexing import view_at
from ...container.container import unflatten
from ...graph.core.basic import Variable
from .floats import Floats


@dataclass
class TracedCall:
    """The graph of one call of a function, and how what it returned is made again."""

    # The arguments' arrays first, then what was captured, then what follows from floats.
    inputs: list[Variable]
    captured: list[Array]
    # What an input is in the end, by the place of the input, of those that were written.
    updates: dict[int, Variable]
    # Results that aren't inputs or views of inputs, and the places of views that are only known at run time.
    computed: list[Variable]
    spec: object
    # For each leaf of what was returned: an input and the steps of a view of it, a value as it is, or what's computed.
    leaves: list[tuple[int, tuple[ViewStep, ...]] | tuple[None, Any] | None]
    floats: Floats
    # By which instructions of the user's code the captured arrays were read first.
    read_at: list[tuple[CodeType, int]]
    # The result of the last effect, if there is any.
    chain: Variable | None = None

    @property
    def effects(self) -> list[Variable]:
        """What a graph has to compute beside the results, so that prints and checks happen: one variable or none."""
        return [] if self.chain is None else [self.chain]

    def returned(self, inputs: Sequence[Array], computed: Sequence[Array]) -> object:
        """Return what the function returns, of other inputs and other computed arrays."""
        found = iter(computed)
        leaves = []
        for leaf in self.leaves:
            if leaf is None:
                leaves.append(next(found))
            elif leaf[0] is None:
                leaves.append(leaf[1])
            else:
                view = inputs[leaf[0]]
                for step in leaf[1]:
                    if type(step) is Elements:
                        view = view_at(view, tuple([next(found) for _ in step.indices]))
                    else:
                        view = make_view(view, step)
                leaves.append(view)
        return unflatten(self.spec, leaves)
