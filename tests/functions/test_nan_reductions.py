"""Reductions that pass over NaN against NumPy's; ours don't warn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..gradients import TRACING, gradient, traced
from ..natives import skip_unless
from ..oracle import (
    ALL,
    COMPLEX,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
    twice,
    words,
)

AXES: dict[int, list[Any]] = {0: [None, ()], 1: [None, 0], 2: [None, 0, (0, 1), -1], 3: [1, (0, 2)]}
REDUCTIONS = words("nansum nanprod nanmax nanmin nanmean nanvar nanstd")
INDICES = ["nanargmax", "nanargmin"]


def holed(draw: Any, dtype: str, shape: tuple[int, ...], **options: Any) -> np.ndarray:
    """Draw an array with NaN among its elements, if its dtype has one."""
    values = np.asarray(draw(seeded(dtype, shape, special=False, **options)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return (
        values
        if values.dtype.kind in "biu"
        else np.where(random.random(shape) < 0.3, np.nan, values).astype(values.dtype)
    )


def check(name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(), (5,), (2, 3), (2, 1, 4)] if dtype == "float64" else [(2, 3)]))
    values = holed(data.draw, dtype, shape, low=-3, high=3)
    axis, keepdims = data.draw(st.sampled_from(AXES[len(shape)])), data.draw(st.booleans())
    options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    x = in_layout(values, data.draw(layouts(dtype)))
    wide = values.astype("float32") if dtype in HALVES else values
    if name in ("nanmean", "nanvar", "nanstd") and values.dtype.kind in "biu":
        wide = values.astype("f8")
    correction = data.draw(st.sampled_from([0, 1])) if name in ("nanvar", "nanstd") else 0
    expected = reference(getattr(np, name), wide, **options, **({"ddof": correction} if correction else {}))
    if dtype in HALVES:
        expected = expected.astype(values.dtype)
    if name in ("nanmax", "nanmin") and dtype in COMPLEX:
        expected = np.where(np.isnan(expected), expected.dtype.type(np.nan), expected)
    atol = 100 * TOLERANCE.get(expected.dtype.name, 0) if name not in ("nanmax", "nanmin") else 0.0
    if name == "nanstd":
        atol = atol**0.5
    actual = getattr(ua, name)(x, **options, **({"correction": correction} if correction else {}))
    assert_same(actual, expected, atol=atol, signed_zeros=False, what=(values, options))


@pytest.mark.parametrize("name", REDUCTIONS)
@few
@given(data=st.data())
def test_reductions(backend: str, name: str, data: st.DataObject) -> None:
    check(name, "float64", data)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype != "float64"])
@pytest.mark.parametrize("name", REDUCTIONS)
@twice
@given(data=st.data())
def test_reductions_of_every_dtype(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    check(name, dtype, data)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", INDICES)
@twice
@given(data=st.data())
def test_indices(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(5,), (2, 3), (2, 1, 4)] if dtype == "float64" else [(2, 3)]))
    values = holed(data.draw, dtype, shape)
    axis, keepdims = data.draw(st.sampled_from([None, 0, -1])), data.draw(st.booleans())
    x = in_layout(values, data.draw(layouts(dtype)))
    try:
        expected = getattr(np, name)(values.astype("f8") if dtype in HALVES else values, axis=axis, keepdims=keepdims)
    except ValueError:
        assert_raises(ValueError, getattr(ua, name), x, axis=axis, keepdims=keepdims)
        return
    assert_same(getattr(ua, name)(x, axis=axis, keepdims=keepdims), expected)


def test_an_infinity_is_a_number(backend: str) -> None:
    x = ua.asarray([np.nan, -np.inf, np.nan])
    assert int(ua.nanargmax(x)) == 1
    assert int(ua.nanargmin(-x)) == 1
    assert_same(ua.nanmax(x), np.asarray(-np.inf))
    assert_same(ua.nanmin(-x), np.asarray(np.inf))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "complex128"])
def test_nothing_but_nan_warns_nobody(backend: str, name: str, dtype: str) -> None:
    x = ua.full((2, 2), ua.nan, dtype=dtype)
    with np.errstate(all="warn"):
        result = getattr(ua, name)(x, axis=0)
    expected = {"nansum": 0.0, "nanprod": 1.0}.get(name, np.nan)
    real = dtype == "complex128" and name in ("nanvar", "nanstd")
    assert result.dtype == ("float64" if real else dtype)
    np.testing.assert_array_equal(np.real(result.__array__()), np.full(2, expected))


def test_halves_add_up_beyond_their_digits(backend: str) -> None:
    x = ua.concat([ua.full(5000, 2.0, dtype="float16"), ua.asarray([ua.nan], dtype="float16")])
    assert_same(ua.nanmean(x), np.asarray(2, "float16"))
    assert_same(ua.nanvar(x), np.asarray(0, "float16"))


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_the_dtype_to_compute_in(backend: str, name: str, dtype: str) -> None:
    for values in (np.arange(6), np.asarray([1.0, np.nan, 4.0], "float32")):
        found = getattr(ua, name)(ua.asarray(values, copy=True), dtype=dtype)
        assert_same(found, getattr(np, name)(values.astype(dtype)), rtol=1e-6)
    x = ua.asarray([1.0 + 1j, ua.nan])
    with pytest.raises(ua.errors.DtypeError, match="is complex, not float64"):
        getattr(ua, name)(x, dtype="float64")
    with pytest.raises(ua.errors.DtypeError, match="is floating-point, not int64"):
        getattr(ua, name)(ua.ones(3), dtype="int64")


def test_ddof_is_a_correction(backend: str) -> None:
    x = ua.asarray([1.0, ua.nan, 4.0, 5.0])
    assert_same(ua.nanvar(x, ddof=1), ua.nanvar(x, correction=1))
    assert_same(ua.nanstd(x, correction=2, ddof=1), ua.nanstd(x, correction=1))


@pytest.mark.parametrize("name", [*REDUCTIONS[2:4], *INDICES])
def test_of_nothing(backend: str, name: str) -> None:
    assert_raises(ua.errors.ShapeError, getattr(ua, name), ua.zeros((0, 3)), axis=0)
    assert getattr(ua, name)(ua.zeros((0, 3)), axis=1).shape == (0,)


GRADIENTS = {
    "nansum": [1, 0, 1, 1],
    "nanprod": [12, 0, 6, 8],
    "nanmax": [0, 0, 1, 0],
    "nanmin": [1, 0, 0, 0],
    "nanmean": [1 / 3, 0, 1 / 3, 1 / 3],
    "nanvar": [-2 / 3, 0, 2 / 3, 0],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_no_gradient_is_nan(backend: str, name: str) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    values = np.array([2.0, np.nan, 4.0, 3.0])
    np.testing.assert_allclose(gradient(backend, getattr(ua, name), values), GRADIENTS[name], atol=1e-15)
    alone = gradient(
        backend, lambda x: ua.sum(getattr(ua, name)(x, axis=0)[1:]), np.array([[np.nan, 1.0], [np.nan, 1.0]])
    )
    assert np.isfinite(alone).all()


@pytest.mark.parametrize("name", [*REDUCTIONS, *INDICES])
def test_inside_a_trace(backend: str, name: str) -> None:
    skip_unless(backend, *TRACING, why="an engine that traces")
    values = np.array([[2.0, np.nan, 4.0], [np.nan] * 3])
    actual = traced(backend, lambda x: getattr(ua, name)(x, axis=1), values)
    if name in INDICES:
        # That there's nothing but NaN isn't known in time for an error.
        assert_same(actual, np.array([2 if name == "nanargmax" else 0, -1]))
    else:
        assert_same(actual, reference(getattr(np, name), values, axis=1))
