"""The journeys of calls in the READMEs of the package: the functions that they name are passed, in that order."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.engines import dtypes
from unifyarr._native import core
from unifyarr.testing import has, lacks, needs

from ..natives import on_host, skip_unless

PACKAGE = Path(ua.__file__).parent
CORE = PACKAGE / "_core"
# A function's name in a README: its file below the package, or in the core's README below ``_core``, and its own.
NAMED = re.compile(r"`([\w/]+\.py: [\w.<>]+)`")


def journeys() -> list[list[str]]:
    """Return the functions that each journey names."""
    text = (CORE / "README.md").read_text().partition("## Five journeys")[2].partition("## Glossary")[0]
    return [NAMED.findall(section) for section in text.split("###")[1:]]


def journey(room: str) -> list[str]:
    """Return the functions that the journey in the README of a room names."""
    text = (PACKAGE / room / "README.md").read_text().partition("## A journey")[2]
    return NAMED.findall(text.partition("\n## ")[0])


def passed(call: Callable[[], Any], folder: Path = CORE, before: int = 2) -> list[str]:
    """Return the functions of a folder that a call enters, after so many calls before it."""
    found: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call":
            if code.co_filename.startswith(str(folder)):
                found.append(f"{Path(code.co_filename).relative_to(folder).as_posix()}: {code.co_qualname}")
            elif code.co_filename.startswith("<unifyarr "):
                found.append(f"{code.co_filename[len('<unifyarr ') : -1]}: {code.co_qualname}")

    for _ in range(before):
        call()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def follows(named: list[str], found: list[str]) -> list[str]:
    """Return those of the named functions that aren't found in their order."""
    left = iter(found)
    return [name for name in named if name not in left]


def test_there_are_five_journeys() -> None:
    # The first two go through the compiled core alone.
    assert [len(named) > 0 for named in journeys()] == [False, False, True, True, True]
    assert follows(["a", "b"], ["b", "a"]) == ["b"]


def test_a_plain_operator(backend: str) -> None:
    x, y = ua.ones(4), ua.ones(4)
    found = passed(lambda: x + y)
    assert not follows(journeys()[0], found)
    # NumPy's own functions are called at once, other engines' by one of ours, or by two.
    # A lazy engine's natives are asked for their dtypes, one by one. Once a test has used float8, NumPy's are, too.
    most = int(bool(dtypes.USED)) if backend == "numpy" else 2 if has(backend, "values") else 4
    if core is None:
        assert found[0].endswith("operator")
    else:
        assert len(found) <= most


def test_a_shortcut(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0, 4.0])
    ua.sort(x)
    found = passed(lambda: ua.sort(x))
    assert not any("learn" in name or "general" in name or name.endswith("Dispatcher.rest") for name in found)
    if core is not None:
        assert not any(name.startswith("calling/") for name in found)


@on_host("data beside an array are looked at for their device first, elsewhere")
@needs("writes", why="an engine that writes into out")
def test_a_call_with_data_and_out(backend: str) -> None:
    x, out = ua.ones(3), ua.zeros(3)
    assert not follows(journeys()[2], passed(lambda: ua.add(x, [1, 2, 3], out=out)))


def test_a_write_to_an_immutable_engine(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine whose arrays are donated")
    x, value = ua.zeros((2, 4)), ua.ones(2)
    assert not follows(journeys()[3], passed(lambda: x.__setitem__((0, slice(None, None, 2)), value)))


@lacks("writes", why="views are recipes there")
def test_a_stale_view(backend: str) -> None:
    x = ua.zeros((2, 4))
    view = x[0]

    def read() -> None:
        x[0, 1] = 3.0
        view.tolist()

    assert not follows(journeys()[4], passed(read))


def of_numbers(x: ua.Array) -> ua.Array:
    return ua.sum(ua.sin(x) * x)


def test_a_gradient(backend: str) -> None:
    skip_unless(backend, "numpy", why="an engine whose derivatives are ours")
    if core is None:
        pytest.skip("the compiled core asks the tape for its fast calls")
    named = journey("modes")
    assert len(named) > 8
    ua.grad(of_numbers)(ua.asarray([1.0, 2.0]))
    # Arrays of another shape follow a call path of their own, whose walk isn't known yet.
    x = ua.ones(157)
    assert not follows(named, passed(lambda: ua.grad(of_numbers)(x), PACKAGE, before=0))


def test_a_compiled_function(backend: str) -> None:
    skip_unless(backend, "numpy", why="an engine whose graphs run by our own schedule")
    x, named = ua.asarray([1.0, 2.0, 3.0]), journey("graph")
    assert len(named) > 8
    assert not follows(named, passed(lambda: ua.compile(of_numbers)(x), PACKAGE))


@pytest.mark.parametrize(
    ("folder", "named"),
    [*((CORE, each) for each in journeys()), (PACKAGE, journey("modes")), (PACKAGE, journey("graph"))],
)
def test_what_is_named_is_there(folder: Path, named: list[str]) -> None:
    for name in named:
        file, _, function = name.partition(": ")
        if file.endswith(".py"):
            assert f"def {function.rpartition('.')[2]}(" in (folder / file).read_text()


# READMEs say in words where a name is defined: the name, and its file.
DEFINED_IN = re.compile(r"`([\w.]+)(?:\([\w.]*\))?` in\s+`([\w/]+\.(?:py|h))`")


def test_what_is_said_to_be_in_a_file_is_there() -> None:
    missing, told = [], 0
    for path in PACKAGE.rglob("README.md"):
        for name, file in DEFINED_IN.findall(path.read_text()):
            (found,) = [each for each in (path.parent / file, PACKAGE / file) if each.is_file()]
            told += 1
            # A function of C has its type before it, and one of Python ``def``.
            if not re.search(rf"[ *]{name.rpartition('.')[2]}\b[ (:]", found.read_text()):
                missing.append((name, file))
    assert not missing
    assert told > 5
