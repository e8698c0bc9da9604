"""The rewriting of a graph, as operations with graphs of their own know it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from .fgraph import FunctionGraph


class Rewriter(Protocol):
    """The rewrites of a graph, and what they are run for."""

    @property
    def rewrites(self) -> Sequence[Any]:
        """The rewrites, in their order."""

    @property
    def lowering(self) -> Any:
        """The engine's own compiler that takes what is fused, if there's one."""

    def transformed(self, fgraph: FunctionGraph, backend: Any) -> FunctionGraph:
        """Return the graph of a function that an engine transforms, rewritten by what people added."""
