"""Arrays in files: read when they're computed, and written a chunk at a time."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import CopyError, DtypeError

from .tasks import computed

VALUES = np.arange(600.0).reshape(20, 30)


class Source:
    """A dataset that counts reads."""

    def __init__(self, values: np.ndarray) -> None:
        self.values, self.read = values, 0
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __getitem__(self, key: Any) -> np.ndarray:
        part = self.values[key]
        self.read += part.size
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self[...])


def test_a_source_is_read_when_it_is_computed() -> None:
    source = Source(VALUES)
    x = ua.asarray(source, chunks=(5, 10))
    assert (x.shape, x.dtype, x.chunks) == ((20, 30), ua.float64, ((5,) * 4, (10,) * 3))
    part = x[7] * 2
    assert source.read == 0
    np.testing.assert_array_equal(part.to_numpy(), VALUES[7] * 2)
    assert 0 < source.read <= 150
    x[0] = -1
    np.testing.assert_array_equal(x.to_numpy()[0], np.full(30, -1.0))
    assert VALUES[0, 1] == 1


def test_a_copy_is_read_at_once() -> None:
    source = Source(VALUES.copy())
    x = ua.asarray(source, copy=True)
    source.values[:] = 0
    np.testing.assert_array_equal(x.to_numpy(), VALUES)
    with pytest.raises(DtypeError):
        ua.asarray(Source(VALUES.astype("M8[s]")))


def test_big_endian_files() -> None:
    x = ua.asarray(Source(VALUES.astype(">f4")))
    assert x.dtype == ua.float32
    np.testing.assert_array_equal((x + 1).to_numpy(), VALUES.astype("f4") + 1)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_memory_maps(tmp_path: Path, mode: Any) -> None:
    np.save(tmp_path / "x.npy", VALUES)
    source = np.load(tmp_path / "x.npy", mmap_mode=mode)
    with computed() as names:
        x = ua.asarray(source, chunks=7)
        y = ua.asarray(source[3:, ::2])
    assert names == []
    # A process that gets it opens the file.
    data = pickle.dumps(x)
    assert len(data) < VALUES.nbytes
    x[1] += 1
    expected = VALUES.copy()
    expected[1] += 1
    np.testing.assert_array_equal(x.to_numpy(), expected)
    np.testing.assert_array_equal(y.to_numpy(), VALUES[3:, ::2])
    np.testing.assert_array_equal(pickle.loads(data).to_numpy(), VALUES)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), VALUES)


def test_hdf5(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        dataset = file.create_dataset("x", data=VALUES, chunks=(4, 30))
        with computed() as names:
            x = ua.asarray(dataset, chunks=(8, -1))
            total = ua.sum(x, axis=0)
        assert names == []
        assert x.chunks == ((8, 8, 4), (30,))
        np.testing.assert_array_equal(total.to_numpy(), VALUES.sum(0))


def test_arrays_of_dask() -> None:
    import dask.array as da

    native = da.from_array(VALUES, chunks=7) + 1
    with computed() as names:
        x = ua.asarray(native)
        x[0] = 0
    assert names == []
    assert x.chunks == native.chunks
    assert native[0, 0].compute() == 1


def test_zarr(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    x = ua.asarray(VALUES, chunks=(8, 7)) + 1
    x.to_zarr(tmp_path / "file", path="x")
    # Zarr requires chunks of one size.
    assert zarr.open_array(tmp_path / "file", path="x").chunks == (8, 7)
    with computed() as names:
        y = ua.from_zarr(tmp_path / "file", path="x", chunks=(16, 14))
        y[2] = 0
    assert names == []
    assert y.chunks == ((16, 4), (14, 14, 2))
    expected = VALUES + 1
    expected[2] = 0
    np.testing.assert_array_equal(y.to_numpy(), expected)
    with pytest.raises(Exception, match=r"exist|contains"):
        x.to_zarr(tmp_path / "file", path="x")
    y.to_zarr(tmp_path / "file", path="y", overwrite=True)
    assert ua.from_zarr(zarr.open_array(tmp_path / "file", path="y"))[0, 3].item() == 4
    assert ua.from_zarr(tmp_path / "file", path="y", backend="numpy").backend == "numpy"


def test_chunks_are_written_by_one_task_each(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    target = zarr.create_array(tmp_path / "file", shape=(20, 30), dtype="f8", chunks=(6, 30))
    # Two chunks of these lie in one of the file.
    ua.asarray(VALUES, chunks=((3, 5, 12), 11)).to_zarr(target)
    np.testing.assert_array_equal(target[...], VALUES)
    with pytest.raises(ValueError, match="shape"):
        ua.zeros((3, 3)).to_zarr(target)


def test_copy_false_shares_what_is_read_later() -> None:
    assert ua.asarray(Source(VALUES), copy=False).shape == (20, 30)
    with pytest.raises(CopyError):
        ua.asarray([1, 2], copy=False)
