"""Gradients and traces as each engine makes them, beside finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from .natives import skip_unless, values_of
from .oracle import as_numpy


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """Return weights for the elements of a result, so that each of them counts."""
    return np.cos(np.arange(np.prod(shape, dtype=int), dtype=float)).reshape(shape)


Weigh = Callable[[tuple[int, ...]], np.ndarray]


def by_differences(function: Callable[..., ua.Array], *values: np.ndarray, weigh: Weigh = weights) -> list[np.ndarray]:
    """Return the gradients of the weighed sum of a function's result, by central differences on NumPy."""

    def total(*arguments: np.ndarray) -> float:
        with ua.use_backend("numpy"):
            result = as_numpy(function(*(ua.asarray(x, copy=True) for x in arguments)))
        return float(np.sum(result * weigh(result.shape)))

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


def by_torch(
    function: Callable[..., ua.Array], *values: np.ndarray, weigh: Weigh = weights, inside: bool = True
) -> list[np.ndarray]:
    """Return the same by torch's autograd, which needs no trace."""
    import torch

    leaves = [torch.tensor(x, requires_grad=True) for x in values]
    result = function(*map(ua.asarray, leaves)).native
    (result * torch.tensor(weigh(tuple(result.shape)))).sum().backward()
    return [values_of(leaf.grad) for leaf in leaves]


def by_jax(
    function: Callable[..., ua.Array], *values: np.ndarray, weigh: Weigh = weights, inside: bool = True
) -> list[np.ndarray]:
    """Return the same by ``jax.grad``, inside ``jax.jit`` if wanted."""
    import jax

    leaves = [ua.asarray(x).native for x in values]

    def total(*arguments: object) -> object:
        result = function(*map(ua.asarray, arguments)).native
        return (result * weigh(result.shape)).sum()

    gradients = jax.grad(total, argnums=tuple(range(len(leaves))))
    return [np.asarray(x) for x in (jax.jit(gradients) if inside else gradients)(*leaves)]


def by_tensorflow(
    function: Callable[..., ua.Array], *values: np.ndarray, weigh: Weigh = weights, inside: bool = True
) -> list[np.ndarray]:
    """Return the same by ``tf.GradientTape``, inside ``tf.function`` if wanted."""
    import tensorflow as tf

    def gradients(*leaves: object) -> object:
        with tf.GradientTape() as tape:
            for leaf in leaves:
                tape.watch(leaf)
            result = function(*map(ua.asarray, leaves)).native
            total = tf.reduce_sum(result * weigh(tuple(result.shape)))
        return tape.gradient(total, list(leaves))

    # The gradient of a gathered array comes as slices.
    compiled = tf.function(gradients) if inside else gradients
    return [np.asarray(tf.convert_to_tensor(x)) for x in compiled(*map(tf.constant, values))]


# The engines that record gradients, and those that trace: programs are compiled there before values are known.
ENGINES = {"torch": by_torch, "jax": by_jax, "tensorflow": by_tensorflow}

TRACING = ("jax", "tensorflow")


def gradient(
    backend: str, function: Callable[[ua.Array], ua.Array], values: np.ndarray, *, inside: bool = True
) -> np.ndarray:
    """Return the gradient of the sum of a function's result, as the engine records it, inside a trace if wanted."""
    return ENGINES[backend](function, values, weigh=np.ones, inside=inside)[0]


def differences(function: Callable[[ua.Array], ua.Array], values: np.ndarray) -> np.ndarray:
    """Return the same by central differences on NumPy."""
    return by_differences(function, values, weigh=np.ones)[0]


def traced(backend: str, function: Callable[..., ua.Array], *values: np.ndarray) -> ua.Array:
    """Return the result of a function inside the engine's own trace."""
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces functions")

    def program(*natives: Any) -> Any:
        return function(*map(ua.asarray, natives)).native

    if backend == "jax":
        import jax

        compiled = jax.jit(program)
    else:
        import tensorflow as tf

        compiled = tf.function(program, autograph=False)
    return ua.asarray(compiled(*(ua.asarray(each).native for each in values)))


def assert_gradients(backend: str, function: Callable[..., ua.Array], *values: np.ndarray) -> None:
    """Assert that an engine has the gradients that differences on NumPy show."""
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    expected = by_differences(function, *values)
    for mine, each in zip(ENGINES[backend](function, *values), expected, strict=True):
        np.testing.assert_allclose(mine, each, rtol=1e-6, atol=1e-6)
