"""Random programs of views and writes on arrays over two devices, beside plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing.programs.running import run

from ...oracle import few
from .common import BLOCKS, EXPLICIT_ROWS, HALVES, ROWS, is_spread_as, spread

COUNT = 300 if settings.get_current_profile_name() == "thorough" else 6
SHARDINGS = [ROWS, BLOCKS, EXPLICIT_ROWS]


def test_programs_run_as_on_numpy(backend: str) -> None:
    run("jax", COUNT, 30, seed=0, device=HALVES)


def slices(length: int) -> st.SearchStrategy[slice]:
    ends = st.none() | st.integers(-length - 1, length + 1)
    return st.builds(slice, ends, ends, st.sampled_from([1, 1, 2, 3, -1, -2]))


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["rows", "blocks", "explicit"])
@few
@given(data=st.data())
def test_windows(backend: str, sharding: object, data: st.DataObject) -> None:
    values = np.arange(64.0).reshape(16, 4) - 9
    with ua.use_backend("jax"):
        x, source = spread(sharding, values), spread(sharding, -values)
        key = data.draw(slices(16) | st.integers(-16, 15)), data.draw(slices(4) | st.integers(-4, 3))
        np.testing.assert_array_equal(np.asarray(x[key]), values[key])
        written, how = values.copy(), data.draw(st.sampled_from(["number", "host", "spread"]))
        written[key] = 7.0 if how == "number" else -values[key]
        x[key] = {"number": lambda: 7.0, "host": lambda: -values[key], "spread": lambda: source[key]}[how]()
        np.testing.assert_array_equal(np.asarray(x), written)
        assert is_spread_as(x, sharding)


# Hypothesis seldom draws these. JAX's own indexing fails at them where a mesh has explicit axes.
NOTHING = [np.s_[:, :0], np.s_[0, :0], np.s_[:0], np.s_[:0, 1], np.s_[3:3, 2:2], np.s_[:, 4:4:-1], np.s_[5:2, 1:3]]


@pytest.mark.parametrize("sharding", SHARDINGS, ids=["rows", "blocks", "explicit"])
@pytest.mark.parametrize("key", [*NOTHING, np.s_[[], :2], np.zeros(16, bool)], ids=str)
def test_parts_without_elements(backend: str, sharding: object, key: object) -> None:
    values = np.arange(64.0).reshape(16, 4) - 9
    with ua.use_backend("jax"):
        x, source = spread(sharding, values), spread(sharding, -values)
        np.testing.assert_array_equal(np.asarray(x[key] + 1), values[key])
        assert float(ua.sum(x[key])) == 0
        part, _ = ua.compile(lambda x: (x[key] * 2, x + 1))(x)
        assert part.shape == values[key].shape
        for value in (7.0, -values[key], source[key]):
            x[key] = value
        np.testing.assert_array_equal(np.asarray(x), values)
        assert is_spread_as(x, sharding)
