"""The gradient of eight steps of the wave equation, written with views and ``+=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, FUNCTION, Program, done, natives
from .slopes import jitted

STEPS, LENGTH = 8, 0.1
INNER = np.s_[1:-1, 1:-1]
NEIGHBOURS = np.s_[:-2, 1:-1], np.s_[2:, 1:-1], np.s_[1:-1, :-2], np.s_[1:-1, 2:]


def arrays(n: int) -> list[np.ndarray]:
    """Return heights, speeds, and the stiffness of the cells that aren't on the edge."""
    rng = np.random.default_rng(0)
    return [rng.random((n, n)), rng.random((n, n)), rng.random((n - 2, n - 2))]


PROGRAM = Program("wave equation, eight steps", arrays, [(708,)])


def laplacian(u: Any) -> Any:
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[INNER]


def moved(u: Any, v: Any, k: Any) -> Any:
    """Move arrays that may be written, and return their energy."""
    for _ in range(STEPS):
        v[INNER] += k * laplacian(u)
        u += LENGTH * v
    return (u * u).sum()


@PROGRAM.both
def ours(compile: Any, *arrays: ua.Array) -> Callable[[], Any]:
    gradient = compile(ua.grad(lambda u, v, k: moved(u.copy(), v.copy(), k), argnums=(0, 1, 2)))
    return lambda: done(gradient(*arrays))


@PROGRAM.contender("numpy", BY_HAND)
def adjoint(u0: np.ndarray, v0: np.ndarray, k: np.ndarray) -> Callable[[], Any]:
    def run() -> Any:
        u, v, scratch = u0.copy(), v0.copy(), np.empty_like(u0)
        laplacians, push = np.empty((STEPS, *k.shape)), np.empty_like(k)
        for flow in laplacians:
            np.multiply(u[INNER], -4, out=flow)
            for near in NEIGHBOURS:
                flow += u[near]
            v[INNER] += np.multiply(flow, k, out=push)
            u += np.multiply(v, LENGTH, out=scratch)
        # From here on they're the cotangents.
        u *= 2
        v[...] = 0
        of_k = np.zeros_like(k)
        for flow in laplacians[::-1]:
            v += np.multiply(u, LENGTH, out=scratch)
            of_k += np.multiply(v[INNER], flow, out=flow)
            np.multiply(v[INNER], k, out=push)
            for near in NEIGHBOURS:
                u[near] += push
            push *= 4
            u[INNER] -= push
        return u, v, of_k

    return run


@PROGRAM.contender("torch", "by hand")
def on_torch(*arrays: np.ndarray) -> Callable[[], Any]:
    from torch.autograd import grad

    leaves = [each.requires_grad_() for each in natives("torch", arrays)]
    u, v, k = leaves
    return lambda: grad(moved(u.clone(), v.clone(), k), leaves)


def on_jax(jax: Any, xp: Any) -> Callable[..., Any]:
    def energy(u: Any, v: Any, k: Any) -> Any:
        for _ in range(STEPS):
            v = v.at[INNER].add(k * laplacian(u))
            u = u + LENGTH * v
        return xp.sum(u * u)

    return jax.grad(energy, argnums=(0, 1, 2))  # type: ignore[no-any-return]


jitted(PROGRAM, on_jax)


@PROGRAM.contender("tensorflow", FUNCTION)
def on_tensorflow(*arrays: np.ndarray) -> Callable[[], Any]:
    given = natives("tensorflow", arrays)
    import tensorflow as tf

    @tf.function
    def gradient(u: Any, v: Any, k: Any) -> Any:
        sources = u, v, k
        with tf.GradientTape() as tape:
            tape.watch(sources)
            for _ in range(STEPS):
                v += tf.pad(k * laplacian(u), [[1, 1], [1, 1]])
                u += LENGTH * v
            value = tf.reduce_sum(u * u)
        return tape.gradient(value, sources)

    return lambda: gradient(*given)
