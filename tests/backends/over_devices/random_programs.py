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
