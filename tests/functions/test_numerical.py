"""Interpolation, integrals and derivatives against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import assert_gradients
from ..natives import skip_without_derivatives
from ..oracle import ALL, COMPLEX, TOLERANCE, as_numpy, assert_raises, assert_same, few, is_bfloat16, seeded

Values = list[np.ndarray]
TAME: dict[str, Any] = {"special": False, "low": -50, "high": 50}


def in_double(function: Any, *values: np.ndarray, **options: Any) -> np.ndarray:
    """Return NumPy's result in double precision, in the floating-point dtype that the arrays promote to."""
    dtype: Any = np.dtype("float64")
    if all(map(is_bfloat16, values)):
        dtype = np.dtype(ua.bfloat16)
    elif np.result_type(*values).kind in "fc":
        dtype = np.result_type(*values)
    wide = [x.astype("c16" if x.dtype.kind == "c" else "f8") for x in values]
    return np.asarray(function(*wide, **options)).astype(dtype)


def rounding(dtype: Any, *values: Any) -> float:
    """Return how far apart results may be, whose size is that of the values."""
    return 8 * TOLERANCE[np.dtype(dtype).name] * max(float(np.max(np.abs(x), initial=1)) for x in values)


# -- interp -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_interp(backend: str, dtype: str, data: st.DataObject) -> None:
    fp = data.draw(seeded(dtype, 4, **TAME))
    real = np.dtype(dtype).type(0).real.dtype if dtype in COMPLEX else fp.dtype
    xp = np.array([0, 1, 1, 3] if data.draw(st.booleans()) and dtype != "bool" else [0, 1, 2, 3]).astype(real)
    xp = np.sort(xp)
    where = [np.array([[0, 1], [2, 3]]), np.array([9, 0, 1, 2]), np.array([]), np.array(2)]
    x = data.draw(st.sampled_from(where if dtype == "float64" else where[:1]))
    x = x.astype(real)
    options = data.draw(st.sampled_from([{}, {"left": -1, "right": 2.5}]))
    actual = ua.interp(*map(ua.asarray, (x, xp, fp)), **options)
    if dtype == "bool" and x.size:
        # The points lie on each other, of whose values each engine may take one.
        assert actual.shape == x.shape
        return
    expected = in_double(lambda *each: np.interp(*each, **options), x, xp, fp)
    assert_same(actual, expected, atol=rounding(expected.dtype, fp.astype(expected.dtype).astype("c16")))


def check_interp(x: Any, xp: Any, fp: Any, **options: Any) -> None:
    values = [np.asarray(each, None if np.iscomplexobj(each) else float) for each in (x, xp, fp)]
    expected = np.asarray(np.interp(*values, **options))
    assert_same(ua.interp(*map(ua.asarray, values), **options), expected, atol=1e-12, signed_zeros=False)


def test_interp_where_values_are_not_finite(backend: str) -> None:
    places = [-np.inf, -1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 9, np.inf, np.nan]
    check_interp(places, [0, 1, 2, 3], [1, np.inf, 2, np.nan])
    check_interp(places, [0, 1, 2, 3], [-np.inf, np.inf, np.inf, 3])
    check_interp(places, [0, 1, 2, np.inf], [1, 2, 3, 4])
    check_interp(places[1:], [-np.inf, 1, 2, 3], [1, 2, 3, 4])
    check_interp(places, [1], [5])
    check_interp(places, [1], [5], left=0, right=1)
    # Points after a NaN are never used, not even at the last one.
    check_interp([-np.inf, -2, 0], [-np.inf, -np.inf, np.nan, -2.0], [1, 2, 3, 4])
    check_interp([-1, 0], [-1, np.nan, -1, -1], [1, 2, 3, 4])


SPECIAL_PLACES = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, np.inf, np.nan])
SPECIAL_VALUES = st.sampled_from([-np.inf, -1.5, 0.0, 1.0, 1.0, 2.5, np.inf, np.nan])
OF_PARTS = st.builds(complex, SPECIAL_VALUES, SPECIAL_VALUES)


@given(data=st.data(), count=st.integers(1, 7), of_parts=st.booleans(), beyond=st.booleans())
def test_interp_of_special_values(backend: str, data: st.DataObject, count: int, of_parts: bool, beyond: bool) -> None:
    def draw(strategy: Any, length: int) -> list[Any]:
        return data.draw(st.lists(strategy, min_size=length, max_size=length))

    # Among more points what NumPy finds beside a NaN depends on the places that it was asked for before.
    xp = np.sort(draw(SPECIAL_PLACES if count <= 4 else SPECIAL_PLACES.filter(lambda each: each == each), count))
    if count <= 4 and data.draw(st.booleans()):
        xp[data.draw(st.integers(0, count - 1))] = np.nan
    x = draw(st.one_of(SPECIAL_PLACES, st.sampled_from([-1.5, 0.25, 1.5])), 5)
    options: dict[str, Any] = {"left": -7.0, "right": np.inf} if beyond else {}
    with np.errstate(all="ignore"):
        check_interp(x, xp, draw(OF_PARTS if of_parts else SPECIAL_VALUES, count), **options)


