"""Whole programs on lazy arrays in small chunks: NumPy's bits, where they do elementwise work and writes alone."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua


def in_chunks(x: np.ndarray, length: int) -> ua.Array:
    with ua.using_chunks(length):
        return ua.asarray(x, backend="dask", copy=True)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_waves_have_numpys_bits(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    wave = importlib.import_module("benchmarks.programs.wave")
    # The chunks of shifted windows meet in ever smaller pieces unless the values are kept now and then.
    monkeypatch.setattr(wave, "STEPS", 2)
    state, before = wave.arrays(17, 12)
    made = _identity if not compiled else ua.compile
    u, old = in_chunks(state, 5), in_chunks(before, 5)
    plain = wave.plain(state, before)
    run = wave.ours(made, u, old)
    for _ in range(2):
        np.testing.assert_array_equal(run().to_numpy(), plain())
        ua.persist(u, old)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_k_means_finds_the_same_centers(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kmeans = importlib.import_module("benchmarks.programs.kmeans")
    monkeypatch.setattr(kmeans, "STEPS", 3)
    draw = np.random.Generator(np.random.Philox(0))
    x = draw.standard_normal((40, 3)) + 4 * draw.integers(0, 3, (40, 1))
    arrays = x, x[:4].copy(), np.arange(4)[:, None]
    run = kmeans.ours(ua.compile if compiled else _identity, *(in_chunks(each, 9) for each in arrays))
    np.testing.assert_allclose(run().to_numpy(), kmeans.plain(*arrays)(), rtol=1e-12)


def _identity(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
