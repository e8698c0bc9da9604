"""Rarely used rules of NumPy: numbers with an axis, objects that are no index, objects with values."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from tests.oracle import assert_same


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "amax", "amin", "all", "any"])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_number_has_an_axis(backend: str, name: str, axis: int | None) -> None:
    wanted = getattr(numpy, name)(3, axis=axis)
    assert_same(getattr(np, name)(3, axis=axis), wanted)
    assert_same(getattr(np, name)(np.array(3), axis), wanted)
    for number in (3, np.array(3), [3]):
        with pytest.raises(np.exceptions.AxisError):
            getattr(np, name)(number, 1)


def test_isscalar_counts_numbers(backend: str) -> None:
    x = np.ones((2, 2))
    for number in (np.sum(x), x[0, 0], np.percentile(x, 50), np.isclose(1, 1), 3, np.float64(3), "text"):
        assert np.isscalar(number)
    for other in (x, x[0], x[:1, 0], [1], None):
        assert not np.isscalar(other)


FLOATS = ([0.5, 1.5], numpy.array([1.0]), numpy.empty(0), ["1", "2"], [slice(None)], (Ellipsis, Ellipsis))


class Key:
    """An object that is no key, with the same name in each process."""

    def __repr__(self) -> str:
        return "key"


KEYS = [0.0, (0, 0.0), (0.0, slice(None)), (slice(0.0, None), 0.0), *FLOATS[:-1], (FLOATS[-1],), "a", Key()]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_what_is_no_index(backend: str, key: Any) -> None:
    values = numpy.zeros((2, 3))
    with pytest.raises(IndexError):
        values[key]
    x = np.array(values)
    with pytest.raises(IndexError):
        x[key]
    with pytest.raises(IndexError):
        x[key] = 1
    assert not x.any()


def test_too_many_indices_and_axes(backend: str) -> None:
    x = np.ones(2)
    for key in ((None,) * 70, (True,) * 64, (False,) * 80, (np.array([0]),) * 64):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 0
    assert x.tolist() == [1, 1]
    assert x[(None,) * 3].shape == (1, 1, 1, 2)
    deep = np.ones((1,) * 64)
    for index in (True, np.array([0])):
        with pytest.raises(IndexError):
            deep[(index,) * 64]
        with pytest.raises(IndexError):
            deep[(index,) * 64] = 0


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda x: np.zeros((True, 2))),
        (TypeError, lambda x: np.reshape(x, (True, -1))),
        (ValueError, lambda x: np.empty((3037000500, 3037000500), np.int8)),
        (MemoryError, lambda x: np.zeros((3037000500, 3037000500))),
        (TypeError, lambda x: f"{x:30}"),
        (TypeError, lambda x: f"{x[0]:.2f}"),
        (TypeError, lambda x: np.negative(x, out=(...,))),
        (TypeError, lambda x: np.add(x, x, ...)),
        (TypeError, lambda x: np.divmod(x, 2, out=(np.empty((2, 3)), ...))),
        (TypeError, lambda x: np.add.reduce(x, out=(...,))),
        (ValueError, lambda x: np.dot(x, x.T, np.empty((2, 4))[:, ::2])),
        (ValueError, lambda x: np.dot(x, x.T, np.empty((2, 2), np.float32))),
        (ValueError, lambda x: np.dot(x, x.T, np.empty((2, 3)))),
        (RuntimeError, lambda x: np.isin(np.array([0, 1], "i2"), np.array([-128, 127], "i1"), kind="table")),
        (TypeError, lambda x: operator.index(np.array(True))),
    ],
)
def test_what_numpy_refuses(backend: str, error: type[Exception], call: Callable[[Any], Any]) -> None:
    with pytest.raises(error):
        call(np.ones((2, 3)))


def test_dot_writes_to_out(backend: str) -> None:
    x, out = np.ones((2, 3)), np.empty((2, 2))
    assert np.dot(x, x.T, out) is out
    assert (out == 3).all()
    assert f"{x.sum():.1f}" == "6.0"
    assert f"{x}" == str(x)


def test_choose_takes_several_arrays(backend: str) -> None:
    places, choices = numpy.array([[0, 1], [1, 0]]), numpy.arange(8).reshape(2, 2, 2)
    wanted = places.choose(*choices)
    assert_same(np.array(places).choose(*np.array(choices)), wanted)
    assert_same(np.array(places).choose(np.array(choices)), wanted)
    out = np.empty((2, 2), int)
    assert np.array(places + 5).choose([1, 2, 3], out=out, mode="clip") is out
    assert (out == 3).all()


def test_axes_of_a_matrix_and_a_vector(backend: str) -> None:
    x, v = numpy.arange(60).reshape(3, 4, 5), numpy.arange(3)
    for axes in ([(1, 0), (0), (0)], [(1, 0), 0, 1]):
        assert_same(np.matmul(np.array(x), np.array(v), axes=axes), numpy.matmul(x, v, axes=axes))
        turned = [axes[1], axes[0][::-1], axes[2]]
        assert_same(np.matmul(np.array(v), np.array(x), axes=turned), numpy.matmul(v, x, axes=turned))
    with pytest.raises(ValueError, match="axes"):
        np.matmul(np.array(x), np.array(v), axes=[(1, 0), 0, (0, 1)])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_a_sum_that_begins_with_negative_zero(backend: str, dtype: str) -> None:
    start = numpy.array(complex(-0.0, -0.0) if dtype[0] == "c" else -0.0).astype(dtype)[()]
    for values in ([], [start], [start] * 9, [start, 0], [start, 1], [0]):
        x = numpy.array(values, dtype)
        found = numpy.asarray(np.sum(np.array(x), initial=start))
        wanted = numpy.asarray(numpy.sum(x, initial=start))
        assert found.tobytes() == wanted.tobytes()

    masked = np.sum(np.array([-0.0, 1.0, -0.0]), initial=-0.0, where=np.array([True, False, True]))
    assert np.signbit(masked)


def test_isclose_rounds_numbers_first(backend: str) -> None:
    below = 1.0 - float(np.finfo("f8").eps)
    x = np.array(1.0, np.float32)
    assert np.isclose(x, below, atol=0, rtol=0)
    assert not np.isclose(x, np.float64(below), atol=0, rtol=0)
    assert np.isclose(np.array([1]), 1.0 + 1e-9).all()
    assert not np.isclose(np.array([200], "u1"), 456)


def test_the_size_in_bytes_counts_axes(backend: str) -> None:
    x = np.ones(100)
    assert sys.getsizeof(x[...]) < sys.getsizeof(x) < sys.getsizeof(x.reshape(100, 1, 1).copy())


class Ours:
    """An object whose values are an array of ours."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values


