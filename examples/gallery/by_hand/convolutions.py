"""The network of ``convolutions.py`` on the engines' own arrays. NumPy has neither convolutions nor gradients."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


def torch(images: np.ndarray, digits: np.ndarray, rows: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """With torch's layers as functions, and its optimizer."""
    import torch
    from torch.nn import functional

    x, y, batches = torch.tensor(images), torch.tensor(digits), torch.tensor(rows)
    network = {
        layer: {name: torch.tensor(x, requires_grad=True) for name, x in each.items()}
        for layer, each in parameters.items()
    }
    optimizer = torch.optim.Adam([x for each in network.values() for x in each.values()], lr=3e-3)

    def predict(x: Any) -> Any:
        x = functional.relu(functional.conv2d(x, **network["first"], padding=1))
        x = functional.relu(functional.conv2d(functional.max_pool2d(x, 2), **network["second"], padding=1))
        return functional.linear(functional.max_pool2d(x, 2).reshape(len(x), 64), **network["last"])

    losses = torch.empty(len(rows), dtype=torch.float64)
    for place, batch in enumerate(batches):
        optimizer.zero_grad()
        value = functional.cross_entropy(predict(x[batch]), y[batch])
        value.backward()
        optimizer.step()
        losses[place] = value.detach()
    with torch.no_grad():
        return losses, predict(x[::4])


@cache
def jax_step() -> Any:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def convolved(x: Any, weight: Any, bias: Any) -> Any:
        return lax.conv(x, weight, (1, 1), "SAME") + bias[:, None, None]

    def pooled(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def predict(network: Any, x: Any) -> Any:
        x = pooled(jax.nn.relu(convolved(x, **network["first"])))
        x = pooled(jax.nn.relu(convolved(x, **network["second"])))
        return x.reshape(len(x), 64) @ network["last"]["weight"].T + network["last"]["bias"]

    def lost(network: Any, x: Any, y: Any) -> Any:
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(predict(network, x)), y[:, None], axis=1))

    def step(network: Any, means: Any, squares: Any, count: Any, x: Any, y: Any, rows: Any) -> Any:
        value, slope = jax.value_and_grad(lost)(network, x[rows], y[rows])
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slope)
        squares = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g**2, squares, slope)

        def moved(p: Any, m: Any, s: Any) -> Any:
            return p - 3e-3 * (m / (1 - 0.9**count)) / (jnp.sqrt(s / (1 - 0.999**count)) + 1e-8)

        return jax.tree.map(moved, network, means, squares), means, squares, value

    return jax.jit(step, donate_argnums=(0, 1, 2)), jax.jit(predict)


def jax(images: np.ndarray, digits: np.ndarray, rows: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """With Adam written out."""
    import jax
    import jax.numpy as jnp

    (step, predict), x, y = jax_step(), jnp.asarray(images), jnp.asarray(digits)
    network = jax.tree.map(jnp.array, parameters)
    means, squares, losses = jax.tree.map(jnp.zeros_like, network), jax.tree.map(jnp.zeros_like, network), []
    for count, batch in enumerate(rows, 1):
        network, means, squares, value = step(network, means, squares, float(count), x, y, batch)
        losses.append(value)
    return jnp.stack(losses), predict(network, x[::4])


def tensorflow(images: np.ndarray, digits: np.ndarray, rows: np.ndarray, parameters: Any) -> tuple[Any, ...]:
    """With Adam written out. TensorFlow's kernels of the CPU want the channels last."""
    import tensorflow as tf

    x, y, batches = tf.constant(images.transpose(0, 2, 3, 1)), tf.constant(digits), tf.constant(rows)
    flat = [np.moveaxis(x, (0, 1), (-1, -2)) if x.ndim == 4 else x for e in parameters.values() for x in e.values()]
    network = [tf.Variable(x) for x in flat]
    means, squares = ([tf.Variable(tf.zeros_like(x)) for x in network] for _ in range(2))

    def predict(x: Any) -> Any:
        weight, bias, second, second_bias, last, last_bias = network
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, weight, 1, "SAME") + bias), 2, 2, "VALID")
        x = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(x, second, 1, "SAME") + second_bias), 2, 2, "VALID")
        return tf.reshape(tf.transpose(x, (0, 3, 1, 2)), (-1, 64)) @ tf.transpose(last) + last_bias

    @tf.function
    def step(count: Any, rows: Any) -> Any:
        with tf.GradientTape() as tape:
            logits, labels = predict(tf.gather(x, rows)), tf.gather(y, rows)
            value = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        for p, m, s, g in zip(network, means, squares, tape.gradient(value, network), strict=True):
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.999 * s + 0.001 * g**2)
            p.assign_sub(3e-3 * (m / (1 - 0.9**count)) / (tf.sqrt(s / (1 - 0.999**count)) + 1e-8))
        return value

    losses = [step(tf.constant(float(count), tf.float64), batch) for count, batch in enumerate(batches, 1)]
    return tf.stack(losses), predict(x[::4])
