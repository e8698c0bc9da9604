"""Windows of several chunks that overlap: a task joins just the parts that it needs, and frees the rest."""

from __future__ import annotations

import random

import dask
import numpy as np
import pytest

import unifyarr as ua
from unifyarr.backends.dask._dividing import WindowedElementwise, how
from unifyarr.backends.dask._parts import Halo

from .tasks import later


def _tasks(x: ua.Array) -> list[str]:
    """Return the names of the tasks that are left when a graph is optimised, without their tokens."""
    graph = dask.optimize(x.native)[0].__dask_graph__()
    return [(key if isinstance(key, str) else key[0]).rsplit("-", 1)[0] for key in graph]


def _smooth(x: ua.Array) -> None:
    inner = x[1:-1, 1:-1]
    inner += 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


@pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])
def test_a_stencil_copies_edges_alone(is_compiled: bool) -> None:
    values = np.random.default_rng(0).random((40, 30))
    x = ua.persist(later(values, 10))
    (ua.compile(_smooth) if is_compiled else _smooth)(x)
    names = _tasks(x)
    # For each of the chunks one of each side and itself, beside the chunk that it begins with.
    assert len(names) <= 12 * 6
    assert not any("rechunk" in name or "getitem" in name for name in names)
    assert x.chunks == ((10, 10, 10, 10), (10, 10, 10))
    expected = values.copy()
    _smooth(expected)
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_windows_of_one_array_share_what_is_joined() -> None:
    x = later(np.arange(40.0), 10)
    y = ua.zeros(40, chunks=10)
    y[1:-1] = x[:-2] + x[2:] - x[1:-1]
    joined = [name for name in y.native.dask.layers if name.startswith("join")]
    assert len(joined) == 1
    np.testing.assert_array_equal(y.to_numpy()[1:-1], np.arange(1.0, 39))


def test_an_edge_holds_no_chunk() -> None:
    chunk = np.arange(12.0).reshape(4, 3)
    assert Halo(0, slice(3, 4))(chunk).base is None


def test_what_an_array_was_made_of_is_no_history() -> None:
    x = later(np.arange(60.0), 20)
    for _ in range(25):
        x = x[1:] * 0.5 + x[:-1]
    made = how(x.native)
    assert isinstance(made, WindowedElementwise)
    # Arrays that know how they were made would hold those before them, each with its graph.
    assert made.depth <= 8
    assert all(how(each) is None for each, _ in made.operands)
    y = later(np.arange(60.0), 20)[1:]
    for _ in range(25):
        y = y * 0.5
    assert how(y.native) is None


def _windows(draw: random.Random, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    lengths = [draw.randint(1, length) for length in shape]
    found = []
    for _ in range(4):
        window = []
        for length, count in zip(shape, lengths, strict=True):
            step = draw.choice([1, 1, 2]) if 2 * count - 1 <= length else 1
            start = draw.randint(0, length - (count - 1) * step - 1)
            window.append(slice(start, start + (count - 1) * step + 1, step))
        found.append(tuple(window))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_any_windows_in_any_chunks(seed: int) -> None:
    draw = random.Random(seed)
    shape = tuple(draw.randint(3, 14) for _ in range(draw.choice([1, 2, 2, 3])))
    chunks: list[tuple[int, ...]] = []
    for length in shape:
        ends = sorted({length, *(draw.randint(1, length) for _ in range(3))})
        chunks.append(tuple(np.diff([0, *ends]).tolist()))
    expected = np.random.default_rng(seed).random(shape)
    x = later(expected, tuple(chunks))
    for _ in range(2):
        target, one, other, third = _windows(draw, shape)
        for each in (expected, x):
            each[target] += 0.25 * (each[one] + each[other] - each[third])
        # A value that has an axis of one element.
        for each in (expected, x):
            each[one] = (each[target] - each[other]) * each[third][..., :1]
    np.testing.assert_array_equal(x.to_numpy(), expected)
