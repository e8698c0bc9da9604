"""Wrong declarations are refused or found: in short what ``python -m tests.wrong_declarations`` draws."""

from __future__ import annotations

from unifyarr.testing import has

from .wrong_declarations import run


def test_wrong_declarations_are_refused_or_found_and_right_ones_are_right(backend: str) -> None:
    # JAX and TensorFlow compile each right one.
    run(backend, 40 if not has(backend, "writes") else 150, seed=2026)
