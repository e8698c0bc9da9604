"""Searching functions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import (
    ALL,
    COMPLEX,
    assert_raises,
    assert_same,
    few,
    in_layout,
    is_bfloat16,
    layouts,
    reference,
    seeded,
    shapes,
)
from .test_statistical import reductions


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@few
@given(data=st.data())
def test_places_of_extrema(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.one_of(st.just((24,)), shapes(dtype)))
    values = data.draw(seeded(dtype, shape, special=dtype not in COMPLEX, low=-3, high=3))
    x = in_layout(values, data.draw(layouts(dtype)))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    keepdims = data.draw(st.booleans())
    try:
        expected = reference(getattr(np, name), values, axis=axis, keepdims=keepdims)
    except ValueError:
        assert_raises(ua.errors.ShapeError, getattr(ua, name), x, axis=axis, keepdims=keepdims)
        return
    assert_same(getattr(ua, name)(x, axis=axis, keepdims=keepdims), expected, what=(values, axis))


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_first_of_equal_extrema_and_the_first_nan_count(backend: str, name: str) -> None:
    function = getattr(ua, name)
    assert_same(function(ua.asarray([[2, 2, 2], [1, 3, 3]]), axis=1), getattr(np, name)([[2, 2, 2], [1, 3, 3]], axis=1))
    assert_same(function(ua.asarray([1.0, np.nan, 5.0, np.nan, -5.0])), np.asarray(1))
    assert_same(function(ua.asarray([0.0, -0.0])), np.asarray(0))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_count_nonzero(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype))
    assert_same(ua.count_nonzero(x, **options), reference(np.count_nonzero, values, **options))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_nonzero(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(shapes(dtype, least=1).flatmap(lambda s: seeded(dtype, s)))
    results = ua.nonzero(in_layout(values, data.draw(layouts(dtype))))
    assert isinstance(results, tuple)
    for actual, expected in zip(results, np.nonzero(values), strict=True):
        assert_same(actual, expected)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_searchsorted(backend: str, dtype: str, data: st.DataObject) -> None:
    special = dtype not in COMPLEX
    values = data.draw(seeded(dtype, data.draw(st.sampled_from([(0,), (24,)])), special=special, low=-3, high=3))
    wanted = data.draw(shapes(dtype).flatmap(lambda s: seeded(dtype, s, special=special, low=-3, high=3)))
    side = data.draw(st.sampled_from(["left", "right"]))
    wide = values.astype("f4") if is_bfloat16(values) else values
    order = np.argsort(wide, stable=True)
    expected = reference(lambda x1, x2: np.searchsorted(np.sort(x1), x2, side), values, wanted)
    assert_same(ua.searchsorted(ua.asarray(values[order]), ua.asarray(wanted), side=side), expected)
    by_sorter = ua.searchsorted(ua.asarray(values), ua.asarray(wanted), side=side, sorter=ua.asarray(order))
    assert_same(by_sorter, expected)


def test_searchsorted_promotes_and_takes_scalars(backend: str) -> None:
    x1 = np.array([1, 2, 4], "int8")
    assert_same(ua.searchsorted(ua.asarray(x1), ua.asarray([1.5, 4.0])), np.searchsorted(x1, [1.5, 4.0]))
    assert_same(ua.searchsorted(ua.asarray(x1), 2, side="right"), np.asarray(2))
    assert_same(ua.searchsorted(ua.asarray(x1), 2.5), np.asarray(2))
    assert_same(ua.searchsorted(ua.asarray([1.0, np.inf, np.nan]), ua.asarray([np.nan, np.inf])), np.array([2, 1]))
    assert_same(ua.searchsorted(ua.asarray(x1), ua.asarray([[1, 9]], dtype="uint8")), np.array([[0, 3]]))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_where(backend: str, dtype: str, data: st.DataObject) -> None:
    shapes = data.draw(
        st.sampled_from(
            [((2, 3),) * 3, ((2, 3), (3,), ()), ((), (4,), (1,)), ((3, 1), (2, 1, 3), (1, 1)), ((0, 3), (1,), (3,))]
        )
    )
    condition = data.draw(seeded("bool", shapes[0]))
    x1, x2 = (data.draw(seeded(dtype, shape)) for shape in shapes[1:])
    actual = ua.where(*(in_layout(x, data.draw(layouts(dtype))) for x in (condition, x1, x2)))
    assert_same(actual, np.where(condition, x1, x2))


@pytest.mark.parametrize(
    ("one", "other"),
    [("int8", "uint8"), ("int64", "float32"), ("uint64", "int64"), ("bool", "complex64"), ("float16", "float64")],
)
def test_where_promotes(backend: str, one: str, other: str) -> None:
    condition, x1, x2 = np.array([True, False]), np.array([1, 0], one), np.array([2, 3], other)
    assert_same(ua.where(*map(ua.asarray, (condition, x1, x2))), np.where(condition, x1, x2))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float16", "bfloat16", "float32", "complex64"])
def test_scalars_beside_arrays_are_weak_in_where(backend: str, dtype: str) -> None:
    condition = ua.asarray([True, False])
    x = ua.asarray([3, 4], dtype=dtype)
    for result in (ua.where(condition, 1, x), ua.where(condition, x, 1)):
        assert result.dtype == x.dtype
    assert ua.where(condition, 1.5, ua.asarray([1, 2])).dtype == ua.float64


@pytest.mark.chunks(10_000)
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_where_keeps_the_bits_of_many_wide_integers(backend: str, dtype: str) -> None:
    # TensorFlow selects these as real numbers of the same bits, some of which are NaN.
    bits = np.random.default_rng(0).integers(0, 2**63, 1 << 15, dtype=np.uint64) | np.uint64(0x7FF << 52)
    mask, x, number = np.arange(bits.size) % 3 == 0, bits.view(dtype), np.array(0x7FF0000000000001, dtype)
    assert_same(ua.where(ua.asarray(mask), ua.asarray(x), ua.asarray(number)), np.where(mask, x, number))
    assert_same(ua.where(ua.asarray(mask), 1, ua.asarray(x)), np.where(mask, 1, x))


@pytest.mark.chunks(10_000)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_where_of_many_numbers_and_zeros(backend: str, dtype: str, zero: float) -> None:
    # torch chooses these by their bits.
    random = np.random.default_rng(0)
    x, mask = random.normal(size=(64, 128)).astype(dtype), random.uniform(size=(64, 128)) < 0.5
    x[:, 0], x[:, 1], x[:, 2] = np.nan, np.inf, -0.0
    number = np.array(zero, dtype)
    for x1, x2 in ((x, number), (number, x), (x.T, number), (x[:1], number)):
        condition = mask.T if x1 is not number and x1.shape == x.T.shape else mask
        expected = np.where(condition, x1, x2)
        assert_same(ua.where(*map(ua.asarray, (condition, x1, x2))), expected)
        target = ua.empty(expected.shape, dtype=dtype)
        ua.where(*map(ua.asarray, (condition, x1, x2)), out=target)
        assert_same(target, expected)
    target = ua.asarray(x, copy=True)
    ua.where(ua.asarray(mask), target, zero, out=target)
    assert_same(target, np.where(mask, x, number))


def test_where_of_two_scalars_has_their_default_dtype(backend: str) -> None:
    condition = ua.asarray([True, False])
    for one, other in ((1, 2), (1, 2.5), (True, False), (1j, 0)):
        assert_same(ua.where(condition, one, other), np.where([True, False], one, other))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_where_writes_over_what_it_chooses_from(backend: str, place: int) -> None:
    given = [np.array([[True, False], [False, True]]), np.array([[1, 0], [1, 1]]) > 0, np.array([[0, 0], [1, 1]]) > 0]
    arrays = [ua.asarray(x, copy=True) for x in given]
    assert ua.where(*arrays, out=arrays[place]) is arrays[place]
    assert_same(arrays[place], np.where(*given))


@pytest.mark.parametrize("scalar_first", [False, True])
def test_where_of_a_scalar_writes_over_the_other_choice(backend: str, scalar_first: bool) -> None:
    condition, x = np.array([[True, False, True]]), np.array([[1.0], [2.0]])
    choices = [7.5, x] if scalar_first else [x, 7.5]
    expected = np.where(condition, *choices)
    assert_same(ua.where(ua.asarray(condition), *(ua.asarray(c) if c is x else c for c in choices)), expected)
    wide = ua.asarray(np.broadcast_to(x, (2, 3)), copy=True)
    ua.where(ua.asarray(condition), *(wide if c is x else c for c in choices), out=wide)
    assert_same(wide, expected)


ERRORS: dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]] = {
    "argmax of nothing": ("argmax", [np.zeros((0, 3))], {}, ua.errors.ShapeError),
    "argmin over an axis of nothing": ("argmin", [np.zeros((2, 0))], {"axis": 1}, ValueError),
    "an axis out of bounds": ("argmax", [np.zeros(3)], {"axis": 1}, ua.errors.AxisError),
    "several axes": ("argmin", [np.zeros((2, 3))], {"axis": (0, 1)}, TypeError),
    "nonzero of a 0-d array": ("nonzero", [np.asarray(1)], {}, ua.errors.ShapeError),
    "count_nonzero over an axis twice": ("count_nonzero", [np.zeros((2, 3))], {"axis": (0, 0)}, ValueError),
    "searching a matrix": ("searchsorted", [np.zeros((2, 2)), np.zeros(2)], {}, ua.errors.ShapeError),
    "an unknown side": ("searchsorted", [np.zeros(2), np.zeros(2)], {"side": "middle"}, ValueError),
    "a sorter of another length": (
        "searchsorted",
        [np.zeros(2), np.zeros(2)],
        {"sorter": np.zeros(3, int)},
        ValueError,
    ),
    "a condition that isn't bool": ("where", [np.array([1, 0]), np.ones(2), np.ones(2)], {}, ua.errors.DtypeError),
    "shapes that don't broadcast": (
        "where",
        [np.array([True, False]), np.ones(3), np.ones(2)],
        {},
        ua.errors.ShapeError,
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values, options, error = ERRORS[case]
    options = {key: ua.asarray(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}
    assert_raises(error, getattr(ua, name), *map(ua.asarray, values), **options)
