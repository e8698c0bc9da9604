"""Ten elementwise operations, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, FUNCTION, PLAIN, Program, done, natives, require, torch_compiled


def arrays(size: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(0).random(size),)


PROGRAM = Program("chain of 10 operations", arrays, [(10_000_000,)])
contender = PROGRAM.contender


def chain(x: Any, xp: Any) -> Any:
    y = x * 0.5
    y = y + 1.0
    y = y * y
    y = y + x
    y = abs(y)
    y = xp.sqrt(y)
    y = y - x
    y = -y
    y = xp.exp(y)
    return y * x


@PROGRAM.ours
def ours(compile: Any, x: ua.Array) -> Callable[[], Any]:
    compiled = compile(lambda x: chain(x, ua))
    return lambda: done(compiled(x))


@contender("numpy", PLAIN)
def plain(x: np.ndarray) -> Callable[[], Any]:
    return lambda: chain(x, np)


@contender("numpy", BY_HAND)
def by_hand(x: np.ndarray) -> Callable[[], Any]:
    def run() -> np.ndarray:
        y = np.multiply(x, 0.5)
        np.add(y, 1.0, out=y)
        np.multiply(y, y, out=y)
        np.add(y, x, out=y)
        np.abs(y, out=y)
        np.sqrt(y, out=y)
        np.subtract(y, x, out=y)
        np.negative(y, out=y)
        np.exp(y, out=y)
        return np.multiply(y, x, out=y)

    return run


@contender("numpy", "numexpr")
def with_numexpr(x: np.ndarray) -> Callable[[], Any]:
    require("numexpr")
    import numexpr

    return lambda: numexpr.evaluate("exp(-(sqrt(abs((x * 0.5 + 1) * (x * 0.5 + 1) + x)) - x)) * x", {"x": x})


@contender("pytensor", "PyTensor")
def with_pytensor(x: np.ndarray) -> Callable[[], Any]:
    require("pytensor")
    import pytensor
    from pytensor import tensor

    variable = tensor.dvector()
    result = pytensor.Out(chain(variable, tensor), borrow=True)
    function = pytensor.function([pytensor.In(variable, borrow=True)], result, trust_input=True)
    return lambda: function(x)


@contender("torch", PLAIN)
def torch_plain(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("torch", [x])
    import torch

    return lambda: chain(native, torch)


@contender("torch", "by hand")
def torch_by_hand(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("torch", [x])

    def run() -> Any:
        y = native * 0.5
        y.add_(1.0)
        return y.mul_(y).add_(native).abs_().sqrt_().sub_(native).neg_().exp_().mul_(native)

    return run


@contender("torch", "torch.compile")
def torch_whole(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("torch", [x])
    import torch

    function = torch_compiled(lambda x: chain(x, torch))
    return lambda: function(native)


@contender("jax", PLAIN)
def jax_plain(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("jax", [x])
    import jax.numpy as jnp

    return lambda: done(chain(native, jnp))


# Nothing is overwritten that could be donated.
@contender("jax", DONATED)
def jax_whole(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("jax", [x])
    import jax

    function = jax.jit(lambda x: chain(x, jax.numpy))
    return lambda: done(function(native))


@contender("tensorflow", PLAIN)
def tensorflow_plain(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("tensorflow", [x])
    import tensorflow as tf

    return lambda: chain(native, tf)


@contender("tensorflow", FUNCTION)
def tensorflow_whole(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("tensorflow", [x])
    import tensorflow as tf

    function = tf.function(lambda x: chain(x, tf))
    return lambda: function(native)


@contender("tensorflow", "tf.function, XLA")
def tensorflow_xla(x: np.ndarray) -> Callable[[], Any]:
    (native,) = natives("tensorflow", [x])
    import tensorflow as tf

    function = tf.function(lambda x: chain(x, tf), jit_compile=True)
    return lambda: function(native)
