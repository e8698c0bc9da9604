"""Random programs of arrays, views and writes, as functions: the same program for the same seed, traced or not."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable

import numpy as np

import unifyarr as ua
from unifyarr.graph.compiling import compile

from ..oracle import as_numpy, assert_same

SHAPES = [(4,), (3, 4), (4,), (3, 4)]
UNARY = [ua.sin, ua.negative, ua.abs, ua.square, ua.tanh, lambda x: x.copy(), lambda x: x * 0.5, ua.cumulative_sum]
BINARY = [ua.add, ua.subtract, ua.multiply, ua.maximum, lambda x, y: ua.where(x > y, x, y)]
VIEWS: list[Callable[[ua.Array], ua.Array]] = [
    lambda x: x[1:],
    lambda x: x[::-1],
    lambda x: x[..., ::2],
    lambda x: x[..., 1:3],
    lambda x: x.T,
    lambda x: x[0, ...] if x.ndim > 1 else x[:2],
    lambda x: ua.reshape(x, (-1,)),
    lambda x: ua.expand_dims(x, axis=0),
]


def arguments(seed: int) -> list[ua.Array]:
    """Return the arguments of a program: some of them views."""
    rng = np.random.default_rng(seed)
    made = [ua.asarray(np.round(rng.uniform(-2, 2, shape), 2), copy=True) for shape in SHAPES]
    if seed % 3 == 0:
        made[2] = ua.asarray(np.round(rng.uniform(-2, 2, 9), 2), copy=True)[1:8:2]
    if seed % 4 == 0:
        made[3] = ua.asarray(np.round(rng.uniform(-2, 2, (4, 3)), 2), copy=True).T[::-1]
    return made


def program(seed: int, steps: int = 12) -> Callable[..., list[ua.Array]]:
    """Return a function of ``arguments(seed)``."""

    def run(*given: ua.Array) -> list[ua.Array]:
        rng = random.Random(seed)
        pool = [*given, ua.ones(4)]
        for _ in range(steps):
            step(rng, pool)
        # The newest arrays, and possible views.
        return pool[-3:]

    return run


def step(rng: random.Random, pool: list[ua.Array]) -> None:
    """Do one thing with arrays of a pool."""
    x = rng.choice(pool)
    kind = rng.choice(["unary", "binary", "view", "view", "write", "write", "write", "part", "out", "reduce"])
    if kind == "unary":
        function = rng.choice(UNARY)
        pool.append(x.copy() if function is ua.cumulative_sum and x.ndim != 1 else function(x))
    elif kind == "view":
        pool.append(rng.choice(VIEWS)(x))
    elif kind == "reduce":
        pool.append(ua.sum(x, axis=-1, keepdims=True) + x)
    elif kind == "part":
        write_part(rng, x)
    else:
        y = rng.choice([each for each in pool if fits(each, x)])
        function = rng.choice(BINARY)
        if kind == "binary":
            pool.append(function(x, y))
        elif kind == "out" and function is not BINARY[-1]:
            function(x, y, out=x)
        elif rng.random() < 0.5:
            x += y
        else:
            x[...] = y


def write_part(rng: random.Random, x: ua.Array) -> None:
    """Write to a part of an array."""
    which = rng.randrange(4)
    if which == 0:
        x[x > 0.5] = 0.25
    elif which == 1:
        x[..., :1] = -1.5
    elif which == 2 and x.shape[0] > 1:
        x[ua.asarray([0, x.shape[0] - 1])] = rng.choice([0.5, 2.0])
    else:
        x[..., ::2] *= 0.5


def fits(x: ua.Array, target: ua.Array) -> bool:
    """Say whether an array broadcasts to another one."""
    try:
        return bool(np.broadcast_shapes(x.shape, target.shape) == target.shape)
    except ValueError:
        return False


def compare(seed: int, mode: str = "fast", fuse: str | None = None) -> None:
    """Assert that a compiled program agrees with the eager one, twice."""
    run = program(seed)
    compiled = compile(run, mode=mode, fuse=fuse)
    mine, theirs = arguments(seed), arguments(seed)
    for _ in range(2):
        expected, result = run(*theirs), compiled(*mine)
        for x, y in zip([*result, *mine], [*expected, *theirs], strict=True):
            assert_same(x, as_numpy(y), rtol=1e-9, atol=1e-9, signed_zeros=False, what=("seed", seed))


if __name__ == "__main__":
    backend, count, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start = time.perf_counter()
    with ua.use_backend(backend):
        for seed in range(first, first + count):
            compare(seed)
    print(f"{backend}: {count} compiled programs, {time.perf_counter() - start:.0f} s, no difference")
