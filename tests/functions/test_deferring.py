"""Computing, chunks and files: a program with them does the same on every backend."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.errors import ShapeError
from unifyarr.testing import needs

VALUES = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("function", [ua.compute, ua.persist])
def test_computing_returns_what_it_was_given(backend: str, function: object) -> None:
    x = ua.asarray(VALUES, copy=True)
    view, box = x[1], ua.Container({"y": x + 1})
    assert function(x) is x
    found = function(x, view, box)
    assert found[0] is x
    assert found[1] is view
    assert found[2] is box
    assert function() == ()
    x[1, 0] = 7
    np.testing.assert_array_equal(np.asarray(view), [7, 5, 6, 7])
    np.testing.assert_array_equal(np.asarray(box.y), VALUES + 1)
    taken = function(x.native)
    np.testing.assert_array_equal(np.asarray(taken), np.asarray(x))
    assert x.compute() is x is x.persist()


def test_computing_in_a_compiled_function(backend: str) -> None:
    @ua.compile
    def run(x: ua.Array) -> ua.Array:
        y = ua.persist(x + 1)
        return y.compute().rechunk(1) * 2

    np.testing.assert_array_equal(np.asarray(run(ua.asarray(VALUES))), (VALUES + 1) * 2)


def test_chunks_cover_the_array(backend: str) -> None:
    x = ua.zeros((5, 4), chunks=(2, -1))
    if hasattr(x, "chunks"):
        assert [sum(lengths) for lengths in x.chunks] == [5, 4]
        assert [sum(lengths) for lengths in x[1:].T.chunks] == [4, 4]
    assert x.rechunk(3) is x
    with ua.using_chunks(2):
        y = ua.ones_like(x) + ua.arange(4, chunks=3)
    np.testing.assert_array_equal(np.asarray(y), np.ones((5, 4)) + np.arange(4))
    with pytest.raises(ShapeError, match="divides 1 axes"):
        ua.zeros((2, 2), chunks=(2,))
    box = ua.zeros_like(ua.Container({"x": x}), chunks=2)
    assert box.x.shape == (5, 4)
    assert getattr(ua.asarray(1.0, chunks=2), "chunks", ()) == ()


@needs("values")
def test_a_whole_array_has_no_chunks(backend: str) -> None:
    # Other libraries take objects with these attributes for arrays of dask.
    with pytest.raises(AttributeError, match="is whole"):
        ua.zeros((5, 4), chunks=2).chunks


def test_zarr(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    x = ua.asarray(VALUES, chunks=2)
    x[1:].to_zarr(tmp_path / "x")
    y = ua.from_zarr(tmp_path / "x")
    assert (y.backend, y.dtype) == (backend, x.dtype)
    y += 1
    np.testing.assert_array_equal(np.asarray(y), VALUES[1:] + 1)
    x.to_zarr(tmp_path / "x", overwrite=True)
    np.testing.assert_array_equal(np.asarray(ua.from_zarr(tmp_path / "x", backend="numpy")), VALUES)


def test_pickles(backend: str) -> None:
    x = ua.asarray(VALUES, copy=True)
    x[0] = 2 * x[1]
    y = pickle.loads(pickle.dumps(x[:2]))
    y[0, 0] = -1
    assert y.backend == backend
    np.testing.assert_array_equal(np.asarray(y), [[-1, 10, 12, 14], [4, 5, 6, 7]])
    assert float(x[0, 0]) == 8


def test_values_made_by_boxes(backend: str) -> None:
    handle, dtype = load(backend), np.dtype("float32")

    def make(starts: tuple[int, ...], lengths: tuple[int, ...], *notes: float) -> np.ndarray:
        box = tuple(slice(start, start + length) for start, length in zip(starts, lengths, strict=True))
        return VALUES[box].astype(dtype) + sum(notes)

    np.testing.assert_array_equal(handle.to_numpy(handle.deferred(make, (3, 4), dtype)), VALUES)
    found = handle.deferred(make, (3, 4), dtype, parts=((2, 1), (4,)), notes=[10.0, 20.0])
    np.testing.assert_array_equal(handle.to_numpy(found), VALUES + np.array([[10], [10], [20]]))
