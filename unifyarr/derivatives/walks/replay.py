"""Walks backwards that were learnt: the kernels that rules called for a record, called again without the rules.

Rules decide by types, shapes and static arguments, and records of one call path agree in these. So the second walk of a
call path is recorded (``backward_recorder.py``): it runs on a backend that notes each kernel that is called, and on
which natives. The walks that follow are one function that calls these kernels. A rule that reads values can't be
learnt, but for numbers that stand beside arrays: the function compares those.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..._core.engines.refusals import is_refusal
from ..._core.values.native import Native
from ...modes.rule_kernels import Kernels
from ...modes.tape.call_paths import Progress
from ...modes.tape.entries import Entry, Taped
from .backward_program import Kept, Notes, NotLearnt
from .backward_recorder import Noting, NotingKernels
from .reverse import pull

# How often a walk goes by the rules before it's learnt, which takes as long as a hundred of them do.
SEEN = 3
# How often it's learnt at most: a program may go through ever new numbers.
MOST_TIMES = 4


class ReplayedWalk:
    """A walk as one function of results and cotangents, and how often it was seen until it was learnt.

    The gradients are in memory of their own where an engine writes it.
    """

    __slots__ = ("function", "seen")

    def __init__(self, function: Callable[[Sequence[Taped], Sequence[Native | None]], list[Native]]) -> None:
        self.function, self.seen = function, 0


def learn(
    k: Kernels,
    results: Sequence[Taped],
    cotangents: Sequence[Native | None],
    leaves: Sequence[Entry],
    types: Sequence[Native],
) -> ReplayedWalk:
    """Return how to compute the gradients; a cotangent ``None`` is the number 1, ``types`` are those of the leaves.

    Raises ``NotLearnt`` if rules decide by more than a call path has. Nothing is changed.
    """
    notes = Notes(k, results, leaves)
    given = [None if g is None else notes.operand(g, Kept(None, "", place)) for place, g in enumerate(cotangents)]
    pairs = [(notes.stand_in(x), notes.one(x.value) if g is None else g) for x, g in zip(results, given, strict=True)]
    noting = Noting.of(k.handle, notes)
    kernels, writers = NotingKernels(notes, noting), NotingKernels(notes, noting, writes=True)
    return ReplayedWalk(notes.function(pull(kernels, writers, pairs, notes.leaves, types)))


def walk(
    k: Kernels,
    writers: Kernels,
    results: Sequence[Taped],
    cotangents: Sequence[Native | None],
    leaves: Sequence[Entry],
    arrays: Sequence[Native],
    once: bool,
) -> tuple[list[Native], bool]:
    """Return the gradients, and whether each is known to have memory of its own; a cotangent ``None`` is the number 1.

    ``arrays`` are the values of the leaves. A walk that comes again is learnt.
    """
    progress = leaves[0].progress
    if progress is not None and (key := _key(k, progress, results, cotangents)) is not None:
        walks = progress.path.walks
        known = walks.get(key, 0)
        if type(known) is int and known < SEEN + MOST_TIMES:
            seen = walks[key] = known + 1
            if known >= SEEN:
                with contextlib.suppress(NotLearnt):
                    known = walks[key] = learn(k, results, cotangents, leaves, list(map(k.like, arrays)))
                    known.seen = seen
        if type(known) is ReplayedWalk:
            try:
                found: Any = known.function(results, cotangents)
            except Exception as error:
                if not is_refusal(error, k.handle):
                    raise
                # The rules say what is wrong.
                found = NotImplemented
            if found is not NotImplemented:
                return found, True
            # It may have been learnt for other numbers.
            walks[key] = known.seen
    pairs = [(x, k.number(1.0, x.value) if g is None else g) for x, g in zip(results, cotangents, strict=True)]
    return pull(k, writers, pairs, leaves, arrays, once), False


def _key(k: Kernels, progress: Progress, results: Sequence[Taped], cotangents: Sequence[Native | None]) -> Hashable:
    """Return where a walk begins, ``None`` if not all is of one record's call path."""
    told: list[Hashable] = []
    for result, g in zip(results, cotangents, strict=True):
        entry, kind = result.entry, None
        if entry is None or entry.progress is not progress:
            return None
        if g is not None:
            kind = k.kind(g)
            if kind is None:
                return None
        told += entry.place, result.output, kind
    return tuple(told)
