"""The line of the caller's own code that is running, for errors and advice."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from ... import errors

_PACKAGE = str(Path(errors.__file__).parent)


def where() -> str:
    """Return the file and the line of the caller's own code that is running."""
    frame = users_frame()
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"


def users_frame() -> FrameType:
    """Return the innermost frame of the caller's own code."""
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith((_PACKAGE, "<unifyarr")):
        frame = frame.f_back
    return frame
