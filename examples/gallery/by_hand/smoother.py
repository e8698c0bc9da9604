"""The smoother of ``smoother.py`` on the engines' own arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..smoother import BLUR, DRIFT, MOVES, SHOWS


def looped(xp: Any, seen: Any, there: Any, moves: Any, shows: Any, drift: Any, blur: Any, start: Any) -> Any:
    """NumPy's functions and torch's have the same names here."""
    steps = len(seen)
    (mean, spread), (means, spreads) = start, (xp.empty((steps, 4)), xp.empty((steps, 4, 4)))
    for step in range(steps):
        mean = moves @ mean
        spread = moves @ spread @ moves.T + drift
        gain = there[step] * (spread @ shows.T @ xp.linalg.inv(shows @ spread @ shows.T + blur))
        mean = mean + gain @ (seen[step] - shows @ mean)
        spread = spread - gain @ shows @ spread
        means[step], spreads[step] = mean, spread
    for step in range(steps - 2, -1, -1):
        expected = moves @ spreads[step] @ moves.T + drift
        gain = spreads[step] @ moves.T @ xp.linalg.inv(expected)
        means[step] += gain @ (means[step + 1] - moves @ means[step])
        spreads[step] += gain @ (spreads[step + 1] - expected) @ gain.T
    return means, spreads


def numpy(seen: np.ndarray, there: np.ndarray) -> tuple[Any, ...]:
    """In place, by loops of Python."""
    return looped(np, seen, there, MOVES, SHOWS, DRIFT, BLUR, (np.zeros(4), 10.0 * np.eye(4)))


def torch(seen: np.ndarray, there: np.ndarray) -> tuple[Any, ...]:
    """In place, by loops of Python."""
    import torch

    before, _ = torch.get_default_dtype(), torch.set_default_dtype(torch.float64)
    try:
        given = (torch.tensor(x) for x in (seen, there, MOVES, SHOWS, DRIFT, BLUR))
        return looped(torch, *given, (torch.zeros(4), 10.0 * torch.eye(4)))
    finally:
        torch.set_default_dtype(before)


@cache
def jax_smooth() -> Any:
    import jax
    import jax.numpy as jnp

    def forward(state: Any, x: Any) -> Any:
        (mean, spread), (seen, there) = state, x
        mean = MOVES @ mean
        spread = MOVES @ spread @ MOVES.T + DRIFT
        gain = there * (spread @ SHOWS.T @ jnp.linalg.inv(SHOWS @ spread @ SHOWS.T + BLUR))
        mean = mean + gain @ (seen - SHOWS @ mean)
        spread = spread - gain @ SHOWS @ spread
        return (mean, spread), (mean, spread)

    def backward(after: Any, x: Any) -> Any:
        (later, later_spread), (mean, spread) = after, x
        expected = MOVES @ spread @ MOVES.T + DRIFT
        gain = spread @ MOVES.T @ jnp.linalg.inv(expected)
        mean = mean + gain @ (later - MOVES @ mean)
        spread = spread + gain @ (later_spread - expected) @ gain.T
        return (mean, spread), (mean, spread)

    def smooth(seen: Any, there: Any) -> Any:
        last, (means, spreads) = jax.lax.scan(forward, (jnp.zeros(4), 10.0 * jnp.eye(4)), (seen, there))
        _, (before, spreads_before) = jax.lax.scan(backward, last, (means[:-1], spreads[:-1]), reverse=True)
        return jnp.concat([before, last[0][None]]), jnp.concat([spreads_before, last[1][None]])

    return jax.jit(smooth)


def jax(seen: np.ndarray, there: np.ndarray) -> tuple[Any, ...]:
    """By ``lax.scan``."""
    return jax_smooth()(seen, there)


@cache
def tensorflow_smooth() -> Any:
    import tensorflow as tf

    moves, shows, drift, blur = (tf.constant(x) for x in (MOVES, SHOWS, DRIFT, BLUR))
    moved, shown = tf.transpose(moves), tf.transpose(shows)

    def forward(state: Any, x: Any) -> Any:
        (mean, spread), (seen, there) = state, x
        mean = tf.linalg.matvec(moves, mean)
        spread = moves @ spread @ moved + drift
        gain = there * (spread @ shown @ tf.linalg.inv(shows @ spread @ shown + blur))
        mean += tf.linalg.matvec(gain, seen - tf.linalg.matvec(shows, mean))
        return mean, spread - gain @ shows @ spread

    def backward(after: Any, x: Any) -> Any:
        (later, later_spread), (mean, spread) = after, x
        expected = moves @ spread @ moved + drift
        gain = spread @ moved @ tf.linalg.inv(expected)
        mean += tf.linalg.matvec(gain, later - tf.linalg.matvec(moves, mean))
        return mean, spread + gain @ (later_spread - expected) @ tf.transpose(gain)

    @tf.function
    def smooth(seen: Any, there: Any) -> Any:
        start = tf.zeros(4, tf.float64), 10.0 * tf.eye(4, dtype=tf.float64)
        means, spreads = tf.scan(forward, (seen, there), start)
        last = means[-1], spreads[-1]
        before, spreads_before = tf.scan(backward, (means[:-1], spreads[:-1]), last, reverse=True)
        return tf.concat([before, last[0][None]], 0), tf.concat([spreads_before, last[1][None]], 0)

    return smooth


def tensorflow(seen: np.ndarray, there: np.ndarray) -> tuple[Any, ...]:
    """By ``tf.scan``."""
    import tensorflow as tf

    return tensorflow_smooth()(tf.constant(seen), tf.constant(there))
