"""Counts of integers and in bins against NumPy's, which are the same to the last bit at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import needs

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import ALL, COMPLEX, HALVES, INTEGERS, as_numpy, assert_raises, assert_same, few, seeded, twice

REAL = [dtype for dtype in ALL if dtype not in COMPLEX]


def wide(values: Any) -> Any:
    """Return values that NumPy can count: it doesn't know bfloat16, and warns of bools."""
    if not isinstance(values, np.ndarray):
        return values
    return (
        values.astype("uint8")
        if values.dtype.kind == "b"
        else values.astype("f4")
        if values.dtype.kind == "V"
        else values
    )


def assert_histogram(values: np.ndarray, bins: Any, **options: Any) -> None:
    weights = options.get("weights")
    ours = {**options, "weights": None if weights is None else ua.asarray(weights)}
    counts, edges = ua.histogram(ua.asarray(values), bins, **ours)
    wanted, wanted_edges = np.histogram(wide(values), bins, **options)
    if values.dtype == ua.bfloat16:
        # The edges are rounded, and the counts are those of the rounded ones.
        wanted_edges = wanted_edges.astype(ua.bfloat16)
        wanted = np.histogram(wide(values), wide(wanted_edges), **options)[0]
    assert_same(counts, wanted, rtol=1e-6, what=(values, bins, options))
    assert edges.dtype == wanted_edges.dtype
    np.testing.assert_array_equal(as_numpy(edges), wanted_edges)


@pytest.mark.parametrize("dtype", REAL)
@few
@given(data=st.data())
def test_bins_of_equal_width(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(40,), (5, 8), ()] if dtype == "float64" else [(40,)]))
    values = data.draw(seeded(dtype, shape, special=False, low=-20, high=20))
    bins = data.draw(st.sampled_from([1, 4, 10]))
    range_ = data.draw(st.sampled_from([None, (0, 7), (-3.3, 11.1), (2, 2)]))
    assert_histogram(values, bins, range=range_)


@pytest.mark.parametrize("bins", [3, 7, 10, 33])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_what_lies_on_an_edge_counts_as_numpy_counts_it(backend: str, dtype: str, bins: int) -> None:
    for low, high in [(0.0, 1.0), (-0.1, 0.7), (1e-5, 3e4)]:
        edges = np.linspace(low, high, bins + 1).astype(dtype)
        values = np.concatenate([edges, np.nextafter(edges, np.asarray(9e4, dtype)), np.nextafter(edges, edges[0])])
        with np.errstate(over="ignore"):
            assert_histogram(values, bins, range=(low, high))
            assert_histogram(edges, bins)


@pytest.mark.parametrize("dtype", REAL)
@twice
@given(data=st.data())
def test_given_edges(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, (40,), special=dtype not in INTEGERS, low=-20, high=20))
    edges = data.draw(
        st.sampled_from([np.array([0, 1, 4]), np.array([-5.5, 0.0, 0.0, 2.5, 10.0]), np.array([1, 3, 3])])
    )
    counts, ours = ua.histogram(ua.asarray(values), edges)
    wanted, _ = np.histogram(wide(values), edges)
    assert_same(counts, wanted)
    assert_same(ours, edges)


@pytest.mark.parametrize("bins", [4, np.array([-10.0, 0.0, 3.0, 50.0])])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("density", [False, True])
def test_weights_and_density(backend: str, dtype: str, bins: Any, density: bool) -> None:
    random = np.random.default_rng(0)
    values, weights = random.integers(-20, 20, (6, 7)).astype("f8"), (9 * random.random((6, 7))).astype(dtype)
    assert_histogram(values, bins, weights=weights, density=density)
    assert_histogram(values, bins, density=density)


def test_edges_of_little_data(backend: str) -> None:
    assert_histogram(np.zeros(0), 3)
    assert_histogram(np.zeros((2, 0), int), 3, range=(1, 2))
    assert_histogram(np.full(3, 7), 2)
    assert_histogram(np.full(3, 7, "uint8"), 2)
    assert_histogram(np.array([np.nan, 1.0, np.inf, -np.inf, 3.0]), 2, range=(0, 3))
    counts, edges = ua.histogram(ua.ones(2), np.int64(3))
    assert counts.shape == (3,)
    edges[0] = 5.0
    given_edges = ua.asarray([0.0, 1.0, 2.0])
    _, edges = ua.histogram(ua.ones(2), given_edges)
    edges[0] = -1.0
    assert float(given_edges[0]) == 0.0


