"""Whole programs with loops and branches, eager and compiled, beside loops of Python on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import assert_same
from . import masked, programs

PROGRAMS = {**programs.PROGRAMS, **masked.PROGRAMS}
# A thousand steps and more: a lazy engine has all of them in one graph, and each is added to a copy of its layers.
MANY_STEPS = ("recurrent", masked.LONG)


def arrays(value: Any) -> Any:
    return {key: ua.asarray(each) for key, each in value.items()} if isinstance(value, dict) else ua.asarray(value)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs("values")) if name in MANY_STEPS else name for name in PROGRAMS]
)
@pytest.mark.filterwarnings("ignore:tensorflow runs this operation by operation")
def test_programs(backend: str, name: str) -> None:
    program, by_hand, args = PROGRAMS[name]
    expected = by_hand(*args)
    compiled = ua.compile(program)
    for run in (compiled,) if name == masked.LONG else (compiled, program):
        found = run(*map(arrays, args))
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for each, wanted in pairs:
            assert_same(each, np.asarray(wanted), rtol=1e-7, atol=1e-9)
