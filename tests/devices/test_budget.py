"""Launches, waits and copies of each function: no number of the page "What waits for the device" rises."""

from __future__ import annotations

import warnings

import pytest

from unifyarr._native import core

from . import budget
from .reasons import BY_NAME

ROWS = budget.of_page()
counted_here = pytest.mark.skipif(
    core is None or budget.engine_of_page() != budget.engine_here(),
    reason="the page was counted with another version of torch, or with the compiled core",
)


def test_the_page_has_all_functions() -> None:
    assert [*ROWS] == budget.NAMES


def test_the_page_has_the_reasons_of_kernels() -> None:
    _, _, said = budget.PAGE.read_text().partition(budget.WHY)
    assert said.strip().splitlines() == [*budget.reasons(ROWS)]


def test_reasons_are_of_functions_that_launch_more() -> None:
    more = {name for name, row in ROWS.items() if row.beside is not None and row.beside[0] > row.beside[1]}
    assert more >= BY_NAME.keys()


@counted_here
@pytest.mark.parametrize("name", budget.NAMES)
def test_no_number_of_the_page_rises(backend: str, name: str) -> None:
    with warnings.catch_warnings():
        # The engine's own functions of that name may be deprecated.
        warnings.simplefilter("ignore")
        row = budget.row_of(name)
    assert not budget.rises(row, ROWS[name]), f"{name} asks more of a device than docs/{budget.PAGE.name} says"
    assert row == ROWS[name], "a number fell: run `python docs/generate.py`"


def test_a_number_that_rises_is_found() -> None:
    then = budget.Row((1, 0, 0, 5), (0, 0, 0, 5), (5, 2))
    assert not budget.rises(then, then)
    assert budget.rises(budget.Row((0, 1, 0, 4), None, None), then) == ["eager, to_host: 1, and it was 0"]
    assert budget.rises(budget.Row((1, 0, 0, 5), (0, 0, 0, 6), None), then) == ["compiled, launch: 6, and it was 5"]
    assert not budget.rises(then, budget.Row((1, 0, 0, 5), None, None))
