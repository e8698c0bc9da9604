"""The gradients of every function by every parameter; ``every_gradient`` draws more of them."""

from __future__ import annotations

import random

import pytest

from .every_gradient import CONSTANT, MISSING, cases, check, draw
from .through import engines

PARTS = 8
# JAX compiles each operation of each call: there a few stand for all.
OF_JAX = 3


@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_by_every_parameter_are_those_of_differences(backend: str, part: int) -> None:
    mine = cases()[part::PARTS]
    for engine in engines(backend):
        through = engine or backend
        # One that compiles each step takes a few of them.
        chosen = random.Random(part).sample(mine, OF_JAX) if through == "jax" else mine
        complaints = {}
        for number, case in enumerate(chosen):
            drawn = draw(*case, seed=number)
            # Both directions, in turns.
            complaints[f"{drawn} through {through}"] = check(drawn, engine, forward=number % 2 == 1)
        assert not {key: each for key, each in complaints.items() if each is not None}


def test_what_is_refused_is_among_what_is_called() -> None:
    known = cases()
    calls = {str(draw(*case, seed=0)) for case in known} | {name for name, _, _ in known}
    assert {each for names in MISSING.values() for each in names} <= calls
    assert {(name, key) for name, keys in CONSTANT.items() for key in keys} <= {
        (name, each[0]) for name, _, each in known
    }


def test_every_function_of_floating_point_arrays_is_called() -> None:
    called = {name for name, _, _ in cases()}
    assert {"full", "linspace", "pad", "where", "linalg.solve", "fft.rfft", "nn.conv2d"} <= called
    assert len(called) > 200
