"""``ndarray`` and other classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from tests.oracle import assert_same


def test_ndarray_is_the_class_of_arrays(backend: str) -> None:
    x = np.arange(6).reshape(2, 3)
    assert type(np.zeros(3)) is np.ndarray is ua.Array
    assert isinstance(x.T, np.ndarray)
    assert np.ndarray.sum(x) == 15
    assert repr(np.ndarray[Any, np.dtype[np.float64]]).startswith("unifyarr.Array[")


@pytest.mark.parametrize(("dtype", "wanted"), [((), "float64"), ((int,), "int64"), (("f4",), "float32")])
def test_an_array_of_a_shape(backend: str, dtype: tuple[Any, ...], wanted: str) -> None:
    x = np.ndarray((2, 3), *dtype)
    assert (x.shape, x.dtype.name, x.backend) == ((2, 3), wanted, backend)
    x[...] = 1
    assert float(x.sum()) == 6
    assert np.ndarray(4).shape == (4,)
    assert np.ndarray((2,), strides=(8,)).shape == (2,)


BUFFERS: list[dict[str, Any]] = [
    {"shape": 4, "offset": 16},
    {"shape": (2, 3)},
    {"shape": (2, 3), "order": "F"},
    {"shape": 4, "offset": 32, "strides": -8},
    {"shape": (3,), "strides": (16,), "offset": 8},
    {"shape": 5, "offset": 24, "strides": 0},
    {"shape": (2, 3), "offset": 8, "strides": (24, 8)},
    {"shape": (2, 2), "offset": 8, "strides": (8, 8)},
    {"shape": (0, 2), "strides": (80, 8)},
    {"shape": ()},
]


@pytest.mark.parametrize("given", BUFFERS, ids=str)
def test_an_array_of_a_buffer(backend: str, given: dict[str, Any]) -> None:
    values = numpy.arange(10)
    wanted = numpy.ndarray(dtype=int, buffer=values, **given)
    assert_same(np.ndarray(dtype=int, buffer=np.array(values), **given), wanted)
    assert_same(np.ndarray(dtype=int, buffer=values.tobytes(), **given), wanted)


def test_an_array_is_written_where_a_buffer_is_seen(backend: str) -> None:
    x = np.arange(10)
    np.ndarray(3, int, x, 8)[...] = 0
    np.ndarray(3, int, x, 72, -16)[1:] = -1
    np.ndarray((), int, x)[()] = 8
    assert x.tolist() == [8, 0, 0, 0, 4, -1, 6, -1, 8, 9]
    with pytest.raises(ValueError, match="read-only"):
        np.ndarray(3, int, x, 8, 0)[0] = 1


WRONG: dict[str, tuple[type[Exception], Callable[[Any], Any]]] = {
    "no shape": (TypeError, lambda x: np.ndarray()),
    "below the buffer": (ValueError, lambda x: np.ndarray(4, int, x, 16, -8)),
    "beyond the buffer": (ValueError, lambda x: np.ndarray(8, int, x, 24, 8)),
    "too small": (TypeError, lambda x: np.ndarray(11, int, x)),
    "too many strides": (ValueError, lambda x: np.ndarray((), strides=(2,))),
    "too few strides": (ValueError, lambda x: np.ndarray((2,), strides=())),
    "parts of elements": (ValueError, lambda x: np.ndarray(2, int, x, 0, 4)),
    "an order": (ValueError, lambda x: np.ndarray(2, int, x, order="Q")),
    "another dtype": (TypeError, lambda x: np.ndarray(2, float, x)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_ndarray_refuses(backend: str, name: str) -> None:
    error, call = WRONG[name]
    x = np.arange(10)
    with pytest.raises(error):
        call(x)


def test_flatiter_is_the_class_of_flat(backend: str) -> None:
    assert type(np.zeros(2).flat) is np.flatiter
    with pytest.raises(TypeError, match="asarray"):
        np.flatiter()


def test_broadcast_takes_no_keywords(backend: str) -> None:
    with pytest.raises(ValueError, match="x"):
        np.broadcast(1, x=1)
