"""Random programs of views and writes beside plain NumPy: equal after every step, on every backend.

``python -m tests.core.programs BACKEND COUNT SEED`` runs as many as one likes.
"""

from __future__ import annotations

from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core import inplace, ownership

from ..natives import IMMUTABLE, skip_unless
from .programs.machine import run

# What takes about 20 seconds: JAX and TensorFlow compile for each shape and dtype.
COUNTS = {"numpy": 500, "torch": 400, "jax": 40, "tensorflow": 200}


def test_programs_run_as_on_numpy(backend: str) -> None:
    run(backend, COUNTS.get(backend, 100), 30, seed=0)


def test_long_programs_run_as_on_numpy(backend: str) -> None:
    run(backend, COUNTS.get(backend, 100) // 10, 100, seed=0)


def finds(backend: str, what: str = "NumPy has") -> None:
    """Assert that programs come upon an error that was planted, other values than NumPy's if nothing else is said."""
    with pytest.raises((AssertionError, RuntimeError), match=what):
        run(backend, 200, 30, seed=0, shrinks=False)


def test_programs_find_a_copy_that_shares_memory(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ua.Array, "copy", lambda x: x[...])
    finds(backend)


def test_programs_find_a_stale_view(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, *IMMUTABLE, why="only recipes go stale")

    def rebind(root: Any, native: Any, *, owned: bool = False) -> None:
        root._native = native

    monkeypatch.setattr(inplace, "rebind", rebind)
    finds(backend)


def test_programs_find_a_native_that_was_given_away(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "jax", why="only JAX destroys natives")

    def release(root: Any) -> tuple[Any, bool]:
        native = ownership.settled(root._native)
        return native, not root._backend.can_write(native)

    monkeypatch.setattr(inplace, "release", release)
    finds(backend, "deleted|donated")


def test_programs_find_a_run_that_a_reader_misses(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "tensorflow", why="only TensorFlow writes in runs")
    finish = ownership.Run.finish

    def lag(run: Any) -> Any:
        return finish(run) * 0

    monkeypatch.setattr(ownership.Run, "finish", lag)
    finds(backend)
