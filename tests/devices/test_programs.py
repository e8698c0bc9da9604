"""How many kernels programs launch on an accelerator, beside the same by hand: no number of the page rises."""

from __future__ import annotations

import pytest
import torch

import unifyarr as ua

from ..oracle import as_numpy, assert_values
from .launches import TITLES, counted, of_page
from .programs import PROGRAMS, Program, drawn, writings

THERE = "sim:1"


@pytest.mark.parametrize("title", TITLES)
def test_no_number_of_the_page_rises(backend: str, title: str) -> None:
    found = [counted(run, THERE) for run in writings(title, THERE).values()]
    pairs = zip(found, of_page()[title], strict=True)
    assert all(now <= then for mine, said in pairs for now, then in zip(mine, said, strict=True)), found


def test_the_page_has_all_programs() -> None:
    assert [*of_page()] == TITLES


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_writings_compute_the_same(backend: str, name: str) -> None:
    program: Program = PROGRAMS[name]
    mine, theirs = drawn(program, THERE), drawn(program, THERE)
    results = program.ours(*map(ua.asarray, mine)), program.by_hand(*theirs)
    for x, y in zip([*mine, results[0]], [*theirs, results[1]], strict=True):
        if y is not None:
            assert_values(as_numpy(ua.asarray(x)), as_numpy(ua.asarray(y.detach())), rtol=1e-4, atol=1e-5)
    assert all(x.device == torch.device(THERE) for x in mine)
