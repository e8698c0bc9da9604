"""The gradients of every function by every parameter; ``every_gradient`` draws more of them."""

from __future__ import annotations

import random

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import BackendFeatureError

from ..natives import skip_unless, skip_without_derivatives
from .every_gradient import CONSTANT, MISSING, REFUSALS, cases, check, draw
from .second_derivatives import SMOOTH, TOLERANCES, at_special_points, complaint
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


def test_a_refusal_names_the_engine_that_refuses(backend: str) -> None:
    skip_unless(backend, "numpy", why="arrays that each engine differentiates")
    pytest.importorskip("jax")
    for loaded in ua.available_backends():
        assert float(ua.asarray(1.0, backend=loaded)) == 1
    x = ua.ones(2)
    for other in ([1.0, 2.0], x):
        # JAX has no derivative of it, also where its arrays are a list of elements.
        for function in (
            lambda y, other=other: ua.nextafter(other, y),
            lambda y, other=other: ua.nextafter([*y], other),
        ):
            with pytest.raises(BackendFeatureError, match=r"^nextafter\(\): jax can't do this: Differentiation rule"):
                ua.jvp(function, (x,), (x,), backend="jax")


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


# Their results, or the lengths, depend on values, which a trace doesn't know.
OF_VALUES = {"arange", "trim_zeros", "unique_values", "segment_max", "segment_mean", "segment_min", "segment_prod"}
OF_VALUES |= {"segment_sum", "histogram[2]", "linalg.pinv[1]"}


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_gradients_are_the_eager_ones(backend: str, part: int) -> None:
    mine = [each for each in cases()[part::PARTS] if not {each[0], f"{each[0]}[{each[1]}]"} & OF_VALUES]
    # Where no kernel runs while a function is traced, one that declines in a transformation has to say so.
    chosen = mine if backend == "torch" else random.Random(part).sample(mine, OF_JAX)
    for number, case in enumerate(chosen):
        drawn = draw(*case, seed=number)
        gradient, x = ua.grad(drawn), ua.asarray(drawn.value)
        try:
            expected = gradient(x)
        except REFUSALS:
            continue
        found = ua.compile(gradient)(x)
        assert np.allclose(np.asarray(found), np.asarray(expected), rtol=1e-6, atol=1e-8, equal_nan=True), str(drawn)


@pytest.mark.parametrize("part", range(PARTS))
def test_second_derivatives_on_numpy(part: int) -> None:
    mine = cases()[part::PARTS]
    chosen = [(case, "differences") for case in mine]
    if "jax" in ua.available_backends():
        chosen += [(case, "jax") for case in random.Random(part).sample(mine, OF_JAX)]
    found = {}
    for number, (case, oracle) in enumerate(chosen):
        drawn = draw(*case, seed=number)
        found[f"{drawn} beside {oracle}"] = complaint(drawn, oracle)
    assert not {key: each for key, each in found.items() if each is not None}


@pytest.mark.parametrize("dtype", sorted(TOLERANCES))
def test_second_and_third_derivatives_at_special_points(dtype: str) -> None:
    with np.errstate(all="ignore"):
        assert not [each for name in SMOOTH for each in at_special_points(name, dtype)]


@pytest.mark.parametrize("name", ["sinc", "special.i1"])
def test_second_derivatives_near_removable_points_on_each_engine(backend: str, name: str) -> None:
    skip_without_derivatives(backend)
    assert not at_special_points(name, "float32", backend, third=False)
