"""Ten elementwise operations, one after the other: into a new array, and of arithmetic alone into an old one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, FUNCTION, PLAIN, TRIAD, Program, done, natives, require, torch_compiled


def arrays(size: int) -> tuple[np.ndarray]:
    return (np.random.default_rng(0).random(size),)


SIZES = [(100_000,), (1_000_000,), (10_000_000,)]
PROGRAM = Program("chain of 10 operations", arrays, SIZES)
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


@PROGRAM.pytensor
def with_pytensor(mode: str, x: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor

    variable = tensor.dvector()
    result = pytensor.Out(chain(variable, tensor), borrow=True)
    function = pytensor.function([pytensor.In(variable, borrow=True)], result, mode=mode, trust_input=True)
    return lambda: function(x)


@PROGRAM.numba
def with_numba(jit: Any, prange: Any, x: np.ndarray) -> Callable[[], Any]:
    @jit
    def loop(x: Any) -> Any:
        out = np.empty_like(x)
        for i in prange(len(x)):
            y = x[i] * 0.5 + 1.0
            y = np.sqrt(abs(y * y + x[i])) - x[i]
            out[i] = np.exp(-y) * x[i]
        return out

    return lambda: loop(x)


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


# -- Arithmetic alone, of two arrays ----------------------------------------------------------------------------------


def pair(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.random(size) + 1.0, rng.random(size) + 1.0, np.zeros(size)


def arithmetic(x: Any, y: Any, xp: Any) -> Any:
    t = (x * y + 2.0 - x) * y + x
    return (xp.sqrt(t) * y + 2.0 - x) / y


NEW = Program("chain of arithmetic, new array", pair, SIZES)
OLD = Program("chain of arithmetic, old array", pair, SIZES)
NEW.everywhere(lambda xp, x, y, out: arithmetic(x, y, xp))


@OLD.ours
def into(compile: Any, x: ua.Array, y: ua.Array, out: ua.Array) -> Callable[[], Any]:
    def write(x: ua.Array, y: ua.Array, out: ua.Array) -> None:
        out[...] = arithmetic(x, y, ua)

    compiled = compile(write)
    return lambda: (compiled(x, y, out), done(out))[1]


@OLD.contender("numpy", PLAIN)
def plain_into(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    def run() -> np.ndarray:
        out[...] = arithmetic(x, y, np)
        return out

    return run


def in_place(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> np.ndarray:
    np.multiply(x, y, out=out)
    np.add(out, 2.0, out=out)
    np.subtract(out, x, out=out)
    np.multiply(out, y, out=out)
    np.add(out, x, out=out)
    np.sqrt(out, out=out)
    np.multiply(out, y, out=out)
    np.add(out, 2.0, out=out)
    np.subtract(out, x, out=out)
    return np.divide(out, y, out=out)


NEW.contender("numpy", BY_HAND)(lambda x, y, out: lambda: in_place(x, y, np.empty_like(x)))
OLD.contender("numpy", BY_HAND)(lambda x, y, out: lambda: in_place(x, y, out))


def with_loop(jit: Any, prange: Any) -> Any:
    @jit
    def loop(x: Any, y: Any, out: Any) -> Any:
        for i in prange(len(x)):
            t = (x[i] * y[i] + 2.0 - x[i]) * y[i] + x[i]
            out[i] = (np.sqrt(t) * y[i] + 2.0 - x[i]) / y[i]
        return out

    return loop


@NEW.numba
def new_with_numba(jit: Any, prange: Any, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    loop = with_loop(jit, prange)
    return lambda: loop(x, y, np.empty_like(x))


@OLD.numba
def old_with_numba(jit: Any, prange: Any, x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    loop = with_loop(jit, prange)
    return lambda: loop(x, y, out)


@OLD.contender("numpy", "numexpr")
def numexpr_into(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    require("numexpr")
    import numexpr

    text = "(sqrt((x * y + 2.0 - x) * y + x) * y + 2.0 - x) / y"
    return lambda: numexpr.evaluate(text, {"x": x, "y": y}, out=out)


@OLD.contender("numba", TRIAD)
def triad(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> Callable[[], Any]:
    """Go through as much memory as the chain does, as in McCalpin's STREAM; it returns the chain's result."""
    require("numba")
    import numba

    @numba.njit(parallel=ua.get_num_threads() > 1)
    def loop(x: Any, y: Any, out: Any) -> None:
        for i in numba.prange(len(x)):
            out[i] = x[i] + 3.0 * y[i]

    expected = arithmetic(x, y, np)
    return lambda: (loop(x, y, out), expected)[1]