def test_interp_of_nan(backend: str) -> None:
    check_interp([np.nan], [1, 2], [5, 5])
    check_interp([np.nan], [1, 2], [5j, 5])
    check_interp([0.5], [np.nan, 1.0], [0.0, 10.0])
    check_interp([np.nan, 5.0], [1, 2], [5, 5], left=1, right=2)
    check_interp([np.nan], [1, 2, 4], [5, 5, 6], period=3)


def test_interp_between_equal_values_is_exact(backend: str) -> None:
    x = np.linspace(0, 1, 29)
    assert np.all(as_numpy(ua.interp(ua.asarray(x), ua.asarray([0.0, 1.0]), ua.asarray([0.1, 0.1]))) == 0.1)


def test_interp_between_great_values(backend: str) -> None:
    # Their difference is too great, the values between aren't.
    x = ua.interp(ua.asarray([0.5]), ua.asarray([0.0, 1.0]), ua.asarray([-1.5e308, 1.5e308]))
    if backend == "numpy":
        pytest.skip("NumPy's own interpolation overflows")
    assert_same(x, np.array([0.0]), atol=1e292)


@pytest.mark.parametrize("period", [360, -2.5])
def test_interp_of_a_period(backend: str, period: float) -> None:
    check_interp([-180, -170, 5, 10, 355, 365, 720.5], [190, -190, 350, -350], [5, 10, 3, 4], period=period)
    check_interp([0.5, 1], [3], [4], period=period, left=9)


def test_interp_of_complex_values(backend: str) -> None:
    check_interp([0.5, -1, 3], [0, 1], [1j, 2 + 1j])
    check_interp([0.5, -1, 3], [0, 1], [1j, 2 + 1j], left=3j, right=1)


def test_interp_of_two_dtypes(backend: str) -> None:
    x, xp, fp = np.array([0.5], "f4"), np.array([0, 1]), np.array([2, 3], "f2")
    assert ua.interp(ua.asarray(x), ua.asarray(xp), ua.asarray(fp)).dtype == ua.float64
    assert ua.interp(ua.asarray(x), ua.asarray(xp.astype("f2")), ua.asarray(fp)).dtype == ua.float32


def test_gradients_of_interp(backend: str) -> None:
    x, xp, fp = np.array([0.3, 1.7, -1.0, 5.0]), np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    assert_gradients(backend, ua.interp, x, xp, fp)
    # Between equal values each has its share.
    assert_gradients(backend, ua.interp, x[:2], xp, np.array([3.0, 3.0, 2.0]))


def test_what_isnt_finite_spoils_no_gradient_of_interp(backend: str) -> None:
    skip_without_derivatives(backend)
    xp, fp = ua.asarray([0.0, 1.0, 2.0, np.inf]), ua.asarray([1.0, 3.0, np.inf, 3.0])
    x = ua.asarray([0.25, 1.5, 0.75, 5.0, np.nan, np.inf])

    def total(x: ua.Array, fp: ua.Array) -> ua.Array:
        return ua.sum(ua.interp(x, xp, fp)[:3:2])

    by_x, by_fp = ua.grad(total, argnums=(0, 1))(x, fp)
    assert_same(by_x, np.array([2.0, 0, 2, 0, 0, 0]))
    assert_same(by_fp, np.array([1.0, 1, 0, 0]))


# -- trapezoid --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_trapezoid(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(4,), (2, 3), (0, 3), (3, 1), (3, 0)] if dtype == "float64" else [(2, 3)]))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    y = data.draw(seeded(dtype, shape, **TAME))
    expected = in_double(lambda each: np.trapezoid(each, dx=0.5, axis=axis), y)
    atol = rounding(expected.dtype, y.astype("c16")) * 4
    assert_same(ua.trapezoid(ua.asarray(y), dx=0.5, axis=axis), expected, atol=atol, signed_zeros=False)
    for places in ((shape[axis],), shape):
        x = data.draw(seeded("float32", places, **TAME)).astype(y.dtype if y.dtype.kind != "b" else "i8")
        expected = in_double(lambda each, where: np.trapezoid(each, where, axis=axis), y, x)
        actual = ua.trapezoid(ua.asarray(y), ua.asarray(x), axis=axis)
        atol = rounding(expected.dtype, y.astype("c16")) * 400
        assert_same(actual, expected, atol=atol, signed_zeros=False)


