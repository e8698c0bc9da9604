"""Graphs and compiled functions as the HTML that notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ..core.fgraph import FunctionGraph
from ..core.names import describe
from .drawing import LIMIT
from .drawing import dot as dot
from .drawing import svg as svg
from .tables import TextTable

if TYPE_CHECKING:
    from ..run.program import Program

# So many lines of a graph that is too large to draw are listed.
_LINES = 200


def html_of_graph(fgraph: FunctionGraph) -> str:
    """Return the drawing of a graph, or the beginning of its list of operations where there are too many to draw."""
    if len(fgraph.apply_nodes) <= LIMIT:
        return f'<div style="overflow: auto">{svg(fgraph)}</div>'
    lines = str(fgraph).splitlines()
    more = [f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    listed = escape("\n".join([*lines[:_LINES], *more]))
    return f'<div style="overflow: auto"><pre>{listed}</pre></div>'


def html_of_compiled(name: str, programs: Sequence[Program]) -> str:
    """Return a table of the programs of a compiled function."""
    rows = [
        (", ".join(describe(x.type) or "?" for x in each.fgraph.inputs), each.backend.name, str(len(nodes)))
        for each in programs
        for nodes in [each.fgraph.apply_nodes]
    ]
    below = [] if rows else ["no call so far"]
    return TextTable([f"compiled {name}()"], ["for arrays", "backend", "operations"], "llr", rows, below).html()
