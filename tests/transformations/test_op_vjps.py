"""Declared derivatives of users' operations: they come first, with a kernel and without, wherever one is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import ShapeError

from ..oracle import assert_same
from .through import engines, fresh

X = np.array([0.5, -1.0, 2.0])
WAYS: dict[str, Callable[..., Any]] = {"eager": lambda f: f, "compiled": ua.compile}


def scaled(*, body: bool, kernel: str | None) -> Any:
    """Return ``x**2 * y * scale`` whose derivative by ``x`` is three times what it would be."""

    @ua.op
    def function(x: Array, y: Array, /, scale: float = 1.0) -> Array:
        """Return a product."""
        return x * x * y * scale if body else None  # type: ignore[return-value]

    if kernel is not None:
        function.kernel(kernel)(lambda x, y, scale: x * x * y * scale)

    @function.vjp
    def _(g: Array, result: Array, x: Array, y: Array, scale: float) -> Any:
        assert result.shape == x.shape
        along = g * x
        along *= 6.0 * scale
        return along * y, ua.sum(g * x * x * scale) if y.ndim == 0 else g * x * x * scale

    return function


@pytest.mark.parametrize("kind", ["kernel and body", "kernel", "body"])
def test_a_declared_derivative_comes_first(backend: str, kind: str) -> None:
    function = scaled(body="body" in kind, kernel=backend if "kernel" in kind else None)
    x, y = fresh(X, 2)
    for way in WAYS.values():
        assert_same(way(function)(x, y, scale=0.5), X**2, rtol=1e-12)
        by_x, by_y = way(ua.grad(lambda x, y: ua.sum(function(x, y, scale=0.5)), (0, 1)))(x, y)
        assert_same(by_x, 6 * X, rtol=1e-12)
        assert_same(by_y, np.sum(X**2) / 2, rtol=1e-12)
        assert_same(way(lambda x: ua.jvp(lambda x: function(x, y), (x,), (ua.ones(3),))[1])(x), 12 * X, rtol=1e-12)
        second = ua.grad(lambda x: ua.sum(ua.grad(lambda x: ua.sum(function(x, y)))(x)))
        assert_same(way(second)(x), np.full(3, 12.0), rtol=1e-12)
    for engine in engines(backend):
        if engine or (backend != "numpy" and "kernel" in kind):
            if engine and "body" not in kind:
                # The other engine has no kernel.
                continue
            gradient = ua.grad(lambda x: ua.sum(function(x, y)), backend=engine or backend)
            assert_same(gradient(x), 12 * X, rtol=1e-12)


def test_it_holds_in_loops_and_inside_checkpoint(backend: str) -> None:
    function = scaled(body=True, kernel=backend)
    x, y = fresh(X, 0.5)

    def loss(x: Array) -> Array:
        carry, _ = ua.scan(lambda c, _: (ua.checkpoint(function)(c, y), None), x, length=2)
        return ua.sum(carry)

    # x -> x**2 / 2 -> x**4 / 8, each with three times its derivative.
    for way in WAYS.values():
        assert_same(way(ua.grad(loss))(x), 9 * X**3 / 2, rtol=1e-12)


def test_sequences_several_results_and_what_is_no_array(backend: str) -> None:
    @ua.op
    def both(first: Array, *others: Array, offset: float) -> tuple[Array, Array]:
        """Return the sum, and the product."""
        total, product = first + offset, first * 1.0
        for x in others:
            total, product = total + x, product * x
        return total, product

    @both.vjp
    def _(g: Any, results: Any, first: Array, *others: Array, offset: float) -> Any:
        assert len(results) == 2
        # Twice what it is.
        return tuple(2 * (g[0] + g[1] * results[1] / x) for x in (first, *others))

    a, b, c = fresh(X, X + 3, X + 5)
    found = ua.grad(lambda a, b, c: ua.sum(both(a, b, c, offset=1.0)[1]), (0, 1, 2))(a, b, c)
    assert_same(found[1], 2 * X * (X + 5), rtol=1e-12)
    found = ua.grad(lambda a, b, c: ua.sum(both(a, b, c, offset=1.0)[0]), (0, 1, 2))(a, b, c)
    assert_same(found[2], np.full(3, 2.0))


def _returning(found: Callable[[Array], Any]) -> Any:
    @ua.op
    def function(x: Array) -> Array:
        """Return twice an array."""
        return x * 2.0

    function.vjp(lambda g, result, x: found(g))
    return function


def test_what_is_declared_wrongly_says_so(backend: str) -> None:
    (x,) = fresh(X)
    for returned, error, text in (
        (lambda g: g, TypeError, "tuple of 1"),
        (lambda g: (g, g), TypeError, "tuple of 1"),
        (lambda g: (ua.sum(g),), ShapeError, "shape"),
    ):
        function = _returning(returned)
        with pytest.raises(error, match=text):
            ua.grad(lambda x, function=function: ua.sum(function(x)))(x)
    assert_same(ua.grad(lambda x: ua.sum(_returning(lambda g: (None,))(x) + x))(x), np.ones(3))
    with pytest.raises(ValueError, match="already"):
        function.vjp(lambda g, result, x: (g,))
    with pytest.raises(TypeError, match="function"):
        ua.op(arrays=["x"])(lambda x: x).vjp(3)
    with pytest.raises(AttributeError, match="vjp"):
        function.grad = lambda: None
