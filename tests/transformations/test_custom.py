"""``custom_vjp`` and ``custom_jvp``: derivatives that people declare, wherever a derivative is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import LostDerivativeError, ShapeError, StructureError, TracedMutationError

from ..natives import values_of
from ..oracle import as_numpy, assert_same
from .through import engines, fresh

Function = Callable[..., Any]
X = np.array([0.5, -1.0, 2.0])
WAYS: dict[str, Function] = {"eager": lambda f: f, "compiled": ua.compile}


def tripled_by_vjp() -> tuple[Function, list[str]]:
    """Return ``x**3 * y`` with twice its derivative by ``x``, and a list of the calls."""
    calls: list[str] = []

    @ua.custom_vjp
    def function(x: ua.Array, y: Any) -> ua.Array:
        calls.append("function")
        return x**3 * y

    def forward(x: ua.Array, y: Any) -> Any:
        calls.append("forward")
        z = x * x
        z *= 3.0
        return x**3 * y, {"z": z, "x": x, "y": y, "name": "kept"}

    def backward(kept: Any, g: ua.Array) -> Any:
        calls.append("backward")
        assert kept["name"] == "kept"
        twice = g * kept["z"]
        twice *= 2.0 * kept["y"]
        return twice, ua.sum(g * kept["x"] ** 3)

    function.defvjp(forward, backward)
    return function, calls


def tripled_by_jvp() -> tuple[Function, list[str]]:
    """Return the same, by the derivative forwards."""
    calls: list[str] = []

    @ua.custom_jvp
    def function(x: ua.Array, y: Any) -> ua.Array:
        calls.append("function")
        return x**3 * y

    def derivative(primals: Any, tangents: Any) -> Any:
        calls.append("derivative")
        (x, y), (t, s) = primals, tangents
        along = 6.0 * x**2 * y * t
        along += x**3 * s
        return function(x, y), along

    function.defjvp(derivative)
    return function, calls


KINDS = {"vjp": tripled_by_vjp, "jvp": tripled_by_jvp}
# The derivatives of its sum, by x, where y is 2.
EXPECTED: dict[str, tuple[Callable[[Function], Function], np.ndarray]] = {
    "value": (lambda f: lambda x, y: f(x, y), 2 * X**3),
    "grad": (lambda f: ua.grad(lambda x, y: ua.sum(f(x, y))), 12 * X**2),
    "jvp": (lambda f: lambda x, y: ua.jvp(lambda x: f(x, y), (x,), (ua.ones(3),))[1], 12 * X**2),
    "vjp": (lambda f: lambda x, y: ua.vjp(f, x, y)[1](x)[0], 12 * X**3),
    "by y": (lambda f: ua.grad(lambda x, y: ua.sum(f(x, y) * x), 1), np.asarray(np.sum(X**4))),
    # The derivative that was declared is differentiated itself.
    "second": (lambda f: ua.grad(lambda x, y: ua.sum(ua.grad(lambda x: ua.sum(f(x, y)))(x))), 24 * X),
    "hvp": (lambda f: lambda x, y: ua.hvp(lambda x: ua.sum(f(x, y)), (x,), (ua.ones(3),)), 24 * X),
    "held": (lambda f: ua.grad(lambda x, y: ua.sum(ua.checkpoint(f)(x, y))), 12 * X**2),
    "jacobian": (lambda f: lambda x, y: ua.sum(ua.jacobian(lambda x: f(x, y))(x), axis=0), 12 * X**2),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_declared_is_the_derivative(backend: str, name: str, kind: str) -> None:
    derivative, expected = EXPECTED[name]
    ways = WAYS if name in ("value", "grad", "jvp", "hvp") else {"eager": WAYS["eager"]}
    for way in ways.values():
        function, _ = KINDS[kind]()
        x, y = fresh(X, 2)
        assert_same(way(derivative(function))(x, y), expected, rtol=1e-12)
        assert_same(x, X)


def test_the_function_runs_where_no_derivative_is_taken(backend: str) -> None:
    x, y = fresh(X, 2)
    function, calls = tripled_by_vjp()
    function(x, y)
    ua.compile(function)(x, y)
    assert set(calls) == {"function"}
    calls.clear()
    ua.grad(lambda x: ua.sum(function(x, y)))(x)
    assert calls == ["forward", "backward"]
    function, calls = tripled_by_jvp()
    ua.jvp(function, (x, y), (x, y))
    # It isn't the transpose of a transpose.
    assert calls.count("derivative") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_an_engines_own_derivative_is_the_declared_one(backend: str, kind: str) -> None:
    x, y = fresh(X, 2)
    for engine in engines(backend):
        function, _ = KINDS[kind]()
        name = engine or backend
        if name == "numpy":
            continue
        gradient = ua.grad(lambda x, function=function: ua.sum(function(x, y)), backend=name)
        assert_same(gradient(x), 12 * X**2, rtol=1e-12)
        # No derivative of ours may be inside.
        second = ua.grad(lambda x, gradient=gradient: ua.sum(gradient(x)), backend=name)
        assert_same(second(x), 24 * X, rtol=1e-12)


def test_derivatives_of_the_users_own(backend: str) -> None:
    function, _ = tripled_by_vjp()
    if backend == "torch":
        import torch

        leaf = torch.tensor(X, requires_grad=True)
        function(ua.asarray(leaf), 2.0).native.sum().backward()
        np.testing.assert_allclose(values_of(leaf.grad), 12 * X**2)
    elif backend == "jax":
        import jax

        found = jax.grad(lambda x: function(ua.asarray(x), 2.0).native.sum())(jax.numpy.asarray(X))
        np.testing.assert_allclose(np.asarray(found), 12 * X**2)
        found = jax.jit(jax.grad(lambda x: function(ua.asarray(x), 2.0).native.sum()))(jax.numpy.asarray(X))
        np.testing.assert_allclose(np.asarray(found), 12 * X**2)
    elif backend == "tensorflow":
        import tensorflow as tf

        leaf = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(leaf)
            total = tf.reduce_sum(function(ua.asarray(leaf), 2.0).native)
        np.testing.assert_allclose(values_of(tape.gradient(total, leaf)), 12 * X**2)


def test_containers_and_arguments_beside(backend: str) -> None:
    def scaled(c: Any, how: str, f: Function) -> Any:
        return ua.Container(s=f(c.x) * c.y, n=c.n)

    def forward(c: Any, how: str, f: Function) -> Any:
        return scaled(c, how, f), c

    def backward(how: str, f: Function, c: Any, g: Any) -> Any:
        assert how == "twice"
        assert g.s.shape == (3,)
        return (ua.Container(x=2 * g.s * c.y, y=0.0, n=c.n),)

    function = ua.custom_vjp(scaled, nondiff_argnums=(1, 2))
    function.defvjp(forward, backward)
    x, y = fresh(X, 3)
    given = ua.Container(x=x, y=y, n=ua.asarray([1, 2, 3]))

    def loss(x: ua.Array, y: ua.Array) -> ua.Array:
        result = function(ua.Container(x=x, y=y, n=given.n), how="twice", f=ua.sin)
        return ua.sum(result.s * ua.astype(result.n, ua.float64))

    for way in WAYS.values():
        by_x, by_y = way(ua.grad(loss, (0, 1)))(x, y)
        assert_same(by_x, [6.0, 12.0, 18.0])
        assert_same(by_y, 0.0)
    with pytest.raises(TypeError, match="nondiff_argnums"):
        function(given, x, ua.sin)


def test_methods_have_derivatives(backend: str) -> None:
    class Layer:
        factor = 3.0

        @ua.custom_jvp
        def __call__(self, x: ua.Array) -> ua.Array:
            return x * self.factor

    Layer.__dict__["__call__"].defjvp(lambda p, t: (p[1] * p[0].factor, 7.0 * t[1]))
    (x,) = fresh(X)
    assert_same(ua.grad(lambda x: ua.sum(Layer.__dict__["__call__"](Layer(), x)))(x), np.full(3, 7.0))


def _declared(forward: Function, backward: Function) -> Function:
    function = ua.custom_vjp(lambda x: x * 2.0)
    function.defvjp(forward, backward)
    return function


def _pair(x: ua.Array) -> Any:
    return x * 2.0, x


def _writes(x: ua.Array) -> Any:
    x += 1.0
    return x * 2.0, None


WRONG: dict[str, tuple[Function, Function, type[Exception], str]] = {
    "no pair": (lambda x: x, lambda x, g: (g,), TypeError, "returns a pair"),
    "a number": (lambda x: (1.0, x), lambda x, g: (g,), TypeError, "returns arrays"),
    "too many": (_pair, lambda x, g: (g, g), TypeError, "tuple of 1"),
    "no tuple": (_pair, lambda x, g: g, TypeError, "tuple of 1"),
    "another shape": (_pair, lambda x, g: (ua.sum(g),), ShapeError, "shape"),
    "another nest": (_pair, lambda x, g: ([g],), StructureError, "like each argument"),
    "a write": (_writes, lambda x, g: (g,), TracedMutationError, "writes"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_declared_wrongly_says_so(backend: str, fault: str) -> None:
    forward, backward, error, text = WRONG[fault]
    (x,) = fresh(X)
    function = _declared(forward, backward)
    for way in WAYS.values():
        with pytest.raises(error, match=text):
            way(ua.grad(lambda x: ua.sum(function(x))))(x)
    assert_same(x, X)


def test_what_it_reads_from_outside_is_constant_or_an_error(backend: str) -> None:
    (x,) = fresh(X)
    factor = ua.asarray(3.0)

    def loss(x: ua.Array, inner: ua.Array) -> ua.Array:
        function = ua.custom_vjp(lambda y: y * inner)
        function.defvjp(lambda y: (y * inner, None), lambda _, g: (g * factor,))
        return ua.sum(function(x))

    assert_same(ua.grad(loss)(x, ua.asarray(2.0)), np.full(3, 3.0))
    with pytest.raises(LostDerivativeError, match="pass it as an argument"):
        ua.grad(lambda x: loss(x, ua.sum(x)))(x)


def test_a_derivative_has_to_be_declared(backend: str) -> None:
    (x,) = fresh(X)
    for kind, name in ((ua.custom_vjp, "defvjp"), (ua.custom_jvp, "defjvp")):
        with pytest.raises(TypeError, match=name):
            kind(lambda x: x)(x)
        with pytest.raises(TypeError):
            getattr(kind(lambda x: x), name)(1)


@pytest.mark.parametrize("kind", KINDS)
def test_in_loops_of_compiled_functions(backend: str, kind: str) -> None:
    x, y = fresh(X, 2)
    function, _ = KINDS[kind]()

    def loss(x: ua.Array, y: ua.Array) -> ua.Array:
        return ua.sum(ua.fori_loop(0, 2, lambda i, x: function(x, y) * 0.1, x))

    def branch(x: ua.Array, y: ua.Array) -> ua.Array:
        return ua.sum(ua.cond(y > 1, lambda: function(x, y), lambda: x))

    assert float(ua.compile(loss)(x, y)) == pytest.approx(float(loss(x, y)))
    for program in (loss, branch):
        for number in (0, 1):
            expected = as_numpy(ua.grad(program, number)(x, y))
            assert_same(ua.compile(ua.grad(program, number))(x, y), expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_in_batches(backend: str, kind: str, compiled: bool) -> None:
    def plain(x: ua.Array) -> ua.Array:
        return ua.sum(ua.sin(x) ** 2)

    # Twice the derivative of the function shows whose derivative is taken.
    if kind == "vjp":
        declared: Any = ua.custom_vjp(plain)
        declared.defvjp(lambda x: (plain(x), x), lambda x, g: (2 * g * ua.grad(plain)(x),))
    else:
        declared = ua.custom_jvp(plain)
        declared.defjvp(lambda given, along: (plain(given[0]), 2 * ua.sum(ua.grad(plain)(given[0]) * along[0])))

    values = np.linspace(0.2, 1.4, 6).reshape(2, 3)
    x, slope = ua.asarray(values, copy=True), 2 * np.sin(2 * values)
    of_all = (np.sin(values) ** 2).sum() + slope * values.sum()
    programs: list[tuple[Any, np.ndarray]] = [
        (ua.vmap(declared), (np.sin(values) ** 2).sum(1)),
        (ua.vmap(ua.grad(declared)), slope),
        (ua.grad(lambda x: ua.sum(ua.vmap(declared)(x))), slope),
        (ua.jacobian(ua.vmap(declared)), slope[:, None] * np.eye(2)[..., None]),
        # An unmapped argument is one array for all elements.
        (ua.grad(lambda x: ua.sum(ua.vmap(lambda row: row * declared(x))(x))), of_all),
    ]
    for program, expected in programs:
        assert_same((ua.compile(program) if compiled else program)(x), expected, rtol=1e-12)
