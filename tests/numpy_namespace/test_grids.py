"""Grids and indices against NumPy's."""

from __future__ import annotations

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ..oracle import assert_same
from .calls import DATA, check_call

CALLS = """
mgrid[0:3] | mgrid[0:2, 0:3] | mgrid[0:1:3j] | mgrid[-1:1:0.5, 0:1:2j] | mgrid[0:k[0]] | ogrid[0:2, 0:3]
ogrid[0:1:3j, 0:2] | ogrid[1:3]
r_[1:4, 0, 5] | r_[v, 0, w] | r_[0:1:3j] | r_["0,2", v, w] | r_["1,2,0", v, w] | r_["-1", A, A] | r_[A, I]
r_["0,3,1", v, w] | r_[2.5, k] | r_[U[0], 1]
r_["no", v] | r_["1", v, A] | r_["-1", 0:3, 0:3] | r_["0,2,0", 0:3, 0:3] | c_[v, w] | c_[A, v[:3]] | c_[1:4, 4:7]
c_[v] | c_[1, 2]
indices((2, 3)) | indices((2, 3), float) | indices((2, 3), sparse=True) | indices(()) | indices((0, 2))
ix_([0, 1], [2, 0]) | ix_(B[0], k)
ix_(A) | ix_([], [1]) | mask_indices(3, np.triu) | mask_indices(4, np.tril, -1) | tril_indices(3)
tril_indices(3, 1, 4) | triu_indices(3, -1)
triu_indices(2, m=4) | tril_indices_from(A) | triu_indices_from(A, 1) | triu_indices_from(v)
tril_indices_from(A, k=-1) | diag_indices(3)
diag_indices(2, 3) | diag_indices_from(A[:, :3]) | diag_indices_from(A) | diag_indices_from(v)
unravel_index(5, (2, 3)) | unravel_index([1, 4], (2, 3), "F")
unravel_index(k, (4, 2)) | unravel_index([[5, 2]], (2, 3)) | unravel_index(6, (2, 3)) | unravel_index(-1, (2, 3))
unravel_index([], (2, 3)) | unravel_index(v, (4,))
unravel_index([0], ()) | ravel_multi_index((k, k), (4, 5)) | ravel_multi_index(([0, 1], [1, 2]), (2, 3), order="F")
ravel_multi_index((k, 7), (3, 4), "clip")
ravel_multi_index((k, -1), (4, 3), mode="wrap") | ravel_multi_index((k, k), (2, 2))
ravel_multi_index(([3], [5]), (3, 4), ("wrap", "clip"))
ravel_multi_index((1, 2), (2, 3)) | ravel_multi_index((1, 2, 3), (2, 3))
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


def test_positions_in_arrays(backend: str) -> None:
    x = np.asarray(DATA["I"])
    assert [(place, int(each)) for place, each in np.ndenumerate(x)] == list(numpy.ndenumerate(DATA["I"]))
    with pytest.raises(ValueError, match="out of bounds"):
        np.unravel_index(np.asarray([12]), (3, 4))
    with pytest.raises(ValueError, match="matrix"):
        np.r_["r", [1, 2]]
    assert len(np.r_) == 0


def test_broadcast(backend: str) -> None:
    arrays = DATA["I"], DATA["v"], 3
    wanted, found = numpy.broadcast(*arrays), np.broadcast(np.asarray(arrays[0]), *arrays[1:])
    for name in ("shape", "nd", "ndim", "size", "numiter", "index"):
        assert getattr(found, name) == getattr(wanted, name), name
    assert [tuple(map(float, each)) for each in found] == [tuple(map(float, each)) for each in wanted]
    assert found.index == wanted.index == 12
    found.reset()
    assert float(next(found)[0]) == 3
    assert np.broadcast(found, np.zeros((2, 1, 1))).shape == (2, 3, 4)
    assert [float(each) for each in np.broadcast(1, [2, 3]).iters[0]] == [1, 1]
    with pytest.raises(ValueError, match="broadcast"):
        np.broadcast([1, 2], x=[1, 2])
    with pytest.raises(ValueError, match="shape"):
        np.broadcast([1, 2], [1, 2, 3])


def test_the_class_of_arrays(backend: str) -> None:
    x = np.zeros((2, 3), np.float32)
    assert isinstance(x, np.ndarray)
    assert isinstance(x[0], np.ndarray)
    assert not isinstance([1], np.ndarray)
    assert not isinstance(2.0, np.ndarray)
    assert issubclass(ua.Array, np.ndarray)
    assert issubclass(type(x), np.ndarray)
    assert np.ndarray == ua.Array
    assert np.ndarray is not list
    assert np.ndarray.sum(np.ones(3)) == 3
    assert np.ndarray[tuple[int], np.dtype]
    y = np.ndarray((2, 3), "int16")
    assert (y.shape, y.dtype) == ((2, 3), "int16")
    assert np.ndarray(3).dtype == "float64"
    assert_same(np.ndarray((2, 2), np.int16, b"12345678"), numpy.ndarray((2, 2), numpy.int16, b"12345678"))
    assert_same(np.ndarray((2, 1), "u1", b"1234", 1), numpy.ndarray((2, 1), "u1", b"1234", 1))
    with pytest.raises(TypeError, match="too small"):
        np.ndarray((2, 2), np.int64, b"12345678")
