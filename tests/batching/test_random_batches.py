"""Batches of random programs: more of them by ``python -m tests.batching.random_batches``."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless
from .random_batches import compare


@pytest.mark.parametrize("seed", range(10))
def test_batches_of_random_programs(backend: str, seed: int) -> None:
    # Each operation is compiled for itself there.
    small = backend in ("jax", "tensorflow")
    if not small or seed < 2:
        compare(backend, seed, depth=1 if small else 2, compiled=not small)


def test_what_all_elements_share_is_written_and_multiplied(backend: str) -> None:
    # The shared array is broadcast for the write, and the product checks its layout.
    shared = np.cos(np.arange(4.0))

    def function(x: ua.Array, y: ua.Array) -> tuple[ua.Array, ua.Array]:
        y = y * 0.5
        y[:-1] = x[:-1] * y[1:]
        return y, (x[:, None] * x) @ y

    x = np.sin(np.arange(12.0)).reshape(3, 4)
    expected = [[np.asarray(each) for each in function(ua.asarray(row), ua.asarray(shared))] for row in x]
    for batch in (ua.vmap(function, (0, None)), ua.compile(ua.vmap(function, (0, None)))):
        found = batch(ua.asarray(x), ua.asarray(shared))
        for each, column in zip(found, zip(*expected, strict=True), strict=True):
            np.testing.assert_allclose(np.asarray(each), np.stack(column), rtol=1e-12)


@pytest.mark.parametrize("seed", [2077])
def test_a_kernel_that_declines_where_functions_are_transformed(backend: str, seed: int) -> None:
    skip_unless(backend, "numpy", "torch", why="batches by rules")
    # torch's clip() declines there, in a branch too.
    compare(backend, seed)


def test_gradients_of_batches_that_write_selections(backend: str) -> None:
    # By JAX's own derivative XLA overwrites a window that it still reads.
    compare(backend, 3006, compiled=backend != "tensorflow")


def test_a_kernel_that_declines_in_a_loop_of_a_batch_in_an_engines_derivative(backend: str) -> None:
    skip_unless(backend, "torch", why="clip() declines there")

    def total(x: ua.Array) -> ua.Array:
        def step(i: ua.Array, y: ua.Array) -> ua.Array:
            return ua.clip(y, -0.7, 0.9) * ua.sin(y)

        return ua.sum(ua.vmap(lambda row: ua.fori_loop(0, 3, step, row))(x))

    x = ua.asarray(np.arange(6.0).reshape(2, 3) - 2.5)
    found = ua.compile(ua.grad(total, backend=backend))(x)
    np.testing.assert_allclose(np.asarray(found), np.asarray(ua.grad(total)(x)), rtol=1e-12)
