"""Deprecated names warn for two minor versions, name a replacement, and are gone when their version has come."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._core.values import deprecation
from unifyarr._core.values.deprecation import DEPRECATIONS, deprecated
from unifyarr.errors import UnifyarrDeprecationWarning


@pytest.fixture
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deprecation, "DEPRECATIONS", [])


@pytest.mark.usefixtures("none_kept")
def test_a_deprecated_function_warns_where_it_is_called_and_works() -> None:
    @deprecated(since="0.2", until="0.4", instead="call ua.sum(x)")
    def total(x: int, *, start: int = 0) -> int:
        """Return a sum."""
        return x + start

    message = "total() is deprecated since unifyarr 0.2 and goes in 0.4: call ua.sum(x)"
    with pytest.warns(UnifyarrDeprecationWarning, match=re.escape(message)) as caught:
        assert total(3, start=1) == 4
    assert Path(caught[0].filename) == Path(__file__)
    assert (total.__name__, total.__doc__, total.__deprecated__) == ("total", "Return a sum.", message)  # type: ignore[attr-defined]
    assert [each.what for each in deprecation.DEPRECATIONS] == ["total()"]


@pytest.mark.usefixtures("none_kept")
@pytest.mark.parametrize(
    ("since", "until", "is_long_enough"), [("0.2", "0.3", False), ("0.2", "0.4", True), ("0.9", "1.0", True)]
)
def test_two_minor_versions_at_least(since: str, until: str, is_long_enough: bool) -> None:
    if is_long_enough:
        deprecation.deprecation("axis=", since=since, until=until, instead="pass axes=")
        return
    with pytest.raises(ValueError, match=r"goes in 0\.4 or later"):
        deprecation.deprecation("axis=", since=since, until=until, instead="pass axes=")


def test_what_was_to_go_is_gone() -> None:
    for module in pkgutil.walk_packages(ua.__path__, "unifyarr."):
        if "backends." not in module.name and "testing" not in module.name and "__main__" not in module.name:
            importlib.import_module(module.name)
    version = tuple(map(int, ua.__version__.split(".")[:2]))
    for each in DEPRECATIONS:
        assert tuple(map(int, each.until.split(".")[:2])) > version, f"{each.what} was to go in {each.until}"
