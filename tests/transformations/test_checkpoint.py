"""``checkpoint``: the same values and derivatives, with values recomputed, and less memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.testing import has

from ..oracle import assert_same
from .through import engines, fresh

Function = Callable[..., Any]
WAYS: dict[str, Function] = {"eager": lambda f: f, "compiled": ua.compile}
HOLDS: dict[str, Function] = {"held": ua.checkpoint, "as it is": lambda f: f}


def program(hold: Function, factor: ua.Array, calls: ua.Array) -> Function:
    """Return a loss whose parts write to their arguments, to arrays from outside, and read views of others."""

    def layer(c: Any, weight: ua.Array) -> Any:
        y = ua.tanh(c.x @ weight)
        y[1:] *= factor
        c.x += 1.0
        calls[...] += 1
        return ua.Container(x=y + c.x, sum=ua.sum(y)), "seen"

    def loss(weight: ua.Array, x: ua.Array) -> ua.Array:
        x = x.copy()
        column, total = weight[::2, 1], ua.zeros(())

        @hold
        def inner(x: ua.Array) -> ua.Array:
            nonlocal total
            total += ua.sum(column) * x[0]
            return x * ua.sum(column) + hold(ua.sin)(weight[1])

        for _ in range(2):
            c = ua.Container(x=x)
            found, seen = hold(layer)(c, weight)
            assert seen == "seen"
            x = inner(found.x) * c.x
        return ua.sum(x * x) * found.sum + total

    return loss


def _given() -> tuple[ua.Array, ...]:
    return tuple(fresh(np.linspace(-0.5, 0.5, 9).reshape(3, 3), [0.1, 0.2, 0.3], np.cos(np.arange(9.0)).reshape(3, 3)))


DERIVATIVES: dict[str, Callable[[Function], Function]] = {
    "value": lambda loss: lambda w, x, t: loss(w, x),
    "grad": lambda loss: lambda w, x, t: ua.grad(loss, (0, 1))(w, x),
    "jvp": lambda loss: lambda w, x, t: ua.jvp(lambda w: loss(w, x), (w,), (t,)),
    "hvp": lambda loss: lambda w, x, t: ua.hvp(lambda w: loss(w, x), (w,), (t,)),
    "second": lambda loss: lambda w, x, t: ua.grad(lambda w, x: ua.sum(ua.grad(loss)(w, x) ** 2), (0, 1))(w, x),
}


@pytest.mark.parametrize(
    ("derivative", "way"), [*((each, "eager") for each in DERIVATIVES), ("grad", "compiled"), ("hvp", "compiled")]
)
def test_derivatives_are_those_of_the_function(backend: str, derivative: str, way: str) -> None:
    found, counted = {}, {}
    for name, hold in HOLDS.items():
        factor, calls = fresh(1.5, 0)
        function = WAYS[way](DERIVATIVES[derivative](program(hold, factor, calls)))
        found[name] = function(*_given())
        counted[name] = calls
    for one, other in zip(*(flatten(each)[0] for each in found.values()), strict=True):
        assert_same(one, np.asarray(other), rtol=1e-12, atol=1e-12)
    # Its writes happen once.
    assert_same(counted["held"], np.asarray(counted["as it is"]))


def test_a_function_runs_again_for_its_derivative(backend: str) -> None:
    (x,) = fresh([1, 2])
    calls: list[int] = []

    @ua.checkpoint
    def function(x: ua.Array) -> ua.Array:
        calls.append(1)
        return ua.sin(x) * x

    function(x)
    ua.grad(lambda x: ua.sum(ua.stop_gradient(function(x)) * x))(x)
    assert len(calls) == 2
    _, pullback = ua.vjp(function, x)
    assert len(calls) == 3
    for number in (4, 5):
        pullback(x)
        assert len(calls) == number


def test_what_it_met_is_as_it_was(backend: str) -> None:
    x, factor = fresh([1, 2], 3)
    _, pullback = ua.vjp(ua.checkpoint(lambda x: x * x * factor), x)
    factor += 1.0
    x += 1.0
    assert_same(pullback(ua.ones(2))[0], [6.0, 12.0])


def test_a_function_that_computes_something_else_again_is_an_error(backend: str) -> None:
    (x,) = fresh([1, 2])
    results = [(x,), (x, x)]
    function = ua.checkpoint(lambda x: tuple(x * 1.0 for _ in results.pop(0)))
    with pytest.raises(TypeError, match="the same each time"):
        ua.grad(lambda x: ua.sum(function(x)[0]))(x)


def test_the_engines_own_derivative_keeps_what_it_would(backend: str) -> None:
    (x,) = fresh([1, 2])
    for engine in engines(backend):
        if engine or backend != "numpy":
            gradient = ua.grad(lambda x: ua.sum(ua.checkpoint(ua.sin)(x)), backend=engine or backend)
            assert_same(gradient(x), np.cos([1.0, 2.0]), rtol=1e-12)


def test_it_holds_in_loops_and_branches(backend: str) -> None:
    (x,) = fresh([0.5, 0.25])

    def loss(hold: Function) -> Function:
        def step(carry: ua.Array, row: ua.Array) -> Any:
            carry = hold(lambda c: ua.tanh(c * row) + x)(carry)
            return carry, ua.sum(carry)

        def function(x: ua.Array) -> ua.Array:
            carry, sums = ua.scan(step, x, ua.asarray([0.5, 1.0, 2.0]))
            carry = ua.cond(ua.sum(carry) > 0, lambda: hold(ua.sin)(carry), lambda: carry)
            return ua.sum(carry * sums[1])

        return function

    expected = np.asarray(ua.grad(loss(lambda f: f))(x))
    for way in WAYS.values():
        assert_same(way(ua.grad(loss(ua.checkpoint)))(x), expected, rtol=1e-12)


def _layer(x: ua.Array) -> ua.Array:
    return ua.tanh(ua.sin(ua.exp(x * 0.1) * 2.0) * ua.cos(x))


def _chain(hold: Function, layer: Function = _layer) -> Function:
    def loss(x: ua.Array) -> ua.Array:
        for _ in range(20):
            x = hold(layer)(x)
        return ua.sum(x)

    return loss


def _scanned(hold: Function) -> Function:
    @hold
    def step(carry: ua.Array, row: ua.Array) -> Any:
        carry = _layer(carry) * row
        return carry, ua.sum(carry)

    def loss(x: ua.Array) -> ua.Array:
        carry, sums = ua.scan(step, x, ua.ones(100, backend="numpy"))
        return ua.sum(carry) + ua.sum(sums)

    return loss


@pytest.mark.parametrize(("loss", "most"), [(_chain, 30), (_scanned, 170)])
def test_it_takes_less_memory(loss: Any, most: int) -> None:
    # tracemalloc sees NumPy's memory.
    x = ua.ones(20_000, backend="numpy")
    peaks, gradients = [], []
    for hold in (ua.checkpoint, lambda f: f):
        gradient = ua.grad(loss(hold))
        # Caches of a first call don't count as its memory.
        gradient(x)
        tracemalloc.start()
        try:
            gradients.append(gradient(x))
            peaks.append(tracemalloc.get_traced_memory()[1] / x.nbytes)
        finally:
            tracemalloc.stop()
    assert_same(gradients[0], np.asarray(gradients[1]), rtol=1e-12)
    assert peaks[0] < most < 3 * most < peaks[1]


def test_what_is_computed_again_is_not_merged_with_the_first(backend: str) -> None:
    weight = ua.asarray(np.linspace(-1, 1, 10_000).reshape(100, 100))
    peaks, gradients = [], []

    def layer(x: ua.Array) -> ua.Array:
        # Loops that NumPy and torch fuse hold nothing; products aren't fused.
        return ua.sin(ua.cos(x @ weight) @ weight)

    for hold in (ua.checkpoint, lambda f: f):
        program = ua.compile(ua.grad(_chain(hold, layer)))
        gradients.append(program(ua.ones((100, 100))))
        (memory,) = program.memory().programs
        # XLA decides itself which values it keeps.
        peaks.append([memory.peak_before, memory.peak_after] if has(backend, "writes") else [memory.peak_before])
    assert_same(gradients[0], np.asarray(gradients[1]), rtol=1e-9, atol=1e-12)
    for one, other in zip(*peaks, strict=True):
        assert one < 0.7 * other
