"""Marks of tests that need an ability of the engine, or that it lacks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .._core.engines.registry import load
from ..backends import Ability
from ..errors import UnknownShapeError

if TYPE_CHECKING:
    import pytest

LINES = (
    "needs(*abilities, why=''): run where the engine has these, by their names in unifyarr.backends.Ability",
    "lacks(*abilities, why=''): run where the engine lacks one of these",
)
Test = TypeVar("Test", bound=Callable[..., Any])
# What the reason of a skipped test begins with.
LACKING = "lacks the ability"


def needs(*abilities: str, why: str = "") -> Callable[[Test], Test]:
    """Mark a test that runs on engines with abilities, by their names in ``unifyarr.backends.Ability``.

    >>> from unifyarr.testing import needs
    >>> @needs("writes", "strides")
    ... def test_memory(backend): ...
    """
    return _mark("needs", abilities, why)


def lacks(*abilities: str, why: str = "") -> Callable[[Test], Test]:
    """Mark a test that runs on engines without one of some abilities: one of what the frontend does then."""
    return _mark("lacks", abilities, why)


def _mark(name: str, abilities: tuple[str, ...], why: str) -> Callable[[Test], Test]:
    import pytest

    # A misspelt name is an error here, and no test that never runs.
    mark: Callable[[Test], Test] = getattr(pytest.mark, name)(*map(Ability.named, abilities), why=why)
    return mark


def has(backend: str, ability: str) -> bool:
    """Return whether the engine of a backend has an ability, by its name."""
    return not load(backend).lacks(Ability.named(ability))


def skip_by_marks(item: pytest.Item, backend: str | None) -> None:
    """Skip a test whose marks ask for another engine."""
    import pytest

    if backend is None or not {mark.name for mark in item.iter_markers()} & {"needs", "lacks"}:
        return
    handle = load(backend)
    for mark in item.iter_markers("needs"):
        missing = [each.value for each in mark.args if handle.lacks(each)]
        if missing:
            pytest.skip(f"{LACKING} {', '.join(missing)}: {backend}")
    for mark in item.iter_markers("lacks"):
        if not any(map(handle.lacks, mark.args)):
            pytest.skip(f"{mark.kwargs['why'] or 'what the frontend does without'}: {backend} lacks nothing of it")


def skip_unknown_lengths(
    item: pytest.Item, backend: str, call: pytest.CallInfo[Any], report: pytest.TestReport
) -> bool:
    """Report a test as skipped, and return ``True``, if it needs a length that the engine lacks the ability to know."""
    unknown = call.excinfo is not None and call.excinfo.errisinstance(UnknownShapeError)
    if not unknown or has(backend, "shapes"):
        return False
    report.outcome = "skipped"
    report.longrepr = (str(item.path), item.location[1] or 0, f"{LACKING} shapes: {call.excinfo.value}")  # type: ignore[union-attr]
    return True
