"""``x[key] += v``: its last step stores the view that was updated where it is already."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless


def test_an_updated_view_is_stored_where_it_is(backend: str) -> None:
    x, expected = ua.asarray(np.arange(24.0).reshape(4, 6), backend=backend), np.arange(24.0).reshape(4, 6)
    for key in (slice(1, 3), (slice(None), 2), (1, slice(0, 4, 2)), ..., None, 2, (slice(1, 3), slice(2, 5))):
        for array in (x, expected):
            array[key] += 1.0
            array[1:][key] *= 2.0
            part = array[1:]
            part[0:2] -= 3.0
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_a_view_of_another_array_is_no_update(backend: str) -> None:
    key = slice(1, 3)
    x, y = ua.asarray([1.0, 2.0, 3.0, 4.0], backend=backend), ua.asarray([5.0, 6.0, 7.0, 8.0], backend=backend)
    x[key] = y[key]
    assert x.tolist() == [1.0, 6.0, 7.0, 4.0]
    # Taken by the same key, from a view that isn't the target.
    x[key] = y[1:][key]
    assert x.tolist() == [1.0, 7.0, 8.0, 4.0]


@pytest.mark.parametrize("key", [None, ..., (), (None,), slice(None)], ids=repr)
def test_a_view_that_no_key_gave_is_no_update(backend: str, key: Any) -> None:
    values = np.arange(9.0).reshape(3, 3)
    views: list[Any] = [lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1].T, lambda x: ua.flip(x), lambda x: x.mT]
    for view in views:
        x, expected = ua.asarray(values, copy=True, backend=backend), values.copy()
        expected[key] = np.asarray(view(ua.asarray(values, backend="numpy")))
        x[key] = view(x)
        np.testing.assert_array_equal(np.asarray(x), expected)


def test_a_view_whose_bounds_were_arrays_is_no_update(backend: str) -> None:
    x, start, stop = ua.asarray([1.0, 2.0, 3.0, 4.0], backend=backend), ua.asarray(1), ua.asarray(3)
    taken = x[start:stop]
    start -= 1
    stop -= 1
    x[0:2] = taken
    assert x.tolist() == [2.0, 3.0, 3.0, 4.0]


def test_a_view_of_another_shape_is_no_update(backend: str) -> None:
    x, key = ua.asarray([1.0, 2.0, 3.0, 4.0], backend=backend), slice(1, 3)
    taken = x[key]
    taken.shape = (2, 1)
    with pytest.raises(ValueError, match="the indexed part has shape"):
        x[key] = taken
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_view_of_a_shape_that_is_gone_is_no_update() -> None:
    x, key = ua.asarray([1.0, 2.0, 3.0, 4.0], backend="numpy"), slice(0, 2)
    taken = x[key]
    x.shape = (2, 2)
    x[key] = taken
    assert x.tolist() == [[1.0, 2.0], [1.0, 2.0]]


def test_a_read_only_array_refuses_its_own_view(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="an engine that is written in place")
    x, key = ua.broadcast_to(ua.asarray([1.0], backend=backend), (4,)), slice(1, 3)
    with pytest.raises(ValueError, match="read-only"):
        x[key] = x[key]
