"""Reductions and cumulative functions against NumPy."""

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
    INTEGERS,
    TOLERANCE,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
    shapes,
)

AXES: dict[int, list[Any]] = {
    0: [None, ()],
    1: [None, 0, -1, ()],
    2: [None, 0, -1, (0, 1), (-1,), ()],
    3: [None, 1, -3, (0, 2), (-1, 0, 1), ()],
}


@st.composite
def reductions(draw: st.DrawFn, dtype: str, **options: Any) -> tuple[np.ndarray, ua.Array, dict[str, Any]]:
    """Draw values, an array of them in some layout, and the keyword arguments of a reduction."""
    shape = draw(shapes(dtype))
    values = draw(seeded(dtype, shape, **options))
    axis = draw(st.sampled_from(AXES[len(shape)]))
    return values, in_layout(values, draw(layouts(dtype))), {"axis": axis, "keepdims": draw(st.booleans())}


def span(dtype: str, *, narrow: bool = False) -> dict[str, Any]:
    """Return the range of values: halves overflow soon; complex infinities mean something else on each engine."""
    bound = 2 if narrow else 8 if dtype in HALVES else 100
    if dtype in COMPLEX or dtype == "float16":
        return {"special": False, "low": -bound, "high": bound}
    return {"low": -bound, "high": bound} if dtype not in INTEGERS else {}


def rounding(values: np.ndarray, power: int = 1) -> float:
    """Return how far apart sums of those values in another order may be."""
    if values.dtype.name not in TOLERANCE:
        return 0.0
    finite = np.abs(values.astype("c16"))
    return float(TOLERANCE[values.dtype.name] * np.sum(finite[np.isfinite(finite)] ** power))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_sum(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype, **span(dtype)))
    expected = reference(np.sum, values, **options)
    assert_same(ua.sum(x, **options), expected, atol=rounding(values), signed_zeros=False, what=(values, options))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_prod(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype, **span(dtype, narrow=True)))
    rtol = 5 * TOLERANCE.get(dtype, 0)
    assert_same(ua.prod(x, **options), reference(np.prod, values, **options), rtol=rtol, signed_zeros=False)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["max", "min"])
@few
@given(data=st.data())
def test_extrema(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype, **({"special": False} if dtype in COMPLEX else {})))
    try:
        expected = reference(getattr(np, name), values, **options)
    except ValueError:
        assert_raises(ua.errors.ShapeError, getattr(ua, name), x, **options)
        return
    assert_same(getattr(ua, name)(x, **options), expected, signed_zeros=False, what=(values, options))


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_mean(backend: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype, **span(dtype)))
    wide = values.astype("f8") if values.dtype.kind in "biu" else values
    # Integers up to 2**64 lose digits on their way.
    atol = max(
        rounding(wide),
        1e-15 * float(np.max(np.abs(wide), initial=0)) if wide.dtype == "f8" and not np.isinf(wide).any() else 0,
    )
    atol = atol if np.isfinite(atol) else 0.0
    expected = reference(np.mean, wide, **options)
    assert_same(ua.mean(x, **options), expected, atol=atol, signed_zeros=False, what=(values, options))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["std", "var"])
@few
@given(data=st.data())
def test_spread(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions(dtype, special=False, low=-8, high=8))
    correction = data.draw(st.sampled_from([0.0, 1, 0.5]))
    wide = values.astype("f8") if values.dtype.kind in "biu" else values
    expected = reference(getattr(np, name), wide, ddof=correction, **options)
    # A spread of nothing is rounding noise, whose root is greater yet.
    noise = 16 * TOLERANCE[wide.dtype.name]
    atol = noise if name == "var" else 16 * noise**0.5 if name == "std" and wide.dtype.name in TOLERANCE else 0.0
    if name == "std":
        atol = np.where(np.abs(expected.astype("f8")) < 0.1, atol, 8 * noise)
    actual = getattr(ua, name)(x, correction=correction, **options)
    assert_same(actual, expected, atol=atol, signed_zeros=False, what=(values, options, correction))


REDUCTIONS = ["sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "count_nonzero"]


@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data())
def test_reductions_over_shapes_axes_and_layouts(backend: str, name: str, data: st.DataObject) -> None:
    values, x, options = data.draw(reductions("float64", special=False))
    if values.size == 0 and name in ("max", "min"):
        return
    expected = reference(getattr(np, name), values, **options)
    actual = getattr(ua, name)(x, **options)
    assert_same(actual, expected, atol=1e-8, rtol=1e-11, signed_zeros=False, what=(values, options))


