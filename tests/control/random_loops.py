"""Random programs with loops, branches and writes in place, run on NumPy and as functions of unifyarr.

``python -m tests.control.random_loops BACKEND [COUNT] [SEED]`` compares so many: eager, compiled and NumPy's. All
values are multiples of a power of two and small, so that each engine gives the same bits.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua

LENGTH = 4
NAMES = ("a", "b", "c", "d")
SLICES = (slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(1, 3), slice(None, None, 2))
BINARY = ("add", "subtract", "maximum", "minimum")


class Statement(NamedTuple):
    """A statement: its kind, the names it's about, and the blocks and numbers that belong to it."""

    kind: str
    names: tuple[str, ...] = ()
    details: tuple[Any, ...] = ()
    blocks: tuple[tuple[Statement, ...], ...] = ()


def block(draw: random.Random, depth: int, most: int = 5) -> tuple[Statement, ...]:
    return tuple(statement(draw, depth) for _ in range(draw.randint(1, most)))


def statement(draw: random.Random, depth: int) -> Statement:
    kinds = ["assign", "assign", "update", "update", "write", "swap", "element"]
    if depth:
        kinds += ["fori", "scan", "while", "cond", "switch", "map"]
    kind = draw.choice(kinds)
    names = tuple(draw.choice(NAMES) for _ in range(3))
    if kind in ("assign", "update"):
        return Statement(kind, names, (draw.choice(BINARY), *_two_of_one_length(draw)))
    if kind == "write":
        return Statement(kind, names, _two_of_one_length(draw))
    if kind == "element":
        return Statement(kind, names, (draw.randrange(LENGTH), draw.randrange(LENGTH), draw.choice([0.5, -1.0, 2.0])))
    if kind == "swap":
        return Statement(kind, names)
    carried = tuple(draw.sample(NAMES, draw.randint(1, 3)))
    if kind in ("cond", "switch"):
        blocks = tuple(block(draw, depth - 1, 3) for _ in range(2 if kind == "cond" else 3))
        return Statement(kind, carried, (draw.choice(NAMES), draw.choice([-1.0, 0.0, 1.5])), blocks)
    details = (draw.randint(0, 4), draw.random() < 0.5, draw.choice(NAMES), draw.choice([2.0, 8.0]))
    return Statement(kind, carried, details, (block(draw, depth - 1, 3),))


def _two_of_one_length(draw: random.Random) -> tuple[slice, slice]:
    first = draw.choice(SLICES)
    fitting = [each for each in SLICES if len(range(LENGTH)[each]) == len(range(LENGTH)[first])]
    return first, draw.choice(fitting)


class OfNumPy:
    """Python loops and branches on NumPy's arrays, which copy the arguments of a step."""

    xp = np

    @staticmethod
    def fori(count: int, body: Callable[..., Any], carry: Sequence[Any]) -> Any:
        carry = _copies(carry)
        for i in range(count):
            carry = _copies(body(np.asarray(i), carry))
        return carry

    @staticmethod
    def loop(goes_on: Callable[..., Any], body: Callable[..., Any], carry: Sequence[Any]) -> Any:
        carry = _copies(carry)
        while goes_on(carry):
            carry = _copies(body(carry))
        return carry

    @staticmethod
    def scan(step: Callable[..., Any], carry: Sequence[Any], rows: Any, reverse: bool) -> Any:
        carry, results = _copies(carry), []
        for row in rows[:: -1 if reverse else 1]:
            carry, result = step(carry, row.copy())
            carry = _copies(carry)
            results.append(result.copy())
        return carry, np.stack(results[:: -1 if reverse else 1])

    @staticmethod
    def choose(index: Any, branches: Sequence[Callable[[], Any]]) -> Any:
        return _copies(branches[int(index)]())


class OfUnifyarr:
    """The functions under test."""

    xp = ua

    @staticmethod
    def fori(count: int, body: Callable[..., Any], carry: Sequence[Any]) -> Any:
        return ua.fori_loop(0, count, body, carry)

    @staticmethod
    def loop(goes_on: Callable[..., Any], body: Callable[..., Any], carry: Sequence[Any]) -> Any:
        return ua.while_loop(goes_on, body, carry)

    @staticmethod
    def scan(step: Callable[..., Any], carry: Sequence[Any], rows: Any, reverse: bool) -> Any:
        return ua.scan(step, carry, rows, reverse=reverse)

    @staticmethod
    def choose(index: Any, branches: Sequence[Callable[[], Any]]) -> Any:
        if len(branches) == 2:
            return ua.cond(index == 1, branches[1], branches[0])
        return ua.switch(index, branches)


def _copies(arrays: Sequence[Any]) -> list[Any]:
    return [x.copy() for x in arrays]


def run(program: Sequence[Statement], env: dict[str, Any], of: Any) -> None:
    """Run statements on arrays by name, which they rebind and write."""
    for each in program:
        _run(each, env, of)


