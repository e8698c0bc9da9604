"""Errors as they leave for the user's code.

Their messages begin with the name of the public function that the user called, and their tracebacks end in the user's
code, unless ``UNIFYARR_TRACEBACK=full`` asks for all of them. What the user's own code raised comes as it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from types import FrameType

from ..._native import core
from ...errors import ShapeError
from ..values.called import set_up_errors
from .handle import loaded_backends
from .refusals import is_own_frame

_IS_SHORTENED = core is not None and os.environ.get("UNIFYARR_TRACEBACK") != "full"


def leave(error: BaseException, name: str | None, is_last: bool, caller: FrameType | None = None) -> None:
    """Name a function in an error if the user's code called it, and cut the traceback where no call is around that."""
    if name is not None and isinstance(error, Exception) and not _is_ours(caller or sys._getframe(1)):
        _name(error, name)
    if is_last and _IS_SHORTENED:
        _shorten(error)


# The message of a KeyError is the key; warnings and what floating-point settings raise are the user's own wish.
_AS_THEY_COME = (KeyError, Warning, FloatingPointError)
# Modules of errors that say what is wrong with a call.
_OWN = frozenset({"builtins", "numpy.exceptions", "numpy.linalg", ShapeError.__module__})


def _is_ours(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    return module.partition(".")[0] == __name__.partition(".")[0]


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _name(error: Exception, name: str) -> None:
    """Have the message of an error begin with the name of a function, unless the user's code had a part in it."""
    text = str(error)
    if isinstance(error, _AS_THEY_COME) or type(error).__module__ not in _OWN or error.args[:1] != (text,):
        return
    backends = loaded_backends()
    if not all(is_own_frame(frame, backends) for frame in _frames(error)):
        return
    own = name.rpartition(".")[2]
    begins = re.match(rf"((?:[\w<>]+\.)*){re.escape(own)}(\.__init__)?\(\)", text)
    if begins:
        # Python calls a constructor by a name of its own; a longer name than ours is the user's function's.
        is_longer = len(begins[1]) + len(own) > len(name) and not begins[2]
        named = text if is_longer else f"{name}(){text[begins.end() :]}"
    else:
        # "out of add() has ..." becomes "add(): out has ...".
        subject = rf"^([^:;.,]*?)(?<!outside) of (?:{re.escape(name)}|{re.escape(own)})\(\)"
        named = f"{name}(): " + re.sub(subject, r"\1", text)
    if named == text:
        return
    error.args = (named, *error.args[1:])
    if str(error) != named:
        # Some classes keep the message elsewhere, too.
        error.__init__(*error.args)  # type: ignore[misc]


def _shorten(error: BaseException) -> None:
    """Cut the traceback of an error behind the last frame that is neither the package's nor an engine's."""
    backends, last, trace = loaded_backends(), None, error.__traceback__
    while trace is not None:
        if not is_own_frame(trace.tb_frame, backends):
            last = trace
        trace = trace.tb_next
    if last is None:
        error.__traceback__ = None
    else:
        last.tb_next = None


set_up_errors(leave)
