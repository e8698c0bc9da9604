"""Writes of masked selections: by chunks, which stay as they are, and with a warning where chunks are joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest

import unifyarr as ua

from .tasks import later

SHAPES = [((7,), 2), ((6, 8), (2, 3)), ((6, 8), (2, -1)), ((4, 3, 5), (2, 1, 2))]


def _programs(lib: Any) -> dict[str, Callable[[Any, Any, Any], None]]:
    def updated(x: Any, mask: Any, other: Any) -> None:
        x[mask] -= 3

    def mixed(x: Any, mask: Any, other: Any) -> None:
        x[mask] = lib.sin(x[mask] * 2 + other[mask])

    def copied(x: Any, mask: Any, other: Any) -> None:
        chosen = other[mask]
        chosen += 1
        x[mask] = chosen
        x[~mask] = lib.astype(other[~mask], "float32")

    def joined(x: Any, mask: Any, other: Any) -> None:
        # The first and the last are of no chunk of the mask.
        chosen = other[mask]
        x[mask] = lib.concat([chosen[1:], chosen[:1]]) if lib is np else lib.roll(chosen.compute(), -1, axis=0)

    return {each.__name__: each for each in (updated, mixed, copied, joined)}


@pytest.mark.parametrize("program", _programs(np))
@pytest.mark.parametrize(("shape", "chunks"), SHAPES)
@pytest.mark.parametrize("known", [False, True])
def test_what_a_mask_selects_is_written(shape: tuple[int, ...], chunks: Any, known: bool, program: str) -> None:
    rng = np.random.default_rng(3)
    for lead in range(1, len(shape) + 1):
        for share in (0.1, 0.6, 1.0):
            values, other = rng.normal(size=(2, *shape))
            mask = rng.random(shape[:lead]) < share
            own = chunks if isinstance(chunks, int) else chunks[:lead]
            x = later(values, chunks)
            before = x.chunks
            given = ua.asarray(mask, chunks=own) if known else later(mask, own)
            _programs(ua)[program](x, given, later(other, chunks))
            assert x.chunks == before
            _programs(np)[program](values, mask, other)
            np.testing.assert_array_equal(x.to_numpy(), values)


def _write(x: ua.Array, mask: Any) -> ua.Array:
    x[mask] -= 3
    x[mask] = ua.exp(x[mask]) * later(np.arange(4.0)) + later(np.ones((1, 4)))
    return x


@pytest.mark.parametrize("known", [False, True])
def test_a_chunk_takes_its_own_part_of_what_is_written(known: bool) -> None:
    x = ua.ones((400, 4), chunks=(10, -1)) * 2
    mask = ua.asarray(np.arange(400) % 3 == 0) if known else x[:, 0] > 1
    graph = dict(_write(x, mask).native.__dask_graph__())
    writes = [task for key, task in graph.items() if key[0].startswith("put")]
    assert len(writes) == 80
    # The old chunk, and those of the mask and of the value.
    assert {len(task.dependencies) for task in writes} == {3}


LARGE = (3000, 4000)
JOINING: dict[str, Callable[[ua.Array], Any]] = {
    "sort": lambda x: ua.sort(x, axis=0),
    "partition": lambda x: ua.quantile(x, 0.5, axis=1),
    "fft": lambda x: ua.fft.fft(x, axis=0),
    "inv": lambda x: ua.linalg.inv(x[:3000, :3000]),
    "unique_values": ua.unique_values,
    "isin": lambda x: ua.isin(x[0], x),
    "searchsorted": lambda x: ua.searchsorted(x.reshape(-1), x[0]),
    "take": lambda x: ua.take(x, later(np.arange(3)), axis=0),
    "gather": lambda x: x[later(np.arange(3)), later(np.arange(3))],
    "take_along_axis": lambda x: ua.take_along_axis(x, ua.argsort(x[:5], axis=0), axis=0),
    "scatter": lambda x: x.__setitem__(later(np.arange(3000)), x * 2),
    "view": lambda x: x.view("float32").native,
    r"x\[mask\] = values": lambda x: x.__setitem__(x > 0, ua.ones(12_000_000, chunks=10**6)),
}


@pytest.mark.parametrize("name", JOINING)
def test_joining_chunks_of_a_large_array_warns(name: str) -> None:
    x = ua.ones(LARGE, chunks=(500, 500))
    with pytest.warns(da.PerformanceWarning, match=rf"^{name}\(\) joins"):
        JOINING[name](x)


def test_indices_in_many_chunks_divide_what_they_take() -> None:
    # dask warns of results in many more chunks than operands: it would align unrelated axes.
    x, index = later(np.arange(240.0).reshape(12, 20), (-1, 1)), later(np.arange(24).reshape(2, 12) % 12, (-1, 1))
    taken, gathered = ua.take(x, index, axis=0), x[index]
    assert taken.chunks == gathered.chunks == ((2,), (1,) * 12, (1,) * 20)
    for found in (taken, gathered):
        np.testing.assert_array_equal(found.to_numpy(), x.to_numpy()[index.to_numpy()])
