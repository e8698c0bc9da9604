"""Random programs, compiled: in short what ``python -m tests.graph.compiled_programs BACKEND COUNT SEED`` runs."""

from __future__ import annotations

import pytest

from ..natives import IMMUTABLE
from .compiled_programs import compare


@pytest.mark.parametrize("mode", ["fast", "pure"])
def test_compiled_programs_give_the_same(backend: str, mode: str) -> None:
    # JAX and TensorFlow compile each one.
    for seed in range(8 if backend in IMMUTABLE else 80):
        compare(seed, mode)
