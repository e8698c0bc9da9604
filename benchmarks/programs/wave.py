"""The wave equation on a square, 500 steps: the new state is written over the one before the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, EAGER, FUNCTION, PLAIN, Program, done, natives, require, torch_compiled

STEPS = 500
# The square of how far a wave gets in one step.
SPEED = 0.25


def arrays(length: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    state = np.zeros((length, width))
    state[length // 4 : length // 2, width // 4 : width // 2] = 1.0
    return state, state


PROGRAM = Program("wave equation, 500 steps", arrays, [(128, 128), (512, 512)])
contender = PROGRAM.contender


def after(u: Any, before: Any) -> Any:
    """Return the inner part of the next state."""
    center = u[1:-1, 1:-1]
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * center
    return 2.0 * center - before[1:-1, 1:-1] + SPEED * laplacian


def step(u: Any, before: Any) -> None:
    before[1:-1, 1:-1] = after(u, before)


def repeated(step: Callable[[Any, Any], Any], u: Any, before: Any) -> Callable[[], Any]:
    """Return a function that runs the steps, from the end of the last run, and returns the last state."""

    def run() -> Any:
        nonlocal u, before
        for _ in range(STEPS):
            new = step(u, before)
            # A step returns the new state where it can't write it.
            u, before = before if new is None else new, u
        return done(u)

    return run


@PROGRAM.ours
def ours(compile: Any, u: ua.Array, before: ua.Array) -> Callable[[], Any]:
    return repeated(compile(step), u, before)


@contender("numpy", PLAIN)
def plain(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    return repeated(step, u.copy(), before.copy())


@contender("numpy", BY_HAND)
def by_hand(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    def step(u: np.ndarray, before: np.ndarray) -> None:
        center, inner = u[1:-1, 1:-1], before[1:-1, 1:-1]
        laplacian = np.add(u[:-2, 1:-1], u[2:, 1:-1])
        np.add(laplacian, u[1:-1, :-2], out=laplacian)
        np.add(laplacian, u[1:-1, 2:], out=laplacian)
        scaled = np.multiply(center, 4.0)
        np.subtract(laplacian, scaled, out=laplacian)
        np.multiply(laplacian, SPEED, out=laplacian)
        np.multiply(center, 2.0, out=scaled)
        np.subtract(scaled, inner, out=inner)
        np.add(inner, laplacian, out=inner)

    return repeated(step, u.copy(), before.copy())


@contender("numpy", "by hand, own buffers")
def by_hand_with_buffers(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    laplacian, scaled = np.empty_like(u[1:-1, 1:-1]), np.empty_like(u[1:-1, 1:-1])

    def step(u: np.ndarray, before: np.ndarray) -> None:
        center, inner = u[1:-1, 1:-1], before[1:-1, 1:-1]
        np.add(u[:-2, 1:-1], u[2:, 1:-1], out=laplacian)
        np.add(laplacian, u[1:-1, :-2], out=laplacian)
        np.add(laplacian, u[1:-1, 2:], out=laplacian)
        np.multiply(center, 4.0, out=scaled)
        np.subtract(laplacian, scaled, out=laplacian)
        np.multiply(laplacian, SPEED, out=laplacian)
        np.multiply(center, 2.0, out=scaled)
        np.subtract(scaled, inner, out=inner)
        np.add(inner, laplacian, out=inner)

    return repeated(step, u.copy(), before.copy())


@contender("numpy", "numexpr")
def with_numexpr(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    require("numexpr")
    import numexpr

    def step(u: np.ndarray, before: np.ndarray) -> None:
        parts = {
            "center": u[1:-1, 1:-1],
            "inner": before[1:-1, 1:-1],
            "first": u[:-2, 1:-1],
            "second": u[2:, 1:-1],
            "third": u[1:-1, :-2],
            "fourth": u[1:-1, 2:],
        }
        formula = f"2.0 * center - inner + {SPEED} * (first + second + third + fourth - 4.0 * center)"
        numexpr.evaluate(formula, parts, out=before[1:-1, 1:-1])

    return repeated(step, u.copy(), before.copy())


@PROGRAM.numba
def with_numba(jit: Any, prange: Any, u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    @jit
    def step(u: Any, before: Any) -> None:
        for i in prange(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                laplacian = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                before[i, j] = 2.0 * u[i, j] - before[i, j] + SPEED * laplacian

    return repeated(step, u.copy(), before.copy())


@PROGRAM.pytensor
def with_pytensor(mode: str, u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor

    shared = [pytensor.shared(x, borrow=False) for x in (u, before)]
    steps = []
    for now, then in (shared, shared[::-1]):
        new = tensor.set_subtensor(then[1:-1, 1:-1], after(now, then))
        steps.append(pytensor.function([], [], updates=[(then, new)], mode=mode))

    def run() -> Any:
        for _ in range(STEPS // 2):
            steps[0]()
            steps[1]()
        return shared[0].get_value(borrow=True)

    return run


@contender("torch", PLAIN)
def torch_plain(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    return repeated(step, *natives("torch", [u, before]))


@contender("torch", "by hand")
def torch_by_hand(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    import torch

    def step(u: Any, before: Any) -> None:
        center, inner = u[1:-1, 1:-1], before[1:-1, 1:-1]
        laplacian = torch.add(u[:-2, 1:-1], u[2:, 1:-1])
        laplacian.add_(u[1:-1, :-2]).add_(u[1:-1, 2:]).sub_(center, alpha=4.0)
        torch.sub(center, inner, out=inner).add_(center).add_(laplacian, alpha=SPEED)

    return repeated(step, *natives("torch", [u, before]))


@contender("torch", "torch.compile")
def torch_whole(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    first, second = natives("torch", [u, before])
    return repeated(torch_compiled(step), first, second)


def functional(u: Any, before: Any) -> Any:
    return before.at[1:-1, 1:-1].set(after(u, before))


@contender("jax", EAGER)
def jax_eager(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    return repeated(functional, *natives("jax", [u, before]))


@contender("jax", "jit")
def jax_whole(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    first, second = natives("jax", [u, before])
    import jax

    return repeated(jax.jit(functional), first, second)


@contender("jax", DONATED)
def jax_donated(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    first, second = natives("jax", [u, before])
    import jax

    return repeated(jax.jit(functional, donate_argnums=1), first, second)


def padded(u: Any, before: Any) -> Any:
    import tensorflow as tf

    return tf.pad(after(u, before), [[1, 1], [1, 1]])


@contender("tensorflow", PLAIN)
def tensorflow_plain(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    return repeated(padded, *natives("tensorflow", [u, before]))


@contender("tensorflow", FUNCTION)
def tensorflow_whole(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    first, second = natives("tensorflow", [u, before])
    import tensorflow as tf

    return repeated(tf.function(padded), first, second)


@contender("tensorflow", "tf.function, XLA")
def tensorflow_xla(u: np.ndarray, before: np.ndarray) -> Callable[[], Any]:
    first, second = natives("tensorflow", [u, before])
    import tensorflow as tf

    return repeated(tf.function(padded, jit_compile=True), first, second)
