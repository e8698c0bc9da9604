"""Names that go: each warns for two minor versions at least, and says what to write; see ``docs/versions.md``."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ...errors import UnifyarrDeprecationWarning
from .records import Record

P = ParamSpec("P")
Result = TypeVar("Result")


class Deprecation(Record):
    """What goes, the version that warned first, the one that won't have it any more, and what to write."""

    what: str
    since: str
    until: str
    instead: str

    @property
    def message(self) -> str:
        """What users are told."""
        return f"{self.what} is deprecated since unifyarr {self.since} and goes in {self.until}: {self.instead}"

    def warn(self, stacklevel: int = 2) -> None:
        """Warn at the call that many frames above."""
        warnings.warn(self.message, UnifyarrDeprecationWarning, stacklevel=stacklevel + 1)


# All that are there; a test fails when the version has come in which one goes.
DEPRECATIONS: list[Deprecation] = []


def deprecation(what: str, *, since: str, until: str, instead: str) -> Deprecation:
    """Return a deprecation, of a parameter for example, whose ``warn`` is called where it's used.

    Raises
    ------
    ValueError
        If there are less than two minor versions between the two.
    """
    first, last = (tuple(map(int, version.split(".")[:2])) for version in (since, until))
    if first[0] == last[0] and last[1] < first[1] + 2:
        raise ValueError(f"{what} is deprecated since {since}, so that it goes in {first[0]}.{first[1] + 2} or later")
    found = Deprecation(what, since, until, instead)
    DEPRECATIONS.append(found)
    return found


def deprecated(*, since: str, until: str, instead: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Make a function warn at each call that it goes, and what to write instead."""

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        known = deprecation(f"{function.__name__}()", since=since, until=until, instead=instead)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Result:
            known.warn()
            return function(*args, **kwargs)

        # What type checkers and editors read.
        vars(call)["__deprecated__"] = known.message
        return call

    return decorate
