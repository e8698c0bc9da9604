"""The in-place tests' random programs, compiled: in short what ``python -m tests.graph.machine_programs`` runs."""

from __future__ import annotations

import pytest

from ..natives import IMMUTABLE
from .machine_programs import run


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_compiled_programs_give_what_numpy_gives(backend: str, mode: str) -> None:
    # JAX and TensorFlow compile each one, or run it node by node.
    run(backend, mode, 6 if backend in IMMUTABLE else 60, 30, seed=2026)
