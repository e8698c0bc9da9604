"""Random loops of elementwise functions, windows, reductions and small matrices: compiled, they give eager calls' bits.

``python -m tests.control.looped_programs BACKEND COUNT SEED [--mode debug]`` runs many. Much of a body is the same at
each step, so that it's moved out; arrays lie in memory in all ways, and loops may have no step at all.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np

import unifyarr as ua
from unifyarr import errors

from ..graph.fusion.fused_programs import arguments, laid_out, outcome, shown, step

# Kinds of arrays that are carried.
FLOATS = ("float64", "float32")
# Errors of checks, which a body that never runs has when it's traced.
REFUSALS = {*vars(errors), "IndexError"}
LOOPS = ["scan"] * 4 + ["fori", "while", "cond"]


def matrices(seed: int) -> list[ua.Array]:
    """Return a well-conditioned matrix, another one, and vectors, of one dtype."""
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    n, m, dtype = draw.randint(1, 6), draw.randint(1, 5), draw.choice(FLOATS)
    if draw.random() < 0.1:
        n = draw.randint(7, 20)
    shapes = [(n, n), (n, m), (m, n), (n,), (m,)]
    values = [rng.normal(size=shape) for shape in shapes]
    values[0] = values[0] @ values[0].T + n * np.eye(n)
    if draw.random() < 0.15:
        values[draw.randrange(1, 5)].flat[0] = draw.choice(
            [np.inf, np.nan, -0.0, 1e300 if dtype[-2:] == "64" else 1e30]
        )
    far = ua.current_backend() != "numpy"
    return [ua.asarray(laid_out(draw, x.astype(dtype)), copy=far) for x in values]


def of_matrices(draw: random.Random, pool: list[ua.Array]) -> None:
    """Do one thing with matrices of a pool; the newest are more frequent in it."""
    x = pool[-1] if draw.random() < 0.4 else draw.choice(pool)
    kind = draw.choice([*["product"] * 3, "solve", "transpose", "window", "sum", "where", "binary", "pick", "fold"])
    if kind == "product":
        fitting = [y for y in pool if x.ndim and y.ndim and x.shape[-1] == y.shape[0] and x.dtype == y.dtype]
        if fitting:
            y = draw.choice(fitting)
            pool.append(draw.choice([lambda: x @ y, lambda: ua.matmul(x, y), lambda: ua.tensordot(x, y, axes=1)])())
    elif kind == "solve":
        square = [a for a in pool if a.ndim == 2 and a.shape[0] == a.shape[1] and a.dtype == x.dtype]
        a = draw.choice(square)
        # The matrix has full rank, as long as it's finite.
        a = a @ a.T + ua.eye(a.shape[0], dtype=a.dtype)
        pool.append(draw.choice([lambda: ua.linalg.inv(a), lambda: ua.linalg.cholesky(a), lambda: ua.linalg.det(a)])())
        if x.ndim and x.shape[0] == a.shape[0]:
            pool.append(ua.linalg.solve(a, x))
    elif kind == "transpose":
        pool.append(x.T if x.ndim == 2 else x[::-1] if x.ndim else x)
    elif kind == "window":
        pool.append(
            draw.choice([lambda: x[0], lambda: x[1:], lambda: x[..., ::2], lambda: x[..., :1]])() if x.size else x
        )
    elif kind == "sum":
        pool.append(draw.choice([ua.sum, ua.mean])(x, axis=draw.choice([None, -1, 0]) if x.ndim else None))
    elif kind == "pick":
        pool.append(picked(draw, x))
    elif kind == "fold":
        folds = [ua.max, ua.min, ua.prod, ua.argmax, lambda x: ua.any(x > 1), lambda x: ua.cumulative_sum(x, axis=0)]
        fold = draw.choice(folds if x.ndim and x.size else folds[2:3])
        pool.append(ua.astype(fold(x), x.dtype))
    elif kind == "where":
        pool.append(ua.where(x > 0, x, ua.tanh(x)))
    else:
        y = draw.choice([each for each in pool if each.shape in (x.shape, ()) and each.dtype == x.dtype])
        pool.append(draw.choice([ua.add, ua.multiply, ua.subtract])(x, y))


def picked(draw: random.Random, x: ua.Array) -> ua.Array:
    """Read an array at an index that is computed, or write there and return the array."""
    if not x.ndim or not x.size:
        return x
    place = ua.argmax(x) % len(x) - draw.choice([0, 0, len(x)])
    # Places come twice.
    places = ua.stack([place, place, ua.zeros_like(place)])
    index = draw.choice([place, place, places, places[:1]])
    way = draw.random()
    if way < 0.3:
        return x[index]
    if way < 0.5:
        return ua.take(x, places, axis=draw.choice([0, -1])) if x.ndim < 2 or x.shape[0] == x.shape[1] else x[..., :1]
    written = x * 0.5
    written[index] = draw.choice([lambda: x[0], lambda: x[index], lambda: written[::-1][index]])()
    return written


def program(seed: int) -> Callable[..., list[ua.Array]]:
    """Return a function of ``given(seed)``."""
    one = of_matrices if seed % 2 else step

    def run(*given: ua.Array) -> list[ua.Array]:
        draw = random.Random(seed + 1)
        pool = list(given)
        for _ in range(draw.randint(1, 2)):
            for _ in range(draw.randint(0, 3)):
                one(draw, pool)
            looped(draw, pool, one, 1)
        return pool[-5:]

    return run


def looped(draw: random.Random, pool: list[ua.Array], one: Callable[..., None], depth: int) -> None:
    """Add a loop's results to a pool, whose arrays its body reads and may write."""
    kind, steps, seed = draw.choice(LOOPS), draw.choice([0, 1, 2, 3, 5]), draw.randrange(1 << 30)
    length, reverse, number = draw.randint(1, 6), draw.random() < 0.3, draw.random()
    carry = [draw.choice(pool) for _ in range(draw.randint(1, 2))]

    def body(carry: Sequence[ua.Array], row: ua.Array | None) -> tuple[list[ua.Array], list[ua.Array]]:
        inner, draws = [*pool, *carry], random.Random(seed)
        if row is not None:
            inner.append(row)
        for _ in range(length):
            one(draws, inner)
        if depth and number < 0.25:
            looped(draws, inner, one, depth - 1)
        new = [following(draws, x, inner) for x in carry]
        return new, [inner[-1], draws.choice(inner)]

    if kind == "scan":
        rows = draw.choice([x for x in pool if x.ndim and len(x) <= 50] or [None])
        # A body may write to arrays from outside, but not to the scanned arrays.
        xs = None if rows is None or number > 0.7 else rows if one is of_matrices else rows.copy()
        steps = steps if xs is None else len(xs)
        ends, stacked = ua.scan(body, carry, xs, length=steps, reverse=reverse)
        pool.extend([*ends, *stacked])
    elif kind == "fori":
        pool.extend(ua.fori_loop(0, steps, lambda i, carry: body(carry, None)[0], carry))
    elif kind == "while":
        count = ua.zeros(())
        ends = ua.while_loop(lambda s: s[0] < steps, lambda s: [s[0] + 1, *body(s[1:], None)[0]], [count, *carry])
        pool.extend(ends[1:])
    else:
        index = ua.asarray(steps > 1)
        pool.extend(ua.cond(index, lambda: body(carry, None)[0], lambda: [x * 1 for x in carry]))


