"""Floats that are passed to compiled functions: one program for all values, unless the function asks for the value."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
import unifyarr.numpy
from unifyarr import Array

from ..natives import skip_unless, skip_without_derivatives
from ..oracle import as_numpy, assert_same, few

VALUES = (0.5, -1.5, 0.1, 3.0, -0.0, math.inf, math.nan)
xp = unifyarr.numpy


def compare(function: Callable[..., Any], x: Any, values: Any = VALUES, **options: Any) -> int:
    """Compare a compiled function of an array and a float with itself; return how often it was traced."""
    traces = []

    def counted(*args: Any) -> Any:
        traces.append(len(args))
        return function(*args)

    compiled = ua.compile(counted, **options)
    for value in values:
        for _ in range(3):
            mine, theirs = ua.asarray(x, copy=True), ua.asarray(x, copy=True)
            with np.errstate(all="ignore"):
                found, wanted = compiled(mine, value), function(theirs, value)
            if isinstance(wanted, Array):
                assert found.dtype == wanted.dtype
                assert_same(found, as_numpy(wanted), rtol=tolerance(wanted))
            else:
                assert repr(found) == repr(wanted)
                assert type(found) is type(wanted)
            assert_same(mine, as_numpy(theirs), rtol=tolerance(theirs))
    return len(traces)


def tolerance(x: Array) -> float:
    # NumPy computes the same bits. Other engines divide numbers by arrays, and fuse, in another way at times.
    if x.backend == "numpy" or x.dtype.kind not in "fcV":
        return 0.0
    return {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "complex64": 1e-6}.get(str(x.dtype), 1e-14)


def update(x: Array, rate: float) -> None:
    x -= rate * x[::-1]


DYNAMIC: dict[str, Callable[[Array, float], Any]] = {
    "product": lambda x, r: x * r,
    "reflected": lambda x, r: r - x,
    "quotient": lambda x, r: x / r,
    "twice": lambda x, r: x * r + r,
    "update": update,
    "computed": lambda x, r: x * (1 - r) + (r * 2 + 1) * x - (-r) * abs(r) ** 2 + r // 3 + r % 3 + 0.9**r,
    "function": lambda x, r: ua.maximum(x, r) + ua.add(r, x),
    "comparison": lambda x, r: (x < r) | (r >= x),
    "without arrays": lambda x, r: ua.sin(r) * x,
    "container": lambda x, r: (ua.Container(a=x) * r).a,
    # Python's own sum of more than two floats is more accurate than additions, from 3.12 on.
    "sum": lambda x, r: x * sum([r, 1.0]),
    "is a float": lambda x, r: x * r if isinstance(r, float) else None,
    "where": lambda x, r: ua.where(x > 1, x, r) + xp.where(x > 1, r, x),
    "both choices": lambda x, r: x * ua.where(x > 1, 0.5, r),
    "written": lambda x, r: x.__setitem__(0, r),
    "written to a window": lambda x, r: x.__setitem__(slice(1, None, 2), r * 2),
    "written where": lambda x, r: x.__setitem__(x > 2, r),
    "full": lambda x, r: ua.full((2, 5), r) + x + ua.full(5, r, dtype=x.dtype) * ua.full_like(x, r),
    "one limit": lambda x, r: ua.clip(x, r) + ua.clip(x, max=r) + ua.clip(x, r, x) + xp.clip(x, r, None),
    "activations": lambda x, r: ua.nn.leaky_relu(x - 3, negative_slope=r) + ua.nn.elu(x - 3, alpha=r),
    "softplus": lambda x, r: ua.nn.softplus(x, beta=r),
    "trapezoid": lambda x, r: ua.trapezoid(x, dx=r) + x,
    "numpy's": lambda x, r: xp.multiply(x, r) + xp.sum(x * r),
}
ASKED: dict[str, Callable[[Array, float], Any]] = {
    "if": lambda x, r: x * r if r > 0 else -x,
    "float": lambda x, r: x * float(r),
    "math": lambda x, r: x * math.sqrt(abs(r)),
    "power": lambda x, r: x**r,
    "complex": lambda x, r: x * (r * r) ** 0.5,
    "text": lambda x, r: x * len(f"{r:.2f}") * len(str(r)) * len(repr(r)),
    "key": lambda x, r: x * {r: 1}.get(r, 2),
    "result": lambda x, r: r,
    "most": lambda x, r: x * max(r, 0.25),
    "method": lambda x, r: x * r.conjugate() * r.is_integer(),
    "both limits": lambda x, r: ua.clip(x, r, 4.0),
    "of a function": lambda x, r: ua.nn.rms_norm(x, eps=abs(r)) + ua.nn.huber_loss(x, x, delta=abs(r)),
    "integers": lambda x, r: ua.full((5,), r, dtype="int64") + x,
    "written as a list": lambda x, r: x.__setitem__(slice(0, 2), [r, 1.0]),
    "list": lambda x, r: x[:2] * [r, 1.0] + ua.asarray([1.0, r]),
    "numpy": lambda x, r: x * np.float64(2) * np.float64(r) * (np.float64(3) * r),
    "numpy's array": lambda x, r: x * (np.ones(len(x), x.dtype.dtype) * r),
    "numpy's function": lambda x, r: x * np.maximum(r, 0.25) * np.sum([r]),
    "copied": lambda x, r: x * copy.deepcopy(r) * pickle.loads(pickle.dumps(r)),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_one_program_for_all_values(backend: str, name: str) -> None:
    # TensorFlow's compiler takes the other one of NaN and a number.
    no_nan = name == "comparison" or (name == "one limit" and backend == "tensorflow")
    for dtype in ("float32", "float64"):
        values = VALUES[:5] if no_nan else VALUES
        assert compare(DYNAMIC[name], np.arange(1, 6).astype(dtype), values) == 1


@pytest.mark.parametrize("name", ASKED)
def test_a_value_that_is_asked_for_is_part_of_the_key(backend: str, name: str) -> None:
    values = (0.5, -1.5, 0.1)
    assert compare(ASKED[name], np.arange(1, 6).astype("float32"), values) == len(values)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "complex64", "complex128"])
def test_a_float_is_weak(backend: str, dtype: str) -> None:
    x = np.arange(1, 6).astype(ua.as_dtype(dtype).dtype if hasattr(ua, "as_dtype") else getattr(ua, dtype).dtype)
    assert compare(lambda x, r: x * r + r, x, (0.1, -1.5, 3.0)) == 1


# In mode "debug" each call traces again, to compare.
@pytest.mark.parametrize(("mode", "traces"), [("pure", 1), ("debug", 6)])
def test_in_other_modes(backend: str, mode: str, traces: int) -> None:
    assert compare(DYNAMIC["computed"], np.arange(1.0, 6.0), (0.5, 2.0), mode=mode) == traces
    assert compare(update, np.arange(1.0, 6.0), (0.5, 2.0), mode=mode) == traces


def test_on_another_engine(backend: str) -> None:
    for engine in ua.available_backends():
        assert compare(update, np.arange(1.0, 6.0), (0.5, 2.0), backend=engine) == 1


def test_errors_are_those_of_python(backend: str) -> None:
    def function(x: Array, rate: float) -> None:
        x *= 2
        x *= 1 / (rate - 1)

    compiled = ua.compile(function)
    x = ua.ones(3)
    for rate in (2.0, 3.0, 2.0):
        compiled(x, rate)
    assert_same(x, np.full(3, 4.0))
    with pytest.raises(ZeroDivisionError):
        compiled(x, 1.0)
    # A call that raises leaves its arguments as they were.
    assert_same(x, np.full(3, 4.0))
    with pytest.raises(ZeroDivisionError):
        ua.compile(function)(x, 1.0)


def test_some_floats_are_asked_for_and_some_are_not(backend: str) -> None:
    traces = []

    @ua.compile
    def function(x: Array, a: float, b: float, *, c: float = 1.0) -> Array:
        traces.append((a, b, c))
        if b > 0:
            return x * a * c
        return x * a - (c if c > 2 else 0)

    x = ua.ones(2)
    for a, b, c in [(1.0, 1.0, 1.0), (2.0, 1.0, 3.0), (2.0, 1.0, 4.0), (5.0, -1.0, 1.0), (6.0, -1.0, 1.0)]:
        assert_same(function(x, a, b, c=c), np.full(2, a * c if b > 0 else a - (c if c > 2 else 0)))
    assert len(traces) == 2
    # From here on the value of c is asked for.
    for _ in range(3):
        for a, b, c in [(7.0, -1.0, 3.0), (8.0, -1.0, 3.0), (8.0, -1.0, 5.0), (9.0, 1.0, 5.0), (3.0, 1.0, 5.0)]:
            assert_same(function(x, a, b, c=c), np.full(2, a * c if b > 0 else a - (c if c > 2 else 0)))
    assert len(traces) == 5


def test_other_numbers_are_part_of_the_key(backend: str) -> None:
    traces = []

    @ua.compile
    def function(x: Array, n: Any) -> Array:
        traces.append(type(n))
        return x * n

    x = ua.astype(ua.ones(2), ua.float32)
    for _ in range(3):
        for n in (1, 2, True, 1j, np.float64(2.0), np.float32(2.0), 1.0, 2.0):
            assert function(x, n).dtype == (x * n).dtype
    assert len(traces) == 7


def test_a_float_that_outlives_its_trace(backend: str) -> None:
    kept = []

    @ua.compile
    def function(x: Array, rate: float) -> Array:
        kept.append(rate * 2)
        return x * rate

    function(ua.ones(2), 0.5)
    function(ua.ones(2), 0.75)
    (rate,) = kept
    assert rate == 1.0
    assert_same(ua.ones(2) * rate, np.ones(2))
    assert float(rate) + 1 == rate + 1 == 2.0
    assert_same(ua.compile(lambda x: x * rate)(ua.ones(2)), np.ones(2))
    assert_same(function(ua.ones(2), 3.0), np.full(2, 3.0))


def test_a_rate_beside_a_gradient(backend: str) -> None:
    skip_without_derivatives(backend)
    traces = []

    def step(w: Array, x: Array, rate: float, decay: float) -> None:
        traces.append(1)

        def loss(w: Array) -> Array:
            return ua.sum((w * x) ** 2) + decay * ua.sum(w)

        w -= rate * ua.grad(loss)(w)

    compiled = ua.compile(step)
    mine, theirs, x = ua.ones(3), ua.ones(3), ua.asarray([1.0, 2.0, 3.0])
    for rate, decay in [(0.1, 0.0), (0.01, 0.5), (0.02, 0.5)]:
        compiled(mine, x, rate, decay)
        assert len(traces) == 1
        step(theirs, x, rate, decay)
        traces.pop()
        assert_same(mine, as_numpy(theirs), rtol=1e-12)


def test_reports_know_them(backend: str) -> None:
    compiled: Any = ua.compile(lambda x, rate: x * rate)
    x = ua.ones(4)
    assert compiled.profile(x, 0.5).result.tolist() == [0.5] * 4
    assert compiled.profile(x, 2.0).result.tolist() == [2.0] * 4
    assert len(compiled.memory().programs) == 1
    assert "multiply" in str(compiled.graph(x, 3.0))
    # In a graph for inspection, a float stays a float.
    assert len(ua.graph.trace(lambda x, rate: x * rate, x, 0.5).inputs) == 1


@few
@given(st.floats(), st.floats(), st.sampled_from(["float16", "float32", "float64"]))
def test_any_value_gives_what_the_function_gives(first: float, second: float, dtype: str) -> None:
    with ua.use_backend("numpy"), np.errstate(all="ignore"):
        x = ua.asarray(np.array([0.1, -2.0, 1e4, np.inf]).astype(dtype))

        def function(x: Array, a: float, b: float) -> Array:
            return (x * a + b) * (a - b) - a * b

        compiled = ua.compile(function)
        for a, b in [(first, second), (second, first), (first, first)]:
            for _ in range(2):
                np.testing.assert_array_equal(as_numpy(compiled(x, a, b)), as_numpy(function(x, a, b)))


def test_a_user_s_operation_gets_numbers(backend: str) -> None:
    skip_unless(backend, "numpy", why="an operation with one kernel")
    seen = []

    @ua.op
    def scaled(x: Array, by: float) -> Array:
        seen.append(type(by))
        return x * by

    compiled = ua.compile(lambda x, r: scaled(x, r))
    for rate in (0.5, 2.0):
        assert_same(compiled(ua.ones(2), rate), np.full(2, rate))
    assert set(seen) == {float}
