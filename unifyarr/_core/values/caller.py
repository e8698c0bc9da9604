"""The line of the caller's own code that is running, for errors and advice."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from ... import errors

_PACKAGE = str(Path(errors.__file__).parent)
# Libraries whose functions ask arrays for their values.
NUMERIC = frozenset({"numpy", "scipy"})


def where() -> str:
    """Return the file and the line of the caller's own code that is running."""
    frame = users_frame()
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def users_frame() -> FrameType:
    """Return the innermost frame of the caller's own code, which isn't that of NumPy or SciPy either."""
    frame = sys._getframe()
    while frame.f_back is not None and _is_below(frame):
        frame = frame.f_back
    return frame


def users_place() -> tuple[CodeType, int]:
    """Return the code of ``users_frame`` and the instruction that runs there, which ``line_of`` makes a line."""
    frame = users_frame()
    return frame.f_code, frame.f_lasti


def line_of(code: CodeType, instruction: int) -> str:
    """Return the file and the line of an instruction."""
    lines = (line for start, stop, line in code.co_lines() if start <= instruction < stop)
    return f"{code.co_filename}, line {next(lines, None) or code.co_firstlineno}"


@cache
def is_ours(filename: str) -> bool:
    """Return whether a file is one of the package, or text that it has compiled."""
    return filename.startswith((_PACKAGE, "<unifyarr"))


def _is_below(frame: FrameType) -> bool:
    if is_ours(frame.f_code.co_filename):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] in NUMERIC
