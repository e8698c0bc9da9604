"""Objects whose calls go to a function of their own.

Errors leave there for the user's code (``engines/raising.py``): their messages begin with the function's name, and
tracebacks end there (``_native/called.h``), as they do at the functions of the core. Where there's no compiled core, a
function in Python is around the one that is called.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from ..._native import core

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


# Called with each error that leaves; see ``engines/raising.py``.
_leave: Callable[..., None]


def set_up_errors(leave: Callable[..., None]) -> None:
    """Have a function called with each error that leaves; see ``engines/raising.py``."""
    global _leave
    _leave = leave
    if core is not None:
        core.set_up_errors(leave)


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


def set_boundary(called: Any, function: Callable[..., Any], name: str | None) -> None:
    """Have the calls of an object go to a function; ``name`` begins the messages of errors that leave it."""
    set_call(called, function if core is not None or name is None else _named(function, name))
    if core is not None:
        called._called_as = name


def boundary(function: Function, name: str | None = "") -> Function:
    """Return a function for users; ``name``, else the function's own, begins the messages of errors that leave it."""
    if name == "":
        name = _name_of(function)
    if core is None:
        return function if name is None else _named(function, name)
    called: Any = Called()
    set_boundary(called, function, name)
    functools.update_wrapper(called, function)
    return called  # type: ignore[no-any-return]


def _name_of(function: Any) -> str | None:
    """Return the name by which users call a function: a constructor's is its class, and an operator has none."""
    scope, _, name = str(function.__qualname__).rpartition(".")
    scope = "" if scope.startswith("_") else scope
    if name in ("__new__", "__init__"):
        return scope or None
    return None if name.startswith("__") else f"{scope}.{name}".lstrip(".")


def _named(function: Function, name: str) -> Function:
    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _leave(error, name, False, sys._getframe(1))
            raise

    return call  # type: ignore[return-value]


def make_boundaries(cls: Class, *, getters: bool = True) -> Class:
    """Make boundaries of the methods and the properties of a class, and return it."""
    for name, value in list(vars(cls).items()):
        if name.startswith("_") and not name.endswith("__"):
            continue
        if isinstance(value, FunctionType):
            setattr(cls, name, boundary(value))
        elif isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, FunctionType):
            setattr(cls, name, type(value)(boundary(value.__func__)))
        elif type(value) is property:
            reads = boundary(value.fget, None) if value.fget and getters else value.fget
            writes = boundary(value.fset, None) if value.fset else None
            setattr(cls, name, property(reads, writes, value.fdel, value.__doc__))
    return cls
