"""Programs compiled for arrays over devices: as on one device to rounding, and spread as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

import unifyarr as ua
from benchmarks.programs import wave

from .common import BLOCKS, LINE, ROWS, is_spread_as, spread


@pytest.fixture(autouse=True)
def _on_jax(backend: str) -> Iterator[None]:
    with ua.use_backend("jax"):
        yield


@pytest.mark.parametrize("sharding", [ROWS, BLOCKS], ids=["rows", "blocks"])
def test_waves(sharding: NamedSharding) -> None:
    def after_steps(u: ua.Array, before: ua.Array) -> ua.Array:
        step = ua.compile(wave.step)
        for _ in range(5):
            step(u, before)
            u, before = before, u
        return u

    first, _ = wave.arrays(32, 16)
    expected = after_steps(ua.asarray(first), ua.asarray(first))
    found = after_steps(spread(sharding, first), spread(sharding, first))
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12, atol=1e-12)
    assert is_spread_as(found, sharding)


def test_k_means() -> None:
    def iterate(x: ua.Array, centers: ua.Array, numbers: ua.Array) -> None:
        distances = ua.sum(centers * centers, axis=1) - 2.0 * (x @ centers.T)
        members = (ua.argmin(distances, axis=1) == numbers).astype(x.dtype)
        sizes = ua.sum(members, axis=1, keepdims=True)
        centers[...] = ua.where(sizes > 0.0, members @ x / ua.maximum(sizes, 1.0), centers)

    points = np.random.default_rng(0).normal(size=(64, 4)) + 4 * np.arange(64)[:, None] % 3

    def after_iterations(place: Callable[[np.ndarray], ua.Array]) -> ua.Array:
        compiled, x, centers, numbers = (
            ua.compile(iterate),
            place(points),
            ua.asarray(points[:3]),
            ua.arange(3)[:, None],
        )
        for _ in range(4):
            compiled(x, centers, numbers)
        return centers

    expected, found = after_iterations(ua.asarray), after_iterations(lambda values: spread(ROWS, values))
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12)


def test_a_step_of_attention() -> None:
    generator = np.random.default_rng(0)
    texts, start = generator.normal(size=(8, 4, 6)), generator.normal(size=(4, 6, 6)) / 3

    def loss(weights: ua.Container, x: ua.Array) -> ua.Array:
        project = {name: lambda x, name=name: x @ weights[name] for name in ("query", "key", "value", "output")}
        y = x + ua.nn.multi_head_attention(
            x, num_heads=2, is_causal=True, **{f"{name}_projection": each for name, each in project.items()}
        )
        return ua.mean(y * y)

    def step(weights: ua.Container, x: ua.Array) -> ua.Array:
        value, gradient = ua.value_and_grad(loss)(weights, x)
        weights -= 0.1 * gradient
        return value

    def after_steps(of_texts: Any, of_weights: Any) -> tuple[list[float], ua.Container]:
        names = ("query", "key", "value", "output")
        weights = ua.Container(
            {name: ua.asarray(each, device=of_weights) for name, each in zip(names, start, strict=True)}
        )
        compiled, x = ua.compile(step), ua.asarray(texts, device=of_texts)
        return [float(compiled(weights, x)) for _ in range(2)], weights

    losses, weights = after_steps(None, None)
    # Each device has some of the texts, and all of the weights.
    found, found_weights = after_steps(ROWS, NamedSharding(LINE, PartitionSpec()))
    np.testing.assert_allclose(found, losses, rtol=1e-12)
    for one, other in zip(found_weights.leaves(), weights.leaves(), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-12, atol=1e-12)
        assert one.sharding.is_fully_replicated
        assert one.sharding.device_set == ROWS.device_set


def test_what_is_asked_inside() -> None:
    def run(x: ua.Array) -> tuple[ua.Array, ua.Array, ua.Array]:
        assert x.device == ROWS
        return ua.shard(x * 2, LINE, "rows"), ua.zeros_like(x.T) + x.T, x + ua.ones(4) + 1

    x, values = spread(ROWS, np.arange(64.0).reshape(16, 4)), np.arange(64.0).reshape(16, 4)
    compiled = ua.compile(run)
    for found, expected in zip(compiled(x), (values * 2, values.T, values + 2), strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)
        assert not found.sharding.is_fully_replicated
    # Another placement is another program.
    on_one = ua.asarray(values)
    with pytest.raises(AssertionError):
        compiled(on_one)

    def asks(x: ua.Array) -> ua.Array:
        return x if x.sharding is None else x * 2

    with pytest.raises(ua.errors.TraceError, match="where an array lies"):
        ua.compile(asks)(x)


def test_captured_arrays_are_written_where_they_are() -> None:
    kept = spread(ROWS, np.ones((16, 4)))

    @ua.compile
    def add(x: ua.Array) -> ua.Array:
        kept[2:5] += x[2:5]
        return kept * x

    x = spread(ROWS, np.ones((16, 4)))
    for times in range(2):
        found = add(x)
        expected = np.ones((16, 4))
        expected[2:5] += times + 1
        np.testing.assert_array_equal(np.asarray(found), expected)
    np.testing.assert_array_equal(np.asarray(kept), expected)
    assert is_spread_as(kept, ROWS)
