"""Random programs, compiled: in short what ``python -m tests.graph.compiled_programs BACKEND COUNT SEED`` runs."""

from __future__ import annotations

import pytest

from unifyarr.testing import has

from .compiled_programs import compare


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_compiled_programs_give_the_same(backend: str, mode: str) -> None:
    # JAX and TensorFlow compile each one; the debug mode copies and repeats.
    count = 8 if not has(backend, "writes") else 80
    for seed in range(count // 4 if mode == "debug" else count):
        compare(seed, mode)
