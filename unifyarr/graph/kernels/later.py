"""A barrier in a graph: what is computed again, since a derivative asks for it, isn't what was computed first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.engines.handle import Handle
from ..core.basic import Apply, Op


class LaterOp(Op):
    """The first input, once the others are computed: a view of it, which no rule looks through."""

    def __init__(self, backend: Handle) -> None:
        self.backend = backend
        super().__init__("later", view_map={0: (0,)}, parameters=(backend.name,))

    def perform(self, node: Apply | None, inputs: Sequence[Any], out: object = None) -> Any:
        """Return the native."""
        x, *after = inputs
        return self.backend.later(x, after)

    def bound(self, node: Apply | None) -> Callable[..., object]:
        """Return a function of the natives."""
        later = self.backend.later
        return lambda x, *after: later(x, after)
