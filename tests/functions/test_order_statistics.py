"""Medians and quantiles against NumPy's, with its NaN and interpolation."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.engines.registry import load

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import (
    ALL,
    COMPLEX,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
    words,
)

CHOOSING = words("inverted_cdf closest_observation lower higher nearest")
METHODS = CHOOSING + words(
    "averaged_inverted_cdf interpolated_inverted_cdf hazen weibull linear median_unbiased normal_unbiased midpoint"
)
AXES: dict[int, list[Any]] = {0: [None], 1: [None, 0], 2: [None, 0, (0, 1), -1], 3: [1, (0, 2)]}
PARTS = [0.0, 0.125, 0.3, 0.5, 0.75, 0.9, 1.0]


def wide(values: np.ndarray) -> np.ndarray:
    """Return values in the dtype that NumPy computes in: its half precision is too coarse."""
    return values.astype("f8") if values.dtype.kind in "biu" or values.dtype.name in HALVES else values


def expected(function: Any, values: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
    result = reference(function, wide(values), *arguments, **options)
    return result.astype("f8" if values.dtype.kind in "biu" else values.dtype)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["median", "nanmedian"])
@few
@given(data=st.data())
def test_median(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    if dtype in COMPLEX:
        assert_raises(ua.errors.DtypeError, getattr(ua, name), ua.zeros(3, dtype=dtype))
        return
    shape = data.draw(st.sampled_from([(), (5,), (2, 3), (2, 1, 4), (0, 3)] if dtype == "float64" else [(2, 3)]))
    values = data.draw(seeded(dtype, shape))
    axis, keepdims = data.draw(st.sampled_from(AXES[len(shape)])), data.draw(st.booleans())
    actual = getattr(ua, name)(in_layout(values, data.draw(layouts(dtype))), axis=axis, keepdims=keepdims)
    assert_same(actual, expected(getattr(np, name), values, axis=axis, keepdims=keepdims), signed_zeros=False)


@pytest.mark.parametrize(
    ("method", "dtype"),
    [
        *((method, "float64") for method in METHODS),
        *((method, dtype) for method in ("linear", "higher") for dtype in ALL if dtype not in COMPLEX),
    ],
)
@few
@given(data=st.data())
def test_quantile(backend: str, method: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(7,), (2, 3), (2, 1, 4)] if dtype == "float64" else [(2, 3)]))
    values = data.draw(seeded(dtype, shape, special=False))
    if values.dtype.kind == "f":
        values = np.where(np.random.default_rng(0).random(shape) < 0.05, np.nan, values).astype(dtype)
    axis, keepdims = data.draw(st.sampled_from(AXES[len(shape)])), data.draw(st.booleans())
    q = data.draw(st.sampled_from([0.3, 0.5, 1, np.array(PARTS), np.array([PARTS[:3], PARTS[3:6]])]))
    x = in_layout(values, data.draw(layouts(dtype)))
    actual = ua.quantile(x, q, axis=axis, method=method, keepdims=keepdims)
    wanted = reference(np.quantile, wide(values), q, axis=axis, method=method, keepdims=keepdims)
    keeps = values.dtype.kind not in "biu" or method in CHOOSING
    atol = 100 * TOLERANCE.get(dtype, 0)
    assert_same(actual, wanted.astype(values.dtype if keeps else "f8"), atol=atol, signed_zeros=False)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("length", [1, 2, 5, 12])
def test_every_place(backend: str, method: str, length: int) -> None:
    values, q = np.random.default_rng(length).random(length), np.linspace(0, 1, 33)
    wanted = np.quantile(values, q, method=method)  # type: ignore[call-overload]
    assert_same(ua.quantile(ua.asarray(values), q, method=method), wanted)
    # Few quantiles sort a part of the array only.
    for few_of_them in (q[:8], q[12:19], q[-7:]):
        wanted = np.quantile(values, few_of_them, method=method)  # type: ignore[call-overload]
        assert_same(ua.quantile(ua.asarray(values), few_of_them, method=method), wanted)


def test_few_quantiles_sort_nothing(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "numpy", "dask", why="an engine that partitions at several places")
    monkeypatch.delitem(load(backend).kernels, "sort")
    # A length that no other test has: no shortcut was recorded.
    values = np.random.default_rng(0).permuted(np.tile(np.arange(57.0), (3, 1)), axis=1)
    values[1, 3] = np.nan
    x = ua.asarray(values)
    assert_same(ua.quantile(x, [0.1, 0.5, 0.99], axis=1), np.quantile(values, [0.1, 0.5, 0.99], axis=1))
    assert_same(ua.median(x, axis=1), np.median(values, axis=1))
    assert_same(ua.median(ua.asarray(values[0].astype("uint8"))), np.asarray(28.0))


@pytest.mark.parametrize("method", ["linear", "weibull", "lower", "closest_observation", "midpoint"])
@pytest.mark.filterwarnings("ignore:All-NaN")
@few
@given(data=st.data())
def test_nanquantile(backend: str, method: str, data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from([(7,), (3, 4), (2, 1, 4)]))
    values = np.where(random.random(shape) < 0.4, np.nan, random.random(shape))
    axis, keepdims = data.draw(st.sampled_from(AXES[len(shape)])), data.draw(st.booleans())
    q = data.draw(st.sampled_from([0.3, np.array(PARTS), np.array([PARTS[:3], PARTS[3:6]])]))
    actual = ua.nanquantile(ua.asarray(values), q, axis=axis, method=method, keepdims=keepdims)
    # NumPy puts the axes of `q` in front for one axis only, where they are several.
    wanted = reference(np.nanquantile, values, np.ravel(q), axis=axis, method=method, keepdims=keepdims)
    assert_same(actual, wanted.reshape(np.shape(q) + wanted.shape[1:]), rtol=1e-9)


def test_the_greatest_numbers_have_medians(backend: str) -> None:
    most = np.finfo("f8").max
    assert_same(ua.median(ua.asarray([most, most, -most, most])), np.asarray(most))
    assert_same(ua.quantile(ua.asarray([-most, most]), [0.25, 0.5]), np.array([-most / 2, 0.0]))
    assert_same(ua.median(ua.asarray([60000, 65504], dtype="float16")), np.asarray(62752, "float16"))
    big = 2**62 + 1
    assert_same(ua.quantile(ua.asarray([big, big + 2]), 1.0, method="lower"), np.asarray(big + 2))


def test_infinities_are_met_only_where_they_have_weight(backend: str) -> None:
    x = ua.asarray([-np.inf, 1.0, 2.0, np.inf, np.inf])
    assert_same(
        ua.quantile(x, [0.0, 0.25, 0.5, 1.0, 0.1, 0.6, 0.9]),
        np.array([-np.inf, 1, 2, *[np.inf] * 4]) * [1, 1, 1, 1, -1, 1, 1],
    )
    assert bool(ua.isnan(ua.median(ua.asarray([-np.inf, np.inf]))))


def test_equal_elements_have_no_other_quantile(backend: str) -> None:
    q = np.linspace(0, 1, 101)
    assert_same(ua.quantile(ua.full(4, 0.1), q), np.full(101, 0.1), rtol=0.0)


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_of_nothing_and_of_nan_alone(backend: str, name: str) -> None:
    assert_same(getattr(ua, name)(ua.zeros((0, 3)), axis=0), np.full(3, np.nan))
    assert_same(getattr(ua, name)(ua.zeros((0, 3)), axis=1), np.zeros(0))
    assert_same(getattr(ua, name)(ua.full((2, 2), ua.nan), axis=0), np.full(2, np.nan))
    assert_same(ua.quantile(ua.zeros((0, 3)), [0.1, 0.2], axis=0), np.full((2, 3), np.nan))
    assert_raises(ua.errors.ShapeError, ua.quantile, ua.zeros(0, dtype="int64"), 0.5, method="lower")


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_errors(backend: str, name: str) -> None:
    function, x = getattr(ua, name), ua.asarray([1.0, 2.0])
    for q in (1.5, -0.1, float("nan"), [0.5, 2.0], ua.asarray([0.5, -1.0])):
        assert_raises(ValueError, function, x, q)
        assert_raises(
            ValueError, function, x, q, out=ua.ones(np.shape(q) if isinstance(q, list) else getattr(q, "shape", ()))
        )
    assert_raises(ValueError, function, x, 0.5, method="fair")
    assert_raises(ua.errors.DtypeError, function, x, 0.5j)
    assert_raises(ua.errors.DtypeError, function, ua.asarray([1j]), 0.5)
    assert_raises(ua.errors.AxisError, function, x, 0.5, axis=1)


def test_gradients(backend: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    values = np.array([4.0, 1.0, 8.0, 3.0])
    assert gradient(backend, ua.median, values).tolist() == [0.5, 0, 0, 0.5]
    assert gradient(backend, ua.median, np.ones(2)).tolist() == [0.5, 0.5]
    np.testing.assert_allclose(gradient(backend, lambda x: ua.quantile(x, 0.25), values), [0, 0.25, 0, 0.75])
    holed = np.array([4.0, np.nan, 1.0, 8.0, 3.0])
    np.testing.assert_allclose(gradient(backend, lambda x: ua.nanquantile(x, 0.25), holed), [0, 0, 0.25, 0, 0.75])
    assert gradient(backend, ua.nanmedian, holed).tolist() == [0.5, 0, 0, 0, 0.5]


def test_inside_a_trace(backend: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")
    values, q = np.array([[4.0, np.nan, 8.0], [3.0, 2.0, 1.0]]), np.array([0.25, 0.5])
    assert_same(
        traced(backend, lambda x, q: ua.quantile(x, q, axis=1), values, q), reference(np.quantile, values, q, axis=1)
    )
    assert_same(
        traced(backend, lambda x, q: ua.nanquantile(x, q, axis=1), values, q), np.nanquantile(values, q, axis=1)
    )
    assert_same(traced(backend, lambda x: ua.median(x, axis=0), values), reference(np.median, values, axis=0))


PROGRAM = """
import unifyarr as ua
with ua.use_backend("jax"):
    x, i = ua.asarray([3.0, 1.0, 2.0], dtype="float32"), ua.asarray([2, 0, 1], dtype="int32")
    results = [
        ua.take(x, i), ua.median(x), ua.nanmedian(x), ua.segment_sum(x, i), ua.segment_mean(x, i), ua.bincount(i),
        ua.gather(x, i[:, None]), ua.scatter(x, i[:, None], 1.0, mode="add"), *ua.histogram(x, 2, density=True),
    ]
    assert {each.dtype for each in results} <= {ua.float32, ua.int32}, results
