"""Padding against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..oracle import ALL, COMPLEX, INTEGERS, assert_raises, assert_same, few, in_layout, layouts, seeded

MODES = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean", "median", "minimum"]
# Modes with options that change them.
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "odd reflect": ("reflect", {"reflect_type": "odd"}),
    "odd symmetric": ("symmetric", {"reflect_type": "odd"}),
    "ramps to one number": ("linear_ramp", {"end_values": -2}),
    "ramps to a pair": ("linear_ramp", {"end_values": (3, 1)}),
    "maximum of two": ("maximum", {"stat_length": 2}),
    "minimum of a pair": ("minimum", {"stat_length": (2, 1)}),
    "mean of one or two": ("mean", {"stat_length": (1, 2)}),
    "median of many": ("median", {"stat_length": 9}),
}
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


@pytest.mark.parametrize("case", OPTIONS)
@pytest.mark.parametrize("shape", WIDTHS, ids=str)
def test_every_option(backend: str, shape: tuple[int, ...], case: str) -> None:
    mode, options = OPTIONS[case]
    random = np.random.default_rng(0)
    for values in (random.uniform(-1, 1, shape), random.integers(-9, 9, shape)):
        for width in WIDTHS[shape]:
            expected = numpys(values, width, mode, **options)
            x = ua.asarray(values)
            assert_same(ua.pad(x, width, mode, **options), expected, what=width)
            out = ua.empty(expected.shape, dtype=values.dtype)
            assert ua.pad(x, width, mode, **options, out=out) is out
            assert_same(out, expected, what=width)
            if width != WIDTHS[shape][-1]:
                # Engines compile for each.
                continue
            compiled = ua.compile(lambda x, width=width: ua.pad(x, width, mode, **options))
            assert_same(compiled(x), expected, what=width)


def test_empty_leaves_the_elements_in_the_middle(backend: str) -> None:
    values = np.arange(6.0).reshape(2, 3)
    assert_same(ua.pad(ua.asarray(values), (1, 2), "empty")[1:-2, 1:-2], values)
    assert ua.pad(ua.zeros((0, 2)), 1, "empty").shape == (2, 4)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_every_dtype(backend: str, dtype: str, data: st.DataObject) -> None:
    # Complex numbers have no order here.
    without = {"maximum", "median", "minimum"} if dtype in COMPLEX else set()
    # XLA multiplies by the rounded reciprocal of a number, whose product may have another floor than the quotient.
    rounds = backend == "jax" and dtype in INTEGERS
    if rounds:
        without.add("linear_ramp")
    mode = data.draw(st.sampled_from([mode for mode in MODES if mode not in without]))
    # A complex infinity divided by a number isn't the same in NumPy and in C, and NumPy's median of bfloat16 loses NaN.
    plain = {"mean": rounds or dtype in COMPLEX, "median": dtype == "bfloat16"}.get(mode, False)
    values = data.draw(seeded(dtype, (2, 3), special=not plain))
    x = in_layout(values, data.draw(layouts(dtype)))
    expected = numpys(values, ((1, 0), (0, 5)), mode)
    out = ua.full(expected.shape, True, dtype=dtype)
    assert ua.pad(x, ((1, 0), (0, 5)), mode, out=out) is out
    # Either of two zeros may be the least.
    signed = mode not in ("maximum", "median", "minimum")
    assert_same(out, expected, signed_zeros=signed)
    assert_same(ua.pad(x, ((1, 0), (0, 5)), mode), expected, signed_zeros=signed)


@pytest.mark.parametrize(
    "constants", [2.5, (1, 2), ((1, 2), (3, 4.5)), [[1], [2]], np.inf, np.nan, np.float32(1.5), -0.0], ids=str
)
def test_constants(backend: str, constants: Any) -> None:
    values = np.arange(6.0).reshape(2, 3)
    expected = numpys(values, ((1, 2), (0, 1)), constant_values=constants)
    assert_same(ua.pad(ua.asarray(values), ((1, 2), (0, 1)), constant_values=constants), expected)


def test_equal_constants_are_told_apart(backend: str) -> None:
    values, whole = np.arange(3.0), np.arange(3)
    for constants in ((0.0, 1.0), (-0.0, 1.0), (0, 1), (0.0, True), (-0.0, 1.0)):
        expected = numpys(values, 1, constant_values=constants)
        assert_same(ua.pad(ua.asarray(values), 1, constant_values=constants), expected, signed_zeros=True)
    for constants in ((0, 1), (False, True)):
        assert_same(
            ua.pad(ua.asarray(whole), 1, constant_values=constants), numpys(whole, 1, constant_values=constants)
        )


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


@pytest.mark.parametrize("case", [*MODES, *OPTIONS])
def test_gradients(backend: str, case: str) -> None:
    mode, options = OPTIONS.get(case, (case, {}))
    values = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    assert_gradients(backend, lambda x: ua.pad(x, ((1, 0), (2, 3)), mode, **options), values)


def test_gradients_by_end_values(backend: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    assert_gradients(backend, lambda end: ua.pad(ua.asarray(x), 2, "linear_ramp", end_values=(end, 1)), np.array(0.5))


@pytest.mark.parametrize("mode", MODES)
def test_errors_list_the_modes(backend: str, mode: str) -> None:
    with pytest.raises(ValueError, match=rf"mode is one of .*\b{mode}\b.*, not 'mirror'"):
        ua.pad(ua.ones(2), 1, "mirror")


ONES = np.ones((2, 3))
ERRORS: dict[str, tuple[np.ndarray, tuple[Any, ...], dict[str, Any], type[BaseException]]] = {
    "a negative width": (ONES, (-1,), {}, ValueError),
    "a fractional width": (ONES, (1.5,), {}, TypeError),
    "a bool for a width": (ONES, (True,), {}, TypeError),
    "three widths": (ONES, ((1, 2, 3),), {}, ua.errors.ShapeError),
    "pairs for three axes": (ONES, (((1, 2),) * 3,), {}, ua.errors.ShapeError),
    "an axis out of bounds": (ONES, ({2: 1},), {}, ua.errors.AxisError),
    "an unknown mode": (ONES, (1, "mirror"), {}, ValueError),
    "a constant of another mode": (ONES, (1, "edge"), {"constant_values": 1}, ValueError),
    "an end value of another mode": (ONES, (1, "mean"), {"end_values": 1}, ValueError),
    "a length of another mode": (ONES, (1, "constant"), {"stat_length": 1}, ValueError),
    "a reflection of another mode": (ONES, (1, "wrap"), {"reflect_type": "odd"}, ValueError),
    "an unknown reflection": (ONES, (1, "reflect"), {"reflect_type": "strange"}, ValueError),
    "a maximum of nothing": (ONES, (1, "maximum"), {"stat_length": 0}, ValueError),
    "a negative length": (ONES, (1, "mean"), {"stat_length": -1}, ValueError),
    "a fractional length": (ONES, (1, "mean"), {"stat_length": 1.5}, TypeError),
    "an end value of another kind": (ONES.astype(int), (1, "linear_ramp"), {"end_values": 2.5}, ua.errors.CastingError),
    "a constant of another kind": (ONES.astype(int), (1,), {"constant_values": 2.5}, ua.errors.CastingError),
    "a constant beyond the range": (ONES.astype("u1"), (1,), {"constant_values": 256}, OverflowError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    values, arguments, options, error = ERRORS[case]
    assert_raises(error, ua.pad, ua.asarray(values), *arguments, **options)
    assert_raises(error, ua.pad, ua.asarray(values), *arguments, **options, out=ua.zeros((4, 5), dtype=values.dtype))
