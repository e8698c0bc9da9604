"""How many kernels programs launch on an accelerator, beside the same by hand: no number of the page rises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import unifyarr as ua

from ..oracle import as_numpy, assert_values
from .counting import counting
from .programs import PROGRAMS, Program, drawn, writings

THERE = "sim:1"
PAGE = Path(__file__).parents[2] / "docs/guides/accelerators.md"


def counted(run: Callable[[], Any]) -> tuple[int, int]:
    """Return the launches of a call, after those that prepare what is kept, and how often host and device meet."""
    run()
    run()
    with counting() as events:
        run()
    counts = dict(events.counts)
    return counts.pop("launch"), sum(counts.values())


def rows() -> dict[str, list[tuple[int, int]]]:
    """Return the numbers of the page by the program's title: eager, compiled, by hand."""
    lines = PAGE.read_text().partition("| program |")[2].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return {title: [_numbers(cell) for cell in found] for title, *found in cells}


def _numbers(cell: str) -> tuple[int, int]:
    launches, _, others = cell.rstrip(")").partition(" (")
    return int(launches), int(others or 0)


TITLES = [f"{name}{kind}" for name, each in PROGRAMS.items() for kind in ("", ", gradient")[: 1 + each.has_gradient]]


@pytest.mark.parametrize("title", TITLES)
def test_no_number_of_the_page_rises(backend: str, title: str) -> None:
    found = [counted(run) for run in writings(title, THERE).values()]
    pairs = zip(found, rows()[title], strict=True)
    assert all(now <= then for mine, said in pairs for now, then in zip(mine, said, strict=True)), found


def test_the_page_has_all_programs() -> None:
    assert [*rows()] == TITLES


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_writings_compute_the_same(backend: str, name: str) -> None:
    program: Program = PROGRAMS[name]
    mine, theirs = drawn(program, THERE), drawn(program, THERE)
    results = program.ours(*map(ua.asarray, mine)), program.by_hand(*theirs)
    for x, y in zip([*mine, results[0]], [*theirs, results[1]], strict=True):
        if y is not None:
            assert_values(as_numpy(ua.asarray(x)), as_numpy(ua.asarray(y.detach())), rtol=1e-4, atol=1e-5)
    assert all(x.device == torch.device(THERE) for x in mine)
