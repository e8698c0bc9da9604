"""Activations against SciPy, torch's own functions, and the same formulas in more digits."""

from __future__ import annotations

from collections.abc import Callable
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
from ..natives import skip_unless, values_of
from ..oracle import (
    FLOATS,
    HALVES,
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
# A long double has eleven bits more where the processor has one, and the tests hold without them too.
Wide = np.longdouble
Formula = Callable[[np.ndarray], np.ndarray]


def gelu(x: np.ndarray) -> np.ndarray:
    bounded = np.maximum(x, -60).astype("f8")
    return bounded * special.erfc(-bounded / np.sqrt(2.0)) / 2


def gelu_by_tanh(x: np.ndarray) -> np.ndarray:
    near = np.clip(x, -30, 30)
    bounded = np.maximum(x, -30)
    return bounded / (1 + np.exp(-2 * np.sqrt(Wide(2) / np.pi) * (near + Wide(0.044715) * near**3)))


def softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def over_one_and(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.sign(x), x / (1 + np.abs(np.where(np.isinf(x), 0, x))))


SELU = (1.6732632423543772, 1.0507009873554805)
FORMULAS: dict[str, tuple[dict[str, Any], Formula]] = {
    "elu": ({}, lambda x: np.where(x > 0, x, np.expm1(x))),
    "elu, steep": ({"alpha": 2.5}, lambda x: np.where(x > 0, x, 2.5 * np.expm1(x))),
    "gelu": ({}, gelu),
    "gelu, by tanh": ({"approximate": "tanh"}, gelu_by_tanh),
    "hardsigmoid": ({}, lambda x: (np.clip(x, -3, 3) + 3) / 6),
    "hardtanh": ({}, lambda x: np.clip(x, -1, 1)),
    "hardtanh, wide": ({"min_val": -2.0, "max_val": 3.0}, lambda x: np.clip(x, -2.0, 3.0)),
    "log_sigmoid": ({}, lambda x: -softplus(-x)),
    "relu6": ({}, lambda x: np.clip(x, 0, 6)),
    "hardswish": ({}, lambda x: np.maximum(x, -3) * ((np.clip(x, -3, 3) + 3) / 6)),
    "leaky_relu": ({}, lambda x: np.where(x > 0, x, x * 0.01)),
    "leaky_relu, steep": ({"negative_slope": 2.0}, lambda x: np.where(x > 0, x, x * 2)),
    "mish": ({}, lambda x: np.maximum(x, -12000) * np.tanh(softplus(np.maximum(x, -12000)))),
    "relu": ({}, lambda x: np.maximum(x, 0)),
    "selu": ({}, lambda x: SELU[1] * np.where(x > 0, x, SELU[0] * np.expm1(x))),
    "sigmoid": ({}, lambda x: 1 / (1 + np.exp(-x))),
    "silu": ({}, lambda x: np.maximum(x, -11000) / (1 + np.exp(-np.maximum(x, -11000)))),
    "softplus": ({}, softplus),
    "softplus, sharp": ({"beta": 4.0}, lambda x: softplus(4 * x) / 4),
    "softsign": ({}, over_one_and),
}
# Integers stay integers.
WHOLE = ("relu", "relu6", "hardtanh")
EXTREMES = np.array([-np.inf, -1e300, -1e4, -800.0, -40.0, -1e-300, 0.0, 1e-300, 40.0, 1e4, 1e300, np.inf, np.nan])


def of(name: str) -> Callable[..., ua.Array]:
    function, options = getattr(ua.nn, name.split(",")[0]), FORMULAS[name][0]
    return lambda x, **more: function(x, **options, **more)  # type: ignore[no-any-return]


def expected_of(name: str, values: np.ndarray) -> np.ndarray:
    if name == "hardtanh" and values.dtype.kind == "b":
        return values.astype("i8")
    keeps = name in WHOLE or values.dtype.kind not in "biu"
    with np.errstate(all="ignore"):
        wide = np.asarray(FORMULAS[name][1](values.astype(Wide)))
        return wide.astype(values.dtype if keeps else "f8")


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("name", FORMULAS)
@few
@given(data=st.data())
def test_activations(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    # One shape is enough for most dtypes: each is compiled for.
    values = data.draw(seeded(dtype, data.draw(shapes(dtype) if dtype == "float64" else st.just((2, 3)))))
    # The longest integers have more digits than float64.
    rounded = values.astype("f8") if values.dtype.kind in "iu" and name not in WHOLE else values
    actual = of(name)(in_layout(values, data.draw(layouts(dtype))))
    # Values so small that a factor is subnormal may be lost, as engines flush these.
    lost = 128 * float(ua.finfo(dtype).smallest_normal) if dtype in ("bfloat16", *FLOATS) else 0.0
    assert_same(actual, expected_of(name, rounded), signed_zeros=False, atol=lost, what=values)


@pytest.mark.parametrize("name", FORMULAS)
def test_extremes(backend: str, name: str) -> None:
    expected = expected_of(name, EXTREMES)
    assert_same(of(name)(ua.asarray(EXTREMES)), expected, rtol=1e-13, signed_zeros=False)
    assert np.isfinite(expected[1:-2]).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_half_precision_is_rounded_once(backend: str, name: str) -> None:
    values = np.linspace(-8, 8, 257).astype("f2")
    assert_same(of(name)(ua.asarray(values)), expected_of(name, values), rtol=2.0**-10, signed_zeros=False)


TORCH = {"log_sigmoid": ("logsigmoid", {}), "hardtanh, wide": ("hardtanh", {"min_val": -2.0, "max_val": 3.0})}
TORCH |= {"gelu, by tanh": ("gelu", {"approximate": "tanh"}), "elu, steep": ("elu", {"alpha": 2.5})}


@pytest.mark.parametrize("name", [name for name in FORMULAS if "," not in name or name in TORCH])
def test_torchs_own(backend: str, name: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    values = np.linspace(-9, 9, 181)
    theirs, options = TORCH.get(name, (name, {}))
    expected = values_of(getattr(functional, theirs)(torch.tensor(values), **options))
    # torch takes softplus for linear from 20 on, and adds one to values close to -1.
    assert_same(of(name)(ua.asarray(values)), expected, atol=1e-14, signed_zeros=False)


KINKS = {"relu": [(0.0, 0.0)], "leaky_relu": [(0.0, 0.01)], "elu": [(0.0, 1.0)], "elu, steep": [(0.0, 2.5)]}
KINKS |= {"selu": [(0.0, SELU[0] * SELU[1])], "hardswish": [(-3.0, 0.0), (3.0, 1.0)], "softsign": [(0.0, 1.0)]}


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients(backend: str, name: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    values = np.array([-6.0, -2.5, -0.7, 0.4, 1.3, 2.7, 6.5])
    np.testing.assert_allclose(gradient(backend, of(name), values), differences(of(name), values), rtol=1e-6, atol=1e-9)
    for kink, slope in KINKS.get(name, []):
        np.testing.assert_allclose(gradient(backend, of(name), np.array([kink])), [slope], rtol=1e-12)
    far = np.array([-1e300, -1e4, -800.0, 800.0, 1e4, 1e300])
    assert np.isfinite(gradient(backend, of(name), far)).all()


@pytest.mark.parametrize("name", ["relu", "sigmoid"])
def test_a_backend_needs_no_kernel(backend: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_shortcuts(monkeypatch)
    monkeypatch.delitem(load(backend).kernels, name, raising=False)
    for dtype in ("float64", "float16", "int64", "bool"):
        values = EXTREMES.astype(dtype) if dtype[0] == "f" else np.array([0, 1, 1]).astype(dtype)
        x = ua.asarray(values, copy=True)
        assert_same(of(name)(x), expected_of(name, values), signed_zeros=False)
        if dtype[0] == "f":
            of(name)(x, out=x)
            assert_same(x, expected_of(name, values), signed_zeros=False)


def test_relu_keeps_integers(backend: str) -> None:
    assert_same(ua.nn.relu(ua.asarray([-2, 3], dtype="int8")), np.array([0, 3], "int8"))
    assert_same(ua.nn.relu(ua.asarray([True, False])), np.array([True, False]))


@pytest.mark.parametrize("name", FORMULAS)
def test_complex_numbers_are_refused(backend: str, name: str) -> None:
    x = ua.asarray([1j, 2.0])
    assert_raises(ua.errors.DtypeError, of(name), x, out=ua.zeros(2))


def test_an_unknown_approximation(backend: str) -> None:
    assert_raises(ValueError, ua.nn.gelu, ua.asarray([1.0]), approximate="erf", out=ua.zeros(1))


def test_sigmoid_takes_no_array_but_out() -> None:
    with ua.use_backend("numpy"):
        x = ua.asarray(np.linspace(-800, 800, 33))
        out = ua.empty_like(x)
        # A trap set for NumPy's overflow isn't the caller's to meet.
        with np.errstate(all="raise", under="ignore"):
            ua.nn.sigmoid(x, out=out)
    np.testing.assert_allclose(as_numpy(out), special.expit(np.linspace(-800, 800, 33)), rtol=1e-13)


def test_many_elements_have_the_gelu_and_the_slope_of_few(backend: str) -> None:
    # Torch goes through them in parts.
    x = np.linspace(-50, 50, 3 * 11 * 1501).reshape(11, 3 * 1501)
    slope = ua.grad(lambda x: ua.sum(ua.nn.gelu(x)))
    many = ua.asarray(x)
    for function in (ua.nn.gelu, slope):
        found = as_numpy(function(many))
        for row in (0, 5, 10):
            assert_same(ua.asarray(found[row]), as_numpy(function(ua.asarray(x[row]))), rtol=1e-14)
    assert_same(ua.nn.gelu(many), gelu(x), rtol=1e-10, atol=1e-300)
    wanted = special.erfc(-x / np.sqrt(2.0)) / 2 + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    assert_same(slope(many), np.where(x < -38, 0, wanted), rtol=1e-10, atol=1e-300)
