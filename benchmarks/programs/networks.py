"""Cross entropy and attention: functions of ``unifyarr.nn``, beside the engines' own and beside code by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import unifyarr as ua
from tests.allocations import attention_on_numpy, attention_on_torch, cross_entropy_on_numpy

from . import BY_HAND, DONATED, FUNCTION, PLAIN, Program, done, natives, torch_compiled


def logits(examples: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((examples, classes)), rng.integers(classes, size=examples)


def queries(heads: int, length: int, features: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((heads, length, features)) for _ in range(3)]


ENTROPY = Program("cross entropy", logits, [(4096, 1000)])
ATTENTION = Program("attention", queries, [(8, 512, 64)])


@ENTROPY.ours
def entropy(compile: Any, *arrays: ua.Array) -> Callable[[], Any]:
    compiled = compile(lambda x, target: ua.nn.cross_entropy(x, target))
    return lambda: done(compiled(*arrays))


@ATTENTION.ours
def attention(compile: Any, *arrays: ua.Array) -> Callable[[], Any]:
    compiled = compile(lambda query, key, value: ua.nn.scaled_dot_product_attention(query, key, value))
    return lambda: done(compiled(*arrays))


def call(function: Callable[..., Any], arrays: Sequence[Any]) -> Callable[[], Any]:
    return lambda: done(function(*arrays))


def add(program: Program, engine: str, name: str, make: Callable[[], Callable[..., Any]]) -> None:
    """Add a function as a contender, made when its engine is there."""

    def made(*arrays: np.ndarray) -> Callable[[], Any]:
        given = natives(engine, arrays)
        return call(make(), given)

    program.contender(engine, name)(made)


# -- NumPy ------------------------------------------------------------------------------------------------------------


def plain_entropy(x: Any, target: Any) -> Any:
    shifted = x - np.max(x, axis=-1, keepdims=True)
    logarithms = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    return -np.mean(np.take_along_axis(logarithms, target[:, None], axis=-1))


def plain_attention(query: Any, key: Any, value: Any) -> Any:
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True) @ value


add(ENTROPY, "numpy", PLAIN, lambda: plain_entropy)
add(ENTROPY, "numpy", BY_HAND, lambda: lambda x, target: cross_entropy_on_numpy(x, target, np.empty(())))
add(ATTENTION, "numpy", PLAIN, lambda: plain_attention)
add(ATTENTION, "numpy", BY_HAND, lambda: attention_on_numpy)


# -- PyTensor ---------------------------------------------------------------------------------------------------------


@ENTROPY.pytensor
def pytensor_entropy(mode: str, *arrays: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor
    from pytensor.tensor.special import log_softmax

    x, target = tensor.dmatrix(), tensor.lvector()
    result = -tensor.mean(log_softmax(x, axis=-1)[tensor.arange(target.shape[0]), target])
    return call(pytensor.function([x, target], result, mode=mode, trust_input=True), arrays)


@ATTENTION.pytensor
def pytensor_attention(mode: str, *arrays: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor
    from pytensor.tensor.special import softmax

    query, key, value = variables = [tensor.dtensor3() for _ in range(3)]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(arrays[0].shape[-1])
    result = softmax(scores, axis=-1) @ value
    return call(pytensor.function(variables, result, mode=mode, trust_input=True), arrays)


# -- Numba ------------------------------------------------------------------------------------------------------------


@ENTROPY.numba
def numba_entropy(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def entropy(x: Any, target: Any) -> Any:
        total = 0.0
        for i in prange(x.shape[0]):
            largest = -np.inf
            for j in range(x.shape[1]):
                largest = max(largest, x[i, j])
            powers = 0.0
            for j in range(x.shape[1]):
                powers += np.exp(x[i, j] - largest)
            total += largest + np.log(powers) - x[i, target[i]]
        return total / x.shape[0]

    return call(entropy, arrays)


# -- torch ------------------------------------------------------------------------------------------------------------


def torchs(name: str) -> Callable[..., Any]:
    import torch

    function: Callable[..., Any] = getattr(torch.nn.functional, name)
    return function


def attention_by_hand() -> Callable[..., Any]:
    import torch

    return lambda query, key, value: attention_on_torch(query, key, value, torch.empty_like(query))


for program, name in ((ENTROPY, "cross_entropy"), (ATTENTION, "scaled_dot_product_attention")):
    add(program, "torch", "by hand", lambda name=name: torchs(name))  # type: ignore[misc]
    add(program, "torch", "torch.compile", lambda name=name: torch_compiled(torchs(name)))  # type: ignore[misc]
add(ATTENTION, "torch", "in place", attention_by_hand)


# -- JAX and TensorFlow -----------------------------------------------------------------------------------------------


def jax_entropy() -> Callable[..., Any]:
    import jax

    def entropy(x: Any, target: Any) -> Any:
        return -jax.numpy.mean(jax.numpy.take_along_axis(jax.nn.log_softmax(x), target[:, None], axis=-1))

    return entropy


def jax_attention() -> Callable[..., Any]:
    import jax

    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = query @ jax.numpy.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
        return jax.nn.softmax(scores) @ value

    return attention


def jitted(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    import jax

    return jax.jit(make())


def tensorflow_entropy() -> Callable[..., Any]:
    import tensorflow as tf

    def entropy(x: Any, target: Any) -> Any:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, x))

    return entropy


def tensorflow_attention() -> Callable[..., Any]:
    import tensorflow as tf

    def attention(query: Any, key: Any, value: Any) -> Any:
        scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(query.shape[-1])
        return tf.matmul(tf.nn.softmax(scores), value)

    return attention


def as_graph(make: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
    import tensorflow as tf

    return tf.function(make())


# Nothing is overwritten that could be donated.
add(ENTROPY, "jax", PLAIN, jax_entropy)
add(ENTROPY, "jax", DONATED, lambda: jitted(jax_entropy))
add(ATTENTION, "jax", PLAIN, jax_attention)
add(ATTENTION, "jax", DONATED, lambda: jitted(jax_attention))
add(ENTROPY, "tensorflow", PLAIN, tensorflow_entropy)
add(ENTROPY, "tensorflow", FUNCTION, lambda: as_graph(tensorflow_entropy))
add(ATTENTION, "tensorflow", PLAIN, tensorflow_attention)
add(ATTENTION, "tensorflow", FUNCTION, lambda: as_graph(tensorflow_attention))