def following(draw: random.Random, x: ua.Array, pool: list[ua.Array]) -> ua.Array:
    """Return the next value of a carried array, often the array itself."""
    way, fitting = draw.random(), [each for each in pool if each.shape == x.shape and each.dtype == x.dtype]
    if way < 0.25:
        return x
    if way < 0.6 or x.dtype.kind not in "fc":
        return fitting[-1]
    return x * 0.5 + draw.choice(fitting)


def given(seed: int) -> list[ua.Array]:
    """Return the arguments of a program."""
    return (matrices if seed % 2 else arguments)(seed)


def compare(seed: int, mode: str = "fast", *, generated: bool = False) -> bool:
    """Assert that a compiled program agrees with the eager one, twice; return whether it returns anything.

    With ``generated`` its loops are compiled by the C compiler before.
    """
    run = program(seed)
    compiled = ua.compile(run, mode=mode, wait=generated)
    mine, theirs = given(seed), given(seed)
    for call in (1, 2):
        expected, warns = outcome(run, theirs, nullcontext())
        found, warned = outcome(compiled, mine, nullcontext())
        if isinstance(expected[0], str) or found[0] in REFUSALS:
            # Unused results aren't computed, and can't fail; a body that never runs is traced.
            return False
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert one == other, f"seed {seed}, call {call}, value {place}: {shown(one)}, eager {shown(other)}"
        # Unused results aren't computed; a first call may compute while it traces, and so do checks.
        assert call == 1 or mode == "debug" or warned <= warns, f"seed {seed}, call {call}: {warned}, eager {warns}"
    return True


def main() -> None:
    """Compare as many programs as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("backend")
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("--mode", default="fast")
    parser.add_argument("--generated", action="store_true", help="compile all loops first, with the C compiler")
    options = parser.parse_args()
    start, ran, failed = time.perf_counter(), 0, 0
    with ua.use_backend(options.backend):
        for seed in range(options.seed, options.seed + options.count):
            try:
                ran += compare(seed, options.mode, generated=options.generated)
            except AssertionError as error:
                failed += 1
                print(f"{seed}: {str(error)[:600]}", flush=True)
    print(f"{options.count} programs, {ran} without an error, {time.perf_counter() - start:.0f} s, {failed} differ")


if __name__ == "__main__":
    main()
