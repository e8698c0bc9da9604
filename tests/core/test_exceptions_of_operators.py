"""Errors raised while an engine computes an operator of plain arrays reach the caller; nothing is computed twice."""

from __future__ import annotations

import operator
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling.plain_calls import explain
from unifyarr._core.engines.registry import load
from unifyarr._native import core
from unifyarr.errors import UnifyarrError

from ..kernels import replace_plain_call
from ..natives import skip_unless

pytestmark = pytest.mark.skipif(core is None, reason="the package was installed without its compiled part")


class OutOfTime(Exception):
    pass


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    def stop(number: int, frame: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)  # type: ignore[misc, return-value]
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer that sends signals")
def test_an_exception_of_a_handler_is_raised_and_each_step_made_once(
    backend: str, alarm: Callable[[float], None]
) -> None:
    skip_unless(backend, "numpy", "torch", why="an engine whose arrays operators write")
    x, one = ua.zeros(300_000), ua.ones(300_000)
    x += 1.0
    x += one
    for number in range(12):
        other: Any = one if number % 2 else 1.0
        x[...] = 0.0
        steps, last, came = 0, time.monotonic() + 10, False
        alarm(0.004 * (1 + number / 7))
        try:
            while time.monotonic() < last:
                x += other
                steps += 1
        except OutOfTime:
            came = True
        assert came, "the exception was lost"
        assert ua.max(x) == ua.min(x)
        assert int(x[0]) in (steps, steps + 1)


def test_what_errstate_raises_is_raised_once(backend: str) -> None:
    skip_unless(backend, "numpy", why="np.errstate is NumPy's")
    calls = []

    def refuse(kind: str, flags: int) -> None:
        calls.append(kind)
        raise ValueError("mine")

    for multiply in (operator.imul, operator.mul):
        x, values = ua.asarray([3.0, 1e308]), np.array([3.0, 1e308])
        for given in (x, values):
            calls.clear()
            with np.errstate(over="call", call=refuse), pytest.raises(ValueError, match="mine"):
                multiply(given, 10.0)
            assert calls == ["overflow"]
        np.testing.assert_array_equal(x, values)


def test_a_warning_that_is_an_error_is_raised_once(backend: str) -> None:
    skip_unless(backend, "numpy", why="warnings of values are NumPy's")
    for multiply in (operator.imul, operator.mul):
        x, values = ua.asarray([3.0, 1e308]), np.array([3.0, 1e308])
        with warnings.catch_warnings(), np.errstate(over="warn"):
            warnings.simplefilter("error")
            for given in (x, values):
                with pytest.raises(RuntimeWarning, match="overflow"):
                    multiply(given, 10.0)
        np.testing.assert_array_equal(x, values)


@pytest.mark.parametrize("error", [ValueError, TypeError, RuntimeError, MemoryError, KeyError, OSError])
def test_an_engine_that_fails_is_asked_once(
    backend: str, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    x, handle, calls = ua.asarray([1.0, 2.0]), load(backend), []
    x + x

    def fails(*natives: Any) -> Any:
        calls.append(natives)
        raise error("mine")

    replace_plain_call(monkeypatch, handle, "add", fails)
    with pytest.raises(Exception, match="mine") as caught:
        x + x
    assert len(calls) == 1
    # Errors that the backend knows as its engine's own are rephrased.
    assert type(caught.value) is error or isinstance(caught.value, UnifyarrError)


def test_what_interrupts_an_engine_passes(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, handle = ua.asarray([1.0, 2.0]), load(backend)

    def interrupted(*natives: Any) -> Any:
        raise KeyboardInterrupt

    replace_plain_call(monkeypatch, handle, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        x + x


@pytest.mark.parametrize("kind", ["shapes", "masks"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "bitwise_and", "less", "matmul", "pow"])
def test_errors_are_those_of_the_function(backend: str, name: str, kind: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    x, y = (x, ua.ones(4)) if kind == "shapes" else (x > 1, x > 2)
    methods = {"bitwise_and": "and_", "subtract": "sub", "multiply": "mul", "less": "lt", "divide": "truediv"}
    by_operator = getattr(operator, methods.get(name, name))
    before = x.tolist()
    expected, found = (_outcome(call, x, y) for call in (getattr(ua, name), by_operator))
    assert found == expected
    assert x.tolist() == before


def _outcome(call: Callable[..., Any], *operands: Any) -> Any:
    """Return the values of a call, or its error without a function's name, which those of operators may lack."""
    try:
        return str(call(*operands).tolist())
    except Exception as error:
        return type(error), re.sub(r"^\w+\(\): ", "", str(error))


def test_explaining_leaves_what_is_not_a_refusal(backend: str) -> None:
    x = ua.ones(3)
    for error in (OSError("mine"), OutOfTime(), FloatingPointError("mine"), ZeroDivisionError()):
        assert explain("add", (x, x), None, error, x._backend) is None
    found = explain("add", (x, ua.ones(4)), None, ValueError("mine"), x._backend)
    assert "(3,) and (4,)" in str(found)
    assert isinstance(found.__cause__, ValueError)  # type: ignore[union-attr]


NUMBERS = (300, -129, 1 << 40, 1 << 63, -(1 << 63) - 1, 10**30, 1e300, -1e300, float("inf"), float("nan"))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint8", "uint64", "float32", "float64"])
def test_numbers_of_any_size_are_those_of_the_function(backend: str, dtype: str) -> None:
    x = ua.asarray([1, 0, 3], dtype=dtype)
    names = {"add": "add", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "lt": "less"}
    with np.errstate(all="ignore"):
        for method, name in names.items():
            compute, function = getattr(operator, method), getattr(ua, name)
            for number in NUMBERS:
                for operands in ((x, number), (number, x)):
                    if method == "lt" and operands[0] is number:
                        continue
                    assert _outcome(compute, *operands) == _outcome(function, *operands), (method, operands)


def test_vectors_of_one_element_broadcast(backend: str) -> None:
    x = ua.asarray([5.0, 6.0, 7.0])
    for y in (x[:1], x[0, ...]):
        assert (x // y).tolist() == [1.0, 1.0, 1.0]
        assert (x % y).tolist() == [0.0, 1.0, 2.0]
