"""The cost of the first call of a compiled function: seconds and, on JAX, how often XLA compiles.

python benchmarks/first_calls.py [--engine jax|numpy|torch|tensorflow] [--rounds 3] [--only TEXT]

Each run is a process of its own, since engines keep what they have compiled; it has called another compiled function.
On JAX the programs stand beside the same written for ``jax.jit`` by hand, and come from NumPy's arrays, too, with
``backend="jax"``; elsewhere they stand beside themselves, not compiled.
A row of 50 shapes calls one function for each of them, a new one each time; it has the growth of the process's greatest
memory, too. Two more rows trace and rewrite graphs of 10,000 and 100,000 operations, without a call, in seconds of the
process.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

Run = Callable[..., Any]
COUNTS = (10_000, 100_000)
# How many shapes one function is called for, and how many come before the measured ones.
SHAPES, EARLIER = 50, 3
# XLA's event for a compilation in the process.
EVENT = "/jax/core/compile/backend_compile_duration"
# How programs are called: as written for the engine, compiled by this package, and so from NumPy's arrays.
BY_HAND, COMPILED, FROM_NUMPY = "by hand", "unifyarr", "from NumPy"
COLUMNS = ("clock s", "ratio", "process s", "ratio", "compilations", "MB", "ratio")
WIDTHS = (9, 7, 11, 7, 14, 7, 7)


def attention(engine: str, how: str) -> Run:
    import optree

    import unifyarr as ua
    from benchmarks import attention as model
    from examples import attention as example

    with ua.use_backend("numpy"):
        generator = ua.random.Generator(seed=0)
        params = example.parameters(generator, 96)
        text = np.random.default_rng(0).integers(0, 96, (example.BATCH, example.CONTEXT + 1))
    if how == BY_HAND:
        make = model.jax_by_hand(whole=True)
    else:
        stored_on = "numpy" if how == FROM_NUMPY else engine
        make = model.ours(stored_on, compile=partial(ua.compile, backend=engine))
    step = make(optree.tree_map(np.asarray, params.to_dict()))
    return lambda: step(text)


def bodies(xp: Any, position: Any, velocity: Any, mass: Any) -> tuple[Any, Any]:
    """Move bodies that attract each other by one step."""
    apart = position[None, :, :] - position[:, None, :]
    square = xp.sum(apart * apart, axis=-1) + 1e-3
    pull = mass / (square * xp.sqrt(square))
    velocity = velocity + 0.01 * xp.sum(pull[:, :, None] * apart, axis=1)
    return position + 0.01 * velocity, velocity


def clusters(xp: Any, points: Any, centers: Any) -> tuple[Any, Any]:
    """Move each centre to the mean of the points that are nearest to it."""
    apart = points[:, None, :] - centers[None, :, :]
    nearest = xp.argmin(xp.sum(apart * apart, axis=-1), axis=1)
    mine = xp.where(nearest[:, None] == xp.arange(centers.shape[0])[None, :], 1.0, 0.0)
    return xp.matmul(mine.T, points) / (xp.sum(mine, axis=0) + 1e-9)[:, None], nearest


def options(xp: Any, price: Any, strike: Any, time: Any) -> Any:
    """Return the values of call options by Black and Scholes."""
    rate, volatility = 0.02, 0.3
    spread = volatility * xp.sqrt(time)
    first = (xp.log(price / strike) + (rate + volatility**2 / 2) * time) / spread
    second = first - spread

    def below(x: Any) -> Any:
        # Abramowitz and Stegun, 26.2.17.
        t = 1 / (1 + 0.2316419 * xp.abs(x))
        series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
        tail = xp.exp(-x * x / 2) / math.sqrt(2 * math.pi) * series
        return xp.where(x > 0, 1 - tail, tail)

    return price * below(first) - strike * xp.exp(-rate * time) * below(second)


def of_arrays(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[str, str], Run]:
    """Return the first call of a function of arrays of these shapes."""

    def make(engine: str, how: str) -> Run:
        import unifyarr as ua

        generator = np.random.default_rng(0)
        values = [generator.uniform(1, 2, shape) for shape in shapes]
        stored_on = "numpy" if how == FROM_NUMPY else engine
        arrays = [ua.asarray(x, backend=stored_on) for x in values]
        ours: Run = partial(function, ua)
        if how == BY_HAND and engine == "jax":
            import jax
            import jax.numpy as jnp

            compiled, natives = jax.jit(partial(function, jnp)), [x.native for x in arrays]
            return lambda: jax.block_until_ready(compiled(*natives))
        if how != BY_HAND:
            ours = ua.compile(ours, backend=engine)

        def run() -> Any:
            with ua.use_backend(stored_on):
                result = ours(*arrays)
            return [np.asarray(x.native) for x in (result if isinstance(result, tuple) else (result,))]

        return run

    return make


PROGRAMS: dict[str, Callable[[str, str], Run]] = {
    "attention": attention,
    "n-body": of_arrays(bodies, (100, 3), (100, 3), (100,)),
    "k-means": of_arrays(clusters, (2000, 3), (8, 3)),
    "Black-Scholes": of_arrays(options, (10_000,), (10_000,), (10_000,)),
}


def other(engine: str, how: str) -> None:
    """Call another compiled function, so that all is loaded."""
    import unifyarr as ua

    x = ua.asarray(np.ones(3), backend="numpy" if how == FROM_NUMPY else engine)
    if how == BY_HAND and engine == "jax":
        import jax

        jax.jit(lambda x: x + 1)(x.native)
    else:
        ua.compile(lambda x: x + 1, backend=engine)(x)


def measured(engine: str, name: str, how: str) -> dict[str, float]:
    """Make the first call in a process of its own, and return its cost."""
    run = PROGRAMS[name](engine, how)
    other(engine, how)
    found = {"compilations": 0.0}
    if engine == "jax":
        import jax

        def count(event: str, seconds: float, **_: Any) -> None:
            found["compilations"] += event == EVENT

        jax.monitoring.register_event_duration_secs_listener(count)
    clock, process = time.perf_counter(), time.process_time()
    run()
    return found | {"clock": time.perf_counter() - clock, "process": time.process_time() - process}


def of_shapes(engine: str, how: str) -> dict[str, float]:
    """Run in a process of its own: call one function for many shapes."""
    import unifyarr as ua

    run: Run = partial(options, ua)
    on_natives = how == BY_HAND and engine == "jax"
    if on_natives:
        import jax
        import jax.numpy as jnp

        run = jax.jit(partial(options, jnp))
    elif how != BY_HAND:
        run = ua.compile(run)

    def call(length: int) -> None:
        arrays = [ua.asarray(np.linspace(1, 2, length), backend=engine) for _ in range(3)]
        np.asarray(run(*(x.native for x in arrays)) if on_natives else run(*arrays).native)

    for number in range(EARLIER):
        call(500 + number)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock, process = time.perf_counter(), time.process_time()
    for number in range(SHAPES):
        call(1000 + number)
    took = {"clock": time.perf_counter() - clock, "process": time.process_time() - process}
    # Kibibytes on Linux.
    return took | {"MB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024}


def chained(engine: str, count: int) -> dict[str, float]:
    """Run in a process of its own: trace a chain of so many operations, and rewrite it."""
    import unifyarr as ua

    def function(x: Any, y: Any) -> Any:
        for _ in range(count // 2):
            x = x * y + y
        return x

    x = ua.asarray(np.ones(10), backend=engine)
    ua.compile(lambda x, y: x * y + y).graph(x, x + 1)
    gc.collect()
    clock, process = time.perf_counter(), time.process_time()
    nodes = ua.compile(function).graph(x, x + 1).apply_nodes
    took = {"clock": time.perf_counter() - clock, "process": time.process_time() - process}
    # Some may be fused.
    assert sum(len(list(node.op.parts())) for node in nodes) == count
    return took


def medians(engine: str, runs: list[tuple[str, str]], rounds: int) -> list[dict[str, float]]:
    """Return the medians of processes, several for each run; the runs take turns."""
    found: list[list[dict[str, float]]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, rows in zip(runs, found, strict=True):
            command = [sys.executable, __file__, "--engine", engine, "--run", *run]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            rows.append(json.loads(output.splitlines()[-1]))
    return [{key: statistics.median(row[key] for row in rows) for key in rows[0]} for rows in found]


def show(engine: str, name: str, rounds: int) -> None:
    """Print the cost of the first calls of a program, by hand and compiled."""
    of_shapes = name == "shapes"
    ways = [BY_HAND, COMPILED, *([FROM_NUMPY] if engine == "jax" and not of_shapes else [])]
    rows = medians(engine, [(name, how) for how in ways], rounds)
    beside = rows[0]
    print(f"{SHAPES} shapes" if of_shapes else name)
    for how, row in zip(ways, rows, strict=True):
        cells = [cell for key in ("clock", "process") for cell in (f"{row[key]:.2f}", f"{row[key] / beside[key]:.2f}")]
        if of_shapes:
            cells += ["", f"{row['MB']:.0f}", f"{row['MB'] / beside['MB']:.2f}"]
        else:
            cells += [f"{row['compilations']:.0f} of {beside['compilations']:.0f}"]
        print(line(f"  {how}", cells))


def line(first: str, cells: Sequence[str]) -> str:
    """Return a row of the table."""
    return f"{first:16}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="jax")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run is not None:
        name, how = given.run
        if name == "chain":
            found = chained(given.engine, int(how))
        elif name == "shapes":
            found = of_shapes(given.engine, how)
        else:
            found = measured(given.engine, name, how)
        print(json.dumps(found))
        return
    print(line(given.engine, COLUMNS))
    for name in (*PROGRAMS, "shapes"):
        if given.only in name and (given.engine == "jax" or name != "attention"):
            show(given.engine, name, given.rounds)
    for count in COUNTS:
        if given.only in "chain":
            (row,) = medians(given.engine, [("chain", str(count))], given.rounds)
            print(line(f"chain of {count}", [f"{row['clock']:.2f}", "", f"{row['process']:.2f}"]))


if __name__ == "__main__":
    main()
