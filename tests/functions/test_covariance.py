"""Covariances and correlations against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import needs

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import ALL, COMPLEX, TOLERANCE, assert_raises, assert_same, in_layout, layouts, reference, seeded, twice

OPTIONS: list[dict[str, Any]] = [
    {},
    {"rowvar": False},
    {"correction": 0},
    {"fweights": True},
    {"aweights": True},
    {"fweights": True, "aweights": True, "rowvar": False},
    {"aweights": True, "correction": 0},
]


def result_dtype(values: np.ndarray) -> Any:
    return "f8" if values.dtype.kind in "biu" else values.dtype


WEIGHTS = {"fweights": np.array([2, 1, 0, 3]), "aweights": np.array([0.5, 2.0, 1.0, 0.25])}


def assert_covariances(values: np.ndarray, layout: str = "plain", further: Any = None, **options: Any) -> None:
    wide = np.complex128 if values.dtype.name in COMPLEX else np.float64
    numpys = {("ddof" if key == "correction" else key): value for key, value in options.items()}
    y = None if further is None else further.astype(wide)
    expected = reference(np.cov, values.astype(wide), y, **numpys).astype(result_dtype(values))
    ours = {key: ua.asarray(value) if isinstance(value, np.ndarray) else value for key, value in options.items()}
    actual = ua.cov(in_layout(values, layout), None if further is None else ua.asarray(further), **ours)
    scale = float(np.max(np.abs(values.astype(wide)))) ** 2
    assert_same(actual, expected, atol=4 * scale * TOLERANCE[expected.dtype.name], signed_zeros=False)


@pytest.mark.parametrize("dtype", ALL)
@twice
@given(data=st.data())
def test_cov(backend: str, dtype: str, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, (3, 4), special=False, low=-8, high=8))
    assert_covariances(values, data.draw(layouts(dtype)))


@pytest.mark.parametrize("further", [False, True], ids=["x", "x and y"])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ", ".join(options) or "plain")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_cov_with_options(backend: str, dtype: str, options: dict[str, Any], further: bool) -> None:
    values = np.random.default_rng(0).normal(size=(4, 8)).view(dtype)[:, :4]
    given_weights = {name: WEIGHTS[name] for name in WEIGHTS if name in options}
    assert_covariances(values, further=values[::-1] if further else None, **{**options, **given_weights})


@pytest.mark.parametrize("shape", [(4,), (1, 4), (4, 1)])
@pytest.mark.parametrize("rowvar", [False, True])
def test_cov_of_few(backend: str, shape: tuple[int, ...], rowvar: bool) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    assert_covariances(values, rowvar=rowvar, correction=0)


@pytest.mark.parametrize("dtype", ALL)
@twice
@given(data=st.data())
def test_corrcoef(backend: str, dtype: str, data: st.DataObject) -> None:
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    values = random.integers(0, 2, (3, 6)) if dtype == "bool" else 8 * random.random((3, 6))
    values = (values + 1j * random.random((3, 6)) if dtype in COMPLEX else values).astype(
        ua.bfloat16 if dtype == "bfloat16" else dtype
    )
    rowvar = data.draw(st.booleans())
    wide = np.complex128 if dtype in COMPLEX else np.float64
    expected = reference(np.corrcoef, values.astype(wide), rowvar=rowvar).astype(result_dtype(values))
    atol = 8 * TOLERANCE[expected.dtype.name]
    actual = ua.corrcoef(in_layout(values, data.draw(layouts(dtype))), rowvar=rowvar)
    assert_same(actual, expected, atol=atol, signed_zeros=False, what=values)


def test_one_variable_has_a_variance(backend: str) -> None:
    values = np.array([1.0, 4.0, 4.0])
    assert_same(ua.cov(ua.asarray(values)), np.cov(values))
    assert_same(ua.corrcoef(ua.asarray(values)), np.asarray(1.0))
    assert_same(ua.cov(ua.asarray(values), ua.asarray(values[::-1].copy())), np.cov(values, values[::-1]))
    assert ua.cov(ua.zeros((0, 4))).shape == (0, 0)
    assert_same(ua.cov(ua.asarray(values), correction=3), np.asarray(np.inf))


def test_correlations_of_the_greatest_and_least_numbers(backend: str) -> None:
    values = np.array([[1.0, 2.0, 4.0], [3.0, -1.0, 2.0]])
    for scale in (1e300, 1e-290):
        assert_same(ua.corrcoef(ua.asarray(values * scale)), np.corrcoef(values), atol=1e-14)
    halves = (values * 16000).astype("float16")
    assert_same(ua.corrcoef(ua.asarray(halves)), np.corrcoef(values).astype("float16"))
    constant = ua.corrcoef(ua.asarray([[1.0, 2.0, 4.0], [5.0, 5.0, 5.0]]))
    assert_same(constant, np.array([[1.0, np.nan], [np.nan, np.nan]]), rtol=1e-14)


@needs("values", why="weights that are checked")
def test_errors(backend: str) -> None:
    x, errors = ua.asarray([[1.0, 2.0, 3.0], [5.0, 4.0, 4.0]]), ua.errors
    for name in ("cov", "corrcoef"):
        assert_raises(errors.ShapeError, getattr(ua, name), ua.ones((2, 2, 2)))
        assert_raises(errors.ShapeError, getattr(ua, name), x, ua.ones(2))
    for options, error in [
        ({"fweights": ua.ones(3)}, errors.DtypeError),
        ({"fweights": ua.asarray([1, 2])}, errors.ShapeError),
        ({"fweights": ua.asarray([1, -2, 1])}, ValueError),
        ({"aweights": ua.asarray([1.0, -2.0, 1.0])}, ValueError),
        ({"aweights": ua.asarray([1j, 2j, 1j])}, errors.DtypeError),
        ({"aweights": ua.ones((1, 3))}, errors.ShapeError),
    ]:
        assert_raises(error, ua.cov, x, **options)
        assert_raises(error, ua.cov, x, **options, out=ua.ones((2, 2)))


@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_gradients(backend: str, name: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    values = np.array([[1.0, 2.0, 4.0], [3.0, -1.0, 2.0]])
    actual = gradient(backend, lambda x: getattr(ua, name)(x)[0, 1], values)
    step = 1e-6
    for place in np.ndindex(values.shape):
        moved = np.zeros_like(values)
        moved[place] = step
        rise = (getattr(np, name)(values + moved) - getattr(np, name)(values - moved))[0, 1]
        np.testing.assert_allclose(actual[place], rise / (2 * step), atol=1e-8)


def test_inside_a_trace(backend: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")
    values, weights = np.array([[1.0, 2.0, 4.0], [3.0, -1.0, 2.0]]), np.array([1, 2, 3])
    assert_same(traced(backend, ua.corrcoef, values), np.corrcoef(values))
    actual = traced(backend, lambda x, w: ua.cov(x, fweights=w), values, weights)
    assert_same(actual, np.cov(values, fweights=weights))
