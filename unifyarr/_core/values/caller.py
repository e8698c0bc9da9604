"""The line of the caller's own code that is running, for errors and advice."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from ... import errors

_PACKAGE = str(Path(errors.__file__).parent)
_attributed: ContextVar[tuple[CodeType, int] | None] = ContextVar("unifyarr_attributed", default=None)
# Libraries whose functions ask arrays for their values.
NUMERIC = frozenset({"numpy", "scipy"})


def where() -> str:
    """Return the file and the line of the caller's own code that is running."""
    frame = users_frame()
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def users_frame(skipped: int = 1) -> FrameType:
    """Return the innermost frame of the caller's own code, which isn't that of NumPy or SciPy either.

    So many frames, from that of this function on, are known to be of the package.
    """
    frame = sys._getframe(skipped)
    # A trace asks for each native.
    while (back := frame.f_back) is not None:
        if not is_ours(frame.f_code.co_filename) and _module(frame) not in NUMERIC:
            break
        frame = back
    return frame


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def users_place() -> tuple[CodeType, int]:
    """Return the code of ``users_frame`` and the instruction that runs there, which ``line_of`` makes a line.

    What is computed for something else has the place of that.
    """
    if (found := _attributed.get()) is not None:
        return found
    # Each frame that is looked at becomes an object. A native is noted five calls below what makes it, at least.
    frame = users_frame(5)
    return frame.f_code, frame.f_lasti


@contextmanager
def attributed(place: tuple[CodeType, int] | None) -> Iterator[None]:
    """Have what is computed inside the block be of a place that is known."""
    token = _attributed.set(place or _attributed.get())
    try:
        yield
    finally:
        _attributed.reset(token)


def line_of(code: CodeType, instruction: int) -> str:
    """Return the file and the line of an instruction."""
    lines = (line for start, stop, line in code.co_lines() if start <= instruction < stop)
    return f"{code.co_filename}, line {next(lines, None) or code.co_firstlineno}"


@cache
def is_ours(filename: str) -> bool:
    """Return whether a file is one of the package, or text that it has compiled."""
    return filename.startswith((_PACKAGE, "<unifyarr"))