@needs("values", why="values that are checked at once")
def test_errors_of_histograms(backend: str) -> None:
    x = ua.asarray([1.0, 2.0])
    for options, error in [
        ({"bins": 0}, ValueError),
        ({"bins": -1}, ValueError),
        ({"bins": 2.5}, TypeError),
        ({"bins": ua.asarray([1.0])}, ua.errors.ShapeError),
        ({"bins": ua.ones((2, 2))}, ua.errors.ShapeError),
        ({"bins": ua.asarray([1.0, 3.0, 2.0])}, ValueError),
        ({"bins": ua.asarray([1j, 2j])}, ua.errors.DtypeError),
        ({"range": (1, 0)}, ValueError),
        ({"range": (0, np.inf)}, ValueError),
        ({"range": (np.nan, 1)}, ValueError),
        ({"range": (1, 1 + 1e-15)}, ValueError),
        ({"weights": ua.ones(3)}, ua.errors.ShapeError),
    ]:
        assert_raises(error, ua.histogram, x, **options)
    assert_raises(ValueError, ua.histogram, ua.asarray([1.0, np.nan]))
    assert_raises(ua.errors.DtypeError, ua.histogram, ua.asarray([1j]))


@needs("values", why="a length that values decide")
@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
@twice
@given(data=st.data())
def test_bincount(backend: str, dtype: str, data: st.DataObject) -> None:
    values = np.abs(data.draw(seeded(dtype, (12,), special=False, low=0, high=9)))
    minlength = data.draw(st.sampled_from([0, 3, 15]))
    assert_same(
        ua.bincount(ua.asarray(values), minlength=minlength), np.bincount(values.astype(int), minlength=minlength)
    )


@needs("values", why="a length that values decide")
@pytest.mark.parametrize("dtype", ALL)
def test_weighted_bincount(backend: str, dtype: str) -> None:
    values, random = np.array([3, 1, 1, 0, 3]), np.random.default_rng(0)
    weights = (4 * random.random(5)).astype(dtype if dtype != "bfloat16" else ua.bfloat16)
    expected = np.zeros(6, np.complex128 if dtype in COMPLEX else float)
    np.add.at(expected, values, weights.astype(expected.dtype))
    result = weights.dtype if dtype in (*HALVES, "float32", *COMPLEX) else "f8"
    assert_same(ua.bincount(ua.asarray(values), weights=ua.asarray(weights), minlength=6), expected.astype(result))


@needs("values", why="values that are checked at once")
def test_errors_of_bincount(backend: str) -> None:
    x = ua.asarray([1, 2])
    assert_raises(ValueError, ua.bincount, ua.asarray([1, -2]))
    assert_raises(ValueError, ua.bincount, x, minlength=-1)
    assert_raises(TypeError, ua.bincount, x, minlength=1.5)
    assert_raises(ua.errors.DtypeError, ua.bincount, ua.asarray([1.0]))
    assert_raises(ua.errors.ShapeError, ua.bincount, ua.ones((2, 2), dtype="int64"))
    assert_raises(ua.errors.ShapeError, ua.bincount, x, weights=ua.ones(3))
    assert_same(ua.bincount(ua.zeros(0, dtype="int64")), np.zeros(0, int))
    assert_same(ua.bincount(ua.zeros(0, dtype="int64"), minlength=2), np.zeros(2, int))


def test_gradients_of_weights(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    x, weights = ua.asarray([0.5, 2.5, 9.0, 1.5]), np.ones(4)
    factors = ua.asarray([1.0, 2.0, 3.0])
    counts = gradient(backend, lambda w: ua.sum(factors * ua.histogram(x, 3, range=(0, 3), weights=w)[0]), weights)
    assert counts.tolist() == [1, 3, 0, 2]
    ids = ua.asarray([2, 0, 0, 1])
    # Inside a trace the number of counts is unknown.
    found = gradient(backend, lambda w: ua.sum(factors * ua.bincount(ids, weights=w)), weights, inside=False)
    assert found.tolist() == [3, 1, 1, 2]


@pytest.mark.parametrize("name", ["counts", "edges"])
def test_inside_a_trace(backend: str, name: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")
    values, place = np.array([1.0, 4.0, 2.5, 2.0, 9.0]), ["counts", "edges"].index(name)
    for options in ({}, {"range": (0.0, 5.0)}):
        actual = traced(backend, lambda x, options=options: ua.histogram(x, 4, **options)[place], values)
        assert_same(actual, np.histogram(values, 4, **options)[place])
    with pytest.raises(ua.errors.ShapeError, match="num_segments"):
        traced(backend, ua.bincount, np.array([1, 2]))


@pytest.mark.parametrize(("dtype", "length"), [("uint8", 256), ("uint8", 300), ("bool", 2)])
def test_a_dtype_decides_the_length_of_counts_in_compiled_functions(backend: str, dtype: str, length: int) -> None:
    x = np.array([0, 1, 1, 255, 7]).astype(dtype)
    expected = np.bincount(x.astype("int64"), minlength=length)
    for function in (ua.bincount, ua.compile(ua.bincount)):
        assert_same(function(ua.asarray(x), minlength=length), expected)
