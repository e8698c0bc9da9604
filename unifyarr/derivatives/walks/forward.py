"""Walking a record forwards: tangents of arrays become tangents of results.

A rule is linear in its cotangent. So the tangent of a call is the transpose of its rule, and that is the derivative of
what the rule gives by the cotangent: each rule is recorded itself, and walked backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...modes.like import Like
from ...modes.rule_kernels import kernels_of
from ...modes.tape.entries import entries_before, outlived
from ..rule import AddedInto, settled
from .reverse import pull

if TYPE_CHECKING:
    from ..._core.values.native import Native
    from ...modes.mode import Level
    from ...modes.tape.entries import Entry, Tape, Taped


def push(
    tape: Tape,
    results: Sequence[Taped],
    tangents: dict[Entry, Native],
    lift: Callable[[Native], Native] | None = None,
    batch: Level | None = None,
) -> list[Native]:
    """Return the tangents of results, zeros of those that depend on no array that has a tangent.

    ``tangents`` has those of the leaves. ``tape`` records calls of the backend of the values, or of the trace or other
    record, begun since, where the tangents are; ``lift`` returns what stands for a value of the record there. Where
    ``batch`` is the handle of a batch of values, tangents are its natives.
    """

    def lifted(kept: Sequence[Native]) -> Sequence[Native]:
        return kept if lift is None else [x if type(x) is Like else lift(x) for x in kept]

    found: dict[Entry, Sequence[Any]] = {leaf: [tangent] for leaf, tangent in tangents.items()}
    for entry in entries_before(results):
        if entry not in found:
            if not entry.outputs:
                # It's a leaf of another record, or that has been walked and let go of.
                raise outlived()
            along = [None if each is None else found[each[0]][each[1]] for each in entry.parents]
            found[entry] = _pushed(tape, entry, lifted(entry.arguments), lifted(entry.outputs), along, batch)

    def zeros(x: Native) -> Native:
        made = tape.k.zeros(*lifted([x]))
        return made if batch is None else batch.enter(made)

    return [zeros(x.value) if x.entry is None else found[x.entry][x.output] for x in results]


def _pushed(
    tape: Tape,
    entry: Entry,
    arguments: Sequence[Native],
    outputs: Sequence[Native],
    tangents: Sequence[Native | None],
    batch: Level | None,
) -> Sequence[Native | None]:
    """Return the tangents of the outputs of an entry, given those of its operands."""
    k, recorded = tape.k, kernels_of(tape)
    if entry.rule is not None and entry.rule.pushed is not None:
        if batch is None:
            return entry.rule.pushed(k, tangents, *arguments)
        return entry.rule.pushed(kernels_of(batch), tangents, *map(batch.enter, arguments))
    zeros = [k.full(0, each) for each in outputs]
    leaves, cotangents = tape.leaves(zeros)
    given = entry.cotangents(
        recorded,
        cotangents if entry.several else cotangents[0],
        tape.entered(arguments),
        tape.entered(outputs),
    )
    pairs: list[tuple[Any, Native]] = []
    for operand, cotangent, tangent in zip(arguments, given, tangents, strict=True):
        if cotangent is not None and tangent is not None:
            like = recorded.like(tape.enter(operand)) if type(operand) is not Like else operand
            if type(cotangent) is AddedInto:
                cotangent = cotangent.add(recorded, recorded.zeros(like))
            pairs.append((recorded.fitted(settled(recorded, cotangent), like), tangent))
    if batch is not None:
        return pull(kernels_of(batch), kernels_of(batch), pairs, leaves, zeros, True, batch.enter)
    return pull(k, tape.writers, pairs, leaves, zeros, True)
