"""The shallow water of ``ocean.py`` on the engines' own arrays."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..ocean import CELL, DEPTH, GRAVITY, SECONDS, step


def numpy(hill: np.ndarray, rows: np.ndarray, snapshots: int, steps: int) -> Any:
    """The same step: NumPy's arrays can be written."""
    height, size, heights = hill.copy(), len(hill), []
    east, north = np.zeros((size, size + 1)), np.zeros((size + 1, size))
    for _ in range(snapshots):
        for _ in range(steps):
            step(height, east, north, rows)
        heights.append(height.copy())
    return np.stack(heights)


def torch(hill: np.ndarray, rows: np.ndarray, snapshots: int, steps: int) -> Any:
    """The same step: torch's tensors can be written."""
    import torch

    height, coriolis, size, heights = torch.tensor(hill), torch.tensor(rows), len(hill), []
    east = torch.zeros((size, size + 1), dtype=torch.float64)
    north = torch.zeros((size + 1, size), dtype=torch.float64)
    for _ in range(snapshots):
        for _ in range(steps):
            step(height, east, north, coriolis)
        heights.append(height.clone())
    return torch.stack(heights)


@cache
def jax_step() -> Any:
    import jax

    def step(height: Any, east: Any, north: Any, coriolis: Any) -> Any:
        across = 0.25 * (north[:-1, :-1] + north[1:, :-1] + north[:-1, 1:] + north[1:, 1:])
        slope = (GRAVITY / CELL) * (height[:, 1:] - height[:, :-1])
        east = east.at[:, 1:-1].add(SECONDS * (coriolis * across - slope))
        across = 0.25 * (east[:-1, :-1] + east[1:, :-1] + east[:-1, 1:] + east[1:, 1:])
        slope = (GRAVITY / CELL) * (height[1:, :] - height[:-1, :])
        north = north.at[1:-1, :].add(-SECONDS * (0.5 * (coriolis[1:] + coriolis[:-1]) * across + slope))
        column = DEPTH + height
        flow_east = (east * DEPTH).at[:, 1:-1].set(east[:, 1:-1] * (0.5 * (column[:, 1:] + column[:, :-1])))
        flow_north = (north * DEPTH).at[1:-1, :].set(north[1:-1, :] * (0.5 * (column[1:, :] + column[:-1, :])))
        out = flow_east[:, 1:] - flow_east[:, :-1] + flow_north[1:, :] - flow_north[:-1, :]
        return height - (SECONDS / CELL) * out, east, north

    def steps(height: Any, east: Any, north: Any, coriolis: Any, count: int) -> Any:
        body = lambda _, state: step(*state, coriolis)  # noqa: E731
        return jax.lax.fori_loop(0, count, body, (height, east, north))

    return jax.jit(steps, donate_argnums=(0, 1, 2), static_argnums=4)


def jax(hill: np.ndarray, rows: np.ndarray, snapshots: int, steps: int) -> Any:
    """The step is rewritten: JAX's arrays can't be written."""
    import jax.numpy as jnp

    size, heights = len(hill), []
    state = jnp.array(hill), jnp.zeros((size, size + 1)), jnp.zeros((size + 1, size))
    for _ in range(snapshots):
        state = jax_step()(*state, rows, steps)
        heights.append(jnp.array(state[0], copy=True))
    return jnp.stack(heights)


@cache
def tensorflow_steps() -> Any:
    import tensorflow as tf

    def step(height: Any, east: Any, north: Any, coriolis: Any) -> Any:
        across = 0.25 * (north[:-1, :-1] + north[1:, :-1] + north[:-1, 1:] + north[1:, 1:])
        slope = (GRAVITY / CELL) * (height[:, 1:] - height[:, :-1])
        east += tf.pad(SECONDS * (coriolis * across - slope), [[0, 0], [1, 1]])
        across = 0.25 * (east[:-1, :-1] + east[1:, :-1] + east[:-1, 1:] + east[1:, 1:])
        slope = (GRAVITY / CELL) * (height[1:, :] - height[:-1, :])
        north -= tf.pad(SECONDS * (0.5 * (coriolis[1:] + coriolis[:-1]) * across + slope), [[1, 1], [0, 0]])
        column = DEPTH + height
        # Nothing flows through the walls.
        flow_east = tf.pad(east[:, 1:-1] * (0.5 * (column[:, 1:] + column[:, :-1])), [[0, 0], [1, 1]])
        flow_north = tf.pad(north[1:-1, :] * (0.5 * (column[1:, :] + column[:-1, :])), [[1, 1], [0, 0]])
        out = flow_east[:, 1:] - flow_east[:, :-1] + flow_north[1:, :] - flow_north[:-1, :]
        return height - (SECONDS / CELL) * out, east, north

    @tf.function
    def steps(height: Any, east: Any, north: Any, coriolis: Any, count: int) -> Any:
        for _ in tf.range(count):
            height, east, north = step(height, east, north, coriolis)
        return height, east, north

    return steps


def tensorflow(hill: np.ndarray, rows: np.ndarray, snapshots: int, steps: int) -> Any:
    """The step is rewritten: TensorFlow's tensors can't be written."""
    import tensorflow as tf

    size, heights = len(hill), []
    state = [tf.constant(hill), tf.zeros((size, size + 1), tf.float64), tf.zeros((size + 1, size), tf.float64)]
    for _ in range(snapshots):
        state = tensorflow_steps()(*state, tf.constant(rows), steps)
        heights.append(state[0])
    return tf.stack(heights)
