"""Gradients of one function by the engines that have them, beside finite differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import unifyarr as ua

from .natives import skip_unless
from .oracle import as_numpy


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """Return what the elements of a result are weighed by, so that each of them counts."""
    return np.cos(np.arange(np.prod(shape, dtype=int), dtype=float)).reshape(shape)


def by_differences(function: Callable[..., ua.Array], *values: np.ndarray) -> list[np.ndarray]:
    """Return the gradients of the weighed sum of a function's result, by central differences on NumPy."""

    def total(*arguments: np.ndarray) -> float:
        with ua.use_backend("numpy"):
            result = as_numpy(function(*(ua.asarray(x, copy=True) for x in arguments)))
        return float(np.sum(result * weights(result.shape)))

    found = []
    for place, x in enumerate(values):
        gradient = np.zeros_like(x)
        for index in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[index] = 1e-6
            up, down = ([*values[:place], x + sign * step, *values[place + 1 :]] for sign in (1, -1))
            gradient[index] = (total(*up) - total(*down)) / 2e-6
        found.append(gradient)
    return found


def by_torch(function: Callable[..., ua.Array], *values: np.ndarray) -> list[np.ndarray]:
    """Return the same by torch's autograd."""
    import torch

    leaves = [torch.tensor(x, requires_grad=True) for x in values]
    result = function(*map(ua.asarray, leaves)).native
    (result * torch.tensor(weights(tuple(result.shape)))).sum().backward()
    return [leaf.grad.numpy() for leaf in leaves]


def by_jax(function: Callable[..., ua.Array], *values: np.ndarray) -> list[np.ndarray]:
    """Return the same by ``jax.grad`` inside ``jax.jit``."""
    import jax

    leaves = [ua.asarray(x).native for x in values]

    def total(*arguments: object) -> object:
        result = function(*map(ua.asarray, arguments)).native
        return (result * weights(result.shape)).sum()

    return [np.asarray(x) for x in jax.jit(jax.grad(total, argnums=tuple(range(len(leaves)))))(*leaves)]


def by_tensorflow(function: Callable[..., ua.Array], *values: np.ndarray) -> list[np.ndarray]:
    """Return the same by ``tf.GradientTape`` inside ``tf.function``."""
    import tensorflow as tf

    def gradients(*leaves: object) -> object:
        with tf.GradientTape() as tape:
            for leaf in leaves:
                tape.watch(leaf)
            result = function(*map(ua.asarray, leaves)).native
            total = tf.reduce_sum(result * weights(tuple(result.shape)))
        return tape.gradient(total, list(leaves))

    # What was gathered from has its gradient as slices.
    return [np.asarray(tf.convert_to_tensor(x)) for x in tf.function(gradients)(*map(tf.constant, values))]


ENGINES = {"torch": by_torch, "jax": by_jax, "tensorflow": by_tensorflow}


def assert_gradients(backend: str, function: Callable[..., ua.Array], *values: np.ndarray) -> None:
    """Assert that an engine has the gradients that differences on NumPy show."""
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    expected = by_differences(function, *values)
    for mine, each in zip(ENGINES[backend](function, *values), expected, strict=True):
        np.testing.assert_allclose(mine, each, rtol=1e-6, atol=1e-6)
