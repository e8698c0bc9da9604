"""The types and layouts of what every function gives are known in a trace, which runs no kernel on its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import CopyError, TraceError, UnknownShapeError
from unifyarr.graph.core.basic import Variable
from unifyarr.graph.kernels.kernelop import KernelOp
from unifyarr.modes.trace.traced import Examples
from unifyarr.testing import has
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import PUBLIC
from .test_every_function import call_of


def _read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of the nodes of which a trace computes values from now on."""
    nodes, of = [], Examples.of

    def noted(self: Examples, variable: Variable) -> Any:
        # The results of a loop lie as its last step has them.
        if variable.owner is not None and isinstance(variable.owner.op, KernelOp):
            nodes.append(str(variable.owner))
        return of(self, variable)

    monkeypatch.setattr(Examples, "of", noted)
    return nodes


def _has_counts(name: str, case: Case) -> bool:
    # Their sum is the length of the result.
    return name == "repeat" and len(case.arrays) > 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("turned", [False, True])
def test_no_kernel_runs_in_the_trace_of_a_function(backend: str, monkeypatch: pytest.MonkeyPatch, turned: bool) -> None:
    nodes = _read(monkeypatch)

    def given(x: np.ndarray) -> ua.Array:
        return ua.asarray(np.ascontiguousarray(x.T)).T if turned and x.ndim > 1 else ua.asarray(x, copy=True)

    for name in PUBLIC:
        # Each call is compiled for itself on other engines.
        for case in CASES.get(name, ()) if has(backend, "writes") else CASES.get(name, ())[:1]:
            if _has_counts(name, case):
                continue
            function, arrays = call_of(name, case)

            def traced(*arrays: ua.Array, function: Callable[..., Any] = function) -> list[Any]:
                return [x.strides for x in flatten(function(*arrays))[0] if isinstance(x, ua.Array)]

            try:
                ua.graph.trace(traced, *map(given, arrays))
            except (CopyError, TraceError, UnknownShapeError):
                # A reshape of a turned array that has to be a view, or a length that values decide.
                continue
            assert not nodes, name


PARTS: dict[str, Callable[[ua.Array], Any]] = {
    "frexp": lambda x: ua.frexp(x).mantissa + ua.frexp(x).exponent,
    "modf": lambda x: ua.modf(x).fractional - ua.modf(x).integral,
    "ldexp": lambda x: ua.ldexp(x, 3),
    "spacing": ua.spacing,
}


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_of_selected_numbers(backend: str, name: str) -> None:
    def total(x: ua.Array) -> ua.Array:
        return ua.sum(PARTS[name](x[x > 0]))

    x = ua.asarray([[1.5, -2.0, 3.25], [-1.0, 0.7, -9.0]])
    wanted = [float(total(row)) for row in x]
    compiled = ua.compile(total)
    np.testing.assert_allclose([float(compiled(row)) for row in x], wanted, rtol=1e-12)
    np.testing.assert_allclose(np.asarray(ua.vmap(total)(x)), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", ["lu", "lu_factor"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_factors_have_the_types_of_the_trace(backend: str, name: str, shape: tuple[int, ...], dtype: str) -> None:
    x = ua.asarray(np.random.default_rng(0).normal(size=shape), dtype=dtype)
    function = getattr(ua.linalg, name)
    said: list[Any] = []

    def traced(x: ua.Array) -> Any:
        found = function(x)
        said.extend((each.shape, each.dtype) for each in found)
        return found

    found = ua.compile(traced)(x)
    assert [(each.shape, each.dtype) for each in found] == said == [(x.shape, x.dtype) for x in function(x)]


TAKING_FLOATS: dict[str, Callable[[ua.Array, float], Any]] = {
    "x % a": lambda x, a: x % a,
    "a % x": lambda x, a: a % x,
    "fmod": lambda x, a: ua.remainder(x, a, modulus=False),
    "divmod": lambda x, a: divmod(x, a)[1],
    "isclose": lambda x, a: ua.isclose(x, a),
    "the tolerance of isclose": lambda x, a: ua.isclose(x, x + 0.4, rtol=0.0, atol=a),
    "betainc": lambda x, a: ua.special.betainc(x, a, 0.5),
    "gammainc": ua.special.gammainc,
    "xlogy": ua.special.xlogy,
    "xlog1py": ua.special.xlog1py,
    "kl_div": ua.special.kl_div,
    "rel_entr": ua.special.rel_entr,
    "beta": ua.special.beta,
    "comb": ua.special.comb,
    "zeta": lambda x, a: ua.special.zeta(x + 2, a),
}


@pytest.mark.parametrize("name", TAKING_FLOATS)
def test_another_float_needs_no_other_trace(backend: str, name: str) -> None:
    traces = []

    def traced(x: ua.Array, a: float) -> Any:
        traces.append(a)
        return TAKING_FLOATS[name](x, a)

    compiled, x = ua.compile(traced), ua.asarray([0.25, 0.5, 1.0])
    for a in (0.75, 0.25, 1.5):
        found, wanted = compiled(x, a), TAKING_FLOATS[name](x, a)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12, atol=1e-12)
    assert len(traces) == 1
