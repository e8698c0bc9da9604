"""Nodes that differ in the order of two operands, and compute the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ..core.basic import Apply
from ..core.fgraph import FunctionGraph
from .kernelop import record_of


def commuted(fgraph: FunctionGraph) -> Iterator[tuple[Apply, Apply]]:
    """Yield a node, and an earlier one that computes the same from its operands in the other order."""
    seen: dict[Hashable, Apply] = {}
    for node in fgraph.toposort():
        record = record_of(node)
        if record is None or not record.commutes or any(_is_complex(each) for each in node.inputs):
            continue
        first, second = map(id, node.inputs)
        seen.setdefault((node.op, first, second), node)
        other = seen.get((node.op, second, first))
        if other is not None and other is not node:
            yield node, other


def _is_complex(variable: object) -> bool:
    """Return whether it may be complex: products of such numbers may be rounded in another order."""
    type = getattr(variable, "type", None)
    return type is None or type.dtype.kind == "c"