def test_trapezoid_of_great_and_infinite_values(backend: str) -> None:
    assert_same(ua.trapezoid(ua.asarray([1.5e308, 1.5e308])), np.asarray(1.5e308))
    assert_same(ua.trapezoid(ua.asarray([1.0, np.inf, 2.0])), np.asarray(np.inf))
    assert_same(ua.trapezoid(ua.asarray([1.0, np.nan, 2.0])), np.asarray(np.nan))
    # NumPy's sum of two overflows in the small integers.
    assert_same(ua.trapezoid(ua.asarray(np.array([100, 100], "int8"))), np.asarray(100.0))


def test_trapezoid_of_places_that_broadcast(backend: str) -> None:
    y, x = np.arange(3.0)[None] ** 2, np.array([[0.0, 1, 2], [0, 2, 4]])
    assert_same(ua.trapezoid(ua.asarray(y), ua.asarray(x)), np.trapezoid(y, x))
    assert_same(ua.trapezoid(ua.asarray(x), ua.asarray(y)), np.trapezoid(x, y))


def test_gradients_of_trapezoid(backend: str) -> None:
    random = np.random.default_rng(0)
    assert_gradients(
        backend, lambda y, x: ua.trapezoid(y, x, axis=0), random.normal(size=(3, 2)), random.normal(size=3)
    )


# -- gradient ---------------------------------------------------------------------------------------------------------


def check_gradient(values: np.ndarray, *spacings: Any, **options: Any) -> None:
    wide = values.astype("c16" if values.dtype.kind == "c" else "f8")
    expected = np.gradient(wide, *(np.asarray(each, float) for each in spacings), **options)
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in spacings]
    actual = ua.gradient(ua.asarray(values), *given, **options)
    assert isinstance(actual, tuple) == isinstance(expected, tuple)
    dtype = values.dtype if values.dtype.name in TOLERANCE else np.dtype("float64")
    for mine, each in zip(*((x,) if not isinstance(x, tuple) else x for x in (actual, expected)), strict=True):
        atol = rounding(dtype, wide) * 8
        assert_same(mine, each.astype(dtype), atol=atol, signed_zeros=False, what=(spacings, options))


SPACINGS: list[tuple[tuple[int, ...], tuple[Any, ...], dict[str, Any]]] = [
    ((4,), (), {}),
    ((4,), (0.5,), {}),
    ((4,), (np.array([0.0, 1.0, 3.0, 3.5]),), {}),
    ((4,), (np.array([5, 3, 2, 0]),), {}),
    ((4,), (np.asarray(2),), {}),
    ((3, 4), (), {}),
    ((3, 4), (2.0,), {}),
    ((3, 4), (2.0, np.array([0.0, 1.0, 3.0, 3.5])), {}),
    ((3, 4), (), {"axis": 0}),
    ((3, 4), (np.array([0.0, 1.0, 3.0]),), {"axis": -2}),
    ((3, 4), (0.5, 2), {"axis": (1, 0), "edge_order": 2}),
    ((3, 4), (), {"axis": ()}),
    ((3, 0), (), {"axis": 0}),
    ((), (), {}),
]


@pytest.mark.parametrize(("shape", "spacings", "options"), SPACINGS, ids=str)
def test_gradient(backend: str, shape: tuple[int, ...], spacings: tuple[Any, ...], options: dict[str, Any]) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, shape)
    check_gradient(values, *spacings, **options)
    if len(shape) == 1:
        check_gradient(values, *spacings, **options, edge_order=2)


def test_gradient_of_two_values(backend: str) -> None:
    check_gradient(np.array([1.0, 3.0]))
    check_gradient(np.array([1.0, 3.0]), np.array([1.0, 5.0]))


@pytest.mark.parametrize("dtype", ALL)
def test_gradient_of_every_dtype(backend: str, dtype: str) -> None:
    values = np.array([[1, 2, 0, 7], [3, 1, 1, 0], [0, 5, 2, 2]]).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    check_gradient(values, 2, np.array([0.0, 1.0, 3.0, 3.5], "f4"), edge_order=2)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_out_of_gradient(backend: str, edge_order: int) -> None:
    values, places = np.array([1.0, 4.0, 2.0, 8.0]), np.array([0.0, 1.0, 3.0, 4.0])
    expected = np.gradient(values, places, edge_order=edge_order)
    for overlap in range(3):
        x, y, out = ua.asarray(values, copy=True), ua.asarray(places, copy=True), ua.zeros(4)
        target = (out, x, y)[overlap]
        assert ua.gradient(x, y, edge_order=edge_order, out=target) is target
        assert_same(target, expected, rtol=1e-12)
    step = ua.asarray([2.0, 0.0, 0.0, 0.0])
    ua.gradient(ua.asarray(values), step[0, ...], edge_order=edge_order, out=step)
    assert_same(step, np.gradient(values, 2.0, edge_order=edge_order))


