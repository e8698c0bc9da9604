"""Callable objects that transformations return, which are copied and pickled like functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._core.values.called import Called, set_boundary
from .._core.values.pickling import Wrapper, found_by_name


class Transformed(Called, Wrapper):
    """A transformed function: what ``make(function, *args, **kwargs)`` returned; ``call`` is what its calls go to."""

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """Call the function."""

    def __init__(
        self,
        call: Callable[..., Any],
        function: Callable[..., Any],
        make: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        self._stand_for(function)
        self._made = make, args, kwargs or {}
        set_boundary(self, call, make.__name__)

    def _made_by(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        make, args, kwargs = self._made
        # The module may have a boundary under that name, and pickles need what the module has.
        return found_by_name(make) or make, args, kwargs

    def __repr__(self) -> str:
        return f"<{self._made[0].__name__} of {self._function!r}>"
