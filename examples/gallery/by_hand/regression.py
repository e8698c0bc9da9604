"""The Gaussian process of ``regression.py`` on the engines' own arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.optimize import minimize

from ..regression import START


def search(ask: Callable[[np.ndarray], Any]) -> np.ndarray:
    """Return the logarithms that L-BFGS finds."""
    return minimize(ask, START, jac=True, method="L-BFGS-B").x


def numpy(x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[Any, ...]:
    """With a gradient that was derived on paper."""
    squares = (x[:, None] - x) ** 2

    def factor(logarithms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        smooth = np.exp(2 * logarithms[1] - 0.5 * squares * np.exp(-2 * logarithms[0]))
        return smooth, np.linalg.cholesky(smooth + (np.exp(2 * logarithms[2]) + 1e-8) * np.eye(len(x)))

    def ask(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        smooth, lower = factor(logarithms)
        weights = cho_solve((lower, True), y)
        value = 0.5 * y @ weights + np.log(np.diag(lower)).sum() + 0.5 * len(x) * np.log(2 * np.pi)
        inner = np.outer(weights, weights) - cho_solve((lower, True), np.eye(len(x)))
        slope = (
            0.5 * np.sum(inner * smooth * squares) * np.exp(-2 * logarithms[0]),
            np.sum(inner * smooth),
            np.trace(inner) * np.exp(2 * logarithms[2]),
        )
        return value, -np.array(slope)

    found = search(ask)
    lower = factor(found)[1]
    between = np.exp(2 * found[1] - 0.5 * (x[:, None] - places) ** 2 * np.exp(-2 * found[0]))
    seen = solve_triangular(lower, between, lower=True)
    mean = seen.T @ solve_triangular(lower, y, lower=True)
    return mean, np.sqrt(np.exp(2 * found[1]) - np.sum(seen**2, axis=0)), np.exp(found)


def torch(x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[Any, ...]:
    """With torch's gradient."""
    import torch

    x, y, places = map(torch.tensor, (x, y, places))
    solved = torch.linalg.solve_triangular

    def covariance(x: Any, y: Any, logarithms: Any) -> Any:
        return torch.exp(2 * logarithms[1] - 0.5 * ((x[:, None] - y) * torch.exp(-logarithms[0])) ** 2)

    def factor(logarithms: Any) -> Any:
        # Not in place: torch's derivative of exp needs its result as it was.
        noise = (torch.exp(2 * logarithms[2]) + 1e-8) * torch.eye(len(x), dtype=torch.float64)
        return torch.linalg.cholesky(covariance(x, x, logarithms) + noise)

    def ask(given: np.ndarray) -> tuple[float, np.ndarray]:
        logarithms = torch.tensor(given, requires_grad=True)
        lower = factor(logarithms)
        fit = solved(lower, y[:, None], upper=False)
        value = 0.5 * torch.sum(fit**2) + torch.sum(torch.log(lower.diagonal())) + 0.5 * len(x) * np.log(2 * np.pi)
        value.backward()
        return value.item(), logarithms.grad.numpy()

    found = torch.tensor(search(ask))
    lower = factor(found)
    seen = solved(lower, covariance(x, places, found), upper=False)
    mean = seen.T @ solved(lower, y[:, None], upper=False)[:, 0]
    return mean, torch.sqrt(torch.exp(2 * found[1]) - torch.sum(seen**2, dim=0)), torch.exp(found)


@cache
def jax_functions() -> Any:
    import jax
    import jax.numpy as jnp
    from jax.scipy.linalg import solve_triangular

    def covariance(x: Any, y: Any, logarithms: Any) -> Any:
        return jnp.exp(2 * logarithms[1] - 0.5 * ((x[:, None] - y) * jnp.exp(-logarithms[0])) ** 2)

    def factor(x: Any, logarithms: Any) -> Any:
        places = jnp.arange(len(x))
        measured = covariance(x, x, logarithms).at[places, places].add(jnp.exp(2 * logarithms[2]) + 1e-8)
        return jnp.linalg.cholesky(measured)

    def lost(logarithms: Any, x: Any, y: Any) -> Any:
        lower = factor(x, logarithms)
        fit = solve_triangular(lower, y, lower=True)
        return 0.5 * jnp.sum(fit**2) + jnp.sum(jnp.log(jnp.diag(lower))) + 0.5 * len(x) * np.log(2 * np.pi)

    def predict(logarithms: Any, x: Any, y: Any, places: Any) -> Any:
        lower = factor(x, logarithms)
        seen = solve_triangular(lower, covariance(x, places, logarithms), lower=True)
        mean = seen.T @ solve_triangular(lower, y, lower=True)
        return mean, jnp.sqrt(jnp.exp(2 * logarithms[1]) - jnp.sum(seen**2, axis=0)), jnp.exp(logarithms)

    return jax.jit(jax.value_and_grad(lost)), jax.jit(predict)


def jax(x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[Any, ...]:
    """With JAX's gradient."""
    lost, predict = jax_functions()

    def ask(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = lost(logarithms, x, y)
        return float(value), np.asarray(slope)

    return predict(search(ask), x, y, places)


@cache
def tensorflow_functions() -> Any:
    import tensorflow as tf

    def covariance(x: Any, y: Any, logarithms: Any) -> Any:
        return tf.exp(2 * logarithms[1] - 0.5 * ((x[:, None] - y) * tf.exp(-logarithms[0])) ** 2)

    def factor(x: Any, logarithms: Any) -> Any:
        measured = covariance(x, x, logarithms)
        return tf.linalg.cholesky(
            tf.linalg.set_diag(measured, tf.linalg.diag_part(measured) + tf.exp(2 * logarithms[2]) + 1e-8)
        )

    @tf.function
    def lost(logarithms: Any, x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(logarithms)
            lower = factor(x, logarithms)
            fit = tf.linalg.triangular_solve(lower, y[:, None])
            value = 0.5 * tf.reduce_sum(fit**2) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lower)))
            value += 0.5 * len(x) * np.log(2 * np.pi)
        return value, tape.gradient(value, logarithms)

    @tf.function
    def predict(logarithms: Any, x: Any, y: Any, places: Any) -> Any:
        lower = factor(x, logarithms)
        seen = tf.linalg.triangular_solve(lower, covariance(x, places, logarithms))
        mean = tf.linalg.matvec(seen, tf.linalg.triangular_solve(lower, y[:, None])[:, 0], transpose_a=True)
        return mean, tf.sqrt(tf.exp(2 * logarithms[1]) - tf.reduce_sum(seen**2, axis=0)), tf.exp(logarithms)

    return lost, predict


def tensorflow(x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[Any, ...]:
    """With TensorFlow's gradient."""
    import tensorflow as tf

    lost, predict = tensorflow_functions()
    x, y, places = map(tf.constant, (x, y, places))

    def ask(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = lost(tf.constant(logarithms), x, y)
        return float(value), slope.numpy()

    return predict(tf.constant(search(ask)), x, y, places)