def test_targets_of_gradient(backend: str) -> None:
    values = np.arange(6.0).reshape(2, 3) ** 2
    out = ua.zeros((2, 3)), ua.zeros((2, 3))
    assert ua.gradient(ua.asarray(values), out=out) is out
    for target, expected in zip(out, np.gradient(values), strict=True):
        assert_same(target, expected)
    one = ua.zeros((2, 3))
    assert_raises(TypeError, ua.gradient, ua.asarray(values), out=one)
    assert not as_numpy(one).any()


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_of_gradient(backend: str, edge_order: int) -> None:
    random = np.random.default_rng(0)
    values, places = random.uniform(-1, 1, (2, 4)), np.array([0.0, 1.0, 1.5, 3.0])
    function = lambda f, x: ua.gradient(f, x, axis=1, edge_order=edge_order)  # noqa: E731
    assert_gradients(backend, function, values, places)
    assert_gradients(backend, lambda f: ua.gradient(f, 0.5, axis=1, edge_order=edge_order), values)


V, M = np.arange(3.0), np.ones((2, 3))
ERRORS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], type[BaseException]]] = {
    "no points": ("interp", (V, V[:0], V[:0]), {}, ua.errors.ShapeError),
    "more places than values": ("interp", (V, V, V[:2]), {}, ua.errors.ShapeError),
    "points of two axes": ("interp", (V, M, M), {}, ua.errors.ShapeError),
    "complex places": ("interp", (V, V + 1j, V), {}, ua.errors.DtypeError),
    "complex x": ("interp", (V + 1j, V, V), {}, ua.errors.DtypeError),
    "a complex value on the left": ("interp", (V, V, V), {"left": 1j}, ua.errors.DtypeError),
    "no period": ("interp", (V, V, V), {"period": 0}, ValueError),
    "a number to integrate": ("trapezoid", (np.asarray(1.0),), {}, ua.errors.AxisError),
    "an axis out of bounds": ("trapezoid", (V,), {"axis": 1}, ua.errors.AxisError),
    "too few places": ("trapezoid", (V, V[:2]), {}, ua.errors.ShapeError),
    "places of another rank": ("trapezoid", (V, M), {}, ua.errors.ShapeError),
    "places that don't broadcast": ("trapezoid", (M, np.ones((3, 3))), {}, ua.errors.ShapeError),
    "one value": ("gradient", (V[:1],), {}, ua.errors.ShapeError),
    "two values for the second order": ("gradient", (V[:2],), {"edge_order": 2}, ua.errors.ShapeError),
    "one value along an axis": ("gradient", (M[:1],), {}, ua.errors.ShapeError),
    "no such order": ("gradient", (V,), {"edge_order": 3}, ValueError),
    "an axis twice": ("gradient", (M,), {"axis": (0, 0)}, ua.errors.AxisError),
    "two spacings for one axis": ("gradient", (V, 1.0, 2.0), {}, TypeError),
    "places for all axes": ("gradient", (M, V), {}, TypeError),
    "places that are too few": ("gradient", (V, V[:2]), {}, ua.errors.ShapeError),
    "places of two axes": ("gradient", (V, M), {}, ua.errors.ShapeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values, options, error = ERRORS[case]
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in values]
    assert_raises(error, getattr(ua, name), *given, **options)


def test_gradient_at_even_places_passes_over_the_value_itself(backend: str) -> None:
    values = np.array([[0.0, 1.0, np.nan, 9.0, np.inf, 25.0, 36.0], np.arange(7.0)])
    even, odd = np.arange(7.0) * 0.5, np.array([0, 1, 2, 3, 4, 5, 7.0])
    for places in (even, even[::-1].copy(), odd):
        for edge_order in (1, 2):
            with np.errstate(invalid="ignore"):
                expected = np.gradient(values, places, axis=1, edge_order=edge_order)
                found = ua.gradient(ua.asarray(values), ua.asarray(places), axis=1, edge_order=edge_order)
                compiled = ua.compile(lambda x, p, e=edge_order: ua.gradient(x, p, axis=1, edge_order=e))
                again = compiled(ua.asarray(values), ua.asarray(places))
            for each in (found, again):
                np.testing.assert_allclose(as_numpy(each), expected, rtol=1e-12, atol=1e-12)