@pytest.mark.parametrize("name", ["mean", "std", "var"])
@pytest.mark.parametrize("dtype", [*FLOATS, *HALVES, *COMPLEX])
def test_averages_of_nothing_are_nan(backend: str, name: str, dtype: str) -> None:
    result = getattr(ua, name)(ua.zeros((0, 3), dtype=dtype), axis=0)
    assert result.shape == (3,)
    assert bool(ua.all(ua.isnan(result)))


@pytest.mark.parametrize("name", ["mean", "std", "var"])
def test_spreads_and_means_of_infinities(backend: str, name: str) -> None:
    values = np.array([[1.0, np.inf], [2.0, np.inf], [3.0, 1.0]])
    assert_same(getattr(ua, name)(ua.asarray(values), axis=0), reference(getattr(np, name), values, axis=0))


def test_a_correction_beyond_the_count_divides_by_zero(backend: str) -> None:
    x = ua.asarray([2.0, 4.0])
    assert_same(ua.var(x, correction=2), np.asarray(np.inf))


ACCUMULATORS = [("int8", "int64"), ("bool", "int8"), ("float32", "float64"), ("int32", "float32"), ("uint8", "uint8")]


@pytest.mark.parametrize(("dtype", "wanted"), ACCUMULATORS)
@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_totals_are_computed_in_the_dtype_asked_for(backend: str, name: str, dtype: str, wanted: str) -> None:
    values = np.array([[100, 100, 3], [1, 100, 2]]).astype(dtype)
    expected = getattr(np, name)(values, axis=1, dtype=wanted)
    assert_same(getattr(ua, name)(ua.asarray(values), axis=1, dtype=wanted), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_integer_totals_wrap(backend: str, name: str, dtype: str) -> None:
    values = np.full(70, np.iinfo(dtype).max, dtype)
    assert_same(getattr(ua, name)(ua.asarray(values)), getattr(np, name)(values))
    assert_same(getattr(ua, name)(ua.asarray(values), dtype=dtype), getattr(np, name)(values, dtype=dtype))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@few
@given(data=st.data())
def test_cumulative(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype, least=1))
    values = data.draw(seeded(dtype, shape, **span(dtype, narrow=name == "cumulative_prod")))
    x = in_layout(values, data.draw(layouts(dtype)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    include_initial = data.draw(st.booleans())
    expected = reference(getattr(np, name), values, axis=axis, include_initial=include_initial)
    actual = getattr(ua, name)(x, axis=axis, include_initial=include_initial)
    atol = rounding(values) if name == "cumulative_sum" else 0.0
    rtol = 5 * TOLERANCE.get(dtype, 0)
    assert_same(actual, expected, atol=atol, rtol=rtol, signed_zeros=False, what=(values, axis, include_initial))


def test_a_cumulative_sum_of_one_dimension_needs_no_axis(backend: str) -> None:
    assert_same(ua.cumulative_sum(ua.asarray([1, 2, 3])), np.array([1, 3, 6]))
    assert_same(ua.cumulative_prod(ua.asarray([1.5, 2.0])), np.array([1.5, 3.0]))


ERRORS: dict[str, tuple[str, dict[str, Any], type[BaseException]]] = {
    "an axis out of bounds": ("sum", {"axis": 2}, ua.errors.AxisError),
    "a negative axis out of bounds": ("mean", {"axis": -3}, IndexError),
    "an axis twice": ("prod", {"axis": (0, -2)}, ua.errors.AxisError),
    "an axis that is no integer": ("max", {"axis": 1.0}, TypeError),
    "an unknown dtype": ("sum", {"dtype": "decimal"}, ua.errors.DtypeError),
    "no axis for several dimensions": ("cumulative_sum", {}, ua.errors.ShapeError),
    "a cumulative axis out of bounds": ("cumulative_prod", {"axis": 2}, ua.errors.AxisError),
    "several axes for a cumulative sum": ("cumulative_sum", {"axis": (0, 1)}, TypeError),
    "a std over a missing axis": ("std", {"axis": 5}, ua.errors.AxisError),
    "a var over an axis twice": ("var", {"axis": (1, 1)}, ValueError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, options, error = ERRORS[case]
    assert_raises(error, getattr(ua, name), ua.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), **options)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_extrema_of_nothing_are_errors(backend: str, name: str, axis: Any) -> None:
    assert_raises(ua.errors.ShapeError, getattr(ua, name), ua.zeros((0, 3)), axis=axis)
    assert getattr(ua, name)(ua.zeros((0, 3)), axis=1).shape == (0,)


@pytest.mark.parametrize("name", ["std", "var"])
def test_ddof_is_numpys_name_of_the_correction(backend: str, name: str) -> None:
    values = np.array([[1.0, 2.0, 4.0], [0.5, -3.0, 8.0]])
    x, function = ua.asarray(values), getattr(ua, name)
    # The second call may take a shorter way, and compiled ones know the parameter too.
    for _ in range(2):
        for ddof in (0, 1):
            assert_same(function(x, axis=1, ddof=ddof), getattr(np, name)(values, axis=1, ddof=ddof), rtol=1e-12)
    compiled = ua.compile(lambda x: function(x, axis=0, ddof=1))
    assert_same(compiled(x), getattr(np, name)(values, axis=0, ddof=1), rtol=1e-12)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("values", [[0.0, 2.0, 0.0, 3.0, np.nan], [1, 2, 0, 256], [True, False], [0] * 300])
def test_cumulative_truth(backend: str, name: str, values: list[float]) -> None:
    x = np.asarray(values)
    for include_initial in (False, True):
        expected = getattr(np, name)(x, dtype=bool, include_initial=include_initial)

        def accumulate(x: ua.Array, include_initial: bool = include_initial) -> ua.Array:
            found: ua.Array = getattr(ua, name)(x, dtype=ua.bool, include_initial=include_initial)
            return found

        assert_same(accumulate(ua.asarray(x)), expected)
        assert_same(ua.compile(accumulate)(ua.asarray(x)), expected)
        out = ua.empty(expected.shape, dtype=ua.bool)
        assert getattr(ua, name)(ua.asarray(x), dtype=ua.bool, include_initial=include_initial, out=out) is out
        assert_same(out, expected)


RUNNING = {"cumulative_max": np.maximum.accumulate, "cumulative_min": np.minimum.accumulate}


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "float64", "bfloat16"])
def test_running_extrema(backend: str, name: str, dtype: str) -> None:
    wanted = np.dtype(ua.zeros(1, dtype=dtype).dtype.name)
    values = np.array([[3, 5, 0, 5, 9], [7, 1, 8, 1, 0], [2, 2, 4, 1, 0]]).astype(wanted)
    if dtype == "uint64":
        values[0, 1] = 2**63 + 5
    if wanted.kind not in "biu":
        values[0, 2], values[1, 3] = np.nan, -np.inf
    x = ua.asarray(values)
    for axis in (0, 1):
        with np.errstate(invalid="ignore"):
            expected = RUNNING[name](values, axis)
        assert_same(getattr(ua, name)(x, axis=axis), expected)
        assert_same(getattr(ua, name)(x[::-1], axis=axis)[:1], RUNNING[name](values[::-1], axis)[:1])
    assert_same(getattr(ua, name)(x[:, :0], axis=1), values[:, :0])


def test_running_extrema_of_selections(backend: str) -> None:
    x = ua.asarray([1.0, 3.0, 0.5, -2.0, 5.0])
    for name, expected in (("cumulative_max", [1.0, 3.0, 5.0]), ("cumulative_min", [1.0, 1.0, 1.0])):
        function = getattr(ua, name)
        total = ua.compile(lambda x, function=function: ua.sum(function(x[x > 0.5])))
        assert float(total(x)) == sum(expected)


def test_the_first_of_equal_elements_gets_the_derivative_of_a_running_extremum(backend: str) -> None:
    x = ua.asarray([[1.0, 3.0, 3.0, 2.0, 5.0], [2.0, 2.0, np.nan, 0.0, 7.0]])
    w = ua.asarray([1.0, 2.0, 3.0, 4.0, 5.0])

    def total(x: ua.Array) -> ua.Array:
        return ua.sum(ua.cumulative_max(x, axis=1) * w)

    expected = np.array([[1.0, 9.0, 0.0, 0.0, 5.0], [3.0, 0.0, 12.0, 0.0, 0.0]])
    assert_same(ua.grad(total)(x), expected)
    assert_same(ua.compile(ua.grad(total))(x), expected)
    _, tangent = ua.jvp(lambda x: ua.cumulative_max(x, axis=1), (x,), (w + ua.zeros((2, 1)),))
    assert_same(tangent, np.array([[1.0, 2.0, 2.0, 2.0, 5.0], [1.0, 1.0, 3.0, 3.0, 3.0]]))


def test_running_extrema_refuse_complex_numbers(backend: str) -> None:
    for function in (ua.cumulative_max, ua.cumulative_min):
        assert_raises(ua.errors.DtypeError, function, ua.asarray([1j]))
