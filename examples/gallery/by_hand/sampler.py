"""The sampler of ``sampler.py`` on the engines' own arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..sampler import CHAINS, LEAPS, SIZE


def sample(transition: Callable[..., Any], q: Any, momenta: Any, uniforms: Any) -> tuple[Any, ...]:
    """Return draws, and the share of proposals that was taken; a transition returns the new chains and which moved."""
    drawn, moved = [], np.zeros(CHAINS)
    for momentum, uniform in zip(momenta, uniforms, strict=True):
        q, taken = transition(q, momentum, uniform)
        moved += np.asarray(taken)
        drawn.append(np.asarray(q))
    return np.stack(drawn), moved / len(drawn)


def numpy(x: np.ndarray, y: np.ndarray, momenta: np.ndarray, uniforms: np.ndarray) -> tuple[Any, ...]:
    """With a gradient that was derived on paper."""

    def potential(q: np.ndarray) -> np.ndarray:
        scores = q @ x.T
        return np.sum(np.logaddexp(0.0, scores) - y * scores, axis=1) + 0.5 * np.sum(q**2, axis=1)

    def slope(q: np.ndarray) -> np.ndarray:
        return (1.0 / (1.0 + np.exp(-(q @ x.T))) - y) @ x + q

    def transition(q: np.ndarray, momentum: np.ndarray, uniform: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        new, p = q.copy(), momentum - 0.5 * SIZE * slope(q)
        for _ in range(LEAPS):
            new += SIZE * p
            p -= SIZE * slope(new)
        p += 0.5 * SIZE * slope(new)
        energy = potential(q) + 0.5 * np.sum(momentum**2, axis=1)
        moved = np.log(uniform) < energy - potential(new) - 0.5 * np.sum(p**2, axis=1)
        return np.where(moved[:, None], new, q), moved

    return sample(transition, np.zeros((CHAINS, x.shape[1])), momenta, uniforms)


def torch(x: np.ndarray, y: np.ndarray, momenta: np.ndarray, uniforms: np.ndarray) -> tuple[Any, ...]:
    """With torch's gradient."""
    import torch

    x, y, zero = torch.tensor(x), torch.tensor(y), torch.zeros((), dtype=torch.float64)

    def potential(q: Any) -> Any:
        scores = q @ x.T
        return torch.sum(torch.logaddexp(zero, scores) - y * scores, dim=1) + 0.5 * torch.sum(q**2, dim=1)

    def slope(q: Any) -> Any:
        q = q.detach().requires_grad_()
        return torch.autograd.grad(potential(q).sum(), q)[0]

    def transition(q: Any, drawn: np.ndarray, uniform: np.ndarray) -> tuple[Any, Any]:
        momentum = torch.tensor(drawn)
        new, p = q.clone(), momentum - 0.5 * SIZE * slope(q)
        for _ in range(LEAPS):
            new += SIZE * p
            p -= SIZE * slope(new)
        p += 0.5 * SIZE * slope(new)
        energy = potential(q) + 0.5 * torch.sum(momentum**2, dim=1)
        moved = torch.log(torch.tensor(uniform)) < energy - potential(new) - 0.5 * torch.sum(p**2, dim=1)
        return torch.where(moved[:, None], new, q), moved

    return sample(transition, torch.zeros((CHAINS, x.shape[1]), dtype=torch.float64), momenta, uniforms)


@cache
def jax_transition() -> Any:
    import jax
    import jax.numpy as jnp

    def potential(q: Any, x: Any, y: Any) -> Any:
        scores = q @ x.T
        return jnp.sum(jnp.logaddexp(0.0, scores) - y * scores, axis=1) + 0.5 * jnp.sum(q**2, axis=1)

    def transition(x: Any, y: Any, q: Any, momentum: Any, uniform: Any) -> tuple[Any, Any]:
        slope = jax.grad(lambda q: jnp.sum(potential(q, x, y)))

        def leap(_: int, state: Any) -> Any:
            new, p = state
            new = new + SIZE * p
            return new, p - SIZE * slope(new)

        new, p = jax.lax.fori_loop(0, LEAPS, leap, (q, momentum - 0.5 * SIZE * slope(q)))
        p = p + 0.5 * SIZE * slope(new)
        energy = potential(q, x, y) + 0.5 * jnp.sum(momentum**2, axis=1)
        moved = jnp.log(uniform) < energy - potential(new, x, y) - 0.5 * jnp.sum(p**2, axis=1)
        return jnp.where(moved[:, None], new, q), moved

    return jax.jit(transition)


def jax(x: np.ndarray, y: np.ndarray, momenta: np.ndarray, uniforms: np.ndarray) -> tuple[Any, ...]:
    """With JAX's gradient."""
    import jax.numpy as jnp

    x, y = jnp.asarray(x), jnp.asarray(y)
    return sample(partial(jax_transition(), x, y), jnp.zeros((CHAINS, x.shape[1])), momenta, uniforms)


@cache
def tensorflow_transition() -> Any:
    import tensorflow as tf

    def potential(q: Any, x: Any, y: Any) -> Any:
        scores = q @ tf.transpose(x)
        return tf.reduce_sum(tf.nn.softplus(scores) - y * scores, axis=1) + 0.5 * tf.reduce_sum(q**2, axis=1)

    def slope(q: Any, x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(q)
            value = tf.reduce_sum(potential(q, x, y))
        return tape.gradient(value, q)

    @tf.function
    def transition(x: Any, y: Any, q: Any, momentum: Any, uniform: Any) -> tuple[Any, Any]:
        new, p = q, momentum - 0.5 * SIZE * slope(q, x, y)
        for _ in tf.range(LEAPS):
            new += SIZE * p
            p -= SIZE * slope(new, x, y)
        p += 0.5 * SIZE * slope(new, x, y)
        energy = potential(q, x, y) + 0.5 * tf.reduce_sum(momentum**2, axis=1)
        moved = tf.math.log(uniform) < energy - potential(new, x, y) - 0.5 * tf.reduce_sum(p**2, axis=1)
        return tf.where(moved[:, None], new, q), moved

    return transition


def tensorflow(x: np.ndarray, y: np.ndarray, momenta: np.ndarray, uniforms: np.ndarray) -> tuple[Any, ...]:
    """With TensorFlow's gradient."""
    import tensorflow as tf

    x, y = tf.constant(x), tf.constant(y)
    return sample(partial(tensorflow_transition(), x, y), tf.zeros((CHAINS, x.shape[1]), tf.float64), momenta, uniforms)
