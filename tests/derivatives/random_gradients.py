"""Derivatives of random programs with views, writes, selections, loops and branches, beside finite differences.

``python -m tests.derivatives.random_gradients BACKEND [COUNT] [SEED]`` draws so many: derivatives in reverse and in
forward mode, eager and compiled, in float64. Programs are smooth but for branches, selections and clipped values; in
place of one whose differences show a corner close by, another one is drawn.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua
from unifyarr.derivatives.walks.replay import SEEN

LENGTH = 4
NAMES = ("a", "b", "c")
SLICES = (slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(1, 3), slice(None, None, 2))
# Functions that stay small, and smooth.
UNARY: dict[str, Callable[[ua.Array], ua.Array]] = {
    "sin": ua.sin,
    "tanh": ua.tanh,
    "square": lambda x: ua.square(x) * 0.25,
    "reciprocal": lambda x: 1.0 / (2.0 + x * x),
    "exp": lambda x: ua.exp(-x * x),
    "sqrt": lambda x: ua.sqrt(1.0 + x * x),
    "log": lambda x: ua.log(2.0 + ua.cos(x)),
    "cumulative_sum": lambda x: ua.cumulative_sum(x, axis=0) * 0.5,
    "roll": lambda x: ua.roll(x, 1),
    "sort": ua.sort,
    "softmax": lambda x: ua.nn.softmax(x, axis=0),
    "normalized": lambda x: x / (1.0 + ua.linalg.vector_norm(x)),
    "where": lambda x: ua.where(x > 0.3, x * 0.5, ua.sin(x)),
    "clip": lambda x: ua.clip(x, -0.7, 0.9),
    "taken": lambda x: ua.take(x, ua.asarray([2, 0, 0, 1][: x.shape[0]]) % x.shape[0]),
}
BINARY: dict[str, Callable[[ua.Array, ua.Array], ua.Array]] = {
    "add": ua.add,
    "subtract": ua.subtract,
    "multiply": lambda x, y: x * ua.sin(y),
    "divide": lambda x, y: x / (1.5 + ua.cos(y)),
    "maximum": ua.maximum,
    "outer": lambda x, y: ua.sum(x[:, None] * y[None, :], axis=1) * 0.25,
    "matmul": lambda x, y: (x[:, None] * x[None, :]) @ y * 0.1,
    "hypot": lambda x, y: ua.hypot(x, y + 3.0),
}


class Statement(NamedTuple):
    """A statement: its kind, the names it's about, and the blocks and numbers that belong to it."""

    kind: str
    names: tuple[str, ...] = ()
    details: tuple[Any, ...] = ()
    blocks: tuple[tuple[Statement, ...], ...] = ()


SIMPLE = ("assign", "assign", "unary", "unary", "update", "inplace", "write", "element", "swap", "view", "selection")
NESTED = ("fori", "scan", "cond", "switch", "checkpoint", "container")


def block(draw: random.Random, depth: int, most: int = 5) -> tuple[Statement, ...]:
    return tuple(statement(draw, depth) for _ in range(draw.randint(1, most)))


def statement(draw: random.Random, depth: int) -> Statement:
    kind = draw.choice(SIMPLE + (NESTED if depth else ()))
    names = tuple(draw.choice(NAMES) for _ in range(3))
    if kind in NESTED:
        count = {"cond": 2, "switch": 3}.get(kind, 1)
        blocks = tuple(block(draw, depth - 1, 3) for _ in range(count))
        carried = tuple(draw.sample(NAMES, draw.randint(1, 3)))
        return Statement(kind, carried, (draw.randint(1, 3), draw.random() < 0.5, draw.choice(NAMES)), blocks)
    first = draw.choice(SLICES)
    fitting = [each for each in SLICES if len(range(LENGTH)[each]) == len(range(LENGTH)[first])]
    functions = draw.choice(list(UNARY)), draw.choice(list(BINARY))
    places = draw.randrange(LENGTH), draw.randrange(LENGTH)
    return Statement(kind, names, (first, draw.choice(fitting), *functions, *places))


def run(program: Sequence[Statement], env: dict[str, Any]) -> None:
    """Run statements on arrays by name, which they rebind and write."""
    for each in program:
        (_run_block if each.blocks else _run)(each, env)


def _run(each: Statement, env: dict[str, Any]) -> None:
    first, second, unary, binary, to, of = each.details
    target, x, y = each.names
    if each.kind == "assign":
        env[target] = BINARY[binary](env[x], env[y])
    elif each.kind == "unary":
        env[target] = UNARY[unary](env[x])
    elif each.kind == "update":
        view = env[target][first]
        view[...] = BINARY[binary](view, env[x][second])
    elif each.kind == "inplace":
        view = env[target][first]
        view *= 0.5
        view += UNARY[unary](env[x][second].copy())
    elif each.kind == "write":
        env[target][first] = env[x][second] * 0.75
    elif each.kind == "element":
        env[target][to] = ua.sin(env[x][of]) + env[y][to] * 0.5
    elif each.kind == "swap":
        env[target], env[x] = env[x], env[target]
    elif each.kind == "view":
        square = ua.reshape(env[target], (2, 2))
        square.T[to % 2] = square[of % 2] * env[x][1:3]
    else:
        mask = env[target] > 0.2
        env[target][mask] = 0.4 * env[target][mask] + UNARY["sin"](env[x][mask]) if to else 0.3


