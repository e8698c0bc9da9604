"""Walking a record backwards: cotangents of results become cotangents of what derivatives are taken by."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .kernels import Kernels, Like
from .rule import Into

if TYPE_CHECKING:
    from .record import Entry, Taped


class _Total:
    """What has been added up of the cotangents of one output, and whether that memory is ours to write."""

    __slots__ = ("is_owned", "value")

    def __init__(self, value: Any, is_owned: bool) -> None:
        self.value, self.is_owned = value, is_owned


def pull(
    k: Kernels,
    writers: Kernels,
    cotangents: Sequence[tuple[Taped, Any]],
    leaves: Sequence[Entry],
    values: Sequence[Any],
    once: bool = False,
    lift: Callable[[Any], Any] | None = None,
) -> list[Any]:
    """Return the cotangents of leaves, zeros of those that no result depends on.

    ``values`` are the values of the leaves, and ``once`` says that the record is walked this one time: each entry lets
    go of what it keeps when it has been used. ``lift`` returns what stands for a value of the record where the
    cotangents are: in a trace or another record that has begun since.
    """

    def lifted(kept: Sequence[Any]) -> Sequence[Any]:
        return kept if lift is None else [x if type(x) is Like else lift(x) for x in kept]

    totals: dict[Entry, dict[int, _Total]] = {}
    waiting: list[tuple[int, Entry]] = []

    def meet(entry: Entry, output: int, cotangent: Any, like: Any) -> None:
        found = totals.get(entry)
        if found is None:
            found = totals[entry] = {}
            if entry.rule is not None:
                heapq.heappush(waiting, (-entry.number, entry))
        found[output] = _added(k, writers, found.get(output), cotangent, like)

    for result, cotangent in cotangents:
        if result.entry is not None:
            meet(result.entry, result.output, cotangent, cotangent)
    while waiting:
        _, entry = heapq.heappop(waiting)
        found = totals.pop(entry)
        arguments, outputs = lifted(entry.arguments), lifted(entry.outputs)
        cotangents_found = [found[place].value if place in found else None for place in range(len(outputs))]
        given = entry.cotangents(k, cotangents_found, arguments, outputs)
        for parent, operand, cotangent in zip(entry.parents, arguments, given, strict=True):
            if parent is not None and cotangent is not None:
                meet(*parent, cotangent, operand)
        if once:
            entry.arguments = entry.outputs = ()
    return [
        totals[leaf][0].value if leaf in totals else k.zeros(value)
        for leaf, value in zip(leaves, lifted(values), strict=True)
    ]


def _added(k: Kernels, writers: Kernels, total: _Total | None, cotangent: Any, like: Any) -> _Total:
    mutable = k.handle.mutable
    if type(cotangent) is Into:
        if total is None:
            total = _Total(k.zeros(like), True)
        elif not total.is_owned:
            total = _Total(k.handle.copy(total.value) if mutable else total.value, True)
        return _Total(cotangent.add(writers, total.value), True)
    cotangent = k.fitted(cotangent, like)
    if total is None:
        return _Total(cotangent, False)
    return _Total(k.add(total.value, cotangent), True)
