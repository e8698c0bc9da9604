"""Mode ``"debug"`` traces a function again at each call, and compares: a compiled function reads state only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from ..._core.arrays.array import Array
from ..._core.values.caller import line_of
from ..._core.values.exact import exact
from ...container.comparing import agree
from ...errors import StaleStateError
from ...modes.trace.survivors import Search
from ...modes.trace.traced_call import TracedCall
from ..core.basic import Apply, Constant, Variable
from ..core.fgraph import FunctionGraph
from ..core.names import name_of
from ..core.nodes import sorted_nodes
from ..core.structure import structure


def check_current(name: str, before: TracedCall, now: TracedCall) -> None:
    """Raise if a function of a name is traced to something else now than what was compiled for the same cache key."""
    found = next(_differences(before, now), None)
    if found is not None:
        raise StaleStateError(
            f"{name}() reads something that was changed since it was traced, and a compiled function goes on with what "
            f"it read then: {found}. Pass it as an argument, or write to the array that was read, x[...] = value"
        )


def _differences(before: TracedCall, now: TracedCall) -> Iterator[str]:
    search = [before.captured, now.captured]
    for place, (old, new) in enumerate(zip_longest(before.captured, now.captured)):
        if new is None:
            yield f"an array is no longer read, {_shown(old)}, which was read at {line_of(*before.read_at[place])}"
        elif old is None or (old is not new and old._native is not new._native):
            keeper = Search(search).keeper([new])
            if not keeper and old is not None and agree(old, new, 0.0, 0.0):
                # The function makes it, on an engine that isn't traced.
                continue
            keeper = keeper or "an array"
            what = "wasn't read before" if old is None else f"is another array than before, {_shown(old)}"
            yield f"{keeper}, {_shown(new)}, read at {line_of(*now.read_at[place])}, {what}"
    graphs = [(each.inputs, [*each.updates.values(), *each.computed]) for each in (before, now)]
    yield from _of_graphs(*graphs)
    if list(before.updates) != list(now.updates):
        yield "other arrays are written"
    if before.spec != now.spec:
        yield f"it returned {before.spec}, and returns {now.spec} now"
    for old, new in zip(before.leaves, now.leaves, strict=False):
        if _of_leaf(old) != _of_leaf(new):
            yield f"it returned {_told(old)}, and returns {_told(new)} now"


def _of_graphs(
    before: tuple[Sequence[Variable], Sequence[Variable]], now: tuple[Sequence[Variable], Sequence[Variable]]
) -> Iterator[str]:
    """Yield the differences of two graphs, each given by its inputs and outputs, in the order of evaluation."""
    pairs = zip_longest(*(sorted_nodes(outputs, inputs) for inputs, outputs in (before, now)))
    numbers = [{variable: place for place, variable in enumerate(inputs)} for inputs, _ in (before, now)]
    for place, (old, new) in enumerate(pairs):
        found = _difference(old, new)
        if old is None or new is None or found is not None:
            yield found or f"operation {place} was {_applied(old)}, and is {_applied(new)} now"
            return
        for one, other in zip(old.inputs, new.inputs, strict=True):
            if not _is_same_input(one, other, numbers):
                yield f"{name_of(one)} in {old} is {name_of(other)} now"
                return
        for known, node in zip(numbers, (old, new), strict=True):
            known.update((output, (place, output.index)) for output in node.outputs)  # type: ignore[misc]
    for one, other in zip_longest(before[1], now[1]):
        if one is None or other is None or not _is_same_input(one, other, numbers):
            yield f"{_result(one)} was computed, and {_result(other)} is now"
            return


def _is_same_input(one: Variable, other: Variable, numbers: Sequence[dict[Variable, Any]]) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return structure([], [one], {}) == structure([], [other], {})
    return numbers[0].get(one) == numbers[1].get(other) and one in numbers[0]


def _difference(old: Apply | None, new: Apply | None) -> str | None:
    """Return what differs in two operations, empty if it's all: of those with graphs inside, what differs there."""
    if old is None or new is None:
        return ""
    graphs = [list(_inside(each.op)) for each in (old, new)]
    is_alike = type(old.op) is type(new.op) and old.op.name == new.op.name and len(old.inputs) == len(new.inputs)
    if not is_alike or (old.op != new.op and len(graphs[0]) != len(graphs[1])):
        return ""
    if old.op == new.op:
        return None
    found = next((each for pair in zip(*graphs, strict=True) for each in _of_graphs(*pair)), None)
    return f"in {new.op}, {found}" if found else None if graphs[0] else ""


def _inside(op: Any) -> Iterator[tuple[Sequence[Variable], Sequence[Variable]]]:
    graphs: list[FunctionGraph] = [each.fgraph for each in getattr(op, "bodies", ())]
    if not graphs and hasattr(op, "fgraph"):
        graphs = [op.fgraph]
    yield from ((each.inputs, each.outputs) for each in graphs)


def _applied(node: Apply | None) -> str:
    return "nothing" if node is None else str(node)


def _result(variable: Variable | None) -> str:
    return "nothing" if variable is None else name_of(variable)


def _shown(x: Array) -> str:
    return f"{x.dtype.name} {x.shape}"


def _of_leaf(leaf: Any) -> Any:
    """Return a key of a leaf of a result: of one that is no array and has no hash, its identity isn't compared."""
    if leaf is None or leaf[0] is not None:
        return leaf
    value = leaf[1]
    hashed: Any = type(value).__hash__
    return type(value) if hashed in (None, object.__hash__) else exact(value)


def _told(leaf: Any) -> str:
    return "an array" if leaf is None else f"a view of argument {leaf[0]}" if leaf[0] is not None else repr(leaf[1])
