"""Random programs that read, compute and write by masks, run on NumPy and as functions of unifyarr.

``python -m tests.control.random_selections BACKEND [COUNT] [SEED]`` compares so many: eager, compiled and NumPy's. All
values are multiples of a power of two and small, so that each engine gives the same bits.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import unifyarr as ua

from .random_loops import check, main

SHAPE = (4, 3)
NAMES = ("a", "b", "c")
BINARY = ("add", "subtract", "maximum", "minimum", "multiply")
UNARY = ("negative", "abs", "square", "floor", "sign")
COMPARING = ("greater", "less_equal", "not_equal", "less")
REDUCING = ("sum", "any", "all", "count_nonzero", "mean", "size", "vecdot", "rows")
STEPS = (-4.0, -1.0, 0.0, 0.5, 2.0, 6.0, 100.0)


class Statement(NamedTuple):
    """A statement: its kind, the names and the mask that it's about, what else belongs to it, and its block."""

    kind: str
    names: tuple[str, ...]
    mask: Mask
    details: tuple[Any, ...] = ()
    block: tuple[Statement, ...] = ()


class Mask(NamedTuple):
    """A mask: where an array compares with a number or another array, or that combined with another such."""

    name: str
    compare: str
    other: Any
    combined: str = ""
    second: Any = None


def mask(draw: random.Random, depth: int = 1) -> Mask:
    other = draw.choice([*STEPS, draw.choice(NAMES)])
    first = draw.choice(NAMES), draw.choice(COMPARING), other
    if not depth or draw.random() < 0.7:
        return Mask(*first)
    return Mask(*first, draw.choice(["logical_and", "logical_or", "logical_xor"]), mask(draw, 0))


def statement(draw: random.Random, depth: int) -> Statement:
    kinds = ["number", "update", "selected", "selected", "chain", "rows", "cells", "columns", "reduce", "nested"]
    kind = draw.choice([*kinds, "places", "again", *(["loop"] if depth else [])])
    names = tuple(draw.choice(NAMES) for _ in range(3))
    details = (draw.choice(STEPS), draw.choice(BINARY), draw.choice(UNARY), draw.choice(REDUCING), draw.randrange(3))
    inside = block(draw, depth - 1, 3) if kind == "loop" else ()
    return Statement(kind, names, mask(draw), details, inside)


def block(draw: random.Random, depth: int, most: int) -> tuple[Statement, ...]:
    return tuple(statement(draw, depth) for _ in range(draw.randint(1, most)))


def chosen(xp: Any, env: dict[str, Any], each: Mask) -> Any:
    other = env[each.other] if isinstance(each.other, str) else each.other
    found = getattr(xp, each.compare)(env[each.name], other)
    return getattr(xp, each.combined)(found, chosen(xp, env, each.second)) if each.combined else found


def small(xp: Any, x: Any) -> Any:
    # Sixteenths that are near zero.
    return xp.clip(xp.floor(x * 16.0) / 16.0, -32.0, 32.0)


def run(xp: Any, statements: tuple[Statement, ...], env: dict[str, Any], loop: Callable[..., Any]) -> None:
    """Run statements on the arrays of an environment."""
    for each in statements:
        _run(xp, each, env, loop)


def _run(xp: Any, each: Statement, env: dict[str, Any], loop: Callable[..., Any]) -> None:
    number, binary, unary, reducing, place = each.details
    x, y, z = (env[name] for name in each.names)
    combine, change = getattr(xp, binary), getattr(xp, unary)
    m = chosen(xp, env, each.mask)
    if each.kind == "number":
        x[m] = number % 32
    elif each.kind == "update":
        x[m] *= 0.5
        x[m] += min(number, 8.0)
    elif each.kind == "selected":
        x[m] = small(xp, combine(y[m], z[m]))
    elif each.kind == "chain":
        t = change(y[m])
        t = combine(t, 0.5)
        t += z[chosen(xp, env, each.mask)]
        t[t > 8.0] = 1.0
        x[m] = small(xp, t)
    elif each.kind == "rows":
        x[m[:, place]] = small(xp, combine(y[m[:, place]], z[0]))
    elif each.kind == "cells":
        x[m[:, 0], place] = y[m[:, 0], 2 - place]
        x[m[:, 1], place] -= 1.0
    elif each.kind == "columns":
        x[:, m[place]] = small(xp, combine(y[:, m[place]], z[:, place, None]))
    elif each.kind == "reduce":
        z[place, 0] = small(xp, _reduced(xp, reducing, x[m], y[m]))
        z[0] = small(xp, xp.sum(x[m[:, 0]], axis=0))
    elif each.kind == "nested":
        t = x[m]
        t = combine(t[t < 4.0], 1.0)
        z[1, place] = small(xp, xp.sum(t[t > -4.0]))
    elif each.kind == "places":
        rows, columns = xp.nonzero(m)
        z[2, place] = small(xp, xp.sum(x[rows, columns] * y[rows, place]) + xp.sum(columns))
    elif each.kind == "again":
        view = x[1:, ::-1]
        n = m[1:]
        view[n] = small(xp, combine(y[1:][n], view[n]))
    else:
        names = sorted({*each.names})

        def body(i: Any, carry: Any) -> Any:
            inner = {**env, **dict(zip(names, carry, strict=True))}
            run(xp, each.block, inner, loop)
            return [inner[name] for name in names]

        env.update(zip(names, loop(place, body, [env[name] for name in names]), strict=True))


def _reduced(xp: Any, name: str, x: Any, y: Any) -> Any:
    if name == "size":
        return x.size * 1.0
    if name == "mean":
        # At least one element.
        return (xp.sum(x) + 1.0) / (x.size + 1.0)
    if name == "vecdot":
        return xp.vecdot(x, y)
    if name == "rows":
        return xp.sum(x[x > 0.0]) - xp.sum(y[y < 0.0])
    return getattr(xp, name)(x) * 1.0


def of_numpy(count: int, body: Callable[..., Any], carry: Any) -> Any:
    carry = [x.copy() for x in carry]
    for i in range(count):
        carry = [x.copy() for x in body(i, carry)]
    return carry


def of_unifyarr(count: int, body: Callable[..., Any], carry: Any) -> Any:
    return ua.fori_loop(0, count, body, carry)


def compare(backend: str, seed: int, depth: int = 2) -> None:
    """Raise unless one random program gives the same on NumPy, eager and compiled."""
    draw = random.Random(seed)
    program = block(draw, depth, 6)
    values = np.round(np.random.default_rng(seed).uniform(-8, 8, (len(NAMES), *SHAPE)) * 16) / 16
    start = dict(zip(NAMES, values, strict=True))
    expected = {name: x.copy() for name, x in start.items()}
    outside = dict(expected)
    run(np, program, expected, of_numpy)
    ragged = backend in ("numpy", "torch")
    sorted_part = np.sort(expected["a"][expected["a"] > 1.0])
    with ua.use_backend(backend):

        def function(env: dict[str, Any]) -> Any:
            env = dict(env)
            run(ua, program, env, of_unifyarr)
            rest = [ua.sort(env["a"][env["a"] > 1.0])] if ragged else []
            return [env[name] for name in NAMES] + rest

        for way in (lambda f: f, ua.compile):
            arrays = {name: ua.asarray(x, copy=True) for name, x in start.items()}
            found = way(function)(arrays)
            if ragged:
                np.testing.assert_array_equal(np.asarray(found.pop()), sorted_part, f"{seed} sorted")
            check(dict(zip(NAMES, found, strict=True)), expected, f"{seed}")
            check(arrays, outside, f"{seed} as passed")


if __name__ == "__main__":
    main(compare)
