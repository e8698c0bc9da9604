"""Declarations of an operation, read into one form: from constructors, classes and assignments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from ..._core.values.maps import READERS, as_place, as_places
from .code import ARGUMENTS, check_code


def _as_name(what: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} is a string, not {given!r}")
    return given


def _as_count(what: str, given: Any) -> int:
    count = as_place(what, given)
    if not count:
        raise ValueError(f"{what} is at least 1: every operation has a result")
    return count


def _as_twins(what: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} has the destructive twins, a list of operations, not {given!r}")
    twins = tuple(given)
    for twin in twins:
        if isinstance(twin, type) or not hasattr(twin, "view_map"):
            raise TypeError(f"{what} has the destructive twins, a list of operations, not of {twin!r}")
    return twins


def _as_hashable(what: str, given: Any) -> Hashable:
    try:
        hash(given)
    except TypeError:
        raise TypeError(f"{what} must be hashable: pass a tuple of values in place of {given!r}") from None
    return given  # type: ignore[no-any-return]


def _as_natives(what: str, given: Any) -> str | None:
    if given not in (None, "numpy"):
        raise ValueError(f"{what} is 'numpy', or None for those of the backend that the graph runs on, not {given!r}")
    return given  # type: ignore[no-any-return]


READ: dict[str, Callable[[str, Any], Any]] = {
    **READERS,
    "name": _as_name,
    "nout": _as_count,
    "inplace": _as_twins,
    "out": lambda what, given: frozenset(as_places(what, given)),
    "natives": _as_natives,
    "parameters": _as_hashable,
    **dict.fromkeys(ARGUMENTS, lambda what, given: given),
}


def read(owner: Any, what: str, given: Any) -> Any:
    """Return what is declared of an operation or of a class of operations, checked; ``what`` is the declaration."""
    if callable(given) and what in ("view_map", "destroy_map"):
        return given
    if what in ARGUMENTS:
        if given is not None:
            check_code(getattr(owner, "name", None) or type(owner).__name__, what, given)
        return given
    try:
        return READ[what](what, given)
    except (TypeError, ValueError) as error:
        name = owner.__name__ if isinstance(owner, type) else owner.name
        raise type(error)(str(error).replace(what, f"{what} of {name}", 1)) from None
