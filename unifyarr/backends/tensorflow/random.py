"""TensorFlow's own random numbers, stateless Philox: the state is a key and how many draws there were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._devices import on
from ._engine import TENSORFLOW_DTYPES, constant, integers, kept, raw, tf

# The generator that ``auto_select`` takes depends on the device. The functions of ``tf.random`` take a hundred times as
# long as the raw ops: with this generator they scramble the seed in Python.
_PHILOX, _PHILOX_NUMBER = "philox", 1


def random_state(seed: np.ndarray, device: Any) -> Any:
    key = seed.view(np.int64) if seed.dtype == np.uint32 else seed
    values = np.array([key[0], 0], np.int64)
    if not tf.executing_eagerly():
        return tf.constant(values)
    with on(device):
        # A variable goes on from call to call of a ``tf.function``.
        return tf.Variable(values, trainable=False)


def _next(state: Any) -> Any:
    return raw.AddV2(x=state, y=_one_draw())


@kept(8)
def _one_draw() -> Any:
    return tf.constant(np.array([0, 1], np.int64))


def _drawn(op: Callable[..., Any], state: Any, shape: tuple[int, ...], **options: Any) -> tuple[Any, Any]:
    """Return the next state, and the numbers of a raw op."""
    key, counter = raw.StatelessRandomGetKeyCounter(seed=state)
    return _next(state), op(shape=integers(*shape), key=key, counter=counter, alg=_PHILOX_NUMBER, **options)


def draw_uniform(state: Any, *, shape: Any, dtype: Any, device: Any) -> Any:
    return _drawn(raw.StatelessRandomUniformV2, state, shape, dtype=TENSORFLOW_DTYPES[dtype])


def draw_normal(state: Any, *, shape: Any, dtype: Any, device: Any) -> Any:
    return _drawn(raw.StatelessRandomNormalV2, state, shape, dtype=TENSORFLOW_DTYPES[dtype])


def draw_integers(state: Any, *, low: int, high: int, shape: Any, dtype: Any, device: Any) -> Any:
    bounds = {
        name: constant(int(value), TENSORFLOW_DTYPES[dtype]) for name, value in (("minval", low), ("maxval", high))
    }
    return _drawn(raw.StatelessRandomUniformIntV2, state, shape, **bounds)


def draw_permutation(state: Any, *, length: int, device: Any) -> Any:
    values = tf.random.experimental.stateless_shuffle(tf.range(length, dtype=tf.int64), state, alg=_PHILOX)
    return _next(state), values


def draw_gamma(state: Any, alpha: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_gamma(alpha.shape, state, alpha, dtype=alpha.dtype)


def draw_poisson(state: Any, lam: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_poisson(lam.shape, state, lam, dtype=lam.dtype)


def draw_binomial(state: Any, n: Any, p: Any, *, device: Any) -> Any:
    return _next(state), tf.random.stateless_binomial(n.shape, state, n, p, output_dtype=n.dtype)
