"""TensorFlow's own random numbers, stateless Philox: the state is a key and how many draws there were."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._engine import TENSORFLOW_DTYPES, tf

# Which generator ``auto_select`` takes depends on the device.
_PHILOX = "philox"


def random_state(seed: np.ndarray, device: Any) -> Any:
    key = seed.view(np.int64) if seed.dtype == np.uint32 else seed
    values = np.array([key[0], 0], np.int64)
    if not tf.executing_eagerly():
        return tf.constant(values)
    with tf.device(device):
        # A variable goes on from call to call of a ``tf.function``.
        return tf.Variable(values, trainable=False)


def _next(state: Any) -> Any:
    return state + tf.constant([0, 1], tf.int64)


def draw_uniform(state: Any, *, shape: Any, dtype: Any, device: Any) -> Any:
    return _next(state), tf.random.stateless_uniform(shape, state, dtype=TENSORFLOW_DTYPES[dtype], alg=_PHILOX)


def draw_normal(state: Any, *, shape: Any, dtype: Any, device: Any) -> Any:
    return _next(state), tf.random.stateless_normal(shape, state, dtype=TENSORFLOW_DTYPES[dtype], alg=_PHILOX)


def draw_integers(state: Any, *, low: int, high: int, shape: Any, dtype: Any, device: Any) -> Any:
    values = tf.random.stateless_uniform(shape, state, low, high, dtype=TENSORFLOW_DTYPES[dtype], alg=_PHILOX)
    return _next(state), values


def draw_permutation(state: Any, *, length: int, device: Any) -> Any:
    values = tf.random.experimental.stateless_shuffle(tf.range(length, dtype=tf.int64), state, alg=_PHILOX)
    return _next(state), values


def draw_gamma(state: Any, alpha: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_gamma(alpha.shape, state, alpha, dtype=alpha.dtype)


def draw_poisson(state: Any, lam: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_poisson(lam.shape, state, lam, dtype=lam.dtype)


def draw_binomial(state: Any, n: Any, p: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_binomial(n.shape, state, n, p, output_dtype=n.dtype)
