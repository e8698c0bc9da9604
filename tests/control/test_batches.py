"""Loops whose number of steps follows from values, in batches: each element takes the steps that it takes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import BackendFeatureError

from ..natives import skip_without_derivatives
from ..oracle import assert_same

WAYS: dict[str, Callable[..., Any]] = {"eager": lambda function: function, "compiled": ua.compile}
pytestmark = pytest.mark.filterwarnings("ignore:tensorflow runs this operation by operation")


def collatz(x: Any) -> Any:
    """Return how many steps a number takes to 1."""

    def step(state: Any) -> Any:
        x, steps = state
        return ua.where(x % 2 == 0, x // 2, 3 * x + 1), steps + 1

    return ua.while_loop(lambda state: state[0] != 1, step, (x, 0))[1]


def root(x: Any, limit: Any = 1e-12) -> Any:
    def better(state: Any) -> Any:
        guess, _ = state
        new = (guess + x / guess) / 2
        return new, ua.abs(new - guess)

    return ua.while_loop(lambda state: state[1] > limit, better, (x, 1.0))[0]


@pytest.mark.parametrize("way", WAYS)
def test_each_element_takes_its_own_steps(backend: str, way: str) -> None:
    skip_without_derivatives(backend)
    wrap = WAYS[way]
    assert_same(wrap(ua.vmap(collatz))(ua.asarray([1, 7, 27, 6])), [0, 16, 111, 8])
    assert_same(wrap(ua.vmap(root))(ua.asarray([4.0, 9.0, 2.0])), [2.0, 3.0, np.sqrt(2)], rtol=1e-12)
    # None of them takes a step.
    assert_same(wrap(ua.vmap(collatz))(ua.asarray([1, 1])), [0, 0])


@pytest.mark.parametrize("way", WAYS)
def test_what_a_condition_compares_with_may_be_of_a_batch(backend: str, way: str) -> None:
    skip_without_derivatives(backend)
    wrap = WAYS[way]
    found = wrap(ua.vmap(root, in_axes=(None, 0)))(ua.asarray(2.0), ua.asarray([0.1, 1e-12]))
    assert_same(found, [17 / 12, np.sqrt(2)], rtol=1e-12)
    powers = wrap(ua.vmap(lambda n: ua.fori_loop(0, n, lambda i, c: c * 2, 1)))(ua.asarray([1, 5, 0]))
    assert_same(powers, [2, 32, 1])


@pytest.mark.parametrize("way", WAYS)
def test_batches_of_batches(backend: str, way: str) -> None:
    skip_without_derivatives(backend)
    if backend == "tensorflow":
        pytest.skip("tf.vectorized_map has no loop of a loop whose elements take different numbers of steps")
    found = WAYS[way](ua.vmap(ua.vmap(collatz)))(ua.asarray([[1, 7], [27, 6]]))
    assert_same(found, [[0, 16], [111, 8]])


@pytest.mark.parametrize("way", WAYS)
def test_derivatives_of_batches_of_while_loops(backend: str, way: str) -> None:
    skip_without_derivatives(backend)
    if backend == "tensorflow":
        pytest.skip("tf.vectorized_map has no derivative of a loop whose elements take different numbers of steps")
    wrap = WAYS[way]
    x = ua.asarray([4.0, 9.0, 2.0])
    expected = 0.5 / np.sqrt([4.0, 9.0, 2.0])
    tangents = wrap(lambda x: ua.jvp(ua.vmap(root), (x,), (ua.ones_like(x),))[1])(x)
    assert_same(tangents, expected, rtol=1e-9)
    gradient = wrap(ua.grad(lambda x: ua.sum(ua.vmap(root)(x))))
    if backend == "jax" and way == "compiled":
        with pytest.raises(BackendFeatureError, match=r"reverse mode.*while_loop.*scan\(\).*fori_loop"):
            gradient(x)
        with pytest.raises(BackendFeatureError, match=r"reverse mode.*while_loop.*scan\(\).*fori_loop"):
            ua.compile(ua.grad(root))(x[0])
    else:
        assert_same(gradient(x), expected, rtol=1e-9)
