"""Gather and scatter against NumPy's indexing and ``ufunc.at``, on points given by their coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import ALL, COMPLEX, HALVES, assert_raises, assert_same, few, in_layout, layouts, seeded, twice

# The shape of x, the axes that are indexed and the shape of the points: a small pool, for each shape compiles anew.
PLACES: list[tuple[tuple[int, ...], tuple[int, ...] | None, tuple[int, ...]]] = [
    ((4,), None, (6,)),
    ((3, 4), None, (5,)),
    ((3, 4), (1,), (2, 3)),
    ((2, 3, 2), (2, 0), (7,)),
    ((3, 2), (1, 0), ()),
    ((3, 0), (0,), (4,)),
    ((3, 2), (0,), (0,)),
]
UFUNCS = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


@st.composite
def points(draw: st.DrawFn, dtype: str, **options: Any) -> tuple[np.ndarray, np.ndarray, Any, list[int]]:
    """Draw an array, indices of points in it, their axes, and the order that brings these to the front."""
    shape, axis, lead = draw(st.sampled_from(PLACES if dtype == "float64" else PLACES[2:4]))
    axes = (0, 1)[: len(shape)] if axis is None else axis
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = [random.integers(-shape[each], shape[each], lead) for each in axes]
    values = draw(seeded(dtype, shape, **options))
    indices = np.stack(columns, -1).astype(draw(st.sampled_from(["int64", "int32"])))
    return values, indices, axis, [*axes, *(i for i in range(len(shape)) if i not in axes)]


def at(indices: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.moveaxis(indices, -1, 0))


@pytest.mark.parametrize("dtype", ALL)
@twice
@given(data=st.data())
def test_gather_reads_what_indexing_reads(backend: str, dtype: str, data: st.DataObject) -> None:
    values, indices, axis, order = data.draw(points(dtype))
    x = in_layout(values, data.draw(layouts(dtype)))
    expected = values.transpose(order)[at(indices)]
    assert_same(ua.gather(x, ua.asarray(indices), axis=axis), expected)


def scattered(values: np.ndarray, indices: np.ndarray, order: list[int], updates: Any, mode: str) -> np.ndarray:
    """Return NumPy's result; halves are added and multiplied in float32."""
    halves = values.dtype.name in HALVES and mode in ("add", "multiply")
    moved = values.transpose(order).astype("float32") if halves else values.transpose(order).copy()
    if mode == "set":
        moved[at(indices)] = updates
    else:
        with np.errstate(all="ignore"):
            UFUNCS[mode].at(moved, at(indices), updates.astype("float32") if halves else updates)
    return moved.astype(values.dtype).transpose(np.argsort(order))


def check(mode: str, dtype: str, data: st.DataObject) -> None:
    narrow = dtype in (*HALVES, *COMPLEX)
    options: dict[str, Any] = {"special": not narrow, "low": -4, "high": 4} if mode == "multiply" or narrow else {}
    values, indices, axis, order = data.draw(points(dtype, **options))
    x = in_layout(values, data.draw(layouts(dtype)))
    if mode in ("max", "min") and dtype in COMPLEX:
        assert_raises(ua.errors.DtypeError, ua.scatter, x, ua.asarray(indices), 0, axis=axis, mode=mode)
        return
    shape = values.transpose(order)[at(indices)].shape
    updates = data.draw(seeded(dtype, shape, **options))
    expected = scattered(values, indices, order, updates, mode)
    actual = ua.scatter(x, ua.asarray(indices), ua.asarray(updates), axis=axis, mode=mode)
    atol = 1e-4 if dtype == "float32" else 1e-9
    assert_same(actual, expected, atol=0.0 if mode in ("set", "max", "min") else atol, signed_zeros=mode == "set")
    assert_same(x, values)


@pytest.mark.parametrize("mode", ["set", *UFUNCS])
@few
@given(data=st.data())
def test_scatter_combines_as_numpy(backend: str, mode: str, data: st.DataObject) -> None:
    check(mode, "float64", data)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "float64"])
@pytest.mark.parametrize("mode", ["set", *UFUNCS])
@twice
@given(data=st.data())
def test_scatter_of_every_dtype(backend: str, mode: str, dtype: str, data: st.DataObject) -> None:
    check(mode, dtype, data)


@pytest.mark.parametrize("count", [5, pytest.param(100_000, marks=pytest.mark.chunks(10_000))])
def test_of_equal_points_the_last_update_stays(backend: str, count: int) -> None:
    random = np.random.default_rng(0)
    indices, updates = random.integers(0, 7, (count, 1)), np.arange(float(count))
    expected = np.zeros(7)
    expected[indices[:, 0]] = updates
    assert_same(ua.scatter(ua.zeros(7), ua.asarray(indices), ua.asarray(updates)), expected)