"""


def test_where_there_are_32_bits_only(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that can be kept to 32 bits")
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env={**os.environ, "JAX_ENABLE_X64": "0"})


@pytest.mark.parametrize("dtype", ["float64", "int32", "float32"])
def test_percentile(backend: str, dtype: str) -> None:
    x = np.array([[4, 1, 3], [2, 9, 7]], dtype)
    for q in (30, 0.0, np.array([[0.0, 25.0], [50.0, 100.0]])):
        given = ua.asarray(q) if isinstance(q, np.ndarray) else q
        for call in ({}, {"axis": 1}, {"axis": 0, "keepdims": True, "method": "higher"}):
            expected = np.percentile(x, q, **call)
            expected = expected.astype(dtype) if dtype == "float32" else expected
            assert_same(ua.percentile(ua.asarray(x), given, **call), expected, rtol=1e-6, what=(q, call))
            compiled = ua.compile(lambda x, q, call=call: ua.percentile(x, q, **call))
            assert_same(compiled(ua.asarray(x), given), expected, rtol=1e-6, what=(q, call))


def test_percentiles_are_hundredths(backend: str) -> None:
    for q in (101, -1, ua.asarray([50.0, 101.0])):
        with pytest.raises(ValueError, match=r"lies in \[0, 100\]"):
            ua.percentile(ua.asarray([1.0, 2.0]), q)
