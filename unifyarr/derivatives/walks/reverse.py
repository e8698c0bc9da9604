"""Walking a record backwards: cotangents of results become cotangents of what derivatives are taken by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from types import CodeType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..._core.values.caller import attributed
from ...modes.like import Like
from ...modes.rule_kernels import Kernels
from ...modes.tape.entries import outlived, parents_of
from ..rule import AddedInto, Outside, settled

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.tape.entries import Entry, Taped
    from ..rule import Cotangent, Cotangents


# What has been added up of the cotangent of each output of an entry, and whether that memory is ours to write.
Totals: TypeAlias = "dict[Entry, dict[int, tuple[Native | Outside, bool]]]"
# From how many elements on a sum is taken in the memory of what was added up before.
MANY = 1 << 12


def pull(
    k: Kernels,
    writers: Kernels,
    cotangents: Sequence[tuple[Taped, Native | None]],
    leaves: Sequence[Entry],
    values: Sequence[Native],
    once: bool = False,
    lift: Callable[[Native], Native] | None = None,
) -> list[Native]:
    """Return the cotangents of leaves, zeros of those that no result depends on.

    ``values`` are the values of the leaves, and ``once`` says that the record is walked this one time: each entry lets
    go of what it keeps when it has been used. ``lift`` returns what stands for a value of the record where the
    cotangents are: in a trace or another record that has begun since.
    """

    def lifted(kept: Sequence[Native]) -> Sequence[Native]:
        return kept if lift is None else [x if type(x) is Like else lift(x) for x in kept]

    totals: Totals = {}
    records = k.handle.records
    g: Native | Outside | Cotangents | None
    waiting: list[tuple[int, Entry]] = []
    own = k.own
    parents: Sequence[tuple[Entry, int] | None] = parents_of([result for result, _ in cotangents])
    given: Sequence[Any] = [cotangent for _, cotangent in cotangents]
    arguments, outputs = given, given
    while True:
        # The cotangents of operands are added to those of the outputs that they are.
        for parent, cotangent, like in zip(parents, given, arguments, strict=True):
            if parent is None or cotangent is None:
                continue
            entry, output = parent
            kind = type(cotangent)
            found = totals.get(entry)
            if found is None:
                found = totals[entry] = {}
                if entry.rule is not None:
                    heappush(waiting, (-entry.number, entry))
            elif output in found:
                found[output] = _added(k, writers, *found.pop(output), cotangent, like)
                continue
            if kind is AddedInto:
                found[output] = _added(k, writers, None, True, cotangent, like)
            elif kind is own and cotangent.dtype is like.dtype and cotangent.shape == like.shape:
                found[output] = cotangent, False
            else:
                found[output] = cotangent if kind is Outside else k.fitted(cotangent, like), False
        # What a call kept ends before the next one is walked.
        given = arguments = outputs = ()
        cotangent = like = found = g = None
        if not waiting:
            break
        _, entry = heappop(waiting)
        arguments, outputs, parents = entry.arguments, entry.outputs, entry.parents
        if not outputs:
            # Another derivative has walked this record, and has let go of it.
            raise outlived()
        if once:
            entry.arguments = entry.outputs = ()
        if lift is not None:
            arguments, outputs = lifted(arguments), lifted(outputs)
        found = totals.pop(entry)
        if entry.several:
            g = [settled(k, found[place][0]) if place in found else None for place in range(len(outputs))]
        else:
            g = found[0][0]
            if type(g) is Outside:
                g = g.fill(k)
        if records:
            with attributed(_place_of(outputs[0])):
                given = entry.cotangents(k, g, arguments, outputs)
        else:
            given = entry.cotangents(k, g, arguments, outputs)
    gradients = [totals.pop(leaf, None) for leaf in leaves]
    if totals:
        # There's a leaf of another record.
        raise outlived()
    return [
        k.zeros(value) if found is None else _own(k, *found[0])
        for found, value in zip(gradients, lifted(values), strict=True)
    ]


def _place_of(native: object) -> tuple[CodeType, int] | None:
    """Return the place of the user's code that gave a native of a trace, whatever is around that."""
    while True:
        # What is selected has neither a value nor a variable, but a mask that has.
        inner = getattr(native, "mask", None)
        inner = getattr(native, "value", None) if inner is None else inner
        if inner is None:
            break
        native = inner
    owner = getattr(getattr(native, "variable", None), "owner", None)
    return owner and owner.place


def _added(
    k: Kernels, writers: Kernels, total: Any, is_owned: bool, cotangent: Cotangent, like: Native
) -> tuple[Native, bool]:
    if type(total) is Outside:
        if type(cotangent) is AddedInto and cotangent.places == total.places:
            return total.filled(k, cotangent)
        total, is_owned = settled(k, total), True
    if type(cotangent) is AddedInto:
        if total is None:
            if cotangent.alone is not None and (found := cotangent.alone(k)) is not NotImplemented:
                return found, True
            total = k.zeros(like)
        elif not is_owned and k.handle.mutable:
            total = k.handle.copy(total)
        return cotangent.add(writers, total), True
    cotangent = k.fitted(settled(k, cotangent), like)
    is_large = is_owned and k.handle.mutable and k.size(total) >= MANY
    return writers.add_into(total, cotangent) if is_large else k.add(total, cotangent), True


def _own(k: Kernels, value: Native | Outside, is_owned: bool) -> Native:
    value = settled(k, value)
    # The kernels' numbers are kept, and what has one element may be a view of one.
    return value if is_owned or not k.handle.mutable or k.size(value) != 1 else k.handle.copy(value)
