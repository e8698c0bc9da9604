"""Softmax, its logarithm and the logarithm of a sum of exponentials against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import unifyarr as ua
from unifyarr._core.engines.registry import load

from ..gradients import ENGINES, differences, gradient
from ..kernels import leave_shortcuts
from ..natives import skip_unless
from ..oracle import (
    FLOATS,
    HALVES,
    TOLERANCE,
    as_numpy,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    seeded,
    shapes,
)

# All other integers become float64 likewise.
REAL = ["bool", "int8", "uint64", *HALVES, *FLOATS]
ALONG = ["softmax", "log_softmax"]


def result_dtype(values: np.ndarray) -> Any:
    return values.dtype if values.dtype.kind not in "biu" else np.dtype("f8")


def expected_of(name: str, values: np.ndarray, **options: Any) -> np.ndarray:
    """Return SciPy's results in float64."""
    with np.errstate(all="ignore"):
        result = np.asarray(getattr(special, name)(values.astype("f8"), **options))
    return result.astype(result_dtype(values))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", ALONG)
@few
@given(data=st.data())
def test_along_an_axis(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype, least=1))
    values = data.draw(seeded(dtype, shape, special=False))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = in_layout(values, data.draw(layouts(dtype)))
    expected = expected_of(name, values, axis=axis) if values.size else np.zeros(shape, result_dtype(values))
    atol = TOLERANCE[expected.dtype.name] if name == "log_softmax" else 0.0
    assert_same(getattr(ua.nn, name)(x, axis=axis), expected, atol=atol, signed_zeros=False, what=(values, axis))


@pytest.mark.parametrize("dtype", REAL)
@few
@given(data=st.data())
def test_logsumexp(backend: str, dtype: str, data: st.DataObject) -> None:
    shape = data.draw(shapes(dtype))
    values = data.draw(seeded(dtype, shape))
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape)), tuple(range(len(shape))), ()]))
    options = {"axis": axis, "keepdims": data.draw(st.booleans())}
    x = in_layout(values, data.draw(layouts(dtype)))
    # SciPy has no sum over no axis, and none of nothing.
    if axis == ():
        expected = values.astype(result_dtype(values))
    elif values.size:
        # SciPy keeps an axis that a 0-d array never had.
        expected = expected_of("logsumexp", values, **options).reshape(np.sum(values, **options).shape)  # type: ignore[call-overload]
    else:
        expected = np.log(np.sum(np.exp(values.astype("f8")), **options)).astype(result_dtype(values))  # type: ignore[call-overload]
    atol = TOLERANCE[expected.dtype.name]
    assert_same(ua.nn.logsumexp(x, **options), expected, atol=atol, signed_zeros=False, what=(values, options))


def test_no_number_is_too_great(backend: str) -> None:
    x = ua.asarray([[1e300, 1e300, -1e300], [-1e300, -1e300, -1e300], [-1e4, 0.0, 1e4]])
    third, half = np.log(3), np.log(2)
    assert_same(ua.nn.softmax(x), np.array([[0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]]))
    assert_same(ua.nn.log_softmax(x), np.array([[-half, -half, -2e300], [-third] * 3, [-2e4, -1e4, 0]]), rtol=1e-15)
    assert_same(ua.nn.logsumexp(x, axis=1), np.array([1e300, -1e300, 1e4]))


def test_infinities(backend: str) -> None:
    inf = np.inf
    x = ua.asarray([[-inf, 0.0, -inf], [-inf, -inf, -inf], [inf, 0.0, -inf], [inf, inf, 0.0], [inf, np.nan, 0.0]])
    assert_same(ua.nn.logsumexp(x, axis=1), np.array([0.0, -inf, inf, inf, np.nan]))
    assert_same(ua.nn.softmax(x)[0], np.array([0.0, 1.0, 0.0]))
    assert_same(ua.nn.log_softmax(x)[0], np.array([-inf, 0.0, -inf]))
    assert_same(ua.nn.logsumexp(ua.asarray([-inf, -inf]), keepdims=True), np.array([-inf]))
    # SciPy's convention: there's no saying which part of the whole an infinite one is.
    assert np.isnan(as_numpy(ua.nn.softmax(x))[2:4, 0]).all()


def test_no_warning_comes_of_minus_infinity() -> None:
    with ua.use_backend("numpy"), np.errstate(all="raise", under="ignore"):
        assert float(ua.nn.logsumexp(ua.asarray([-np.inf, -np.inf]))) == -np.inf
        ua.nn.softmax(ua.asarray([-np.inf, 800.0, -800.0]))


