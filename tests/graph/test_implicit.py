"""Implicit arguments of compiled functions: reads and writes of closures, globals and attributes."""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._native import core
from unifyarr.graph.run import program_watch

from ..oracle import assert_same

WEIGHT: Any = None
SCALE: Any = 2
X = np.array([1.0, 2.0, 3.0])


def scaled(x: Any) -> Any:
    """Multiply by two globals."""
    return x * WEIGHT * SCALE


def deeper(x: Any) -> Any:
    """Do the same through another function."""
    return scaled(x)


@pytest.fixture(autouse=True, params=["core", "Python"])
def _watches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have places looked at by the core, and in Python."""
    if request.param == "Python":
        monkeypatch.setattr(program_watch, "core", None)
    elif core is None:
        pytest.skip("the compiled core isn't there")


@pytest.fixture
def globals_of_this(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Any], None]:
    """Set globals of this module."""
    return lambda name, value: monkeypatch.setitem(globals(), name, value)


class Counted:
    """A compiled function that counts how often it's traced."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.traces: list[int] = []

        @functools.wraps(function)
        def counting(*args: Any) -> Any:
            self.traces.append(1)
            return function(*args)

        self.compiled = ua.compile(counting, **options)

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args)

    @property
    def count(self) -> int:
        return len(self.traces)


@pytest.mark.parametrize("read", [scaled, deeper, functools.partial(deeper)], ids=["itself", "a helper", "a partial"])
def test_a_global_that_is_another_array(backend: str, read: Any, globals_of_this: Any) -> None:
    globals_of_this("WEIGHT", ua.ones(3))
    function, x = Counted(lambda x: read(x)), ua.asarray(X)
    for _ in range(3):
        assert_same(function(x), 2 * X)
    for number in (3.0, 4.0):
        globals_of_this("WEIGHT", ua.full((3,), number))
        for _ in range(3):
            assert_same(function(x), 2 * number * X)
        WEIGHT[0] = 7.0
        assert_same(function(x), 2 * X * [7, number, number])
    assert function.count == 1
    # Another type.
    globals_of_this("WEIGHT", ua.ones((2, 3)))
    assert_same(function(x), np.array([2 * X, 2 * X]))
    assert function.count == 2
    # Another number, and the old one.
    globals_of_this("SCALE", 5)
    assert_same(function(x), np.array([5 * X, 5 * X]))
    globals_of_this("SCALE", 2)
    assert_same(function(x), np.array([2 * X, 2 * X]))
    assert function.count == 3


def test_a_closure(backend: str) -> None:
    weight, rate, name, helper = ua.ones(3), 0.5, "sin", lambda x: x + 1.0
    function, x = Counted(lambda x: getattr(ua, name)(helper(x) * weight) * rate), ua.asarray(X)

    def check(count: int) -> None:
        for _ in range(3):
            wanted = getattr(np, name)(np.asarray(helper(X)) * np.asarray(weight)) * rate
            assert_same(function(x), wanted, rtol=1e-12)
        assert function.count == count

    check(1)
    weight = ua.asarray([3.0, 2.0, 1.0])
    check(1)
    rate = 0.25
    check(2)
    name = "cos"
    check(3)
    helper = lambda x: x * 2.0  # noqa: E731
    check(4)
    rate = 0.5
    check(5)
    rate, name, helper = 0.25, "cos", helper
    check(5)


def test_arrays_that_are_one_and_two(backend: str) -> None:
    one = other = ua.ones(3)
    function, x = Counted(lambda x: x * one + other), ua.asarray(X)
    for _ in range(3):
        assert_same(function(x), X + 1)
    one = ua.full((3,), 3.0)
    for _ in range(3):
        assert_same(function(x), 3 * X + 1)
    other = ua.full((3,), 5.0)
    assert_same(function(x), 3 * X + 5)
    assert function.count == 2


def test_writes_go_to_the_array_that_is_there(backend: str) -> None:
    total = ua.zeros(3)
    first = total

    def add(x: Any) -> None:
        total[...] += x

    function, x = Counted(add), ua.asarray(X)
    for _ in range(3):
        function(x)
    total = ua.full((3,), 10.0)
    for _ in range(3):
        function(x)
    assert_same(first, 3 * X)
    assert_same(total, 10 + 3 * X)
    assert function.count == 1


class Model:
    """A model with a compiled method."""

    def __init__(self) -> None:
        self.weight, self.rate, self.steps = ua.ones(3), 2, 0
        self.traces = 0

    @ua.compile
    def step(self, x: Any) -> Any:
        """Change the weight."""
        self.traces += 1
        self.weight = self.weight - self.slope(x)
        return ua.sum(self.weight)

    def slope(self, x: Any) -> Any:
        return x * self.rate


def test_attributes_are_read_and_written_back(backend: str) -> None:
    model, other, x = Model(), Model(), ua.asarray(X)
    weight = np.ones(3)
    for rate in (2, 2, 2, 3, 3, 2):
        model.rate = rate
        weight = weight - X * rate
        assert_same(model.step(x), np.asarray(weight.sum()), rtol=1e-12)
        assert_same(model.weight, weight, rtol=1e-12)
    assert model.traces == 2
    assert_same(other.weight, np.ones(3))
    model.weight = ua.zeros(3)
    model.step(x)
    assert_same(model.weight, -2 * X)
    # A view of the old array stays unchanged.
    before = model.weight
    model.step(x)
    assert_same(before, -2 * X)
    assert model.traces == 2


