"""Random programs of views and writes beside plain NumPy: equal after every step, on every backend.

``python -m unifyarr.testing.programs BACKEND COUNT SEED`` runs as many as one likes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.arrays import ownership
from unifyarr._core.arrays.array import owner
from unifyarr._core.writing import inplace
from unifyarr.testing import lacks
from unifyarr.testing.programs.running import run

from ..natives import skip_unless

# About 20 seconds: JAX and TensorFlow compile for each shape and dtype.
COUNTS = {"numpy": 500, "torch": 400, "jax": 40, "tensorflow": 200, "dask": 20}


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


def test_programs_find_an_overlap_that_is_missed(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inplace, "overlapping", lambda arrays: iter(()))
    # Wrong writes show at the end.
    finds(backend, "NumPy: ValueError|NumPy has")


def test_programs_find_an_overlap_that_is_none(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Arrays of one owner, side by side or not.
    def overlapping(arrays: Sequence[ua.Array]) -> Iterator[tuple[int, int]]:
        for first, second in itertools.combinations(range(len(arrays)), 2):
            if owner(arrays[first]) is owner(arrays[second]):
                yield first, second

    monkeypatch.setattr(inplace, "overlapping", overlapping)
    # A write that only NumPy has made is found at the end.
    finds(backend, "NumPy: None|NumPy has")


@lacks("writes", why="only recipes go stale")
def test_programs_find_a_stale_view(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:

    def rebind(root: Any, native: Any, **options: Any) -> bool:
        root._native = native
        return True

    monkeypatch.setattr(inplace, "rebind", rebind)
    finds(backend)


def test_programs_find_a_native_that_was_given_away(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "jax", why="only JAX destroys natives")

    release = ownership.release

    def careless(root: Any, writing: Any, number: int = 0) -> Any:
        pending = release(root, writing, number)
        if pending is not None and not root._backend.can_write(pending.native):
            pending.number = number
        return pending

    monkeypatch.setattr(inplace, "release", careless)
    # The first write of a kind uses up a copy, which would hide it once.
    from unifyarr.backends.jax._donating import Donating

    monkeypatch.setattr(Donating, "_copied", lambda self, natives: natives)
    finds(backend, "deleted|donated|NumPy has")


def test_programs_find_a_run_that_a_reader_misses(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "tensorflow", why="only TensorFlow writes in runs")
    finish = ownership.RunOfWrites.finish

    def lag(run: Any) -> Any:
        return finish(run) * 0

    monkeypatch.setattr(ownership.RunOfWrites, "finish", lag)
    finds(backend)
