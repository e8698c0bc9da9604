"""One identity: a formula, an equal one that keeps digits, and the reason."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, NamedTuple, TypeVar

from ..building.variables import apply
from ..core.basic import Variable

Given = TypeVar("Given")
Formula = TypeVar("Formula", bound=Callable[..., object])


class Identity(NamedTuple, Generic[Formula]):
    """Two expressions that are equal for real numbers, and ``formula``, which replaces one by the other."""

    before: str
    after: str
    why: str
    formula: Formula


def listed(identities: list[Identity[Formula]], before: str, after: str, why: str) -> Callable[[Formula], Formula]:
    """Return a decorator that puts a formula into a list with the identity that it stands for."""

    def decorated(formula: Formula) -> Formula:
        identities.append(Identity(before, after, why, formula))
        return formula

    return decorated


def first(identities: Sequence[Identity[Callable[[Given], Variable | None]]], given: Given) -> Variable | None:
    """Return the result of the first formula that fits, ``None`` if none does."""
    return next((found for each in identities if (found := each.formula(given)) is not None), None)


# The variables that were made while one graph is rewritten, by the function and its arguments.
_made: ContextVar[dict[Hashable, Variable]] = ContextVar("unifyarr_stabilizing")


@contextmanager
def making_once() -> Iterator[None]:
    """Have ``made`` return the same variable for the same call, so that equal factors are found."""
    token = _made.set({})
    try:
        yield
    finally:
        _made.reset(token)


def made(function: Callable[..., object], *given: Hashable, **named: Hashable) -> Variable:
    """Return the variable that a function of arrays gives for variables."""
    return made_by((function, given, *sorted(named.items())), lambda: apply(function, *given, **named))


def made_by(key: Hashable, make: Callable[[], Variable]) -> Variable:
    """Return the variable that was made for a key, or a new one."""
    known = _made.get()
    if key not in known:
        known[key] = make()
    return known[key]
