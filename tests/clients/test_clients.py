"""Each row of the table of clients: the outcomes for our arrays, beside NumPy's."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, needs

from ..engines import default_device
from ..natives import on_host, values_of
from .cases import GROUPS
from .rows import VALUES, Outcome

# NumPy takes no memory of other devices.
OF_THE_HOST = {("NumPy", "from_dlpack"), ("NumPy", "from_dlpack(copy=False)")}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", GROUPS)
def test_clients(backend: str, group: str) -> None:
    make, modules = GROUPS[group]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    for case in make():
        x = ua.asarray(VALUES, copy=True)
        assert x.backend == backend
        said = f"{case.client}, {case.what}, on {backend}"
        if case.outcome is Outcome.REFUSES:
            # ``pytest.raises`` fails where the client takes it: the table has another row then.
            with pytest.raises(Exception, match=re.escape(case.words)):
                case.program(x)
            np.testing.assert_array_equal(np.asarray(x), VALUES, err_msg=said)
            continue
        if (case.client, case.what) in OF_THE_HOST and not default_device(backend).startswith("cpu"):
            with pytest.raises((BufferError, RuntimeError)):
                case.program(x)
            continue
        found, expected = case.program(x), case.program(VALUES.copy())
        if case.outcome is Outcome.DIFFERS:
            # It fails where the client mends it: the table has another row then.
            assert not np.array_equal(_values(found), _values(expected)), said
            continue
        if case.outcome is Outcome.KEEPS:
            assert isinstance(found, ua.Array), (said, type(found))
            assert found.backend == backend, said
        np.testing.assert_allclose(_values(found), _values(expected), rtol=1e-6, atol=1e-12, err_msg=said)


def _values(found: Any) -> np.ndarray:
    return values_of(found).astype(np.float64)


@pytest.mark.parametrize("first", ["unifyarr", "einops"])
def test_the_order_of_imports_is_free(first: str) -> None:
    pytest.importorskip("einops")
    second = {"unifyarr": "einops", "einops": "unifyarr"}[first]
    program = f"""
import {first}
import {second}
x = unifyarr.zeros((2, 3))
assert einops.rearrange(x, "a b -> b a").shape == (3, 2)
import gc
gc.collect()
assert einops.rearrange(x[:1], "a b -> b a").shape == (3, 1)
assert not {{"torch", "jax", "tensorflow"}} & set(__import__("sys").modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_a_model_writes_lists() -> None:
    pydantic = pytest.importorskip("pydantic")
    made = pydantic.create_model("Model", x=(ua.Array, ...))(x=ua.asarray([1.0, 2.0]))
    assert made.model_dump_json() == '{"x":[1.0,2.0]}'
    assert made.model_dump()["x"] is made.x


@on_host("NumPy writes it")
def test_what_writes_into_values_of_arrays_writes_into_a_copy(backend: str) -> None:
    """SciPy's ``ndimage`` takes ``np.asarray(output)``, which shares memory where the engine can write it."""
    ndimage = pytest.importorskip("scipy.ndimage")
    output = ua.zeros((3, 3))
    ndimage.gaussian_filter(np.eye(3), 1.0, output=output)
    expected = ndimage.gaussian_filter(np.eye(3), 1.0) if has(backend, "writes") else np.zeros((3, 3))
    np.testing.assert_allclose(np.asarray(output), expected)


def test_ufuncs_leave_a_series_to_pandas(backend: str) -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([1.0, 2.0], index=["a", "b"])
    found = np.add(ua.asarray([1.0, 2.0]), series)
    pandas.testing.assert_series_equal(found, series + 1.0 * np.array([1.0, 2.0]))


def test_numpy_broadcasts_what_it_keeps_as_objects(backend: str) -> None:
    broadcast: Any = np.broadcast_arrays
    x, nothing, text = broadcast(ua.asarray([1.0, 2.0]), None, "/")
    assert isinstance(x, ua.Array)
    assert x.backend == backend
    assert nothing.tolist() == [None, None]
    assert text.tolist() == ["/", "/"]
    # Without objects the results stay views.
    one, other = broadcast(ua.asarray([1.0, 2.0]), 3.0)
    assert isinstance(one, ua.Array)
    assert isinstance(other, ua.Array)


def test_pandas_gets_numpys_arrays_and_everybody_else_ours(backend: str) -> None:
    pandas = pytest.importorskip("pandas")
    x, frame = ua.asarray([1.0, 2.0]), pandas.DataFrame({"a": [1.0, 2.0]})
    for found in (frame + x[0], x[1] * frame, frame.clip(x[0], x[1]), frame.where(frame > 1, x[1])):
        assert type(found.to_numpy()) is np.ndarray
    applied = frame.apply(lambda column: [type(np.add(column.to_numpy(), x))] * 2)
    assert set(applied["a"]) == {ua.Array}


@needs("gradients", why="a derivative may be lost")
def test_pandas_loses_no_derivative(backend: str) -> None:
    pandas = pytest.importorskip("pandas")

    def lost(x: ua.Array) -> Any:
        return ua.sum(ua.asarray((pandas.DataFrame({"a": [1.0, 2.0]}) + x[0]).to_numpy()))

    with pytest.raises(ua.errors.LostDerivativeError):
        ua.grad(lost)(ua.asarray([1.0, 2.0]))


@needs("shapes", why="an engine with chunks has them in xarray too")
def test_xarray_takes_no_array_for_a_chunked_one(backend: str) -> None:
    xarray = pytest.importorskip("xarray")
    x = ua.ones((2, 3))
    named = xarray.DataArray(x, dims=("a", "b"))
    assert named.chunks is None
    assert not hasattr(x, "chunks")
    assert dict(named.chunksizes) == {}
