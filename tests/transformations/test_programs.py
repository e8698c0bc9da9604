"""Derivatives of programs that write, beside finite differences and beside each other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import by_differences
from ..oracle import as_numpy
from .through import STATEMENTS, engines, fresh, program


def drawn(seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape) for shape in ((3, 4), (3, 4), (4,))]


def assert_derivatives(backend: str, statements: list[int], seed: int) -> None:
    """Assert that a program has the value, the gradients and the effects that it has on NumPy."""
    values, function = drawn(seed), program(statements)
    with ua.use_backend("numpy"):
        theirs = fresh(*values)
        expected = function(*theirs)
    differences = by_differences(function, *values, weigh=np.ones)
    for engine in engines(backend):
        mine = fresh(*values)
        value, gradients = ua.value_and_grad(function, argnums=(0, 1, 2), backend=engine)(*mine)
        np.testing.assert_allclose(as_numpy(value), as_numpy(expected), rtol=1e-12, atol=1e-12)
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(as_numpy(x), as_numpy(y), rtol=1e-12, atol=1e-12)
        for gradient, each in zip(gradients, differences, strict=True):
            assert gradient.backend == backend
            np.testing.assert_allclose(as_numpy(gradient), each, rtol=1e-5, atol=1e-5)


def test_each_statement_has_derivatives(backend: str) -> None:
    for number in range(len(STATEMENTS)):
        assert_derivatives(backend, [number], seed=number)


@settings(max_examples=5)
@given(statements=st.lists(st.integers(0, len(STATEMENTS) - 1), min_size=3, max_size=7), seed=st.integers(0, 99))
def test_programs_have_derivatives(backend: str, statements: list[int], seed: int) -> None:
    assert_derivatives(backend, statements, seed)


@settings(max_examples=3)
@given(statements=st.lists(st.integers(0, len(STATEMENTS) - 1), min_size=3, max_size=6), seed=st.integers(0, 99))
def test_directions_meet_gradients(backend: str, statements: list[int], seed: int) -> None:
    function, tangents = program(statements), fresh(*drawn(seed + 1))
    for engine in engines(backend):
        gradients = ua.grad(function, argnums=(0, 1, 2), backend=engine)(*fresh(*drawn(seed)))
        _, pushed = ua.jvp(function, tuple(fresh(*drawn(seed))), tuple(tangents), backend=engine)
        total = sum(float(ua.sum(g * t)) for g, t in zip(gradients, tangents, strict=True))
        np.testing.assert_allclose(float(pushed), total, rtol=1e-9, atol=1e-9)


@settings(max_examples=2)
@given(statements=st.lists(st.integers(0, len(STATEMENTS) - 1), min_size=2, max_size=3), seed=st.integers(0, 99))
def test_second_derivatives_are_differences_of_gradients(backend: str, statements: list[int], seed: int) -> None:
    a, b, v = drawn(seed)
    function = program(statements)

    def of_vector(x: ua.Array) -> ua.Array:
        return function(*fresh(a, b), x)

    for engine in engines(backend):
        hessian = as_numpy(ua.hessian(of_vector, backend=engine)(*fresh(v)))
        gradient = ua.grad(of_vector, backend=engine)
        for place in range(4):
            step = np.zeros(4)
            step[place] = 1e-6
            up, down = (as_numpy(gradient(*fresh(v + sign * step))) for sign in (1, -1))
            np.testing.assert_allclose(hessian[place], (up - down) / 2e-6, rtol=1e-5, atol=1e-5)


@settings(max_examples=3)
@given(statements=st.lists(st.integers(0, len(STATEMENTS) - 1), min_size=2, max_size=4), seed=st.integers(0, 99))
def test_batches_are_loops(backend: str, statements: list[int], seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b, v = generator.normal(size=(3, 3, 4)), generator.normal(size=(3, 4, 3)), generator.normal(size=(3, 4))
    function = program(statements)
    for engine in engines(backend):
        mine, parts = fresh(a, b, v), [fresh(a[i], b[:, :, i], v[i]) for i in range(3)]
        found = ua.vmap(function, in_axes=(0, -1, 0), backend=engine)(*mine)
        expected = [as_numpy(function(*each)) for each in parts]
        np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12, atol=1e-12)
        for x, axis, each in zip(mine, (0, -1, 0), zip(*parts, strict=True), strict=True):
            np.testing.assert_allclose(as_numpy(x), np.stack(list(map(as_numpy, each)), axis), rtol=1e-12, atol=1e-12)


def test_each_statement_runs_in_batches(backend: str) -> None:
    for number in range(len(STATEMENTS)):
        a, b, v = (np.stack([each, each[..., ::-1]]) for each in drawn(number))
        for engine in engines(backend):
            found = ua.vmap(program([number]), backend=engine)(*fresh(a, b, v))
            expected = [as_numpy(program([number])(*fresh(a[i], b[i], v[i]))) for i in range(2)]
            np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-12, atol=1e-12)
