"""Objects whose calls go to a function of their own.

Tracebacks end where they're called (``_native/called.h``), as they do at the functions of the core. Where there's no
compiled core, or tracebacks are shown in full, functions stay as they are.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from ..._native import core

Function = TypeVar("Function", bound=Callable[..., Any])
IS_SHORTENED = core is not None and os.environ.get("UNIFYARR_TRACEBACK") != "full"


class _Called:
    """The same in Python, which reads the function from the slot and calls it at once."""

    __slots__ = {"__call__": "Call the function."}


if TYPE_CHECKING:
    Called = _Called
else:
    Called = _Called if core is None else core.Called

_member: Any = vars(_Called)["__call__"] if core is None else core.Called._called
set_call: Callable[[Any, Callable[..., object]], None] = _member.__set__
# The function that an object's calls go to.
call_of: Callable[[Any], Callable[..., Any]] = _member.__get__


def boundary(function: Function) -> Function:
    """Return a function for users: where it's called, tracebacks end."""
    if not IS_SHORTENED:
        return function
    called = Called()
    set_call(called, function)
    functools.update_wrapper(called, function)  # type: ignore[arg-type]
    return called  # type: ignore[return-value]


def make_boundaries(cls: type, *, getters: bool = True) -> None:
    """Make boundaries of the methods and the properties of a class."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and not name.endswith("__"):
            continue
        if isinstance(value, FunctionType):
            setattr(cls, name, boundary(value))
        elif type(value) is property:
            reads = boundary(value.fget) if value.fget and getters else value.fget
            writes = boundary(value.fset) if value.fset else None
            setattr(cls, name, property(reads, writes, value.fdel, value.__doc__))
