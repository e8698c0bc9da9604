"""Gradients and traces as each engine makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from ..natives import values_of

# The engines that trace: their programs are compiled before values are known.
TRACING = ("jax", "tensorflow")


def gradient(backend: str, function: Callable[[ua.Array], ua.Array], values: np.ndarray) -> np.ndarray:
    """Return the gradient of a function with a 0-d result, as the engine records it."""
    if backend == "torch":
        import torch

        leaf = torch.tensor(values, requires_grad=True)
        function(ua.asarray(leaf)).native.backward()
        return values_of(leaf.grad)
    if backend == "jax":
        import jax

        return values_of(jax.grad(lambda x: function(ua.asarray(x)).native)(values))
    import tensorflow as tf

    x = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(ua.asarray(x)).native
    # The gradient of picking elements is sparse.
    return values_of(tf.convert_to_tensor(tape.gradient(y, x)))


def traced(backend: str, function: Callable[..., ua.Array], *values: np.ndarray) -> ua.Array:
    """Return what a function gives inside the engine's own trace."""

    def program(*natives: Any) -> Any:
        return function(*map(ua.asarray, natives)).native

    if backend == "jax":
        import jax

        compiled = jax.jit(program)
    else:
        import tensorflow as tf

        compiled = tf.function(program, autograph=False)
    return ua.asarray(compiled(*(ua.asarray(each).native for each in values)))
