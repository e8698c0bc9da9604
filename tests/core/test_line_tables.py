"""Dispatchers have lines without columns, the lines that the compiler gave them."""

from __future__ import annotations

import ast
import json.decoder
import traceback
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

import unifyarr as ua
from unifyarr._core.calling.line_tables import without_columns

from ..natives import skip_unless


def lines_of(code: types.CodeType) -> list[int | None]:
    """Return the line of each unit of the code."""
    return [line for start, end, line in code.co_lines() for _ in range(start, end, 2)]


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes_in(each)


# A line may be before the one that precedes it, by many lines, and an entry is of at most eight units.
FAR = "def f(x):\n    return (x,\n" + "\n" * 3000 + "    x + 1, [\n" + "x,\n" * 40 + "], x(\n" + "\n" * 70 + "x))\n"


@pytest.mark.parametrize("module", [ast, json.decoder, traceback, None])
def test_lines_are_the_compilers(module: types.ModuleType | None) -> None:
    text = FAR if module is None else Path(str(module.__file__)).read_text()
    for code in codes_in(compile(text, "text", "exec")):
        short = without_columns(code)
        assert lines_of(short) == lines_of(code)
        assert len(short.co_linetable) <= len(code.co_linetable)


def test_tables_are_short_where_an_engine_looks_at_lines(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="an engine that looks at lines")
    ua.add(ua.asarray([1, 2]), 1)
    # Whatever was compiled before the engine was loaded.
    for code in (ua.add.__code__, ua.asarray.__code__):
        assert {each for _, _, *columns in code.co_positions() for each in columns} == {None}


def test_a_traceback_shows_the_line_that_called(backend: str) -> None:
    with pytest.raises(TypeError) as caught:
        ua.linalg.cross(ua.ones(3), "abc")
    frames = [each for each in traceback.extract_tb(caught.tb) if each.filename.startswith("<unifyarr dispatcher")]
    assert frames
    assert all("_general(" in each.line or "_body(" in each.line for each in frames if each.line is not None)