def _run_block(each: Statement, env: dict[str, Any]) -> None:
    names, (count, reverse, name), inner = each.names, each.details, each.blocks
    # A function that runs again sees the names that there were.
    outside = dict(env)

    def inside(carry: Sequence[Any], statements: Sequence[Statement]) -> list[Any]:
        found = {**outside, **dict(zip(names, carry, strict=True))}
        run(statements, found)
        # The carry stays small.
        return [ua.tanh(found[name]) for name in names]

    carry = [env[name] for name in names]
    if each.kind in ("cond", "switch"):
        index = ua.astype(ua.sum(env[name]) > 0.4, ua.int64)
        branches = [lambda block=block: inside([x.copy() for x in carry], block) for block in inner]
        if each.kind == "cond":
            found = ua.cond(index == 1, branches[1], branches[0])
        else:
            found = ua.switch(index + ua.astype(ua.sum(env[name]) > 1.1, ua.int64), branches)
    elif each.kind == "fori":
        found = ua.fori_loop(0, count, lambda i, carry: inside(carry, inner[0]), carry)
    elif each.kind == "scan":
        rows = ua.stack([env[name], ua.sin(env["a"])])

        def step(carry: Any, row: Any) -> Any:
            row[0] = row[1] * 0.5
            new = inside(carry, inner[0])
            new[-1] = new[-1] - row * 0.5
            return new, new[0]

        found, results = ua.scan(step, carry, rows, reverse=reverse)
        found = [*found[:-1], found[-1] + results[0] * 0.5]
    elif each.kind == "checkpoint":
        found = ua.checkpoint(inside)(carry, inner[0])
    else:
        nest = ua.Container(x=[x.copy() for x in carry])
        nest *= 0.8
        run(inner[0], env)
        found = [*nest.x]
    env.update(zip(names, found, strict=True))


WEIGHTS = np.cos(np.arange(3.0 * LENGTH)).reshape(3, LENGTH)


def function_of(program: Sequence[Statement]) -> Callable[[ua.Array], ua.Array]:
    """Return the function of a matrix whose rows are the arrays of a program."""

    def function(x: ua.Array) -> ua.Array:
        env = {name: x[place].copy() for place, name in enumerate(NAMES)}
        run(program, env)
        total = ua.zeros(())
        for name, weights in zip(NAMES, WEIGHTS, strict=True):
            total += ua.sum(ua.tanh(env[name]) * weights)
        return total

    return function


def differences(function: Callable[[ua.Array], ua.Array], x: np.ndarray) -> np.ndarray | None:
    """Return the gradient by central differences on NumPy, ``None`` if steps of two lengths show something else."""

    def at(point: np.ndarray) -> float:
        return float(function(ua.asarray(point)))

    found = []
    with ua.use_backend("numpy"):
        for step in (1e-5, 3e-5):
            gradient = np.zeros_like(x)
            for index in np.ndindex(x.shape):
                moved = np.zeros_like(x)
                moved[index] = step
                ups = at(x + moved) - at(x), at(x) - at(x - moved)
                if abs(ups[0] - ups[1]) > 1e-2 * step + 1e-11:
                    return None
                gradient[index] = sum(ups) / (2 * step)
            found.append(gradient)
    return found[0] if np.allclose(*found, rtol=1e-5, atol=1e-6) else None


def check(backend: str, seed: int, depth: int = 2, compiled: bool = True) -> bool:
    """Raise unless the derivatives of a program are right; return whether it has any where it was drawn."""
    draw = random.Random(seed)
    function = function_of(block(draw, depth, 5))
    value = np.random.default_rng(seed).uniform(-1.5, 1.5, (3, LENGTH))
    expected = differences(function, value)
    if expected is None:
        return False
    direction = np.cos(np.arange(value.size) + 0.5).reshape(value.shape)
    with ua.use_backend(backend):
        x, t = ua.asarray(value), ua.asarray(direction)
        pushed = lambda x, t: ua.jvp(function, (x,), (t,))[1]  # noqa: E731
        gradient = ua.grad(function)
        for way in (lambda f: f, ua.compile) if compiled else (lambda f: f,):
            found, along = np.asarray(way(gradient)(x)), float(way(pushed)(x, t))
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=f"{seed} by {way}")
            np.testing.assert_allclose(along, np.sum(found * direction), rtol=1e-9, atol=1e-10, err_msg=f"{seed} {way}")
        np.testing.assert_array_equal(np.asarray(x), value, f"{seed} as passed")
        # A repeated backward pass is compiled, and works for other values.
        for scale in (*(1,) * SEEN, 0.97, 1.01):
            point = value * scale
            found, along = np.asarray(gradient(ua.asarray(point))), float(pushed(ua.asarray(point), t))
            if scale == 1:
                np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=f"{seed} again")
            np.testing.assert_allclose(along, np.sum(found * direction), rtol=1e-9, atol=1e-10, err_msg=f"{seed} again")
    return True


def main(backend: str, count: int, seed: int) -> int:
    """Draw programs until so many have derivatives; return how many are wrong."""
    number, right, wrong = seed, 0, 0
    while right + wrong < count:
        try:
            right += check(backend, number)
        except Exception as error:
            wrong += 1
            print(f"{number}: {type(error).__name__}: {error}"[:600], flush=True)
        number += 1
    print(f"{count} programs of {number - seed} on {backend}, seed {seed}: {wrong} wrong", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1], *[*map(int, sys.argv[2:]), *(100, 0)[len(sys.argv) - 2 :]])))