def test_updates_broadcast_and_are_cast(backend: str) -> None:
    x, indices = ua.zeros((2, 3)), ua.asarray([[0], [1], [1]])
    row = np.array([1, 2, 3])
    assert_same(ua.scatter(x, indices, ua.asarray(row), mode="add"), np.stack([row, 2 * row]).astype("f8"))
    assert_same(ua.scatter(x, indices, 3, mode="max"), np.full((2, 3), 3.0))
    assert_same(ua.scatter(ua.asarray([1, 2]), indices, True, mode="add"), np.array([2, 4]))


@pytest.mark.parametrize("mode", ["set", *UFUNCS])
def test_scatter_in_place(backend: str, mode: str) -> None:
    values, indices, updates = np.arange(1.0, 7).reshape(3, 2), np.array([[0], [2], [0]]), np.full((3, 2), 3.5)
    x = ua.asarray(values, copy=True)
    assert ua.scatter(x, ua.asarray(indices), ua.asarray(updates), mode=mode, out=x) is x
    assert_same(x, scattered(values, indices, [0, 1], updates, mode))


def test_points_of_no_axis_can_only_be_errors(backend: str) -> None:
    x = ua.zeros((2, 3))
    errors = ua.errors
    for indices, options, error in [
        (np.zeros((2, 0), int), {}, errors.ShapeError),
        (np.zeros((), int), {}, errors.ShapeError),
        (np.zeros((2, 3), int), {}, errors.ShapeError),
        (np.zeros((2, 2), int), {"axis": 0}, errors.ShapeError),
        (np.zeros((2, 2), int), {"axis": (0, 0)}, errors.AxisError),
        (np.zeros((2, 1), int), {"axis": 2}, errors.AxisError),
        (np.zeros((2, 1)), {}, errors.DtypeError),
        (np.array([[0, 1], [0, 3]]), {}, IndexError),
        (np.array([[0, 1], [-3, 0]]), {}, IndexError),
    ]:
        assert_raises(error, ua.gather, x, ua.asarray(indices), **options)
        for mode in ("set", *UFUNCS):
            assert_raises(error, ua.scatter, x, ua.asarray(indices), 1, mode=mode, **options)
            out = ua.ones((2, 3))
            assert_raises(error, ua.scatter, x, ua.asarray(indices), 1, mode=mode, out=out, **options)
    assert_raises(ValueError, ua.scatter, x, ua.asarray([[0]]), 1, mode="mean")
    assert_raises(errors.ShapeError, ua.scatter, x, ua.asarray([[0]]), ua.ones(2))
    assert_raises(errors.ShapeError, ua.scatter, x, ua.asarray([[0]]), ua.ones((2, 3)))
    assert_raises(errors.CastingError, ua.scatter, ua.asarray([1, 2]), ua.asarray([[0]]), 0.5)


@pytest.mark.parametrize("mode", ["set", "add", "max"])
def test_gradients(backend: str, mode: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    values = np.array([[5.0, -1.0], [2.0, 7.0], [3.0, 4.0]])
    indices, weights = ua.asarray([[0], [2], [0]]), ua.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def of_updates(updates: ua.Array) -> ua.Array:
        return ua.sum(weights * ua.scatter(ua.ones((3, 2)), indices, updates, mode=mode))

    def of_x(x: ua.Array) -> ua.Array:
        return ua.sum(weights * ua.scatter(x, indices, ua.full((3, 2), 4.5), mode=mode))

    wanted = {
        "set": ([[0, 0], [5, 6], [1, 2]], [[0, 0], [3, 4], [0, 0]]),
        "add": ([[1, 2], [5, 6], [1, 2]], [[1, 2], [3, 4], [5, 6]]),
        "max": ([[1, 0], [5, 6], [0, 2]], [[1, 0], [3, 4], [0, 0]]),
    }[mode]
    np.testing.assert_allclose(gradient(backend, of_updates, values), wanted[0])
    np.testing.assert_allclose(gradient(backend, of_x, values), wanted[1])


def test_inside_a_trace(backend: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")

    def program(x: ua.Array, indices: ua.Array) -> ua.Array:
        return ua.scatter(x, indices, ua.gather(x, indices), mode="add")

    actual = traced(backend, program, np.arange(4.0), np.array([[1], [-1], [1]]))
    assert_same(actual, np.array([0.0, 3.0, 2.0, 6.0]))
