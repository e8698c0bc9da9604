"""The straight call of a program that writes to its arguments, on an engine that may use up their memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..._core.arrays.array import Array
from ..._core.arrays.ownership import LOCK, Pending, Writing, rebind, release, settled
from .program import Program


def writes_straight(program: Program, leaves: Sequence[Any]) -> bool:
    """Return whether all that a call writes are arrays among its arguments, whose memory it may use up."""
    how = program.handling
    targets = [*(leaves[place] for place in program.arrays), *program.made.captured]
    if not how.donated or how.assigned or how.checked or max(how.donated) >= len(program.arrays):
        return False
    # Views show other arrays, which may be among the arguments.
    return all(type(x) is Array and type(settled(x._native)) is x._backend.native_type for x in targets)


def writing_lines(
    program: Program, targets: Sequence[str], natives: Sequence[str], names: dict[str, Any]
) -> Iterator[str]:
    """Yield lines that run the graph and write back: ``results`` are there if ``done``.

    They aren't where something else refers to the memory of an argument: then nothing has been done, but ``p0`` and so
    on refer to the natives that would have been used up. The expressions for natives are those of the graph's inputs.
    """
    how = program.handling
    names |= {
        "LOCK": LOCK,
        "Writing": Writing,
        "Pending": Pending,
        "release": release,
        "rebind": rebind,
        "settled": settled,
    }
    names["run"] = program.executor(how.donated)
    # What refers to a native keeps a write from using its memory.
    yield f"del {', '.join(natives[place] for place in how.donated)}"
    taken = {place: f"p{place}" for place in how.donated}
    passed = [f"{taken[place]}.native" if place in taken else native for place, native in enumerate(natives)]
    yield "writing = Writing()"
    # No other thread may read an array while its native is used up.
    yield "with LOCK:"
    yield "    try:"
    yield "        writing.under_way = True"
    for number, (place, pending) in enumerate(taken.items()):
        yield f"        {pending} = release({targets[place]}, writing, {number}, untraced=True)"
    yield f"        done = {' and '.join(f'{pending}.number is not None' for pending in taken.values())}"
    yield "        if done:"
    yield f"            results = run({', '.join(passed)}, results=writing.results)"
    for number, place in how.rebound:
        yield f"            rebind({targets[place]}, results[{number}], owned=True)"
    for place in how.donated:
        if place in program.reusing:
            yield f"            rebind({targets[place]}, results[{program.reusing[place]}])"
    yield "    finally:"
    # After an interrupt each array gets its result, if the run has come so far, or what it had.
    yield "        writing.under_way = False"
    for place in how.donated:
        yield f"        if type({targets[place]}._native) is Pending: settled({targets[place]}._native)"
    yield "        if writing.later: writing.end(())"