def test_an_attribute_of_another_type_is_traced_anew(backend: str) -> None:
    model = Model()
    for _ in range(3):
        model.step(ua.ones((2, 3)))
    assert_same(model.weight, np.full((2, 3), -5.0))
    assert model.traces == 2


def test_variables_are_written_back(backend: str) -> None:
    state, count = ua.zeros(3), 0

    @ua.compile
    def step(x: Any) -> Any:
        nonlocal state, count
        count += 1
        state = state + x
        return state * 2

    x = ua.asarray(X)
    for number in range(1, 5):
        assert_same(step(x), 2 * number * X)
        assert_same(state, number * X)
    state = ua.asarray(-X)
    step(x)
    assert_same(state, 0 * X)
    # Assignments of other objects happen at the first call.
    assert count == 1


def test_nests_are_written_back(backend: str) -> None:
    state = {"a": ua.zeros(3)}
    history = (ua.zeros(3),)

    @ua.compile
    def step(x: Any) -> None:
        nonlocal state, history
        state = {"a": state["a"] + x, "b": [x * 2]}
        history = (x,)

    x = ua.asarray(X)
    step(x)
    assert_same(state["a"], X)
    assert_same(state["b"][0], 2 * X)
    assert history[0] is x


def test_an_error_leaves_everything_as_it_was(backend: str) -> None:
    model = Model()
    weight = model.weight
    with pytest.raises(ua.errors.ShapeError):
        model.step(ua.ones(4))
    assert model.weight is weight

    @ua.compile
    def fails(model: Any, x: Any) -> None:
        model.weight = x * 2
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fails(model, ua.ones(3))
    assert model.weight is weight


@pytest.mark.parametrize("mode", ["debug", "pure"])
def test_other_modes(backend: str, mode: str) -> None:
    weight = ua.ones(3)
    function, x = ua.compile(lambda x: x * weight, mode=mode), ua.asarray(X)  # type: ignore[call-overload]
    for number in (1.0, 2.0, 3.0):
        weight = ua.full((3,), number)
        for _ in range(2):
            assert_same(function(x), number * X)


def test_old_arrays_are_let_go(backend: str) -> None:
    weight = ua.full((3,), 2.0)
    function, x = ua.compile(lambda x: x * weight), ua.asarray(X)
    for _ in range(3):
        function(x)
    known = weakref.ref(weight)
    weight = ua.full((3,), 3.0)
    assert_same(function(x), 3 * X)
    gc.collect()
    assert known() is None


@pytest.mark.skipif(core is None, reason="the compiled core isn't there")
def test_the_core_reads_captured_arrays(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_watch, "core", core)
    weight, x = ua.full((3,), 2.0), ua.asarray(X)
    function = ua.compile(lambda x: x * weight)
    for _ in range(3):
        function(x)
    entered: list[str] = []
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: entered.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = function(x)
    finally:
        sys.setprofile(before)
    assert "read" not in entered
    assert_same(found, 2 * X)


def test_a_captured_variable_is_read_at_each_call(backend: str) -> None:
    weight, x = ua.variable(ua.full((3,), 2.0)), ua.asarray(X)
    function = ua.compile(lambda x: x * weight)
    for number in (2.0, 3.0, 4.0, 5.0):
        weight[...] = number
        assert_same(function(x), number * X)


def test_a_variable_without_a_value(backend: str, monkeypatch: pytest.MonkeyPatch, globals_of_this: Any) -> None:
    function, x = ua.compile(scaled), ua.asarray(X)
    globals_of_this("WEIGHT", ua.full((3,), 2.0))
    for _ in range(3):
        assert_same(function(x), 4 * X)
    monkeypatch.delitem(globals(), "WEIGHT")
    with pytest.raises(NameError):
        function(x)
    monkeypatch.setitem(globals(), "WEIGHT", ua.full((3,), 3.0))
    assert_same(function(x), 6 * X)


def test_the_loop_of_a_program(backend: str) -> None:
    # As programs are written that keep their parameters in globals.
    weight = ua.zeros(3)

    def loss(weight: Any, x: Any) -> Any:
        return ua.sum((weight - x) ** 2)

    step = Counted(lambda x: weight - 0.25 * 2.0 * (weight - x))
    x = ua.asarray(X)
    wanted = np.zeros(3)
    for _ in range(6):
        weight = step(x)
        wanted = wanted - 0.5 * (wanted - X)
        assert_same(weight, wanted, rtol=1e-12)
    assert step.count <= 2


def test_a_float_that_other_code_reads_too(backend: str, globals_of_this: Any) -> None:
    """As an input of the program it would be a constant where a function reads it that nothing can see."""
    rate = 1.0

    def closure(x: Any) -> Any:
        return hidden[0](x) + rate

    def branch(x: Any) -> Any:
        return x * rate if hidden[1]() else x

    def named(x: Any) -> Any:
        return hidden[2](x) + SCALE

    hidden: list[Any] = [lambda x: x * rate, lambda: rate > 2.5, lambda x: x * globals()["SCALE"]]
    functions, x = [ua.compile(each) for each in (closure, branch, named)], ua.asarray(X)
    for rate in (1.0, 2.0, 3.0, 1.0):
        globals_of_this("SCALE", rate)
        for _ in range(3):
            assert [each(x).tolist() for each in functions] == [
                (X * rate + rate).tolist(),
                (X * rate if rate > 2.5 else X).tolist(),
                (X * rate + rate).tolist(),
            ]
