"""Random programs with masks: more of them by ``python -m tests.control.random_selections``."""

from __future__ import annotations

import pytest

from .random_selections import compare


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(backend: str, seed: int) -> None:
    # Each loop is compiled for itself there.
    compare(backend, seed, depth=1 if backend in ("jax", "tensorflow") else 2)