@pytest.mark.chunks(20_000)
def test_sums_in_half_precision_dont_overflow(backend: str) -> None:
    x = ua.zeros(70_000, dtype="float16")
    assert_same(ua.nn.logsumexp(x), np.asarray(np.log(70_000), "f2"))
    assert_same(ua.nn.log_softmax(x)[:1], np.array([-np.log(70_000)], "f2"))


@pytest.mark.parametrize("name", [*ALONG, "logsumexp"])
def test_without_the_engines_own(backend: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_shortcuts(monkeypatch)
    monkeypatch.delitem(load(backend).kernels, name, raising=False)
    values = np.array([[0.5, -2.0, 1e3, -1e3], [0.0, 1.0, 2.0, -np.inf]])
    function = getattr(ua.nn, name)
    x = ua.asarray(values, copy=True)
    assert_same(function(x, axis=-1), expected_of(name, values, axis=-1), atol=1e-14)
    assert_same(
        function(x.astype("float16"), axis=0).astype("f8"), expected_of(name, values, axis=0), atol=5e-2, rtol=5e-3
    )
    if name in ALONG:
        function(x, out=x[::-1])
        assert_same(x[::-1], expected_of(name, values, axis=-1), atol=1e-14)


@pytest.mark.parametrize("name", [*ALONG, "logsumexp"])
def test_gradients(backend: str, name: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    factors = np.array([[1.0, -2.0, 0.5], [0.3, 0.0, 2.0]])

    def weighed(x: ua.Array) -> ua.Array:
        result = getattr(ua.nn, name)(x, axis=-1)
        return result * ua.asarray(factors if name in ALONG else factors[:, 0], backend=x.backend)

    values = np.array([[0.3, 1.7, 0.3], [-2.0, 0.0, 2.5]])
    np.testing.assert_allclose(gradient(backend, weighed, values), differences(weighed, values), rtol=1e-6, atol=1e-9)
    far = np.array([[-np.inf, 1e300, -1e300], [-np.inf, 0.0, 1e4]])
    assert np.isfinite(gradient(backend, lambda x: getattr(ua.nn, name)(x, axis=-1)[..., -1], far)).all()


def test_the_gradient_of_a_sum_of_no_exponentials_is_finite(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    assert np.isfinite(gradient(backend, ua.nn.logsumexp, np.array([-np.inf, -np.inf]))).all()


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "silu", "gelu", "softsign", "layer_norm", "l2_normalize"])
def test_gradients_go_through_out(name: str) -> None:
    torch = pytest.importorskip("torch")
    values = np.linspace(-2, 2, 6).reshape(2, 3)
    function = getattr(ua.nn, name)

    def into(x: ua.Array) -> ua.Array:
        return ua.square(function(x, out=ua.asarray(torch.zeros(2, 3, dtype=torch.float64))))

    expected = gradient("torch", lambda x: ua.square(function(x)), values)
    np.testing.assert_allclose(gradient("torch", into, values), expected, rtol=1e-12, atol=1e-15)


ERRORS: dict[str, tuple[str, Any, dict[str, Any], type[BaseException]]] = {
    "an axis out of bounds": ("softmax", np.zeros(3), {"axis": 1}, ua.errors.AxisError),
    "an axis of none": ("log_softmax", np.zeros(()), {}, ua.errors.AxisError),
    "an axis twice": ("logsumexp", np.zeros((2, 2)), {"axis": (0, -2)}, ua.errors.AxisError),
    "complex numbers": ("softmax", np.zeros(3, complex), {}, ua.errors.DtypeError),
    "complex numbers, for logarithms": ("log_softmax", np.zeros(3, complex), {}, ua.errors.DtypeError),
    "complex numbers, summed": ("logsumexp", np.zeros(3, complex), {}, ua.errors.DtypeError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, values, options, error = ERRORS[case]
    assert_raises(error, getattr(ua.nn, name), ua.asarray(values), **options, out=ua.ones(values.shape))


@pytest.mark.parametrize("name", [*ALONG, "logsumexp"])
def test_derivatives_dont_go_through_the_maximum(backend: str, name: str) -> None:
    def gradient_of(x: ua.Array) -> ua.Array:
        return ua.grad(lambda y: ua.sum(ua.square(getattr(ua.nn, name)(y, axis=1))))(x)

    graph = ua.graph.trace(gradient_of, ua.asarray([[1.0, 2.0, 2.0], [0.5, -1.0, 3.0]]))
    # A maximum has shares of equal elements.
    assert "equal" not in [each.op.name for each in graph.toposort()]
