"""Linear algebra of the main namespace against NumPy."""

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
    FLOATS,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    assert_unchanged,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
)


def exact(dtype: str) -> dict[str, Any]:
    """Return a range of values whose products the halves still hold."""
    return {} if dtype not in HALVES + FLOATS + COMPLEX else {"special": False, "low": -4, "high": 4}


def rounding(x1: np.ndarray, x2: np.ndarray) -> float:
    """Return how far apart sums of products may be."""
    if x1.dtype.name not in TOLERANCE:
        return 0.0
    return (
        TOLERANCE[x1.dtype.name]
        * 8
        * float(np.max(np.abs(x1.astype("c16")), initial=0) * np.max(np.abs(x2.astype("c16")), initial=0))
    )


MATMUL = [
    ((2, 3), (3, 2)),
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 2, 3), (3, 2)),
    ((2, 1, 2, 3), (2, 3, 1)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
]


def matmul(x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
    return np.matmul(x1, x2)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_matmul(backend: str, dtype: str, data: st.DataObject) -> None:
    values = [data.draw(seeded(dtype, shape, **exact(dtype))) for shape in data.draw(st.sampled_from(MATMUL))]
    inputs = [in_layout(each, data.draw(layouts(dtype))) for each in values]
    expected = reference(matmul, *values)
    options = {"atol": rounding(*values), "signed_zeros": False}
    assert_same(ua.matmul(*inputs), expected, **options)
    assert_same(inputs[0] @ inputs[1], expected, **options)
    for x, each in zip(inputs, values, strict=True):
        assert_unchanged(x, each)


VECDOT: list[tuple[tuple[int, ...], tuple[int, ...], int]] = [
    ((3,), (3,), -1),
    ((2, 3), (2, 3), -1),
    ((2, 3), (2, 3), 0),
    ((2, 3), (3,), -1),
    ((2, 1, 3), (4, 3), -1),
    ((3, 2), (3, 1), -2),
    ((0,), (0,), 0),
]


def vecdot(x1: np.ndarray, x2: np.ndarray, axis: int) -> np.ndarray:
    return np.vecdot(x1, x2, axis=axis)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_vecdot_conjugates_the_first(backend: str, dtype: str, data: st.DataObject) -> None:
    *shapes, axis = data.draw(st.sampled_from(VECDOT))
    values = [data.draw(seeded(dtype, shape, **exact(dtype))) for shape in shapes]
    expected = reference(vecdot, *values, axis=axis)
    actual = ua.vecdot(*map(ua.asarray, values), axis=axis)
    assert_same(actual, expected, atol=rounding(*values), signed_zeros=False)


TENSORDOT: list[tuple[tuple[int, ...], tuple[int, ...], Any]] = [
    ((2, 3), (3, 2), 1),
    ((2, 3), (2, 3), 2),
    ((2,), (3,), 0),
    ((2, 3), (3, 2), ((1, 0), (0, 1))),
    ((2, 1, 3), (3, 2), ((-1,), (0,))),
    ((2, 3), (4, 3), ((1,), (1,))),
    ((), (2, 3), 0),
    ((0, 3), (3, 2), 1),
    ((2, 0), (0, 2), 1),
]


def tensordot(x1: np.ndarray, x2: np.ndarray, axes: Any) -> np.ndarray:
    return np.tensordot(x1, x2, axes)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_tensordot(backend: str, dtype: str, data: st.DataObject) -> None:
    *shapes, axes = data.draw(st.sampled_from(TENSORDOT))
    values = [data.draw(seeded(dtype, shape, **exact(dtype))) for shape in shapes]
    expected = reference(tensordot, *values, axes=axes)
    actual = ua.tensordot(*map(ua.asarray, values), axes=axes)
    assert_same(actual, expected, atol=rounding(*values), signed_zeros=False)


MIXED = [
    ("int8", "uint8"),
    ("int64", "float32"),
    ("uint64", "int64"),
    ("bool", "int8"),
    ("float32", "complex64"),
    ("float16", "float64"),
]


@pytest.mark.parametrize("dtypes", MIXED)
def test_products_promote(backend: str, dtypes: tuple[str, str]) -> None:
    x1, x2 = (np.array([[1, 0], [1, 1]], dtype) for dtype in dtypes)
    for name in ("matmul", "vecdot", "tensordot"):
        assert_same(getattr(ua, name)(ua.asarray(x1), ua.asarray(x2)), getattr(np, name)(x1, x2))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
def test_integer_products_wrap(backend: str, dtype: str) -> None:
    x = np.full((3, 3), np.iinfo(dtype).max - 1, dtype)
    assert_same(ua.matmul(ua.asarray(x), ua.asarray(x)), x @ x)


def test_products_carry_nan_and_infinity(backend: str) -> None:
    x1, x2 = np.array([[np.inf, 1.0], [np.nan, 0.0]]), np.array([[1.0, 0.0], [2.0, np.inf]])
    assert_same(ua.matmul(ua.asarray(x1), ua.asarray(x2)), reference(matmul, x1, x2))


Errors = dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]]
M = np.ones((2, 3))
ERRORS: Errors = {
    "inner lengths differ": ("matmul", [M, M], {}, ua.errors.ShapeError),
    "a 0-d operand": ("matmul", [M, np.ones(())], {}, ua.errors.ShapeError),
    "stacks that don't broadcast": ("matmul", [np.ones((2, 1, 1)), np.ones((3, 1, 1))], {}, ValueError),
    "vectors of different lengths": ("vecdot", [np.ones(3), np.ones(2)], {}, ua.errors.ShapeError),
    "vectors along a missing axis": ("vecdot", [np.ones(3), np.ones(3)], {"axis": 1}, ua.errors.AxisError),
    "a 0-d vector": ("vecdot", [np.ones(()), np.ones(3)], {}, ValueError),
    "contracted lengths differ": ("tensordot", [M, M], {"axes": 1}, ua.errors.ShapeError),
    "too many axes": ("tensordot", [M, M], {"axes": 3}, ValueError),
    "negative axes": ("tensordot", [M, M], {"axes": -1}, ValueError),
    "as many axes of both": ("tensordot", [M, M], {"axes": ((0, 1), (0,))}, ua.errors.AxisError),
    "an axis twice": ("tensordot", [M, M], {"axes": ((0, 0), (0, 0))}, ua.errors.AxisError),
    "a vector to transpose": ("matrix_transpose", [np.ones(3)], {}, ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values, options, error = ERRORS[case]
    assert_raises(error, getattr(ua, name), *map(ua.asarray, values), **options)
