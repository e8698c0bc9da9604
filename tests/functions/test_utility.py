"""Tests over whole arrays and differences, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import ALL, COMPLEX, TOLERANCE, assert_raises, assert_same, few, reference, seeded, shapes
from .test_statistical import reductions


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["all", "any"])
@few
@given(data=st.data())
def test_truth(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype))
    assert_same(getattr(ua, name)(x, **options), reference(getattr(np, name), values, **options))


def test_nan_is_true_and_negative_zero_is_not(backend: str) -> None:
    assert bool(ua.all(ua.asarray([np.nan, 1.0])))
    assert not bool(ua.any(ua.asarray([-0.0, 0.0])))
    assert bool(ua.any(ua.asarray([0j, complex(0, np.nan)])))


def difference(values: np.ndarray, **options: Any) -> np.ndarray:
    return np.diff(values, **options)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_diff(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype, least=1))
    values = data.draw(seeded(dtype, shape, special=dtype not in COMPLEX))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.integers(0, 3))
    expected = reference(difference, values, axis=axis, n=n)
    # Differences of differences of halves are rounded in between.
    finite = values[np.isfinite(values)].astype("c16") if values.dtype.name in TOLERANCE else np.zeros(1)
    atol = TOLERANCE.get(dtype, 0.0) * 4 * float(np.max(np.abs(finite), initial=0))
    assert_same(ua.diff(ua.asarray(values), axis=axis, n=n), expected, atol=atol, signed_zeros=False)


@pytest.mark.parametrize(("shape", "n"), [((0,), 1), ((0, 2), 3), ((3,), 0)])
def test_diff_that_takes_no_differences_is_a_new_array(backend: str, shape: tuple[int, ...], n: int) -> None:
    x, out = ua.ones(shape), ua.zeros(shape)
    result = ua.diff(x, axis=0, n=n)
    assert result is not x
    assert_same(result, np.ones(shape))
    assert ua.diff(x, axis=0, n=n, out=out) is out
    assert_same(out, np.ones(shape))


def test_diff_joins_what_is_prepended_and_appended(backend: str) -> None:
    values = np.array([[1, 4, 9], [2, 3, 5]])
    before, after = np.array([[0], [7]]), np.array([[20.5], [1.5]])
    x = ua.asarray(values)
    assert_same(ua.diff(x, prepend=ua.asarray(before)), np.diff(values, prepend=before))
    assert_same(ua.diff(x, append=ua.asarray(after)), np.diff(values, append=after))
    both = ua.diff(x, axis=0, n=2, prepend=ua.asarray([[0, 0, 0]]), append=ua.asarray([[1, 1, 1]]))
    assert_same(both, np.diff(values, axis=0, n=2, prepend=[[0, 0, 0]], append=[[1, 1, 1]]))


def test_a_diff_of_no_steps_is_an_independent_copy(backend: str) -> None:
    x = ua.asarray([1, 2])
    y = ua.diff(x, n=0)
    y[0] = 9
    assert_same(x, np.array([1, 2]))


ERRORS: dict[str, tuple[str, dict[str, Any], type[BaseException]]] = {
    "an axis out of bounds": ("all", {"axis": 1}, ua.errors.AxisError),
    "an axis twice": ("any", {"axis": (0, 0)}, ua.errors.AxisError),
    "a negative count": ("diff", {"n": -1}, ValueError),
    "a diff axis out of bounds": ("diff", {"axis": 1}, ua.errors.AxisError),
    "what is prepended doesn't fit": ("diff", {"prepend": np.ones((1, 1))}, ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, options, error = ERRORS[case]
    options = {key: ua.asarray(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}
    assert_raises(error, getattr(ua, name), ua.asarray([1.0, 0.0]), **options)


def test_diff_of_a_0d_array_is_an_error(backend: str) -> None:
    assert_raises(ValueError, ua.diff, ua.asarray(1.0))
