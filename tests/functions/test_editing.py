"""Arrays with elements appended, inserted, deleted and repeated, weighted means, and products against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import has, needs
from unifyarr.testing.abilities import LACKING

from ..gradients import assert_gradients
from ..oracle import ALL, assert_raises, assert_same, is_bfloat16, reference

DTYPES = ["bool", "uint8", "int64", "bfloat16", "float32", "complex128"]


def values_of(dtype: str, *shape: int) -> np.ndarray:
    values = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape) % 7
    return values.astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


MASK = np.array([True, False, True])
PLACES: list[Any] = [1, -1, slice(0, 3, 2), slice(2, 0, -1), [0, 2], [2, 0, -1], [1], [], MASK]


@pytest.mark.parametrize(
    ("dtype", "place"), [*(("float32", place) for place in PLACES), *((dtype, [0, 2]) for dtype in DTYPES)], ids=str
)
def test_insert_and_delete(backend: str, dtype: str, place: Any) -> None:
    x = values_of(dtype, 3, 3)
    lifted = ua.asarray(place) if isinstance(place, np.ndarray) else place
    for axis in (0, 1, None):
        scalar = True if dtype == "bool" else 5
        found = ua.insert(ua.asarray(x), lifted, scalar, axis=axis)
        assert_same(found, np.insert(x, place, scalar, axis=axis))
        # NumPy's masks are as long as the axis.
        if axis is not None or place is not MASK:
            assert_same(ua.delete(ua.asarray(x), lifted, axis=axis), np.delete(x, place, axis=axis))


def test_insert_several(backend: str) -> None:
    x, rows, number = values_of("float64", 2, 3), values_of("int64", 4, 3), values_of("float64", 2)
    for place, values, axis in (
        (1, rows, 0),
        (1, number, 1),
        ([0, 2], number, 1),
        ([0, 0, 2, 1], rows, 0),
        ([1], rows, 0),
    ):
        found = ua.insert(ua.asarray(x), place, ua.asarray(values), axis=axis)
        assert_same(found, np.insert(x, place, values, axis=axis))
    # As NumPy does, values are cast to the dtype of the array.
    assert_same(ua.insert(ua.asarray([1, 2]), 1, ua.asarray([7.5])), np.insert([1, 2], 1, [7.5]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_append_resize_and_splitting(backend: str, dtype: str) -> None:
    x, y = values_of(dtype, 2, 3), values_of(dtype, 1, 3)
    a, b = ua.asarray(x), ua.asarray(y)
    assert_same(ua.append(a, b), np.append(x, y))
    assert_same(ua.append(a, b, axis=0), np.append(x, y, axis=0))
    assert_same(ua.append(a, ua.ones(2)), np.append(x, np.ones(2)))
    for shape in ((4, 4), (2,), 5, (), (0, 3)):
        assert_same(ua.resize(a, shape), np.resize(x, shape))
        assert_same(ua.resize(a[:0], shape), np.resize(x[:0], shape))
    for count, axis in ((2, 1), (3, 0), (1, 0), ([1, 2], 1), (5, 1)):
        for found, expected in zip(ua.array_split(a, count, axis=axis), np.array_split(x, count, axis), strict=True):
            assert_same(found, expected)


@needs("shapes", why="a length that values decide")
def test_parts_are_views(backend: str) -> None:
    x = ua.zeros(5)
    ua.array_split(x, 2)[0][0] = 4.0
    ua.trim_zeros(x)[0] += 1.0
    assert_same(x, np.array([5.0, 0.0, 0.0, 0.0, 0.0]))


@needs("shapes", why="a length that values decide")
@pytest.mark.parametrize("trim", ["f", "b", "fb"])
def test_trim_zeros(backend: str, trim: str) -> None:
    for values in ([0, 0, 1, 0, 2, 0], [0, 0], [], [np.nan, 0.0], [1.0]):
        x = np.array(values)
        assert_same(ua.trim_zeros(ua.asarray(x), trim=trim), np.trim_zeros(x, trim))
    x = np.pad(values_of("int64", 2, 2), ((1, 2), (0, 1)))
    assert_same(ua.trim_zeros(ua.asarray(x), trim=trim), np.trim_zeros(x, trim))
    assert_same(ua.trim_zeros(ua.asarray(x), trim=trim, axis=-1), np.trim_zeros(x, trim, axis=-1))


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "bool"])
def test_differences_ranges_and_means(backend: str, dtype: str) -> None:
    x = values_of(dtype, 2, 3)
    a = ua.asarray(x)
    assert_same(ua.ediff1d(a), reference(np.ediff1d, x))
    ends = {"to_end": x[0], "to_begin": x[1, :2]}
    expected = np.ediff1d(x, **ends) if not is_bfloat16(x) else None
    if expected is not None:
        assert_same(ua.ediff1d(a, **{key: ua.asarray(each) for key, each in ends.items()}), expected)
    for axis in (None, 0, (1, 0), -1):
        assert_same(ua.ptp(a, axis=axis), reference(np.ptp, x, axis=axis))
        assert_same(ua.average(a, axis=axis), reference(np.average, x, axis=axis))
    weights = np.array([0.5, 2.0, 1.0], "float32")
    for kept in (False, True):
        found = ua.average(a, axis=1, weights=ua.asarray(weights), returned=True, keepdims=kept)
        # NumPy has no promotion of bfloat16.
        given = x.astype("f4") if is_bfloat16(x) else x
        pair = np.average(given, axis=1, weights=weights, returned=True, keepdims=kept)
        for one, other in zip(found, pair, strict=True):
            assert_same(one, other, rtol=1e-5)


def test_weights(backend: str) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    pairs: list[tuple[Any, np.ndarray]] = [
        (None, x + 1),
        ((2, 0), x[:, 0].T + 1),
        (1, x[0, :, 0] + 1),
        ((0, 1), x[..., 0] + 1),
    ]
    for axis, weights in pairs:
        found = ua.average(ua.asarray(x), axis=axis, weights=ua.asarray(weights))
        assert_same(found, np.average(x, axis=axis, weights=weights))
    assert_same(ua.average(ua.asarray([1, 2]), returned=True)[1], np.array(2.0))
    assert_same(ua.average(ua.ones(2), weights=ua.zeros(2)), np.array(np.nan))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex128"])
def test_inner_and_outer(backend: str, dtype: str) -> None:
    x, y = values_of(dtype, 2, 3), values_of(dtype, 4, 3)
    for one, other in ((x, y), (x[0], y), (x[0], y[0]), (x, y[0, 0]), (y[0, 0], x)):
        assert_same(ua.inner(ua.asarray(one), ua.asarray(other)), np.inner(one, other))
        assert_same(ua.outer(ua.asarray(one), ua.asarray(other)), np.outer(one, other))


@pytest.mark.parametrize("dtype", DTYPES)
def test_put_along_axis(backend: str, dtype: str) -> None:
    calls: list[tuple[Any, Any]] = [
        ([[2], [0]], -1),
        ([[1, 0, 1]], 0),
        ([[0, -1], [1, -3]], 1),
        ([1, -1, 3], None),
    ]
    for indices, axis in calls:
        expected, x = values_of(dtype, 2, 3), ua.asarray(values_of(dtype, 2, 3), copy=True)
        view = x[:, ::-1]
        np.put_along_axis(expected, np.array(indices), 1, axis)
        assert ua.put_along_axis(x, ua.asarray(indices), True, axis=axis) is x
        assert_same(x, expected)
        assert_same(view, expected[:, ::-1])
    x = ua.asarray(np.zeros((2, 3)), copy=True)
    ua.put_along_axis(x[::-1], ua.asarray([[0, 2], [1, 0]]), ua.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1)
    assert_same(x, np.array([[4.0, 3.0, 0.0], [1.0, 0.0, 2.0]]))


def test_gradients(backend: str) -> None:
    x, y = np.array([[0.5, -1.5, 0.25], [1.0, 2.0, -3.0]]), np.array([1.0, 2.0, 3.0])
    assert_gradients(backend, lambda x, y: ua.average(x, axis=1, weights=y), x, y)
    assert_gradients(backend, lambda x, y: ua.insert(x, 1, y, axis=0), x, y)
    assert_gradients(backend, lambda x: ua.delete(x, [0], axis=1), x)
    assert_gradients(backend, ua.inner, x, y)


X = np.ones((2, 3))
ERRORS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], type[BaseException]]] = {
    "a place out of bounds": ("delete", (X, 7), {"axis": 0}, IndexError),
    "a place out of bounds to insert": ("insert", (X, 9, 1.0), {"axis": 0}, IndexError),
    "values that don't fit": ("insert", (X, 0, np.ones(4)), {"axis": 0}, ua.errors.ShapeError),
    "no part": ("array_split", (X, 0), {}, ValueError),
    "unknown ends": ("trim_zeros", (X,), {"trim": "x"}, ValueError),
    "ends that don't cast": ("ediff1d", (np.array([1, 2]),), {"to_end": ua.float64}, TypeError),
    "weights of another shape": ("average", (X,), {"weights": "X[0]"}, ua.errors.ShapeError),
    "vectors of two lengths": ("inner", (X, X[:, :2]), {}, ua.errors.ShapeError),
    "indices of another rank": ("put_along_axis", (X, np.array([0]), 1.0), {}, ua.errors.ShapeError),
    "an index out of bounds": ("put_along_axis", (X, np.array([[3]]), 1.0), {}, IndexError),
    "a flat index out of bounds": ("put_along_axis", (X, np.array([6]), 1.0), {"axis": None}, IndexError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    if case == "a flat index out of bounds" and not has(backend, "values"):
        pytest.skip(f"{LACKING} values: of an array that was reshaped an index is looked at later")
    name, arguments, options, error = ERRORS[case]
    options = {key: ua.ones(3) if key in ("weights", "to_end") else each for key, each in options.items()}
    given = [ua.asarray(each, copy=True) if isinstance(each, np.ndarray) else each for each in arguments]
    assert_raises(error, getattr(ua, name), *given, **options)
