"""Sorting functions against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import ALL, COMPLEX, assert_raises, assert_same, few, in_layout, layouts, reference, seeded, shapes


@st.composite
def sortable(draw: st.DrawFn, dtype: str) -> tuple[np.ndarray, ua.Array, int]:
    """Draw values with ties, an array of them, and an axis."""
    shape = draw(st.one_of(st.just((40,)), shapes(dtype, least=1)))
    values = draw(seeded(dtype, shape, special=dtype not in COMPLEX, low=-3, high=3))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return values, in_layout(values, draw(layouts(dtype))), axis


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_sort(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, axis = data.draw(sortable(dtype))
    descending, stable = data.draw(st.booleans()), data.draw(st.booleans())
    expected = reference(np.sort, values, axis=axis, stable=True)
    if descending:
        # NaN, the greatest, comes first.
        expected = np.flip(expected, axis)
    # The order of -0.0 and 0.0 depends on the algorithm.
    assert_same(ua.sort(x, axis=axis, descending=descending, stable=stable), expected, signed_zeros=False)


def argsort(values: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    if not descending:
        return np.argsort(values, axis, stable=True)
    backward = np.flip(np.argsort(np.flip(values, axis), axis, stable=True), axis)
    return values.shape[axis] - 1 - backward


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_a_stable_argsort_keeps_the_order_of_equal_elements(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, axis = data.draw(sortable(dtype))
    descending = data.draw(st.booleans())
    expected = reference(argsort, values, axis=axis, descending=descending)
    assert_same(ua.argsort(x, axis=axis, descending=descending), expected, what=(values, axis, descending))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("descending", [False, True])
def test_an_unstable_argsort_sorts(backend: str, dtype: str, descending: bool) -> None:
    values = np.array([2, 0, 1, 2, 0, 3, 1, 1]).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    x = ua.asarray(values)
    indices = ua.argsort(x, descending=descending, stable=False)
    assert indices.dtype == ua.int64
    assert_same(ua.take(x, indices), ua.sort(x, descending=descending).__array__())
    np.testing.assert_array_equal(np.sort(indices.__array__()), np.arange(8))


def test_nan_is_last_and_first_where_descending(backend: str) -> None:
    values = np.array([np.nan, 1.0, -np.inf, np.nan, np.inf, -2.0])
    x = ua.asarray(values)
    assert_same(ua.sort(x), np.array([-np.inf, -2.0, 1.0, np.inf, np.nan, np.nan]))
    assert_same(ua.sort(x, descending=True), np.array([np.nan, np.nan, np.inf, 1.0, -2.0, -np.inf]))
    assert_same(ua.argsort(x), np.array([2, 5, 1, 4, 0, 3]))
    assert_same(ua.argsort(x, descending=True), np.array([0, 3, 4, 1, 5, 2]))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_great_integers_sort_exactly(backend: str, dtype: str) -> None:
    # Their neighbours are one number in float64.
    info = np.iinfo(dtype)
    values = np.array([info.max, info.max - 1, info.min, info.min + 1, info.max - 2, 5], dtype)
    x = ua.asarray(values)
    assert_same(ua.sort(x), np.sort(values))
    assert_same(ua.argsort(x, descending=True), np.array([0, 1, 4, 5, 3, 2]))


@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_sorting_leaves_its_input_alone(backend: str, name: str) -> None:
    x = ua.asarray([3, 1, 2])
    result = getattr(ua, name)(x)
    result[0] = 7
    assert_same(x, np.array([3, 1, 2]))


@pytest.mark.parametrize("name", ["sort", "argsort"])
@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 2), ((2, 3), -3), ((), -1), ((), 0)])
def test_an_axis_out_of_bounds_is_an_error(backend: str, name: str, shape: tuple[int, ...], axis: int) -> None:
    assert_raises(ua.errors.AxisError, getattr(ua, name), ua.zeros(shape), axis=axis)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(50_000,), (60, 70)])
def test_equal_elements_keep_their_bits(dtype: str, descending: bool, shape: tuple[int, ...]) -> None:
    # NumPy alone, whose unstable sort is used where it shows by these bits only.
    host = np.random.default_rng(0)
    values = np.where(host.random(shape) < 0.3, np.nan, host.integers(-2, 3, shape)).astype(dtype)
    values[host.random(shape) < 0.5] *= -1
    for axis in range(len(shape)):
        with ua.use_backend("numpy"):
            x = ua.asarray(values)
            found = ua.sort(x, axis=axis, descending=descending).native
            order = ua.argsort(x, axis=axis, descending=descending).native
        assert found.tobytes() == np.take_along_axis(values, order, axis).tobytes()
        assert np.array_equal(order, argsort(values, axis, descending))


@pytest.mark.parametrize("dtype", ["int16", "int64", "uint32", "float32", "float64"])
@pytest.mark.parametrize("values", ["few", "many", "sorted", "ties at the end", "nan"])
def test_long_arrays_are_sorted_stably(dtype: str, values: str) -> None:
    host, n = np.random.default_rng(0), 40_000
    x = host.integers(0, 30 if values == "few" else 1 << 30, n).astype(dtype)
    if values == "sorted":
        x.sort()
    elif values == "ties at the end":
        x[-5:] = x.max()
    elif values == "nan" and x.dtype.kind == "f":
        x[[3, 5, -1]] = np.nan
    with ua.use_backend("numpy"):
        for descending in (False, True):
            found = ua.argsort(ua.asarray(x), descending=descending).native
            assert np.array_equal(found, argsort(x, 0, descending))


def test_unique_values_of_halves_with_nan() -> None:
    # NumPy's unstable sort, which np.unique takes, leaves float16 out of order here.
    host = np.random.default_rng(0)
    values = np.where(host.random(50_000) < 0.5, np.nan, host.integers(-2, 3, 50_000) * host.choice([1.0, -1.0, -0.0]))
    values = values.astype("float16")
    with ua.use_backend("numpy"):
        found = ua.unique_values(ua.asarray(values)).native
    expected = np.unique(values.astype("float32"), equal_nan=False)
    assert np.array_equal(found, expected, equal_nan=True)
