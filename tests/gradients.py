"""Gradients as the engines record them, and differences to hold them against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import unifyarr as ua

from .oracle import as_numpy

Function = Callable[[ua.Array], ua.Array]
# The engines that record gradients.
DIFFERENTIABLE = ("torch", "jax", "tensorflow")


def gradient(backend: str, function: Function, values: np.ndarray) -> np.ndarray:
    """Return the gradient of the sum of what a function returns, as the engine finds it."""

    def total(native: object) -> object:
        return ua.sum(function(ua.asarray(native))).native

    if backend == "torch":
        import torch

        tensor = torch.tensor(values, requires_grad=True)
        total(tensor).backward()  # type: ignore[attr-defined]
        assert tensor.grad is not None
        return tensor.grad.numpy()
    if backend == "jax":
        import jax

        # One compilation is quicker than one for each operation.
        return np.asarray(jax.jit(jax.grad(total))(jax.numpy.asarray(values)))
    import tensorflow as tf

    tensor = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(tensor)
        result = total(tensor)
    return np.asarray(tape.gradient(result, tensor))


def differences(function: Function, values: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """Return the gradient by central differences of what NumPy computes."""
    result = np.empty_like(values)
    with ua.use_backend("numpy"):
        for place in np.ndindex(values.shape):
            ends = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] += sign * step
                ends.append(float(as_numpy(ua.sum(function(ua.asarray(moved))))))
            result[place] = (ends[0] - ends[1]) / (2 * step)
    return result
