"""Batches of random programs with views, writes, selections, loops and branches, beside a loop of Python over elements.

``python -m tests.batching.random_batches BACKEND [COUNT] [SEED]`` compares so many, eager and compiled: results, writes
to the mapped argument, gradients of each element, and the gradient of a sum over the batch.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import unifyarr as ua

from ..derivatives.random_gradients import LENGTH, Statement, block, run

Function = Callable[..., Any]
Arrays = list[np.ndarray]

SIZE = 3


def function_of(program: Sequence[Statement]) -> Function:
    """Return the function of a matrix of one element, the first row of which it writes, and of what all share."""

    def function(x: ua.Array, shared: ua.Array) -> tuple[ua.Array, ...]:
        env = {"a": x[0], "b": x[1].copy(), "c": shared * 0.5}
        run(program, env)
        return tuple(ua.tanh(env[name]) for name in "abc")

    return function


def total_of(function: Function) -> Function:
    def total(x: ua.Array, shared: ua.Array) -> ua.Array:
        first, second, third = function(x.copy(), shared)
        return ua.sum(first) + ua.sum(second * second) - ua.sum(third)

    return total


def one_by_one(function: Function, values: np.ndarray, shared: np.ndarray) -> tuple[Arrays, np.ndarray, Arrays]:
    """Return the results, the writes, and the gradients, of one element after another on NumPy."""
    with ua.use_backend("numpy"):
        parts = [ua.asarray(each.copy()) for each in values]
        rows = [function(x, ua.asarray(shared.copy())) for x in parts]
        gradient = ua.grad(total_of(function), (0, 1))
        gradients = [gradient(ua.asarray(each.copy()), ua.asarray(shared)) for each in values]
    stacked = [
        [np.stack([np.asarray(x) for x in column]) for column in zip(*each, strict=True)] for each in (rows, gradients)
    ]
    return stacked[0], np.stack([np.asarray(x) for x in parts]), stacked[1]


def compare(backend: str, seed: int, depth: int = 2, compiled: bool = True) -> None:
    """Raise unless a batch of a program agrees with its elements."""
    draw = random.Random(seed)
    program = block(draw, depth, 5)
    axis, function = draw.randrange(3), function_of(program)
    generator = np.random.default_rng(seed)
    values, shared = generator.uniform(-1.5, 1.5, (SIZE, 2, LENGTH)), generator.uniform(-1.5, 1.5, LENGTH)
    results, written, gradients = one_by_one(function, values, shared)
    moved = np.moveaxis(values, 0, axis)
    batch = ua.vmap(function, (axis, None))
    pairs = ua.vmap(ua.grad(total_of(function), (0, 1)), (axis, None))
    whole = ua.vmap(total_of(function), (axis, None))
    of_sum = ua.grad(lambda x, shared: ua.sum(whole(x, shared)), (0, 1))
    ways: list[Function] = [lambda f: f, *([ua.compile] if compiled else [])]
    with ua.use_backend(backend):
        for way in ways:
            x, y = ua.asarray(moved.copy()), ua.asarray(shared)
            assert_close(way(batch)(x, y), results, f"{seed} results by {way}")
            assert_close([x], [np.moveaxis(written, 0, axis)], f"{seed} written by {way}")
            x = ua.asarray(moved.copy())
            assert_close(way(pairs)(x, y), gradients, f"{seed} gradients by {way}")
            summed = [np.moveaxis(gradients[0], 0, axis), gradients[1].sum(0)]
            assert_close(way(of_sum)(x, y), summed, f"{seed} gradient of a sum by {way}")


def assert_close(found: Sequence[ua.Array], expected: Arrays, message: str) -> None:
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(x), y, rtol=1e-9, atol=1e-10, err_msg=message)


def main(backend: str, count: int, seed: int) -> int:
    """Compare so many programs; return how many are wrong."""
    wrong = 0
    for number in range(seed, seed + count):
        try:
            compare(backend, number)
        except Exception as error:
            wrong += 1
            print(f"{number}: {type(error).__name__}: {error}"[:600], flush=True)
    print(f"{count} batches of programs on {backend}, seed {seed}: {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], *[*map(int, sys.argv[2:]), *(100, 0)[len(sys.argv) - 2 :]])))
