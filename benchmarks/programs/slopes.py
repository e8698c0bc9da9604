"""Derivatives of functions of a few elements: the cost of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, FUNCTION, Program, done, module_of, natives

UNITS = 16


def few(n: int) -> list[np.ndarray]:
    return [np.random.default_rng(0).standard_normal(n)]


def layer(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(n), rng.standard_normal((UNITS, n)) / n**0.5]


SQUARE = Program("gradient of sum(x * x)", few, [(4,)])
JACOBIAN = Program("Jacobian of tanh(w @ x)", layer, [(16,)])
HESSIAN = Program("Hessian of sum(tanh(w @ x) ** 2)", layer, [(16,)])


@SQUARE.both
def square(compile: Any, x: ua.Array) -> Callable[[], Any]:
    gradient = compile(ua.grad(lambda x: ua.sum(x * x)))
    return lambda: done(gradient(x))


@JACOBIAN.both
def jacobian(compile: Any, x: ua.Array, w: ua.Array) -> Callable[[], Any]:
    found = compile(ua.jacobian(lambda x, w: ua.tanh(w @ x)))
    return lambda: done(found(x, w))


@HESSIAN.both
def hessian(compile: Any, x: ua.Array, w: ua.Array) -> Callable[[], Any]:
    found = compile(ua.hessian(lambda x, w: ua.sum(ua.tanh(w @ x) ** 2)))
    return lambda: done(found(x, w))


# -- NumPy ------------------------------------------------------------------------------------------------------------


@SQUARE.contender("numpy", BY_HAND)
def numpy_square(x: np.ndarray) -> Callable[[], Any]:
    return lambda: 2 * x


@JACOBIAN.contender("numpy", BY_HAND)
def numpy_jacobian(x: np.ndarray, w: np.ndarray) -> Callable[[], Any]:
    return lambda: (1 - np.tanh(w @ x) ** 2)[:, None] * w


@HESSIAN.contender("numpy", BY_HAND)
def numpy_hessian(x: np.ndarray, w: np.ndarray) -> Callable[[], Any]:
    def run() -> Any:
        y = np.tanh(w @ x)
        slope = 1 - y * y
        return w.T @ ((2 * slope * (slope - 2 * y * y))[:, None] * w)

    return run


# -- torch ------------------------------------------------------------------------------------------------------------


@SQUARE.contender("torch", "by hand")
def torch_square(x: np.ndarray) -> Callable[[], Any]:
    from torch.autograd import grad

    leaf = natives("torch", [x])[0].requires_grad_()
    return lambda: grad((leaf * leaf).sum(), leaf)[0]


def row_by_row(result: Any, leaf: Any) -> Any:
    """Return the Jacobian of a tensor by a leaf: one pass backwards for each of its elements."""
    import torch

    passes = (torch.autograd.grad(element, leaf, retain_graph=True)[0] for element in result.unbind())
    return torch.stack(list(passes))


# torch.func, and what torch offers without it.
@JACOBIAN.contender("torch", "by hand")
def torch_jacobian(*arrays: np.ndarray) -> Callable[[], Any]:
    import torch

    x, w = natives("torch", arrays)
    found = torch.func.jacrev(lambda x, w: torch.tanh(w @ x))
    return lambda: found(x, w)


@JACOBIAN.contender("torch", "row by row")
def torch_jacobian_rows(*arrays: np.ndarray) -> Callable[[], Any]:
    import torch

    x, w = natives("torch", arrays)
    x.requires_grad_()
    return lambda: row_by_row(torch.tanh(w @ x), x)


@HESSIAN.contender("torch", "by hand")
def torch_hessian(*arrays: np.ndarray) -> Callable[[], Any]:
    import torch

    x, w = natives("torch", arrays)
    found = torch.func.hessian(lambda x, w: (torch.tanh(w @ x) ** 2).sum())
    return lambda: found(x, w)


@HESSIAN.contender("torch", "row by row")
def torch_hessian_rows(*arrays: np.ndarray) -> Callable[[], Any]:
    import torch

    x, w = natives("torch", arrays)
    x.requires_grad_()

    def run() -> Any:
        value = (torch.tanh(w @ x) ** 2).sum()
        return row_by_row(torch.autograd.grad(value, x, create_graph=True)[0], x)

    return run


# -- JAX and TensorFlow -----------------------------------------------------------------------------------------------


def jitted(program: Program, make: Callable[[Any, Any], Callable[..., Any]]) -> None:
    """Add what ``make`` returns of JAX and its functions, compiled."""

    @program.contender("jax", DONATED)
    def on_jax(*arrays: np.ndarray) -> Callable[[], Any]:
        given, xp = natives("jax", arrays), module_of("jax")
        import jax

        function = jax.jit(make(jax, xp))
        return lambda: done(function(*given))


jitted(SQUARE, lambda jax, xp: jax.grad(lambda x: xp.sum(x * x)))
jitted(JACOBIAN, lambda jax, xp: jax.jacrev(lambda x, w: xp.tanh(w @ x)))
jitted(HESSIAN, lambda jax, xp: jax.hessian(lambda x, w: xp.sum(xp.tanh(w @ x) ** 2)))


def taped(program: Program, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Add what ``make`` returns of TensorFlow, eager and as a graph."""

    def maker(name: str, graph: bool) -> None:
        @program.contender("tensorflow", name)
        def on_tensorflow(*arrays: np.ndarray) -> Callable[[], Any]:
            given = natives("tensorflow", arrays)
            import tensorflow as tf

            function = tf.function(make(tf)) if graph else make(tf)
            return lambda: function(*given)

    maker("tf.GradientTape", graph=False)
    maker(FUNCTION, graph=True)


def tape_of_square(tf: Any) -> Callable[..., Any]:
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_sum(x * x)
        return tape.gradient(value, x)

    return gradient


def tape_of_jacobian(tf: Any) -> Callable[..., Any]:
    def jacobian(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.tanh(tf.linalg.matvec(w, x))
        return tape.jacobian(value, x)

    return jacobian


def tape_of_hessian(tf: Any) -> Callable[..., Any]:
    def hessian(x: Any, w: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                value = tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, x)) ** 2)
            gradient = inner.gradient(value, x)
        return outer.jacobian(gradient, x)

    return hessian


taped(SQUARE, tape_of_square)
taped(JACOBIAN, tape_of_jacobian)
taped(HESSIAN, tape_of_hessian)
