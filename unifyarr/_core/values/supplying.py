"""Methods that a class declares and a module above it writes, since that needs what is above the class."""

from __future__ import annotations

import types
from collections.abc import Callable
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class NotSupplied(NotImplementedError):
    """The body of a method that no module has supplied: what such a method is declared with raises this."""


def supply(
    method: Callable[Concatenate[Any, Parameters], Result], body: Callable[Concatenate[Any, Parameters], Result]
) -> None:
    """Make a function the body of a method that a class below declares with the same parameters and the same result.

    The class shows the declared name, docstring and signature. A second body for one method is an error.
    """
    declared: Any = method
    given: Any = body
    if hasattr(declared, "__wrapped__"):
        raise TypeError(f"{declared.__qualname__} has a body already: {given.__module__} supplies a second one")
    cls = declared.__globals__[declared.__qualname__.partition(".")[0]]
    code, scope = given.__code__, given.__globals__
    supplied = types.FunctionType(code, scope, declared.__name__, given.__defaults__, given.__closure__)
    supplied.__kwdefaults__ = given.__kwdefaults__
    for attribute in ("__module__", "__qualname__", "__doc__"):
        setattr(supplied, attribute, getattr(declared, attribute))
    # help() and inspect.signature() see the declaration.
    vars(supplied)["__wrapped__"] = declared
    setattr(cls, declared.__name__, supplied)


def present_as(cls: type, *parts: type) -> None:
    """Give the methods of classes that ``cls`` is made of its name, which Python's errors about arguments show."""
    for part in parts:
        for method in vars(part).values():
            if isinstance(method, FunctionType):
                method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
