"""Functions with derivatives of their own in batches, and inside derivatives that aren't taken by their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import LostDerivativeError, TracedMutationError, UnifyarrError

from ..oracle import as_numpy
from .through import engines

Function = Callable[..., Any]
WAYS: dict[str, Function] = {"eager": lambda f: f, "compiled": ua.compile}
KINDS = ("vjp", "jvp")


def declared(kind: str) -> tuple[Function, list[str]]:
    """Return ``x * y`` with seven times its derivative by ``x``, of a nest and a number, and a list of calls."""
    calls: list[str] = []

    def function(nest: Any, y: Any) -> Any:
        calls.append("function")
        return nest["x"] * y, ua.sum(nest["x"])

    if kind == "jvp":
        made: Any = ua.custom_jvp(function)

        def derivative(primals: Any, tangents: Any) -> Any:
            (nest, y), (t, s) = primals, tangents
            calls.append("derivative")
            return function(nest, y), (7.0 * t["x"] * y + nest["x"] * s, ua.sum(t["x"]))

        made.defjvp(derivative)
        return made, calls

    def forward(nest: Any, y: Any) -> Any:
        calls.append("forward")
        return (nest["x"] * y, ua.sum(nest["x"])), (nest["x"], y, "kept")

    def backward(kept: Any, g: Any) -> Any:
        x, y, name = kept
        calls.append("backward")
        assert name == "kept"
        return {"x": 7.0 * g[0] * y + g[1], "n": None}, ua.sum(x * g[0])

    made = ua.custom_vjp(function)
    made.defvjp(forward, backward)
    return made, calls


def total(function: Function) -> Function:
    """Return the sum of the results of a function of a row and a number."""

    def of_row(x: ua.Array, y: Any) -> ua.Array:
        first, second = function({"x": x, "n": 3}, y)
        return ua.sum(first) + second

    return of_row


X = np.sin(np.arange(6.0)).reshape(2, 3)
Y = np.array([2.0, -1.0])
OF_X = 7.0 * np.broadcast_to(Y[:, None], X.shape) + 1.0


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_in_a_derivative_calls_it_once(backend: str, kind: str, way: str) -> None:
    function, calls = declared(kind)
    row = total(function)
    by_both = ua.grad(lambda x, y: ua.sum(ua.vmap(row)(x, y)), (0, 1))
    found = WAYS[way](by_both)(ua.asarray(X), ua.asarray(Y))
    np.testing.assert_allclose(as_numpy(found[0]), OF_X)
    np.testing.assert_allclose(as_numpy(found[1]), X.sum(1))
    assert len(calls) <= 3
    # A shared argument has the sum of the elements' cotangents.
    shared = ua.grad(lambda x, y: ua.sum(ua.vmap(row, (0, None))(x, y)), (0, 1))
    found = WAYS[way](shared)(ua.asarray(X), ua.asarray(2.0))
    np.testing.assert_allclose(as_numpy(found[0]), np.full((2, 3), 15.0))
    np.testing.assert_allclose(as_numpy(found[1]), X.sum())
    along = WAYS[way](lambda x, t: ua.jvp(lambda x: ua.vmap(row)(x, ua.asarray(Y)), (x,), (t,))[1])
    np.testing.assert_allclose(as_numpy(along(ua.asarray(X), ua.asarray(X))), (OF_X * X).sum(1))


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_batches(backend: str, kind: str, way: str) -> None:
    row = total(declared(kind)[0])
    squares = ua.vmap(ua.vmap(row, (0, None)), (None, 0))
    gradient = ua.grad(lambda x, y: ua.sum(squares(x, y)), (0, 1))
    found = WAYS[way](gradient)(ua.asarray(X), ua.asarray(Y))
    np.testing.assert_allclose(as_numpy(found[0]), np.full((2, 3), 7.0 * Y.sum() + 2.0))
    np.testing.assert_allclose(as_numpy(found[1]), np.full(2, X.sum()))


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_by_what_the_inner_one_holds_constant(backend: str, kind: str, way: str) -> None:
    row = total(declared(kind)[0])
    # The inner derivative is by ``z``, of which the function isn't one; it's row(x, y) itself.
    inner: dict[str, Function] = {
        "grad": lambda x, y: ua.grad(lambda z: z * row(x, y))(ua.asarray(3.0)),
        "jvp": lambda x, y: ua.jvp(lambda z: z * row(x, y), (ua.asarray(3.0),), (ua.asarray(1.0),))[1],
        "vmap": lambda x, y: ua.sum(ua.vmap(lambda z: z * row(x, y))(ua.asarray([0.25, 0.75]))),
        "both": lambda x, y: ua.sum(ua.vmap(ua.grad(lambda z: z * row(x, y)))(ua.asarray([0.25, 0.75]))) / 2.0,
    }
    for name, function in inner.items():
        found = WAYS[way](ua.grad(function, (0, 1)))(ua.asarray(X[0]), ua.asarray(2.0))
        np.testing.assert_allclose(as_numpy(found[0]), np.full(3, 15.0), err_msg=name)
        np.testing.assert_allclose(as_numpy(found[1]), X[0].sum(), err_msg=name)
    found = WAYS[way](ua.vmap(ua.grad(inner["grad"])))(ua.asarray(X), ua.asarray(Y))
    np.testing.assert_allclose(as_numpy(found), OF_X)


@pytest.mark.parametrize("kind", KINDS)
def test_forward_mode_of_an_engines_own(backend: str, kind: str) -> None:
    for engine in engines(backend):
        row = total(declared(kind)[0])
        forward = ua.vmap(lambda x, y: ua.jacobian(row, mode="forward", backend=engine)(x, y), backend=engine)
        np.testing.assert_allclose(as_numpy(forward(ua.asarray(X), ua.asarray(Y))), OF_X)
        pushed = ua.jvp(lambda x: row(x, ua.asarray(2.0)), (ua.asarray(X[0]),), (ua.asarray(X[1]),), backend=engine)[1]
        np.testing.assert_allclose(as_numpy(pushed), 15.0 * X[1].sum())


def test_a_batch_in_the_users_own_derivative(backend: str) -> None:
    if backend != "jax":
        pytest.skip("jax.grad is JAX's")
    import jax

    for kind in KINDS:
        row = total(declared(kind)[0])
        found = jax.grad(lambda x, row=row: ua.sum(ua.vmap(row)(ua.asarray(x), ua.asarray(Y))).native)(
            jax.numpy.array(X)
        )
        np.testing.assert_allclose(np.asarray(found), OF_X)


def test_what_it_writes_or_reads_in_a_batch_says_so(backend: str) -> None:
    @ua.custom_vjp
    def writing(x: ua.Array) -> ua.Array:
        x *= 2.0
        return x

    def forward(x: ua.Array) -> Any:
        x *= 2.0
        return x, None

    writing.defvjp(forward, lambda kept, g: (g,))
    with pytest.raises(TracedMutationError, match=r"writing\(\)"):
        ua.grad(lambda x: ua.sum(ua.vmap(writing)(x)))(ua.asarray(X))

    def reads(x: ua.Array) -> ua.Array:
        outside = x * 2.0

        @ua.custom_vjp
        def reading(y: ua.Array) -> ua.Array:
            return y * outside

        reading.defvjp(lambda y: (y * outside, None), lambda kept, g: (g,))
        return ua.sum(reading(x))

    with pytest.raises((LostDerivativeError, UnifyarrError)):
        ua.grad(lambda x: ua.sum(ua.vmap(reads)(x)))(ua.asarray(X))
