"""Tables of functions by name, which decorators fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def entered_in(table: dict[str, F], *names: str) -> Callable[[F], F]:
    """Return a decorator that puts a function into a table under some names."""

    def decorate(function: F) -> F:
        table.update(dict.fromkeys(names, function))
        return function

    return decorate