class Plain:
    """An object whose values are an array of NumPy's."""

    def __array__(self) -> Any:
        return numpy.array([3, 1, 1])


class Refusing:
    """An object whose values can't be had."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError("not these values")


def test_objects_with_values_are_taken(backend: str) -> None:
    x = np.array([3, 1, 1])
    for copy in (True, None, False):
        assert np.array(Ours(x), copy=copy) is x
    for given in (Ours(x), Plain()):
        assert np.asarray(given).tolist() == [3, 1, 1]
        assert np.array(given, dtype=float).dtype == "float64"
        assert np.bincount(given).tolist() == [0, 2, 0, 1]
        assert np.intersect1d(given, [1]).tolist() == [1]
        assert np.add(x, given).tolist() == [6, 2, 2]
        assert int(np.sum(given)) == 5
        assert (x - given).tolist() == (given - x).tolist() == [0, 0, 0]
        assert (x == given).tolist() == [True] * 3
        assert (given < x).tolist() == [False] * 3


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "add", "mul"])
def test_errors_of_objects_with_values_are_told(backend: str, name: str) -> None:
    x = np.arange(2)
    for one, two in ((x, Refusing()), (Refusing(), x)):
        with pytest.raises(TypeError, match="not these values"):
            getattr(operator, name)(one, two)
    assert (x == object()) is False


def test_vectorize_passes_objects_on(backend: str) -> None:
    class Power:
        exponent = 2

        def of(self, x: Any) -> Any:
            return x**self.exponent

    assert np.vectorize(Power.of)(Power(), np.arange(4)).tolist() == [0, 1, 4, 9]
    assert np.vectorize(Power.of)(Power(), x=3).tolist() == 9
    assert np.vectorize(lambda each: 7)(Power()).tolist() == 7


def test_an_axis_error_is_numpys(backend: str) -> None:
    with pytest.raises(numpy.exceptions.AxisError, match="axis 7"):
        np.sum(np.ones(3), 7)
    assert issubclass(ua.errors.AxisError, (ValueError, IndexError))


def test_long_double_is_as_long_as_an_engine_has_it(backend: str) -> None:
    assert np.zeros(2, np.longdouble).dtype == "float64"
    assert np.zeros(2, np.clongdouble).dtype == "complex128"
    for name in ("g", "longdouble", numpy.longdouble, numpy.dtype("g")):
        with pytest.warns(UserWarning, match="float64"):
            assert np.sum(np.ones(3), dtype=name).dtype == "float64"
    with pytest.warns(UserWarning, match="complex128"):
        assert np.ones(3, "G").dtype == "complex128"
    # Values that are longer aren't shortened.
    with pytest.raises(TypeError, match="float128"):
        np.asarray(numpy.ones(2, numpy.longdouble))


@pytest.mark.parametrize("name", ["mean", "var", "std", "nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_statistics_have_the_dtype_that_is_asked_for(backend: str, name: str, dtype: str) -> None:
    values = numpy.eye(3)
    with warnings.catch_warnings():
        # NumPy's own, of a cast inside.
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        wanted = getattr(numpy, name)(values, axis=1, dtype=dtype)
    assert_same(getattr(np, name)(np.array(values), axis=1, dtype=dtype), wanted)


def test_the_mode_of_a_copy_by_its_older_name(backend: str) -> None:
    x = np.ones(2)
    assert np.array(x, copy=numpy._CopyMode.IF_NEEDED) is x
    assert np.array(x, copy=numpy._CopyMode.ALWAYS) is not x
