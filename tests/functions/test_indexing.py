"""``take`` and ``take_along_axis`` against NumPy; ``x[...]`` is tested in tests/core/test_indexing.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import ALL, INTEGERS, assert_raises, assert_same, few, in_layout, layouts, seeded

TAKEN = [(), (4,), (0,), (2, 2)]


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_take(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(4,), (2, 3), (2, 1, 3)]))
    values = data.draw(seeded(dtype, shape))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    length = shape[axis]
    indices = data.draw(seeded("int64", data.draw(st.sampled_from(TAKEN)))) % (2 * length) - length
    x = in_layout(values, data.draw(layouts(dtype)))
    assert_same(ua.take(x, ua.asarray(indices), axis=axis), np.take(values, indices, axis), what=(values, indices))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_take_along_axis(backend: str, dtype: str, data: st.DataObject) -> None:
    shape, other = data.draw(
        st.sampled_from([((4,), (6,)), ((2, 3), (2, 4)), ((2, 3), (1, 2)), ((1, 3), (2, 2)), ((2, 1, 3), (2, 2, 1))])
    )
    values = data.draw(seeded(dtype, shape))
    axis = len(shape) - 1
    indices = data.draw(seeded("int64", other)) % (2 * shape[axis]) - shape[axis]
    axis = data.draw(st.sampled_from([axis, -1]))
    x = in_layout(values, data.draw(layouts(dtype)))
    expected = np.take_along_axis(values, indices, axis)
    assert_same(ua.take_along_axis(x, ua.asarray(indices), axis=axis), expected, what=(values, indices))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_indices_are_integers_of_any_dtype(backend: str, dtype: str) -> None:
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    indices = ua.asarray([[1], [0]], dtype=dtype)
    assert_same(ua.take(x, indices, axis=0), np.array([[[3.0, 4.0]], [[1.0, 2.0]]]))
    assert_same(ua.take_along_axis(x, indices, axis=1), np.array([[2.0], [3.0]]))
    assert_same(
        ua.take_along_axis(x, indices, axis=0),
        np.take_along_axis(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1], [0]]), 0),
    )


def test_take_without_an_axis_takes_from_the_flattened_array(backend: str) -> None:
    values = np.arange(6).reshape(2, 3)
    assert_same(ua.take(ua.asarray(values), ua.asarray([5, 0, -2])), np.array([5, 0, 4]))
    assert_same(ua.take(ua.asarray(values).T, ua.asarray([1])), np.take(values.T, [1]))


def test_what_is_taken_is_independent(backend: str) -> None:
    x = ua.asarray([1, 2, 3])
    y = ua.take(x, ua.asarray([0, 1, 2]))
    y[0] = 9
    assert_same(x, np.array([1, 2, 3]))


X = np.arange(6.0).reshape(2, 3)
ERRORS: dict[str, tuple[str, Any, dict[str, Any], type[BaseException]]] = {
    "an index out of bounds": ("take", np.array([0, 3]), {"axis": 1}, IndexError),
    "a negative index out of bounds": ("take", np.array([-3]), {"axis": 0}, IndexError),
    "an index out of the flattened array": ("take", np.array([6]), {}, IndexError),
    "an axis out of bounds": ("take", np.array([0]), {"axis": 2}, ua.errors.AxisError),
    "indices that are floats": ("take", np.array([0.0]), {"axis": 0}, ua.errors.DtypeError),
    "indices that are bools": ("take", np.array([True, False]), {"axis": 0}, ua.errors.DtypeError),
    "an index along out of bounds": ("take_along_axis", np.array([[3], [0]]), {"axis": 1}, IndexError),
    "a rank that differs": ("take_along_axis", np.array([0]), {"axis": 1}, ua.errors.ShapeError),
    "lengths that don't broadcast": ("take_along_axis", np.zeros((3, 1), int), {"axis": 1}, ua.errors.ShapeError),
    "an axis along out of bounds": ("take_along_axis", np.zeros((2, 1), int), {"axis": 2}, ua.errors.AxisError),
    "float indices along": ("take_along_axis", np.zeros((2, 1)), {"axis": 1}, TypeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, indices, options, error = ERRORS[case]
    assert_raises(error, getattr(ua, name), ua.asarray(X), ua.asarray(indices), **options)


def test_taking_from_nothing_is_an_error(backend: str) -> None:
    assert_raises(IndexError, ua.take, ua.zeros((0, 3)), ua.asarray([0]), axis=0)
    assert ua.take(ua.zeros((0, 3)), ua.asarray([0, 2]), axis=1).shape == (0, 2)
