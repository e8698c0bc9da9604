"""Random numbers of dask: the bits of the host, whatever the chunks, and drawn where they're computed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.random import Generator, _later

SHAPE = (500, 301)
DRAWS: dict[str, Callable[..., ua.Array]] = {
    "random": lambda g, **k: g.random(SHAPE, **k),
    "random32": lambda g, **k: g.random((600, 501), dtype="float32", **k),
    "uniform": lambda g, **k: g.uniform(-1, 3, SHAPE, **k),
    "normal": lambda g, **k: g.normal(1, 2, SHAPE, **k),
    "complex": lambda g, **k: g.normal(1, 2, SHAPE, dtype="complex64", **k),
    "exponential": lambda g, **k: g.exponential(2.0, SHAPE, **k),
    "gamma": lambda g, **k: g.gamma(0.5, 2.0, SHAPE, **k),
    "integers": lambda g, **k: g.integers(0, 1000, SHAPE, **k),
    "integers32": lambda g, **k: g.integers(-7, 77, (600, 501), dtype="int32", **k),
    "poisson": lambda g, **k: g.poisson(3.0, SHAPE, **k),
    "bernoulli": lambda g, **k: g.bernoulli(0.3, (1100, 1000), **k),
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_bits_of_the_host(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_later, "BLOCK", 40_000)
    mine, hosts = Generator(5), Generator(5)
    for generator, backend in ((mine, "dask"), (hosts, "numpy")):
        # Begin in the middle of a word.
        generator.random(1, backend=backend)
        generator.random(1, dtype="float32", backend=backend)
    expected = DRAWS[name](hosts, backend="numpy").to_numpy()
    before = mine.state
    for chunks in ((177, 100), -1):
        mine.state = before
        with ua.using_chunks(chunks):
            x = DRAWS[name](mine)
        assert len(pickle.dumps(x)) < expected.nbytes / 20
        assert x.dtype.dtype == expected.dtype
        assert (len(x.chunks[0]) > 1) == (chunks != -1)
        np.testing.assert_array_equal(x.to_numpy(), expected)
    # The generator goes on as the host's does.
    assert str(mine.state) == str(hosts.state)
    np.testing.assert_array_equal(mine.normal(size=3).to_numpy(), hosts.normal(size=3, backend="numpy").to_numpy())


@pytest.mark.parametrize("shape", [(7,), (2, 3), (5, 1, 4), (3, 0), (), (2, 2, 2, 2)])
def test_blocks_are_consecutive(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    from unifyarr.backends.base.deferring import boxes

    monkeypatch.setattr(_later, "BLOCK", 4)
    places: list[int] = []
    counted = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for starts, lengths in boxes(_later._blocks(shape)):
        part = counted[tuple(slice(a, a + b) for a, b in zip(starts, lengths, strict=True))]
        assert part.size <= 4
        places += part.ravel().tolist()
    assert places == counted.ravel().tolist()


def test_every_position_is_found() -> None:
    whole = np.random.Generator(np.random.Philox(3)).random(12)
    for first in range(12):
        host = np.random.Generator(np.random.Philox(3))
        host.random(5)
        skipped = np.random.Generator(np.random.Philox(3))
        _later._skip(skipped, first)
        assert skipped.random(12 - first).tolist() == whole[first:].tolist()
        made: Any = np.random.Generator(np.random.Philox(3))
        _later._set_state(made, _later._state_of(host))
        assert str(made.bit_generator.state) == str(host.bit_generator.state)


def test_a_target_gets_the_same() -> None:
    x = ua.zeros(SHAPE, chunks=100)
    assert Generator(1).normal(out=x[:, :300]).shape == (500, 300)
    expected = Generator(1).normal(size=(500, 300), backend="numpy").to_numpy()
    np.testing.assert_array_equal(x[:, :300].to_numpy(), expected)


def test_an_error_draws_nothing() -> None:
    generator = Generator(1)
    before = str(generator.state)
    with pytest.raises(ValueError, match="wider"):
        generator.poisson(1e12, SHAPE, dtype="int32")
    assert str(generator.state) == before


def test_the_native_engine_is_the_hosts() -> None:
    mine = Generator(3, engine="native").normal(size=4)
    assert mine.backend == "dask"
    assert mine.tolist() == Generator(3).normal(size=4, backend="numpy").tolist()
