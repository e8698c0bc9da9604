"""Functions for ``with`` blocks, from which errors leave as from other functions (``called.py``)."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar

from .called import boundary

P = ParamSpec("P")
Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])
Manage = Callable[[], "contextlib.AbstractContextManager[Value]"]


class Managed(Generic[Value]):
    """A scope that a ``with`` block enters, any number of times, or a decorated function at each call."""

    def __init__(self, manage: Manage[Value]) -> None:
        self._manage = manage
        # Wrong arguments raise here.
        self._next: contextlib.AbstractContextManager[Value] | None = manage()
        self._entered: list[contextlib.AbstractContextManager[Value]] = []

    def __enter__(self) -> Value:
        manager, self._next = self._next or self._manage(), None
        value = manager.__enter__()
        self._entered.append(manager)
        return value

    def __exit__(self, *raised: Any) -> bool | None:
        if not self._entered:
            raise RuntimeError("the scope was left without being entered: open it by a with statement")
        return self._entered.pop().__exit__(*raised)

    def __call__(self, function: Function) -> Function:
        """Return the function with the scope around each call."""

        @functools.wraps(function)
        def called(*args: object, **kwargs: object) -> Any:
            with type(self)(self._manage):
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]


def scope(function: Callable[P, Iterator[Value]]) -> Callable[P, Managed[Value]]:
    """Return a function for ``with`` blocks, of one that yields once, as ``contextlib.contextmanager`` takes it."""
    managed = contextlib.contextmanager(function)

    class Opened(Managed[Value]):
        __enter__ = boundary(Managed.__enter__, function.__name__)
        __exit__ = boundary(Managed.__exit__, function.__name__)

    @functools.wraps(function)
    def opened(*args: P.args, **kwargs: P.kwargs) -> Managed[Value]:
        return Opened(functools.partial(managed, *args, **kwargs))

    return boundary(opened)
