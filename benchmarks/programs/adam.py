"""A step of Adam over fifty arrays, written in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import unifyarr as ua

from . import BY_HAND, DONATED, FUNCTION, PLAIN, Program, done, natives, require, torch_compiled

LEAVES = 50
# Four arrays belong to each: the parameter, its gradient and the two moments.
ROLES = 4
RATE, FIRST, SECOND, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def arrays(length: int) -> list[np.ndarray]:
    """Return the parameters, then the gradients, then the moments: matrices and, for each, a vector."""
    rng = np.random.default_rng(0)
    shapes = [(length, length) if number % 2 == 0 else (length,) for number in range(LEAVES)]
    return [scale * rng.random(shape) for scale in (1.0, 1.0, 0.1, 0.1) for shape in shapes]


PROGRAM = Program("Adam on 50 arrays", arrays, [(32,), (256,)])
contender = PROGRAM.contender


def roles(arrays: Any) -> list[list[Any]]:
    return [list(arrays[place * LEAVES : (place + 1) * LEAVES]) for place in range(ROLES)]


@PROGRAM.ours
def ours(compile: Any, *arrays: ua.Array) -> Callable[[], Any]:
    def step(parameters: Any, gradients: Any, first: Any, second: Any) -> None:
        first *= FIRST
        first += (1 - FIRST) * gradients
        second *= SECOND
        second += (1 - SECOND) * gradients * gradients
        parameters -= RATE * (first / (ua.sqrt(second) + EPSILON))

    nests = [ua.Container(each) for each in roles(arrays)]
    compiled = compile(step)

    def run() -> Any:
        compiled(*nests)
        return done(nests[0][0])

    return run


def inplace(parameter: Any, gradient: Any, first: Any, second: Any, xp: Any) -> None:
    first *= FIRST
    first += (1 - FIRST) * gradient
    second *= SECOND
    second += (1 - SECOND) * gradient * gradient
    parameter -= RATE * (first / (xp.sqrt(second) + EPSILON))


@contender("numpy", PLAIN)
def plain(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles([x.copy() for x in arrays])

    def run() -> Any:
        for leaf in zip(*given, strict=True):
            inplace(*leaf, np)
        return given[0][0]

    return run


@contender("numpy", BY_HAND)
def by_hand(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles([x.copy() for x in arrays])

    def run() -> Any:
        for parameter, gradient, first, second in zip(*given, strict=True):
            np.multiply(first, FIRST, out=first)
            changed = np.multiply(gradient, 1 - FIRST)
            np.add(first, changed, out=first)
            np.multiply(second, SECOND, out=second)
            np.multiply(gradient, 1 - SECOND, out=changed)
            np.multiply(changed, gradient, out=changed)
            np.add(second, changed, out=second)
            np.sqrt(second, out=changed)
            np.add(changed, EPSILON, out=changed)
            np.divide(first, changed, out=changed)
            np.multiply(changed, RATE, out=changed)
            np.subtract(parameter, changed, out=parameter)
        return given[0][0]

    return run


@contender("numpy", "numexpr")
def with_numexpr(*arrays: np.ndarray) -> Callable[[], Any]:
    require("numexpr")
    import numexpr

    given = roles([x.copy() for x in arrays])

    def run() -> Any:
        for p, g, m, v in zip(*given, strict=True):
            values = {"p": p, "g": g, "m": m, "v": v}
            numexpr.evaluate(f"m * {FIRST} + {1 - FIRST} * g", values, out=m)
            numexpr.evaluate(f"v * {SECOND} + {1 - SECOND} * g * g", values, out=v)
            numexpr.evaluate(f"p - {RATE} * (m / (sqrt(v) + {EPSILON}))", values, out=p)
        return given[0][0]

    return run


@PROGRAM.numba
def with_numba(jit: Any, prange: Any, *arrays: np.ndarray) -> Callable[[], Any]:
    @jit
    def step(p: Any, g: Any, m: Any, v: Any) -> None:
        for i in prange(p.size):
            m[i] = m[i] * FIRST + (1 - FIRST) * g[i]
            v[i] = v[i] * SECOND + (1 - SECOND) * g[i] * g[i]
            p[i] -= RATE * (m[i] / (np.sqrt(v[i]) + EPSILON))

    given = roles([x.copy() for x in arrays])
    leaves = [[x.reshape(-1) for x in leaf] for leaf in zip(*given, strict=True)]

    def run() -> Any:
        for leaf in leaves:
            step(*leaf)
        return given[0][0]

    return run


@PROGRAM.pytensor
def with_pytensor(mode: str, *arrays: np.ndarray) -> Callable[[], Any]:
    import pytensor
    from pytensor import tensor

    given = roles([pytensor.shared(x, borrow=False) for x in arrays])
    updates = []
    for leaf in zip(*given, strict=True):
        new = functional(*leaf, tensor)
        updates += zip((leaf[0], leaf[2], leaf[3]), new, strict=True)
    function = pytensor.function([], [], updates=updates, mode=mode)

    def run() -> Any:
        function()
        return given[0][0].get_value(borrow=True)

    return run


@contender("torch", PLAIN)
def torch_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("torch", arrays))
    import torch

    def run() -> Any:
        for leaf in zip(*given, strict=True):
            inplace(*leaf, torch)
        return given[0][0]

    return run


def torch_step(parameter: Any, gradient: Any, first: Any, second: Any) -> None:
    first.mul_(FIRST).add_(gradient, alpha=1 - FIRST)
    second.mul_(SECOND).addcmul_(gradient, gradient, value=1 - SECOND)
    parameter.addcdiv_(first, second.sqrt().add_(EPSILON), value=-RATE)


@contender("torch", "by hand")
def torch_by_hand(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("torch", arrays))

    def run() -> Any:
        for leaf in zip(*given, strict=True):
            torch_step(*leaf)
        return given[0][0]

    return run


@contender("torch", "torch.compile")
def torch_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("torch", arrays))

    def step(given: list[list[Any]]) -> None:
        for leaf in zip(*given, strict=True):
            torch_step(*leaf)

    compiled = torch_compiled(step)
    return lambda: (compiled(given), given[0][0])[1]


def functional(parameter: Any, gradient: Any, first: Any, second: Any, xp: Any) -> tuple[Any, Any, Any]:
    first = first * FIRST + (1 - FIRST) * gradient
    second = second * SECOND + (1 - SECOND) * gradient * gradient
    return parameter - RATE * (first / (xp.sqrt(second) + EPSILON)), first, second


def rebinding(step: Callable[..., Any], given: list[list[Any]]) -> Callable[[], Any]:
    """Return a function that replaces all arrays by the results of a step."""
    parameters, gradients, first, second = given

    def run() -> Any:
        nonlocal parameters, first, second
        parameters, first, second = step(parameters, gradients, first, second)
        return done(parameters[0])

    return run


def all_leaves(xp: Any) -> Callable[..., Any]:
    def step(*given: list[Any]) -> list[list[Any]]:
        new = [functional(*leaf, xp) for leaf in zip(*given, strict=True)]
        return [list(each) for each in zip(*new, strict=True)]

    return step


@contender("jax", PLAIN)
def jax_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("jax", arrays))
    import jax

    return rebinding(all_leaves(jax.numpy), given)


@contender("jax", "jit")
def jax_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("jax", arrays))
    import jax

    return rebinding(jax.jit(all_leaves(jax.numpy)), given)


@contender("jax", DONATED)
def jax_donated(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("jax", arrays))
    import jax

    return rebinding(jax.jit(all_leaves(jax.numpy), donate_argnums=(0, 2, 3)), given)


@contender("tensorflow", PLAIN)
def tensorflow_plain(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("tensorflow", arrays))
    import tensorflow as tf

    return rebinding(all_leaves(tf), given)


@contender("tensorflow", FUNCTION)
def tensorflow_whole(*arrays: np.ndarray) -> Callable[[], Any]:
    given = roles(natives("tensorflow", arrays))
    import tensorflow as tf

    return rebinding(tf.function(all_leaves(tf)), given)
