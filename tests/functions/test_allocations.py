"""Composed functions leave no more arrays behind than careful code by hand with ``out=``."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua

from ..allocations import ENTRIES, MEASURES, Allocations, calls, of_numpy, profiled
from ..natives import on_host, skip_off_host, skip_unless
from ..oracle import as_numpy

# A row is small beside the whole, and what Python itself keeps for a call is smaller.
SHAPE = (64, 4096)
SIZE = 64 * 4096 * 8
BOOKKEEPING = SIZE // 32


@profiled
@pytest.mark.parametrize("name", ENTRIES)
def test_no_more_arrays_than_by_hand(backend: str, name: str) -> None:
    if name == "layer_norm":
        skip_off_host(backend, "rows whose squares might overflow are made smaller there, in memory of their own")
    skip_unless(backend, *MEASURES, why="an engine whose allocations can be counted")
    made = {who: MEASURES[backend](call, SIZE) for who, call in calls(ENTRIES[name], backend, SHAPE).items()}
    ours, by_hand = made["unifyarr"], made["by hand"]
    assert ours.count <= by_hand.count, made
    assert ours.peak <= by_hand.peak + BOOKKEEPING, made


@pytest.mark.parametrize("name", ENTRIES)
def test_both_compute_the_same(backend: str, name: str) -> None:
    skip_unless(backend, *MEASURES, why="an engine that has a twin by hand")
    ours, by_hand = (
        np.asarray(as_numpy(ua.asarray(call()))) for call in calls(ENTRIES[name], backend, (5, 7)).values()
    )
    np.testing.assert_allclose(ours, by_hand, rtol=1e-12, atol=1e-15)


def wasteful(x: np.ndarray, out: np.ndarray) -> None:
    twice = x * 2
    np.add(np.exp(twice), twice, out=out)


def test_what_is_counted() -> None:
    x = np.ones(100_000)
    out = np.empty_like(x)

    def nested() -> None:
        wasteful(x, out)
        wasteful(x, out)

    # One after the other, two at a time.
    count, peak = of_numpy(nested, x.nbytes)
    assert count == 4
    assert 2 * x.nbytes <= peak < 2.1 * x.nbytes
    assert of_numpy(lambda: np.add(x, x, out=out), x.nbytes) == Allocations(0, pytest.approx(0, abs=10_000))
    assert of_numpy(lambda: [np.exp(x), np.exp(x)], x.nbytes).count == 2


@on_host("its allocations are counted")
@profiled
def test_what_is_counted_on_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is not under test")
    x = torch.ones(100_000, dtype=torch.float64)
    out = torch.empty_like(x)
    made = MEASURES["torch"](lambda: torch.add((x * 2).exp(), x, out=out), x.nbytes)
    assert made == Allocations(2, 2 * x.nbytes)
    assert MEASURES["torch"](lambda: torch.add(x, x, out=out), x.nbytes) == Allocations(0, 0)
