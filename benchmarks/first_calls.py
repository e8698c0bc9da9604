"""What the first call of a compiled function costs: seconds and, on JAX, how often XLA compiles.

python benchmarks/first_calls.py [--engine jax|numpy|torch|tensorflow] [--rounds 3] [--only TEXT]

Each run is a process of its own, since engines keep what they have compiled; it has called another compiled function.
On JAX the programs stand beside the same written for ``jax.jit`` by hand; elsewhere beside themselves, not compiled.
Two more rows trace and rewrite graphs of 10,000 and 100,000 operations, without a call, in seconds of the process.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

Run = Callable[[], Any]
COUNTS = (10_000, 100_000)
# What is shared by XLA's compilations of a process.
EVENT = "/jax/core/compile/backend_compile_duration"


def attention(engine: str, by_hand: bool) -> Run:
    import optree

    import unifyarr as ua
    from benchmarks import attention as model
    from examples import attention as example

    with ua.use_backend("numpy"):
        generator = ua.random.Generator(seed=0)
        params = example.parameters(generator, 96)
        text = np.random.default_rng(0).integers(0, 96, (example.BATCH, example.CONTEXT + 1))
    make = model.jax_by_hand(whole=True) if by_hand else model.ours(engine)
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
    """Return what call options are worth by Black and Scholes."""
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


def of_arrays(function: Callable[..., Any], *shapes: tuple[int, ...]) -> Callable[[str, bool], Run]:
    """Return what makes the first call of a function of arrays of these shapes."""

    def make(engine: str, by_hand: bool) -> Run:
        import unifyarr as ua

        generator = np.random.default_rng(0)
        values = [generator.uniform(1, 2, shape) for shape in shapes]
        arrays = [ua.asarray(x, backend=engine) for x in values]
        if by_hand and engine == "jax":
            import jax
            import jax.numpy as jnp

            compiled, natives = jax.jit(lambda *args: function(jnp, *args)), [x.native for x in arrays]
            return lambda: jax.block_until_ready(compiled(*natives))
        ours = (lambda *args: function(ua, *args)) if by_hand else ua.compile(lambda *args: function(ua, *args))

        def run() -> Any:
            with ua.use_backend(engine):
                result = ours(*arrays)
            return [np.asarray(x.native) for x in (result if isinstance(result, tuple) else (result,))]

        return run

    return make


PROGRAMS: dict[str, Callable[[str, bool], Run]] = {
    "attention": attention,
    "n-body": of_arrays(bodies, (100, 3), (100, 3), (100,)),
    "k-means": of_arrays(clusters, (2000, 3), (8, 3)),
    "Black-Scholes": of_arrays(options, (10_000,), (10_000,), (10_000,)),
}


def other(engine: str, by_hand: bool) -> None:
    """Call another compiled function, so that all is loaded."""
    import unifyarr as ua

    x = ua.asarray(np.ones(3), backend=engine)
    if by_hand and engine == "jax":
        import jax

        jax.jit(lambda x: x + 1)(x.native)
    else:
        ua.compile(lambda x: x + 1)(x)


def measured(engine: str, name: str, by_hand: bool) -> dict[str, float]:
    """Run in a process of its own: make the first call, and return what it costs."""
    run = PROGRAMS[name](engine, by_hand)
    other(engine, by_hand)
    found = {"compilations": 0.0}
    if engine == "jax":
        import jax

        def count(event: str, seconds: float, **_: Any) -> None:
            found["compilations"] += event == EVENT

        jax.monitoring.register_event_duration_secs_listener(count)
    clock, process = time.perf_counter(), time.process_time()
    run()
    return found | {"clock": time.perf_counter() - clock, "process": time.process_time() - process}


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
    found = len(ua.compile(function).graph(x, x + 1).apply_nodes)
    assert found == count
    return {"clock": time.perf_counter() - clock, "process": time.process_time() - process}


def best(arguments: list[str], rounds: int) -> dict[str, float]:
    """Return the medians of several processes."""
    found = []
    for _ in range(rounds):
        command = [sys.executable, __file__, *arguments]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found.append(json.loads(output.splitlines()[-1]))
    return {key: statistics.median(each[key] for each in found) for key in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", default="jax")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run is not None:
        name, how = given.run
        found = chained(given.engine, int(how)) if name == "chain" else measured(given.engine, name, how == "by hand")
        print(json.dumps(found))
        return
    print(f"{given.engine:16}{'clock s':>9}{'ratio':>7}{'process s':>11}{'ratio':>7}{'compilations':>14}")
    for name in PROGRAMS:
        if given.only in name and (given.engine == "jax" or name != "attention"):
            rows = {
                how: best(["--engine", given.engine, "--run", name, how], given.rounds)
                for how in ("by hand", "unifyarr")
            }
            beside = rows["by hand"]
            print(name)
            for how, row in rows.items():
                ratios = [f"{row[key] / beside[key]:.2f}" for key in ("clock", "process")]
                compilations = f"{row['compilations']:.0f} of {beside['compilations']:.0f}"
                print(
                    f"  {how:14}{row['clock']:>9.2f}{ratios[0]:>7}{row['process']:>11.2f}{ratios[1]:>7}"
                    f"{compilations:>14}"
                )
    for count in COUNTS:
        if given.only in "chain":
            row = best(["--engine", given.engine, "--run", "chain", str(count)], given.rounds)
            print(f"{'chain of ' + str(count):16}{row['clock']:>9.2f}{'':7}{row['process']:>11.2f}")


if __name__ == "__main__":
    main()