def _run(each: Statement, env: dict[str, Any], of: Any) -> None:
    xp, names, details = of.xp, each.names, each.details
    if each.kind == "assign":
        name, first, second = details
        target, x, y = names
        made = getattr(xp, name)(env[x][first], env[y][second])
        whole = xp.zeros(LENGTH)
        whole[first] = xp.clip(made, -64.0, 64.0)
        env[target] = whole
    elif each.kind == "update":
        name, first, second = details
        target, x, _ = names
        view = env[target][first]
        view[...] = xp.clip(getattr(xp, name)(view, env[x][second] * 0.5), -64.0, 64.0)
    elif each.kind == "write":
        first, second = details
        env[names[0]][first] = xp.round(env[names[1]][second] * 16.0) / 16.0
    elif each.kind == "element":
        to, of_, factor = details
        env[names[0]][to] = xp.clip(env[names[1]][of_] * factor, -64.0, 64.0)
    elif each.kind == "swap":
        env[names[0]], env[names[1]] = env[names[1]], env[names[0]]
    else:
        _run_block(each, env, of)


def _run_block(each: Statement, env: dict[str, Any], of: Any) -> None:
    xp, names = of.xp, each.names

    def inside(carry: Sequence[Any], statements: Sequence[Statement]) -> list[Any]:
        # Names that aren't carried are those from outside, which are written, but rebound for this step alone.
        inner = {**env, **dict(zip(names, carry, strict=True))}
        run(statements, inner, of)
        return [inner[name] for name in names]

    carry = [env[name] for name in names]
    if each.kind in ("cond", "switch"):
        name, limit = each.details
        largest = xp.max(env[name])
        index = xp.where(largest > limit, 1, 0)
        if each.kind == "switch":
            index = index + xp.where(largest > limit + 4.0, 1, 0)
        found = of.choose(index, [lambda block=block: inside([env[n] for n in names], block) for block in each.blocks])
        env.update(zip(names, found, strict=True))
        return
    count, reverse, name, limit = each.details
    (block,) = each.blocks
    if each.kind == "fori":

        def body(i: Any, carry: Any) -> Any:
            new = inside(carry, block)
            new[0] = xp.clip(new[0] + xp.astype(i, xp.float64), -64.0, 64.0)
            return new

        found = of.fori(count, body, carry)
    elif each.kind == "while":

        def step(state: Any) -> Any:
            *carry, steps = state
            return [*inside(carry, block), steps + 1.0]

        def goes_on(state: Any) -> Any:
            return (state[-1] < float(count)) & (xp.max(state[0]) < limit * 8)

        *found, _ = of.loop(goes_on, step, [*carry, xp.zeros(())])
    else:
        rows = xp.reshape(xp.concat([env[name], env["a"]]), (2, LENGTH))

        def row_step(carry: Any, row: Any) -> Any:
            row[0] = row[1]
            new = inside(carry, block)
            new[-1] = xp.clip(new[-1] - row, -64.0, 64.0)
            return new, new[0]

        found, results = of.scan(row_step, carry, rows, reverse)
        if each.kind == "map":
            found = list(found)
            found[0] = results[1]
    env.update(zip(names, found, strict=True))


def compare(backend: str, seed: int, depth: int = 3) -> None:
    """Raise unless one random program gives the same on NumPy, eager and compiled."""
    draw = random.Random(seed)
    program = block(draw, depth, 6)
    values = np.round(np.random.default_rng(seed).uniform(-8, 8, (len(NAMES), LENGTH)) * 16) / 16
    start = dict(zip(NAMES, values, strict=True))
    expected = {name: x.copy() for name, x in start.items()}
    outside = dict(expected)
    run(program, expected, OfNumPy)
    with ua.use_backend(backend):

        def function(env: dict[str, Any]) -> Any:
            env = dict(env)
            run(program, env, OfUnifyarr)
            return [env[name] for name in NAMES]

        for way in (lambda f: f, ua.compile):
            arrays = {name: ua.asarray(x, copy=True) for name, x in start.items()}
            found = way(function)(arrays)
            check(dict(zip(NAMES, found, strict=True)), expected, f"{seed}")
            check(arrays, outside, f"{seed} as passed")


def check(found: dict[str, Any], expected: dict[str, np.ndarray], what: str) -> None:
    """Raise unless arrays have the values that NumPy has, by their names."""
    assert found.keys() == expected.keys()
    for name, x in found.items():
        np.testing.assert_array_equal(np.asarray(x), expected[name], f"{what} {name}")


def main(compare: Callable[[str, int], None]) -> None:
    """Compare as many programs as the command line says."""
    backend, *numbers = sys.argv[1:]
    count, seed = [*map(int, numbers), *(100, 0)[len(numbers) :]]
    for number in range(seed, seed + count):
        compare(backend, number)
    print(f"{count} programs on {backend}: no difference")


if __name__ == "__main__":
    main(compare)
