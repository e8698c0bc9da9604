"""Derivatives through loops, branches and selections of compiled functions, of every order and in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.modes.trace.replaying import TransformedOp

from ..natives import skip_unless

Function = Callable[[ua.Array], ua.Array]

VALUE, ALONG = np.array([0.4, -0.2, 0.9]), np.array([0.3, -0.7, 0.2])
ROWS = np.stack([VALUE, ALONG, VALUE * ALONG])


def scanned(x: ua.Array) -> ua.Array:
    weight = ua.cos(x)

    def step(carry: ua.Array, row: ua.Array) -> tuple[ua.Array, ua.Array]:
        carry = ua.tanh(carry * weight + row)
        return carry, ua.sum(carry * row)

    end, results = ua.scan(step, x, ua.stack([x, ua.sin(x), x * x]), reverse=True)
    return ua.sum(end * x) + ua.sum(results**2)


def counted(x: ua.Array) -> ua.Array:
    y = x.copy()

    def body(i: ua.Array, carry: ua.Array) -> ua.Array:
        y[0] += ua.sin(carry[1])
        return carry * 0.5 + ua.tanh(carry[::-1]) * y

    return ua.sum(ua.fori_loop(0, 3, body, x) ** 2) + y[0] ** 2


def branched(x: ua.Array) -> ua.Array:
    return ua.sum(ua.cond(ua.sum(x) > 0.5, lambda: ua.sin(x) * x, lambda: ua.exp(-x) * x) ** 2)


def nested(x: ua.Array) -> ua.Array:
    def step(carry: ua.Array, row: ua.Array) -> tuple[ua.Array, ua.Array]:
        number = ua.astype(ua.sum(carry) > 0.3, ua.int64)
        carry = ua.switch(number, [lambda c: ua.cos(c) * x, lambda c: c * ua.sin(row)], carry)
        return carry, number

    end, numbers = ua.scan(step, x, ua.stack([x, ua.sin(x), x * x]))
    return ua.sum(end**2) * ua.sum(ua.astype(numbers, ua.float64))


def written(x: ua.Array) -> ua.Array:
    y, mask = x * x, x > 0.1
    y[mask] = 0.4 * y[mask] + ua.sin(x[mask])
    return ua.sum(y**2) * ua.sum(ua.exp(x[x < 0.5]))


def whiled(x: ua.Array) -> ua.Array:
    return ua.sum(ua.while_loop(lambda c: ua.sum(c) < 10, lambda c: c + 1.0 + ua.sin(c) * x, x * x) ** 2)


FUNCTIONS = (scanned, counted, branched, nested, written)


def pushed(function: Function) -> Function:
    return lambda x: ua.jvp(function, (x,), (ua.asarray(ALONG),))[1]


FORWARDS: dict[str, Callable[[Function], Function]] = {
    "jvp": pushed,
    "twice": lambda f: pushed(pushed(f)),
    "linear": lambda f: lambda x: ua.linearize(f, x)[1](ua.asarray(ALONG)),
}
WAYS: dict[str, Callable[[Function], Function]] = {
    **FORWARDS,
    "grad": ua.grad,
    "gradient of gradient": lambda f: ua.grad(lambda x: ua.sum(ua.grad(f)(x) ** 2)),
    "gradient of tangent": lambda f: ua.grad(pushed(f)),
    "hvp": lambda f: pushed(ua.grad(f)),
    "columns": lambda f: ua.jacobian(f, mode="forward"),
    "checkpoint": lambda f: pushed(ua.checkpoint(f)),
}
# Selections have no batches, whose elements have results of several lengths.
BATCHES: dict[str, Callable[[Function], Function]] = {
    "hessian": ua.hessian,
    "columns of gradient": lambda f: ua.jacobian(ua.grad(f), mode="forward"),
}


def batched(way: Callable[[Function], Function], function: Function) -> Function:
    return lambda x: ua.vmap(way(function))(ua.stack([x, ua.asarray(ALONG), x * ALONG]))


def by_numpy(way: Callable[[Function], Function], function: Function) -> np.ndarray:
    with ua.use_backend("numpy"):
        return np.asarray(way(function)(ua.asarray(VALUE)))


def assert_compiled(ways: dict[str, Callable[[Function], Function]], function: Function) -> None:
    """Assert that what compiled derivatives give is what NumPy gives by loops of Python."""
    names = list(ways)
    found = ua.compile(lambda x: tuple([ways[name](function)(x) for name in names]))(ua.asarray(VALUE))
    for name, x in zip(names, found, strict=True):
        np.testing.assert_allclose(np.asarray(x), by_numpy(ways[name], function), rtol=1e-9, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_derivatives_of_compiled_loops_are_those_of_loops_of_python(backend: str, function: Function) -> None:
    ways = WAYS if function is written else {**WAYS, **BATCHES}
    if backend in ("jax", "tensorflow"):
        # Each loop is compiled there.
        ways = {name: ways[name] for name in ("grad", "jvp", "hvp", "gradient of tangent")}
    assert_compiled(ways, function)


@pytest.mark.parametrize("function", [each for each in FUNCTIONS if each is not written])
def test_batches_of_derivatives_of_compiled_loops(backend: str, function: Function) -> None:
    names = ("jvp", "hvp") if backend in ("numpy", "torch") else ("jvp",)
    for name in names:
        found = ua.compile(batched(WAYS[name], function))(ua.asarray(VALUE))
        with ua.use_backend("numpy"):
            expected = np.stack([np.asarray(WAYS[name](function)(ua.asarray(row))) for row in ROWS])
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9, atol=1e-10, err_msg=name)


def test_tangents_go_through_a_loop_whose_steps_are_counted_by_values(backend: str) -> None:
    assert_compiled(FORWARDS, whiled)


def test_a_pullback_of_such_a_loop_is_made_of_its_steps(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="steps are Python's")
    expected = by_numpy(ua.grad, whiled)
    for function in (whiled, ua.checkpoint(whiled)):
        found = ua.compile(lambda x, function=function: ua.vjp(function, x)[1](1.0)[0])(ua.asarray(VALUE))
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-9)


@pytest.mark.parametrize("function", [*FUNCTIONS, whiled])
def test_derivatives_of_loops_are_part_of_the_graph(backend: str, function: Function) -> None:
    skip_unless(backend, "numpy", why="a graph is the same on every engine")
    one_by_one = {name: way for name, way in WAYS.items() if name != "columns"}
    ways = {whiled: FORWARDS, written: one_by_one}.get(function, {**WAYS, **BATCHES})
    for way in ways.values():
        nodes = ua.graph.trace(way(function), ua.asarray(VALUE)).apply_nodes
        assert not any(isinstance(node.op, TransformedOp) for node in nodes), way
    if ways.keys() > WAYS.keys():
        nodes = ua.graph.trace(batched(WAYS["hvp"], function), ua.asarray(VALUE)).apply_nodes
        assert not any(isinstance(node.op, TransformedOp) for node in nodes)


def test_a_maximum_of_selected_elements(backend: str) -> None:
    def function(x: Any) -> Any:
        return ua.max(x[x > -0.5] * x[x > -0.5]) * ua.min(x[x > 0.1])

    assert_compiled({name: WAYS[name] for name in ("grad", "jvp", "hvp")}, function)
