"""Manipulation functions against NumPy; what of them is a view, tests/core/test_views.py and test_aliasing.py test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import (
    ALL,
    LAYOUTS,
    assert_raises,
    assert_same,
    assert_unchanged,
    few,
    in_layout,
    layouts,
    seeded,
    shapes,
    twice,
)

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*arguments: Any, **options: Any) -> Call:
    return arguments, options


# For a function of one array: the shape of the array, the arguments after it, what NumPy calls it.
NUMPY: dict[str, Callable[..., Any]] = {
    "broadcast_to": np.broadcast_to,
    "expand_dims": np.expand_dims,
    "flip": np.flip,
    "moveaxis": np.moveaxis,
    "permute_dims": np.permute_dims,
    "transpose": np.transpose,
    "repeat": np.repeat,
    "reshape": np.reshape,
    "roll": np.roll,
    "rot90": np.rot90,
    "swapaxes": np.swapaxes,
    "squeeze": np.squeeze,
    "tile": np.tile,
    "matrix_transpose": np.matrix_transpose,
}
CALLS: dict[str, list[tuple[tuple[int, ...], Call]]] = {
    "broadcast_to": [
        ((3,), call((2, 3))),
        ((2, 1), call((2, 3))),
        ((), call((2, 2))),
        ((1, 3), call((0, 3))),
        ((2, 3), call((2, 3))),
        ((2, 1, 3), call((4, 2, 2, 3))),
        ((), call(())),
    ],
    "expand_dims": [
        ((2, 3), call(0)),
        ((2, 3), call(-1)),
        ((2, 3), call(1)),
        ((), call(0)),
        ((2, 3), call((0, -1))),
        ((3,), call((0, 1))),
        ((2, 3), call(())),
    ],
    "flip": [
        ((2, 3), call()),
        ((2, 3), call(axis=0)),
        ((2, 3), call(axis=-1)),
        ((2, 1, 3), call(axis=(0, 2))),
        ((), call()),
        ((0, 3), call(axis=0)),
        ((4,), call(axis=())),
    ],
    "moveaxis": [
        ((2, 1, 3), call(0, -1)),
        ((2, 1, 3), call((0, 2), (1, 0))),
        ((2, 1, 3), call(-1, 0)),
        ((2, 3), call(1, 1)),
        ((2, 3), call((), ())),
    ],
    "permute_dims": [
        ((2, 1, 3), call((2, 0, 1))),
        ((2, 3), call((1, 0))),
        ((2, 3), call((-1, -2))),
        ((), call(())),
        ((4,), call((0,))),
        ((0, 3), call((1, 0))),
    ],
    "transpose": [
        ((2, 1, 3), call()),
        ((2, 1, 3), call(None)),
        ((2, 1, 3), call((2, 0, 1))),
        ((), call()),
        ((0, 3), call()),
    ],
    "repeat": [
        ((2, 3), call(2)),
        ((2, 3), call(3, axis=0)),
        ((2, 3), call(2, axis=-1)),
        ((4,), call(0)),
        ((4,), call(np.array([1, 0, 2, 3]))),
        ((2, 3), call(np.array([2, 1]), axis=0)),
        ((2, 3), call(np.array([1, 2, 0]), axis=1)),
        ((2, 3), call(np.array([2]), axis=1)),
        ((), call(3)),
        ((0, 3), call(2, axis=0)),
    ],
    "reshape": [
        ((2, 3), call((3, 2))),
        ((2, 3), call((-1,))),
        ((2, 3), call((1, -1, 2))),
        ((4,), call((2, 2))),
        ((), call((1, 1))),
        ((1,), call(())),
        ((0, 3), call((3, 0))),
        ((0, 3), call((-1, 3))),
        ((2, 3), call((6,), copy=True)),
        ((2, 3), call((2, 3))),
    ],
    "roll": [
        ((2, 3), call(1)),
        ((2, 3), call(-4)),
        ((2, 3), call(1, axis=0)),
        ((2, 3), call(-1, axis=-1)),
        ((2, 3), call((1, 2), axis=(0, 1))),
        ((2, 3), call(1, axis=(0, 1))),
        ((4,), call((1, 2), axis=0)),
        ((2, 3), call((1, 1), axis=(1, 1))),
        ((), call(2)),
        ((0, 3), call(5, axis=0)),
        ((4,), call(0)),
    ],
    "rot90": [
        *(((2, 3), call(turns)) for turns in range(-4, 5)),
        ((2, 3), call()),
        ((2, 1, 3), call(1, axes=(2, 0))),
        ((2, 1, 3), call(-1, axes=(-1, 1))),
        ((0, 3), call(3)),
    ],
    "swapaxes": [
        ((2, 1, 3), call(0, -1)),
        ((2, 1, 3), call(1, 0)),
        ((2, 3), call(1, 1)),
        ((0, 3), call(0, 1)),
    ],
    "squeeze": [
        ((2, 1, 3), call(1)),
        ((2, 1, 3), call(-2)),
        ((2, 1, 3), call(())),
        ((3, 1), call((1,))),
        ((1,), call(0)),
        ((2, 1, 3), call()),
        ((1, 1), call((0, 1))),
    ],
    "tile": [
        ((2, 3), call((2, 2))),
        ((3,), call((2, 2))),
        ((2, 1, 3), call((2,))),
        ((), call((3,))),
        ((4,), call((0,))),
        ((2, 3), call(())),
        ((2, 3), call((1, 1))),
    ],
    "matrix_transpose": [((2, 3), call()), ((2, 1, 3), call()), ((0, 3), call()), ((3, 1), call())],
}
CASES = [(name, shape, *each) for name, calls in CALLS.items() for shape, each in calls]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "shape", "arguments", "options"), CASES)
def test_functions_of_one_array(
    backend: str, name: str, shape: tuple[int, ...], arguments: tuple[Any, ...], options: dict[str, Any], layout: str
) -> None:
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) - 2.5
    x = in_layout(values, layout)
    expected = NUMPY[name](values, *arguments, **options)
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    assert_same(getattr(ua, name)(x, *given, **options), expected)
    assert_unchanged(x, values)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", CALLS)
@twice
@given(data=st.data())
def test_functions_of_one_array_over_dtypes(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    shape, (arguments, options) = data.draw(st.sampled_from(CALLS[name]))
    values = data.draw(seeded(dtype, shape))
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    assert_same(getattr(ua, name)(ua.asarray(values), *given, **options), NUMPY[name](values, *arguments, **options))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_repeats_are_integers_of_any_dtype(backend: str, dtype: str) -> None:
    values, counts = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 2])
    assert_same(ua.repeat(ua.asarray(values), ua.asarray(counts, dtype=dtype)), np.repeat(values, counts))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_concat(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype, least=1))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    count = data.draw(st.integers(1, 3))
    values = [data.draw(seeded(dtype, shape)) for _ in range(count)]
    inputs = [in_layout(each, data.draw(layouts(dtype))) for each in values]
    assert_same(ua.concat(inputs, axis=axis), np.concatenate(values, axis))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_stack_and_unstack(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype))
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    values = [data.draw(seeded(dtype, shape)) for _ in range(data.draw(st.integers(1, 3)))]
    stacked = ua.stack([ua.asarray(each) for each in values], axis=axis)
    assert_same(stacked, np.stack(values, axis))
    parts = ua.unstack(stacked, axis=axis)
    assert isinstance(parts, tuple)
    for part, each in zip(parts, values, strict=True):
        assert_same(part, each)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("sections", [1, 2, [1], [1, 3], [3, 1], [-1, 9], [0, 0], [], np.array([2])])
def test_split(backend: str, sections: Any, axis: int, layout: str) -> None:
    values = np.arange(16.0).reshape(4, 4)
    parts = ua.split(in_layout(values, layout), sections, axis=axis)
    assert isinstance(parts, tuple)
    for part, expected in zip(parts, np.split(values, sections, axis), strict=True):
        assert_same(part, expected)


MIXED = [("int8", "uint8"), ("int64", "float32"), ("uint64", "int64"), ("bool", "complex64"), ("float16", "float64")]


@pytest.mark.parametrize("dtypes", MIXED)
def test_joined_dtypes_promote(backend: str, dtypes: tuple[str, str]) -> None:
    values = [np.array([1, 0], dtype) for dtype in dtypes]
    inputs = [ua.asarray(each) for each in values]
    assert_same(ua.concat(inputs), np.concat(values))
    assert_same(ua.stack(inputs), np.stack(values))
    assert_same(ua.stack(tuple(inputs), axis=-1), np.stack(values, -1))


def test_arrays_of_different_lengths_are_joined(backend: str) -> None:
    values = [np.ones((2, 3)), np.zeros((0, 3)), np.full((1, 3), 2.0)]
    assert_same(ua.concat([ua.asarray(each) for each in values]), np.concat(values))
    assert_same(ua.concat([ua.asarray(1), ua.asarray([[2, 3]])], axis=None), np.array([1, 2, 3]))


BROADCAST = [[(2, 3), (3,)], [(), (4,)], [(3, 1), (1, 2), ()], [(0, 3), (1,)], [(2, 3)], []]


@pytest.mark.parametrize("shapes", BROADCAST)
def test_broadcasting(backend: str, shapes: list[tuple[int, ...]]) -> None:
    values = [np.arange(np.prod(shape, dtype=int)).reshape(shape) for shape in shapes]
    assert ua.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    results = ua.broadcast_arrays(*map(ua.asarray, values))
    assert isinstance(results, tuple)
    for actual, expected in zip(results, np.broadcast_arrays(*values), strict=True):
        assert_same(actual, expected)


def test_a_broadcast_array_is_read_only(backend: str) -> None:
    x = ua.asarray([1, 2])
    wide = ua.broadcast_to(x, (2, 2))
    with pytest.raises(ua.errors.ReadOnlyError):
        wide[0, 0] = 9
    assert_same(x, np.array([1, 2]))


def test_shapes_may_be_lists_and_arrays(backend: str) -> None:
    x = ua.asarray([1, 2, 3, 4])
    for shape in ([2, 2], np.array([2, 2]), (np.int64(2), 2)):
        assert ua.reshape(x, shape).shape == (2, 2)
        assert ua.broadcast_to(ua.asarray(1), shape).shape == (2, 2)
    assert ua.reshape(x, 4).shape == (4,)


def test_a_reshape_without_a_copy_is_a_view_or_an_error(backend: str) -> None:
    x = ua.asarray([[1, 2, 3], [4, 5, 6]])
    ua.reshape(x, (3, 2), copy=False)[0, 1] = 9
    assert_same(x, np.array([[1, 9, 3], [4, 5, 6]]))
    assert_raises(ua.errors.CopyError, ua.reshape, x.T, (6,), copy=False)
    y = ua.reshape(x, (6,), copy=True)
    y[0] = 0
    assert_same(x, np.array([[1, 9, 3], [4, 5, 6]]))


Errors = dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]]
X = np.arange(6.0).reshape(2, 3)
ERRORS: Errors = {
    "too small a shape": ("reshape", [X, (4,)], {}, ua.errors.ShapeError),
    "two unknown lengths": ("reshape", [X, (-1, -1)], {}, ValueError),
    "an unknown length that doesn't divide": ("reshape", [X, (4, -1)], {}, ua.errors.ShapeError),
    "a negative length": ("reshape", [X, (-2, -3)], {}, ua.errors.ShapeError),
    "a shape that isn't broadcast to": ("broadcast_to", [X, (2, 4)], {}, ua.errors.ShapeError),
    "fewer dimensions": ("broadcast_to", [X, (3,)], {}, ua.errors.ShapeError),
    "a negative shape": ("broadcast_to", [X, (-1, 3)], {}, ValueError),
    "lengths beside the axis differ": ("concat", [[X, X[:, :2]]], {}, ua.errors.ShapeError),
    "ranks differ": ("concat", [[X, X[0]]], {}, ua.errors.ShapeError),
    "0-d arrays": ("concat", [[X[0, 0, None][0], X[0, 0, None][0]]], {}, ua.errors.AxisError),
    "no arrays": ("concat", [[]], {}, ua.errors.ShapeError),
    "an axis out of bounds": ("concat", [[X, X]], {"axis": 2}, ua.errors.AxisError),
    "shapes differ": ("stack", [[X, X[:1]]], {}, ua.errors.ShapeError),
    "nothing to stack": ("stack", [[]], {}, ValueError),
    "a new axis out of bounds": ("stack", [[X, X]], {"axis": 3}, ua.errors.AxisError),
    "one array, not several": ("stack", [X], {}, TypeError),
    "no axis there to insert": ("expand_dims", [X, 3], {}, ua.errors.AxisError),
    "an axis inserted twice": ("expand_dims", [X, (0, 0)], {}, ua.errors.AxisError),
    "an axis to flip out of bounds": ("flip", [X], {"axis": 2}, ua.errors.AxisError),
    "an axis flipped twice": ("flip", [X], {"axis": (0, -2)}, ua.errors.AxisError),
    "as many places as axes": ("moveaxis", [X, (0, 1), (0,)], {}, ua.errors.AxisError),
    "a place out of bounds": ("moveaxis", [X, 0, 2], {}, ua.errors.AxisError),
    "not all axes": ("permute_dims", [X, (0,)], {}, ValueError),
    "not all axes of a transpose": ("transpose", [X, (0,)], {}, ValueError),
    "an axis twice": ("permute_dims", [X, (0, 0)], {}, ua.errors.AxisError),
    "negative repeats": ("repeat", [X, -1], {}, ValueError),
    "negative repeats in an array": ("repeat", [X, np.array([1, -1])], {"axis": 0}, ValueError),
    "repeats of another length": ("repeat", [X, np.array([1, 2, 3])], {"axis": 0}, ua.errors.ShapeError),
    "repeats that are floats": ("repeat", [X, np.array([1.0, 2.0])], {"axis": 0}, TypeError),
    "several shifts, other axes": ("roll", [X, (1, 2, 3)], {"axis": (0, 1)}, ValueError),
    "an axis to roll out of bounds": ("roll", [X, 1], {"axis": 2}, ua.errors.AxisError),
    "a vector to turn": ("rot90", [X[0]], {}, ua.errors.AxisError),
    "one axis to turn in": ("rot90", [X], {"axes": (0,)}, ua.errors.AxisError),
    "an axis to turn in twice": ("rot90", [X], {"axes": (0, -2)}, ua.errors.AxisError),
    "a missing axis to swap": ("swapaxes", [X, 0, 2], {}, ua.errors.AxisError),
    "parts that aren't equal": ("split", [X, 2], {"axis": 1}, ua.errors.ShapeError),
    "no parts": ("split", [X, 0], {}, ValueError),
    "a 0-d array to split": ("split", [np.asarray(1.0), 1], {}, ua.errors.AxisError),
    "an axis of another length than one": ("squeeze", [X, 0], {}, ua.errors.ShapeError),
    "a missing axis to squeeze": ("squeeze", [X, 2], {}, ua.errors.AxisError),
    "negative repetitions": ("tile", [X, (-1,)], {}, ValueError),
    "a 0-d array to unstack": ("unstack", [np.asarray(1.0)], {}, ua.errors.AxisError),
    "shapes that don't broadcast": ("broadcast_arrays", [X, X[:, :2]], {}, ua.errors.ShapeError),
    "a vector to transpose": ("matrix_transpose", [X[0]], {}, ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values, options, error = ERRORS[case]

    def lift(x: Any) -> Any:
        return (
            list(map(lift, x))
            if isinstance(x, list)
            else ua.asarray(x)
            if isinstance(x, np.ndarray | np.generic)
            else x
        )

    assert_raises(error, getattr(ua, name), *map(lift, values), **options)


def test_shapes_that_dont_broadcast_are_an_error() -> None:
    with pytest.raises(ua.errors.ShapeError):
        ua.broadcast_shapes((2, 3), (4,))


def test_a_sequence_of_arrays_may_be_an_iterator(backend: str) -> None:
    values = np.arange(6.0).reshape(2, 3)
    rows = list(ua.asarray(values))
    assert_same(ua.concat(row for row in rows), values.ravel())
    assert_same(ua.stack(iter(rows)), values)
    with ua.debug():
        assert_same(ua.concat(row for row in rows), values.ravel())
    for wrong in (5, None, ua.asarray(values)):
        with pytest.raises(TypeError, match="sequence of arrays"):
            ua.concat(wrong)  # type: ignore[arg-type]
