"""Equality of arrays, exact and approximate, angles, and replacements of numbers that aren't finite, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import ALL, COMPLEX, FLOATS, HALVES, SIGNED, assert_raises, assert_same, few, reference, seeded

SHAPE = (2, 3)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_comparing(backend: str, dtype: str, data: st.DataObject) -> None:
    x1 = data.draw(seeded(dtype, SHAPE))
    x2 = np.where(data.draw(seeded("bool", SHAPE)), x1, data.draw(seeded(dtype, SHAPE))).astype(x1.dtype)
    arrays = [ua.asarray(x) for x in (x1, x2)]
    for equal_nan in (False, True):
        expected = reference(np.isclose, x1, x2, equal_nan=equal_nan)
        assert_same(ua.isclose(*arrays, equal_nan=equal_nan), expected, what=(x1, x2))
        assert_same(ua.allclose(*arrays, equal_nan=equal_nan), expected.all())
        assert_same(
            ua.array_equal(*arrays, equal_nan=equal_nan), reference(np.array_equal, x1, x2, equal_nan=equal_nan)
        )
    assert_same(ua.array_equal(arrays[0], arrays[0].copy(), equal_nan=True), np.True_)
    assert_same(ua.array_equiv(*arrays), reference(np.array_equiv, x1, x2))


def test_tolerances(backend: str) -> None:
    x = np.array([1.0, 1.1, 0.0, np.inf, np.inf, -np.inf, np.nan])
    y = np.array([1.0 + 1e-6, 1.0, 1e-9, np.inf, -np.inf, 1.0, 1.0])
    a, b = ua.asarray(x), ua.asarray(y)
    for options in ({}, {"rtol": 0.2}, {"rtol": 0.0, "atol": 1e-10}, {"atol": 2.0}):
        assert_same(ua.isclose(a, b, **options), np.isclose(x, y, **options))
        assert_same(ua.isclose(a, 1.0, **options), np.isclose(x, 1.0, **options))
        assert_same(ua.isclose(1, b, **options), np.isclose(1, y, **options))
    assert_same(ua.isclose(a, b, atol=ua.asarray(y * 0 + 0.05)), np.isclose(x, y, atol=y * 0 + 0.05))


def test_shapes_that_differ(backend: str) -> None:
    x = ua.ones((2, 3))
    assert not ua.array_equal(x, ua.ones(3))
    assert ua.array_equiv(x, ua.ones(3))
    assert not ua.array_equiv(x, ua.ones(2))
    assert ua.array_equal(ua.zeros((0, 2)), ua.zeros((0, 2)))
    assert not ua.array_equal(ua.zeros((0, 2)), ua.zeros((0, 3)))
    assert_raises(ua.errors.ShapeError, ua.isclose, x, ua.ones(2))


def absolute(dtype: str) -> float:
    """Return by how much angles may differ: half precision rounds them on the way."""
    return 0.05 if dtype in HALVES else 0.0


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_angles(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, SHAPE, special=dtype not in COMPLEX, low=-3, high=3))
    x = ua.asarray(values)
    for deg in (False, True):
        # NumPy takes the angle of bools as that of integers.
        expected = reference(np.angle, values, deg=deg)
        assert_same(ua.angle(x, deg=deg).astype(expected.dtype), expected, signed_zeros=False)
    assert_same(ua.sinc(x), reference(np.sinc, values), atol=absolute(dtype) or 1e-6, what=values)
    assert_same(ua.nan_to_num(x), finite(values))


def finite(values: np.ndarray) -> np.ndarray:
    """Return NumPy's numbers in place of those that aren't finite, of bfloat16 with its own greatest number."""
    if values.dtype != ua.bfloat16:
        return np.asarray(np.nan_to_num(values))
    greatest = float(ua.finfo(values.dtype).max)
    return np.nan_to_num(values.astype("f4"), posinf=greatest, neginf=-greatest).astype(values.dtype)


def test_numbers_in_place_of_those_that_are_not_finite(backend: str) -> None:
    values = np.array([1.0, np.nan, np.inf, -np.inf])
    given: dict[str, Any] = {"nan": 5.0, "posinf": 7.0, "neginf": -8.0}
    assert_same(ua.nan_to_num(ua.asarray(values), **given), np.nan_to_num(values, **given))
    both = values + 1j * values[::-1]
    assert_same(ua.nan_to_num(ua.asarray(both), **given), np.nan_to_num(both, **given))


@pytest.mark.parametrize("dtype", SIGNED + FLOATS)
def test_unwrap(backend: str, dtype: str) -> None:
    values = np.array([[3, 7, 1, 4, 6], [0, 3, 6, 2, 5]]).astype(dtype)
    x = ua.asarray(values)
    for options in ({}, {"axis": 0}, {"discont": 4.0}, {"period": 5.5}):
        assert_same(ua.unwrap(x, **options), np.unwrap(values, **options), atol=1e-5, what=options)
    for period in (4, 5, 7):
        assert_same(ua.unwrap(x, period=period), np.unwrap(values, period=period))
    # NumPy takes differences of unsigned numbers modulo a power of two.
    unsigned = ua.unwrap(ua.asarray(values.astype("uint8")))
    assert_same(unsigned, np.unwrap(values.astype("int16")), atol=1e-5)
    assert_raises(ua.errors.DtypeError, ua.unwrap, ua.asarray([1j]))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float64"])
def test_divmod(backend: str, dtype: str) -> None:
    x1, x2 = np.array([7, 8, 9, 0]).astype(dtype), np.array([2, 3, 4, 5]).astype(dtype)
    for found, expected in zip(ua.divmod(ua.asarray(x1), ua.asarray(x2)), np.divmod(x1, x2), strict=True):
        assert_same(found, expected)
    for found, expected in zip(ua.divmod(7, ua.asarray(x2)), np.divmod(7, x2), strict=True):
        assert_same(found, expected)


def test_gradients(backend: str) -> None:
    x = np.array([0.0, 0.5, -1.25, 2.0])
    assert_gradients(backend, ua.sinc, x)
    assert_gradients(backend, ua.unwrap, x * 4)
    assert_gradients(backend, lambda x: ua.angle(x + 1j), x)
