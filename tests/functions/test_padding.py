"""Padding against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import ALL, assert_raises, assert_same, few, in_layout, layouts, seeded

MODES = ["constant", "edge", "reflect", "symmetric", "wrap"]
# A small pool: engines compile for each.
WIDTHS: dict[tuple[int, ...], list[Any]] = {
    (4,): [0, 1, (2, 7), ((0, 3),), {0: 9}, {-1: (1, 0)}],
    (2, 3): [1, (2, 0), ((1, 0), (0, 5)), {1: 2}, [[1], [2]], {}],
    (2, 1, 3): [(1, 2), {0: 1, -1: (0, 2)}],
}


def numpys(values: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
    return np.pad(values, *arguments, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", WIDTHS, ids=str)
def test_every_width(backend: str, shape: tuple[int, ...], mode: str) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, shape)
    for width in WIDTHS[shape]:
        assert_same(ua.pad(ua.asarray(values), width, mode), numpys(values, width, mode), what=width)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_every_dtype(backend: str, dtype: str, data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(MODES))
    values = data.draw(seeded(dtype, (2, 3)))
    x = in_layout(values, data.draw(layouts(dtype)))
    expected = numpys(values, ((1, 0), (0, 5)), mode)
    out = ua.full(expected.shape, True, dtype=dtype)
    assert ua.pad(x, ((1, 0), (0, 5)), mode, out=out) is out
    assert_same(out, expected)
    assert_same(ua.pad(x, ((1, 0), (0, 5)), mode), expected)


@pytest.mark.parametrize(
    "constants", [2.5, (1, 2), ((1, 2), (3, 4.5)), [[1], [2]], np.inf, np.nan, np.float32(1.5), -0.0], ids=str
)
def test_constants(backend: str, constants: Any) -> None:
    values = np.arange(6.0).reshape(2, 3)
    expected = numpys(values, ((1, 2), (0, 1)), constant_values=constants)
    assert_same(ua.pad(ua.asarray(values), ((1, 2), (0, 1)), constant_values=constants), expected)


@pytest.mark.parametrize(
    ("dtype", "constant"), [("bool", True), ("uint8", 255), ("int64", -(2**63)), ("complex64", 1j)]
)
def test_constants_of_other_dtypes(backend: str, dtype: str, constant: Any) -> None:
    values = np.ones(2, dtype)
    assert_same(ua.pad(ua.asarray(values), 1, constant_values=constant), numpys(values, 1, constant_values=constant))


@pytest.mark.parametrize("mode", MODES)
def test_few_elements(backend: str, mode: str) -> None:
    assert_same(ua.pad(ua.asarray(3.0), 2, mode), np.asarray(3.0))
    assert_same(ua.pad(ua.asarray([3.0]), 4, mode), numpys(np.array([3.0]), 4, mode))
    assert_same(ua.pad(ua.zeros((0, 2)), ((0, 0), (1, 2)), mode), numpys(np.zeros((0, 2)), ((0, 0), (1, 2)), mode))
    if mode == "constant":
        assert_same(ua.pad(ua.zeros((0, 2)), 1, constant_values=7), numpys(np.zeros((0, 2)), 1, constant_values=7))
    else:
        assert_raises(ua.errors.ShapeError, ua.pad, ua.zeros((0, 2)), 1, mode)


@pytest.mark.parametrize("mode", MODES)
def test_the_result_is_an_array_of_its_own(backend: str, mode: str) -> None:
    x = ua.zeros((2, 2))
    result = ua.pad(x, 0, mode)
    result += 1
    assert_same(x, np.zeros((2, 2)))


@pytest.mark.parametrize("mode", MODES)
def test_a_place_in_the_middle_of_out(backend: str, mode: str) -> None:
    # The array lies in the memory that is written.
    values = np.arange(25.0).reshape(5, 5)
    base = ua.asarray(values, copy=True)
    ua.pad(base[:3, 1:4], 1, mode, out=base)
    assert_same(base, numpys(values[:3, 1:4], 1, mode))


@pytest.mark.parametrize("mode", MODES)
def test_gradients(backend: str, mode: str) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    assert_gradients(backend, lambda x: ua.pad(x, ((1, 0), (2, 3)), mode), values)


ONES = np.ones((2, 3))
ERRORS: dict[str, tuple[np.ndarray, tuple[Any, ...], dict[str, Any], type[BaseException]]] = {
    "a negative width": (ONES, (-1,), {}, ValueError),
    "a fractional width": (ONES, (1.5,), {}, TypeError),
    "a bool for a width": (ONES, (True,), {}, TypeError),
    "three widths": (ONES, ((1, 2, 3),), {}, ua.errors.ShapeError),
    "pairs for three axes": (ONES, (((1, 2),) * 3,), {}, ua.errors.ShapeError),
    "an axis out of bounds": (ONES, ({2: 1},), {}, ua.errors.AxisError),
    "an unknown mode": (ONES, (1, "mean"), {}, ValueError),
    "a constant of another kind": (ONES.astype(int), (1,), {"constant_values": 2.5}, ua.errors.CastingError),
    "a constant beyond the range": (ONES.astype("u1"), (1,), {"constant_values": 256}, OverflowError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    values, arguments, options, error = ERRORS[case]
    assert_raises(error, ua.pad, ua.asarray(values), *arguments, **options)
    assert_raises(error, ua.pad, ua.asarray(values), *arguments, **options, out=ua.zeros((4, 5), dtype=values.dtype))
