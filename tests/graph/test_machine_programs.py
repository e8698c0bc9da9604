"""The in-place tests' random programs, compiled: in short what ``python -m tests.graph.machine_programs`` runs."""

from __future__ import annotations

import pytest

import unifyarr as ua
from unifyarr.modes.trace import crossing
from unifyarr.testing import has

from ..natives import skip_unless
from .machine_programs import run

# Assignments drop imaginary parts, as NumPy's do.
pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_compiled_programs_give_what_numpy_gives(backend: str, mode: str) -> None:
    # JAX and TensorFlow compile each one, or run it node by node.
    run(backend, mode, 6 if not has(backend, "writes") else 60, 30, seed=2026)


@pytest.mark.parametrize("engine", ["torch", "jax", "tensorflow"])
def test_programs_on_another_engine_give_what_numpy_gives(
    backend: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless(backend, "numpy", "torch", why="arrays that are lent to another engine")
    skip_unless(engine, *ua.available_backends(), why="an engine that is installed")
    # Each window that is written comes home alone.
    monkeypatch.setattr(crossing, "SMALLEST", 0)
    run(backend, "fast", 4 if not has(engine, "writes") else 30, 30, seed=2026, engine=engine)
