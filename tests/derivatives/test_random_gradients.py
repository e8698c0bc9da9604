"""Derivatives of random programs: more of them by ``python -m tests.derivatives.random_gradients``."""

from __future__ import annotations

import pytest

from .random_gradients import check


@pytest.mark.parametrize("seed", range(10))
def test_derivatives_of_random_programs(backend: str, seed: int) -> None:
    # Each operation is compiled for itself there.
    small = backend in ("jax", "tensorflow")
    if not small or seed < 4:
        check(backend, seed, depth=1 if small else 2, compiled=not small)
