"""Line tables of dispatchers, without the columns of each instruction.

Python searches such a table from its start. TensorFlow asks at each operation, for its errors, on which lines the
functions on the stack are, and a dispatcher is long: with columns this took a sixth of an update of a container.
"""

from __future__ import annotations

import types
from itertools import groupby

# An entry is of at most so many units of two bytes. Its first byte has the count, and what follows: nothing, not even a
# line, or the difference of the line from the one before. See ``Objects/locations.md`` of CPython.
_MOST = 8
_NO_LINE, _LINE_ALONE = 0xF8, 0xE8


def without_columns(code: types.CodeType) -> types.CodeType:
    """Return code whose table has lines alone, with as few entries as there can be."""
    table, before = bytearray(), code.co_firstlineno
    for line, ranges in groupby(code.co_lines(), lambda each: each[2]):
        count = sum([end - start for start, end, _ in ranges]) // 2
        if line is None:
            table += _entries(_NO_LINE, b"", count)
            continue
        first = min(count, _MOST)
        table += _entries(_LINE_ALONE, _signed(line - before), first) + _entries(_LINE_ALONE, b"\0", count - first)
        before = line
    return code.replace(co_linetable=bytes(table))


def _entries(kind: int, rest: bytes, count: int) -> bytes:
    whole, part = divmod(count, _MOST)
    return bytes((kind | (_MOST - 1), *rest)) * whole + (bytes((kind | (part - 1), *rest)) if part else b"")


def _signed(number: int) -> bytes:
    # Six bits a byte, the lowest first; the sign is the lowest bit of all.
    left, found = abs(number) << 1 | (number < 0), []
    while left > 63:
        found.append(left & 63 | 64)
        left >>= 6
    return bytes((*found, left))
