"""Nodes of a loop's step that the compiled part calls, once a step, on natives that stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._core.values.native import Native
from ..core.basic import Apply


def call_of(
    node: Apply,
    run: Callable[..., Any],
    given: Sequence[int],
    fresh: Sequence[tuple[int, int]],
    assign: Callable[[Any, Any], object],
) -> Callable[[Sequence[Native]], Callable[[], object]]:
    """Return what makes a function without arguments, of natives by their numbers.

    ``given`` are the numbers of the node's inputs, and ``fresh`` pairs of an output that overwrites no input, and of
    the number of its native. That is passed as ``out`` if the node takes it, and else it's assigned.
    """
    op, count = node.op, len(node.outputs)
    taken = {key: number for key, number in fresh if key in op.out}
    assigned = [pair for pair in fresh if pair[0] not in taken]

    def made(natives: Sequence[Native]) -> Callable[[], object]:
        how: dict[str, object] = {}
        if op.written_to is not None:
            how["out"] = natives[given[op.written_to]]
        elif taken:
            out = tuple(natives[taken[key]] if key in taken else None for key in range(count))
            how["out"] = out if count > 1 else out[0]
        call = partial(run, *[natives[each] for each in given], **how)
        if not assigned:
            return call
        targets = [(key, natives[number]) for key, number in assigned]

        def assign_one() -> None:
            assign(targets[0][1], call())

        def assign_several() -> None:
            results = call()
            for key, native in targets:
                assign(native, results[key])

        return assign_one if count == 1 else assign_several

    return made
