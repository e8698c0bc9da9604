"""The line of the caller's own code that is running, for errors and advice."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

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


def _is_below(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith((_PACKAGE, "<unifyarr")):
        return True
    return str(frame.f_globals.get("__name__")).partition(".")[0] in NUMERIC
