"""Arrays of dask on a cluster: the program is the same, and so are the bits, also if a worker is killed."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import UnknownShapeError
from unifyarr.random import Generator

from ...test_examples import load

distributed = pytest.importorskip("distributed")


def program(size: int = 40) -> list[Any]:
    """A stencil, masks, a reduction, random numbers and products, with a look between."""
    noise = Generator(3).normal(size=(400, 400))
    with ua.using_chunks((size // 2, size // 2)):
        x = ua.sin(ua.asarray(np.arange(size * size).reshape(size, size)))
        x[1:-1, 1:-1] += 0.25 * (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
        x[x > 1.5] = 0
        x[::7, ::-1] *= 2
        if float(ua.max(x)) > 0:
            x[0] = ua.mean(x, axis=0)
        return [x, x @ x.T, ua.sort(x, axis=1), ua.std(x, axis=0), noise[::50, 3], x[x > 1]]


@pytest.fixture
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def test_the_same_bits_in_threads_of_a_cluster(client: Any) -> None:
    found = ua.compute(*program())
    with dask.config.set(scheduler="threads"):
        expected = ua.compute(*program())
    for mine, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine.to_numpy(), other.to_numpy())


def test_persisted_chunks_stay_with_the_workers(client: Any) -> None:
    x = ua.ones((40, 40), chunks=10) + 1
    assert ua.persist(x) is x
    assert any(isinstance(value, distributed.Future) for value in dict(x.native.dask).values())
    x[3:5] = 0
    chosen = x[x > 1]
    with pytest.raises(UnknownShapeError):
        len(chosen)
    assert len(chosen.persist()) == 38 * 40
    # A task that gets an array of ours computes with it.
    total = client.submit(lambda y: float(ua.sum(y + 1)), pickle.loads(pickle.dumps(ua.ones(3, chunks=2)))).result()
    assert total == 6


@pytest.mark.chunks(300)
def test_a_killed_worker_loses_nothing() -> None:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options, memory_limit=0, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        x = Generator(3).normal(size=(900, 900))
        x = ua.zeros_like(x, chunks=300) + x
        x[1:-1] += 0.25 * (x[2:] + x[:-2])
        ua.persist(x)
        distributed.wait(x.native)
        killed = next(iter(client.run(os.getpid).values()))
        os.kill(killed, signal.SIGKILL)
        found = (x * 2).to_numpy()
    with ua.use_backend("numpy"):
        y = Generator(3).normal(size=(900, 900))
        y[1:-1] += 0.25 * (y[2:] + y[:-2])
        np.testing.assert_array_equal(found, (y * 2).to_numpy())


@pytest.mark.chunks(200)
def test_the_example_sends_no_values_to_the_workers(client: Any) -> None:
    # Results of a first pass stay on the workers: nothing is sent back and forth.
    example = load("climate")
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "200kB"}):
        found = example.analyse(example.Globe(years=8, days=6, height=60, width=120, chunk_days=3))
    assert found.extremes.shape == found.hottest.shape == (60, 120)
