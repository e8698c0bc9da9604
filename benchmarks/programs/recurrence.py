"""The gradient of a loop of many steps, which keeps residuals of the steps, or recomputes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, Program, done, natives
from .slopes import jitted

STEPS, LENGTH = 1000, 0.01


def arrays(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.random(n), rng.random(n)]


KEPT = Program("scan of 1,000 steps", arrays, [(10_000,)])
AGAIN = Program("scan of 1,000 steps, checkpoint", arrays, [(10_000,)])


def step(xp: Any, x: Any, a: Any) -> Any:
    y = xp.tanh(a * x)
    return x + LENGTH * (y * y - xp.sin(x) * a)


def ours(checkpoint: bool) -> Callable[..., Any]:
    def make(compile: Any, *arrays: ua.Array) -> Callable[[], Any]:
        def one(x: ua.Array, a: ua.Array) -> ua.Array:
            return step(ua, x, a)

        function = ua.checkpoint(one) if checkpoint else one

        def energy(x: ua.Array, a: ua.Array) -> ua.Array:
            x, _ = ua.scan(lambda x, _: (function(x, a), None), x, length=STEPS)
            return ua.sum(x * x)

        gradient = compile(ua.grad(energy, argnums=(0, 1)))
        return lambda: done(gradient(*arrays))

    return make


KEPT.both(ours(checkpoint=False))
AGAIN.both(ours(checkpoint=True))


def by_hand(checkpoint: bool) -> Callable[..., Any]:
    """The states are kept, or else the slopes of each step."""

    def slopes(x: np.ndarray, a: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        bend = 2 * y * (1 - y * y)
        return 1 + LENGTH * a * (bend - np.cos(x)), LENGTH * (bend * x - np.sin(x))

    def make(start: np.ndarray, a: np.ndarray) -> Callable[[], Any]:
        def run() -> Any:
            x, kept = start, []
            for _ in range(STEPS):
                y = np.tanh(a * x)
                kept.append(x if checkpoint else slopes(x, a, y))
                x = x + LENGTH * (y * y - np.sin(x) * a)
            g, of_a = 2 * x, np.zeros_like(a)
            while kept:
                last = kept.pop()
                by_x, by_a = slopes(last, a, np.tanh(a * last)) if checkpoint else last
                of_a += g * by_a
                g *= by_x
            return g, of_a

        return run

    return make


KEPT.contender("numpy", BY_HAND)(by_hand(checkpoint=False))
AGAIN.contender("numpy", BY_HAND)(by_hand(checkpoint=True))


def on_torch(checkpoint: bool) -> Callable[..., Any]:
    def make(*arrays: np.ndarray) -> Callable[[], Any]:
        leaves = [each.requires_grad_() for each in natives("torch", arrays)]
        import torch
        from torch.utils.checkpoint import checkpoint as again

        def run() -> Any:
            x, a = leaves
            for _ in range(STEPS):
                x = again(step, torch, x, a, use_reentrant=False) if checkpoint else step(torch, x, a)
            return torch.autograd.grad((x * x).sum(), leaves)

        return run

    return make


KEPT.contender("torch", "by hand")(on_torch(checkpoint=False))
AGAIN.contender("torch", "by hand")(on_torch(checkpoint=True))


def on_jax(checkpoint: bool) -> Callable[[Any, Any], Callable[..., Any]]:
    def make(jax: Any, xp: Any) -> Callable[..., Any]:
        def one(x: Any, a: Any) -> Any:
            return step(xp, x, a)

        function = jax.checkpoint(one) if checkpoint else one

        def energy(x: Any, a: Any) -> Any:
            x, _ = jax.lax.scan(lambda x, _: (function(x, a), None), x, length=STEPS)
            return xp.sum(x * x)

        return jax.grad(energy, argnums=(0, 1))  # type: ignore[no-any-return]

    return make


jitted(KEPT, on_jax(checkpoint=False))
jitted(AGAIN, on_jax(checkpoint=True))


@KEPT.contender("tensorflow", "tf.function")
def on_tensorflow(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("tensorflow", arrays)
    import tensorflow as tf

    @tf.function
    def gradient(start: Any, a: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((start, a))
            x = start
            for _ in tf.range(STEPS):
                x = step(tf, x, a)
            value = tf.reduce_sum(x * x)
        return tape.gradient(value, (start, a))

    return lambda: gradient(*given)
