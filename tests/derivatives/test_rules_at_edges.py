"""Rules at kinks, ties and infinities, kernel by kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr._core.kernels.record import KERNELS, Derivative
from unifyarr.derivatives.rule import RULES
from unifyarr.errors import LostDerivativeError
from unifyarr.testing import needs

from ..oracle import as_numpy
from .cases import CASES, P, real
from .rules_oracle import Values, assert_close, of_rule, results

INF, NAN = math.inf, math.nan


def test_kernels_have_the_rules_that_their_records_say() -> None:
    # Stores are made once a graph is final, and never differentiated.
    wanted = {name for name, record in KERNELS.items() if record.derivative is Derivative.RULE}
    assert wanted - {"store"} == {*RULES}
    assert all(record.instead for record in KERNELS.values() if record.derivative is Derivative.LOST)


# Kernels whose rules are tried by tests of their own.
_ELSEWHERE = {"cholesky", "eigh", "eigvalsh", "eig", "svd", "zeta", "gammainc", "gammaincc", "betainc", "nextafter"}
# Kernels that move whole arrays, or exist only on engines without known shapes.
_UNTRIED = {"copy", "shard", "select", "put_selected", "take_places", "put_places"}


def test_every_rule_is_tried() -> None:
    assert {name for name, _, _ in CASES} | _ELSEWHERE | _UNTRIED == {*RULES}


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


# Names, operands, static arguments, and cotangents for a cotangent of ones.
EDGES: list[tuple[str, Values, dict[str, Any], Values]] = [
    ("abs", [array(0, -0.0)], {}, [array(0, 0)]),
    ("abs", [np.array([0j, 2j])], {}, [np.array([0, -1j])]),
    ("relu", [array(0)], {}, [array(0)]),
    ("sqrt", [array(0)], {}, [array(INF)]),
    ("maximum", [array(1, 2, NAN), array(1, 1, 1)], {}, [array(0.5, 1, 0), array(0.5, 0, 0)]),
    ("fmax", [array(1, 2, NAN), array(1, NAN, 1)], {}, [array(0.5, 1, 0), array(0.5, 0, 1)]),
    ("clip", [array(0, 1, 0.5, 2)], {"min": 0.0, "max": 1.0}, [array(1, 1, 1, 0)]),
    ("hypot", [array(0, 0), array(0, 1)], {}, [array(0, 0), array(0, 1)]),
    ("pow", [array(0, 0, 0, 2), array(0, 1, 2, 0)], {}, [array(0, 1, 0, 0), array(0, 0, 0, math.log(2))]),
    ("logaddexp", [array(INF, -INF, 0), array(0, 0, 0)], {}, [array(1, 0, 0.5), array(0, 1, 0.5)]),
    *(
        (
            name,
            [array(INF, -INF, 1e300, INF), array(INF, -INF, 1e300, -INF)],
            {},
            [array(0.5, 0.5, 0.5, 1), array(0.5, 0.5, 0.5, 0)],
        )
        for name in ("logaddexp", "logaddexp2")
    ),
    ("max", [array(1, 3, 3, 2)], {"axis": (0,), "keepdims": False}, [array(0, 0.5, 0.5, 0)]),
    ("std", [array(1, 1, 1)], {"axis": (0,), "keepdims": False, "correction": 0.0}, [array(0, 0, 0)]),
    *[
        ("vector_norm", [array(0, 0)], {"axis": (0,), "keepdims": False, "ord": ord}, [array(0, 0)])
        for ord in (1, 2, 3, 0.5)
    ],
    ("vector_norm", [array(2, -2)], {"axis": (0,), "keepdims": True, "ord": INF}, [array(0.5, -0.5)]),
    ("matrix_norm", [np.zeros((2, 2))], {"keepdims": False, "ord": "fro"}, [np.zeros((2, 2))]),
    ("matrix_norm", [np.ones((2, 2))], {"keepdims": False, "ord": 1}, [np.full((2, 2), 0.5)]),
    ("softmax", [array(0, -INF, 1)], {"axis": 0}, [array(0, 0, 0)]),
    ("remainder", [array(5), array(INF)], {}, [array(1), array(0)]),
    ("i1", [array(0)], {}, [array(0.5)]),
    ("scatter", [array(1, 2), array(3, 4, 5), np.array([1, 1, -1])], {}, [array(1, 0), array(0, 0, 1)]),
    (
        "scatter_reduce",
        [array(1, 2), array(1, 3, 3), np.array([0, 1, 1])],
        {"reduction": "max"},
        [array(0.5, 0), array(0.5, 0.5, 0.5)],
    ),
    ("root_mean_square", [array(0, 0)], {"axis": (0,), "eps": 0.0}, [array(0, 0)]),
]


@pytest.mark.parametrize(("name", "values", "static", "wanted"), EDGES)
def test_at_an_edge(backend: str, name: str, values: Values, static: dict[str, Any], wanted: Values) -> None:
    if name not in load(backend).kernels:
        pytest.skip(f"{backend} has no kernel for {name}")
    gs = [np.ones_like(x) for x in results(backend, name, values, static)]
    assert_close(of_rule(backend, name, values, static, gs), wanted, 1e-12)


def test_parameters_without_a_derivative_refuse_it(backend: str) -> None:
    x = real(2, 3, low=0.1, high=0.9)
    g, k = np.ones_like(x), load(backend)
    for name, values in (("gammainc", (P, x)), ("gammaincc", (P, x)), ("betainc", (P, P + 1, x)), ("zeta", (P + 1, x))):
        with pytest.raises(LostDerivativeError, match="stop_gradient"):
            of_rule(backend, name, values, {}, [g])
        (found,) = of_rule(backend, name, values, {}, [g], needs=[False] * (len(values) - 1) + [True])
        up, down = (
            np.asarray(k.to_numpy(k.kernel(name)(*[k.from_numpy(each) for each in (*values[:-1], x + by)])))
            for by in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(found, (up - down) / 2e-6, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, 0.5, -0.5, 1.5, 4.0])
@pytest.mark.parametrize("compiled", [False, True])
def test_powers_by_numbers_are_those_by_arrays(backend: str, exponent: float, dtype: str, compiled: bool) -> None:
    values = array(0.5, 2, 1e3) if dtype == "complex128" else array(0.5, 2, 1e3, 0, -0.0, INF, NAN, -1, -3.5, -INF)
    x = ua.asarray(values, dtype=dtype)
    exponents = ua.asarray(np.full(values.shape, exponent, dtype=values.dtype), dtype="float64")
    way: Any = ua.compile if compiled else lambda function: function
    with np.errstate(all="ignore"):
        by_number = way(ua.grad(lambda x: ua.sum(ua.real(x**exponent))))(x)
        by_array = ua.grad(lambda x: ua.sum(ua.real(ua.pow(x, ua.astype(exponents, dtype)))))(x)
        # Engines may take a root in the place of a power, which differs at minus infinity.
        compared = values != -INF if exponent in (0.5, 1.5) else np.full(values.shape, True)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(as_numpy(by_number)[compared], as_numpy(by_array)[compared], rtol=tolerance)


@needs("writes")
def test_powers_by_numbers_need_no_logarithm(backend: str) -> None:
    def names(exponent: float) -> list[str]:
        gradient = ua.compile(ua.grad(lambda x: ua.sum(x**exponent)), exclude=["fuse"])
        return [each.op.name for each in gradient.graph(ua.asarray([1.0, 2.0])).toposort()]

    assert names(2) == ["multiply"]
    assert set(names(1)) <= {"copy"}
    assert "where" not in names(1.5)


def test_the_number_of_an_exponent_that_is_derived_isnt_used(backend: str) -> None:
    # The slope by the base, derived by the exponent: x**(y - 1) * (1 + y * log(x)).
    slope = ua.grad(lambda x, y: x**y, argnums=0)
    found = ua.grad(slope, argnums=1)(ua.asarray(3.0), ua.asarray(2.0))
    np.testing.assert_allclose(as_numpy(found), 3 * (1 + 2 * math.log(3)), rtol=1e-12)


@needs("gradients")
def test_relu_is_flat_at_zero_on_every_backend(backend: str) -> None:
    slope = ua.grad(lambda x: ua.sum(ua.nn.relu(x)))
    x = ua.asarray([-1.0, 0.0, -0.0, 2.0])
    for each in (slope, ua.compile(slope)):
        assert np.asarray(each(x)).tolist() == [0.0, 0.0, 0.0, 1.0]
