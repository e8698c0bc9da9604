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
    # What is shared is repeated for the write, and the product asks how it lies in memory.
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
