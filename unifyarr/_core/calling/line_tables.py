"""Line tables of dispatchers, without the columns of each instruction.

Python searches such a table from its start. TensorFlow asks at each operation, for its errors, on which lines the
functions on the stack are, and a dispatcher is long: with columns this takes a sixth of an update of a container.
"""

from __future__ import annotations

import types
from typing import cast

# An entry is of at most so many units of two bytes. Its first byte has the count, and what follows: nothing, not even a
# line, or the difference of the line from the one before. See ``Objects/locations.md`` of CPython.
_MOST = 8
_NO_LINE, _LINE_ALONE = 0xF8, 0xE8


def without_columns(code: types.CodeType) -> types.CodeType:
    """Return code whose table has lines alone, with as few entries as there can be."""
    table, before = bytearray(), code.co_firstlineno
    # Where the instructions of one line begin, and the line.
    begin, now = 0, cast(int | None, before)
    for start, _, line in (*code.co_lines(), (len(code.co_code), 0, -1)):
        if line == now:
            continue
        whole, part = divmod((start - begin) // 2, _MOST)
        kind, rest = (_NO_LINE, b"") if now is None else (_LINE_ALONE, b"\0")
        entries = bytes((kind | (_MOST - 1), *rest)) * whole + (bytes((kind | (part - 1), *rest)) if part else b"")
        if entries and now is not None:
            # The first one has the difference from the line before.
            entries = entries[:1] + _signed(now - before) + entries[2:]
            before = now
        table += entries
        begin, now = start, line
    return code.replace(co_linetable=bytes(table))


def _signed(number: int) -> bytes:
    # Six bits a byte, the lowest first; the sign is the lowest bit of all.
    left, found = abs(number) << 1 | (number < 0), []
    while left > 63:
        found.append(left & 63 | 64)
        left >>= 6
    return bytes((*found, left))
