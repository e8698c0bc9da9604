"""How many kernels programs launch on an accelerator, beside the same by hand: no number of the page rises."""

from __future__ import annotations

import pytest
import torch

import unifyarr as ua
from unifyarr._native import core

from ..oracle import as_numpy, assert_values
from .budget import engine_here, engine_of_page
from .launches import THERE, TITLES, now, of_page
from .programs import PROGRAMS, Program, drawn

counted_here = pytest.mark.skipif(
    core is None or engine_of_page() != engine_here(),
    reason="the pages were counted with another version of torch, or with the compiled core",
)


@counted_here
@pytest.mark.parametrize("title", TITLES)
def test_no_number_of_the_page_rises(backend: str, title: str) -> None:
    found, said = now(title), of_page()[title]
    assert not any(
        each > before for mine, then in zip(found, said, strict=True) for each, before in zip(mine, then, strict=True)
    ), found
    assert found == said, "a number fell: run `python docs/generate.py`"


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
