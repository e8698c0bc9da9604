"""Compiled functions on torch's tensors, beside torch itself: eager, by hand in place, and compiled by torch.

python benchmarks/tensors.py [--rounds 15] [--threads 1] [--loops machine]

A row has the median microseconds of a call, of the processor (or of the clock, with more threads than one), and the
median ratio to torch.compile's within a round, or to eager torch's where that takes no part. The contenders take turns.
Loops are compiled at once, and not when they've been called often; with ``--loops machine`` never. Each first result is
compared with eager torch's, bit by bit (torch.compile's with a tolerance).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from benchmarks.programs import exact, torch_compiled, wave
from unifyarr.graph.fusion import machine, other_engines

Run = Callable[[], Any]
EAGER, OURS, THEIRS = "eager", "unifyarr", "torch.compile"


def chain(n: int) -> dict[str, Run]:
    """Return a function that runs a chain of ten operations."""
    return {**beside(exact.chain, exact.chain, n), "by hand": exact.torch_by_hand(*exact.arrays(n))}


def beside(
    function: Callable[..., Any], on_tensors: Callable[..., Any], n: int, dtype: str = "float64"
) -> dict[str, Run]:
    """Return a function of two arrays, and the same of tensors."""
    ours = [ua.asarray(each.astype(dtype), backend="torch", copy=True) for each in exact.arrays(n)]
    natives = [each.native for each in ours]
    # It compiles a function for so many shapes at most.
    torch.compiler.reset()
    compiled, theirs = ua.compile(function), torch_compiled(on_tensors)
    return {
        EAGER: lambda: on_tensors(*natives),
        OURS: lambda: compiled(*ours).native,
        THEIRS: lambda: theirs(*natives),
    }


def with_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a chain of ten operations, one of which is this function."""

    def chain(x: Any, y: Any) -> Any:
        t = (x * y + 2.0 - x) * y + x
        return (function(t / 4.0) * y - x) / y

    return chain


def wave_step(n: int) -> dict[str, Run]:
    """Return a function that runs a step of the wave equation, and returns the written array."""
    rng = np.random.default_rng(0)
    start = [rng.random((n, n)) for _ in range(2)]

    def on_tensors(step: Callable[..., None]) -> Run:
        u, before = (torch.from_numpy(each.copy()) for each in start)
        return lambda: (step(u, before), before)[1]

    u, before = (ua.asarray(each, backend="torch", copy=True) for each in start)
    compiled = ua.compile(wave.step)
    return {
        EAGER: on_tensors(wave.step),
        OURS: lambda: (compiled(u, before), before.native)[1],
        THEIRS: on_tensors(torch_compiled(wave.step)),
    }


CALLS: dict[str, Callable[..., Any]] = {
    "x * y + 1.0": lambda x, y, s: x * y + 1.0,
    "(x * y + 1.0) / y": lambda x, y, s: (x * y + 1.0) / y,
    "(x * y + 1.0) / y - x": lambda x, y, s: (x * y + 1.0) / y - x,
    "x * float": lambda x, y, s: x * s,
    "chain": lambda x, y, s: exact.chain(x, y),
}


def call(name: str) -> dict[str, Run]:
    """Return a function that computes a few operations on ten elements."""
    function, compiled = CALLS[name], ua.compile(CALLS[name])
    x, y = (ua.asarray(each, backend="torch", copy=True) for each in exact.arrays(10))
    return {
        EAGER: lambda: function(x.native, y.native, 0.5),
        "eager unifyarr": lambda: function(x, y, 0.5).native,
        OURS: lambda: compiled(x, y, 0.5).native,
    }


def rows() -> Iterator[tuple[str, int, dict[str, Run]]]:
    """Yield a title, the number of elements, and the contenders."""
    for name in CALLS:
        yield f"{name}, 10", 10, call(name)
    for n in (100_000, 1_000_000, 10_000_000):
        yield f"chain of ten, {n:,}", n, chain(n)
    for name, ours, theirs in (("sqrt", ua.sqrt, torch.sqrt), ("exp", ua.exp, torch.exp)):
        for dtype in ("float64", "float32"):
            for n in (100_000, 1_000_000, 10_000_000):
                yield f"{name}, {dtype}, {n:,}", n, beside(with_function(ours), with_function(theirs), n, dtype)
    for n in (128, 512):
        yield f"wave, {n} x {n}", n * n, wave_step(n)


def check(title: str, runs: dict[str, Run]) -> None:
    """Raise if a first result is another one than eager torch's."""
    found = {name: run().clone() for name, run in runs.items()}
    for name, result in found.items():
        same = torch.allclose(result, found[EAGER], atol=1e-5) if name == THEIRS else torch.equal(result, found[EAGER])
        if not same:
            raise AssertionError(f"{title}: {name} computes something else than eager torch")


def row(title: str, size: int, runs: dict[str, Run], rounds: int, clock: Callable[[], float]) -> str:
    check(title, runs)
    repeats = max(1, int(0.01 / (size * 1e-8 + 1e-5)))
    for run in runs.values():
        run()
        run()
    took: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begin = clock()
            for _ in range(repeats):
                run()
            took[name].append((clock() - begin) / repeats * 1e6)
    beside = took.get(THEIRS, took[EAGER])
    cells = []
    for name, each in took.items():
        ratio = statistics.median(one / other for one, other in zip(each, beside, strict=True))
        cells.append(f"{name} {statistics.median(each):10.1f} {ratio:5.2f}")
    return f"{title:28}" + "   ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--loops", choices=("generated", "machine"), default="generated")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    real, machine.HOT = other_engines.bind, 1e18 if options.loops == "machine" else machine.HOT

    def bind(*given: Any) -> Callable[..., Any]:
        run = real(*given)
        if options.loops == "generated":
            machine.compile_now(run)
        return run

    other_engines.bind = bind
    clock = time.process_time if options.threads == 1 else time.perf_counter
    for title, size, runs in rows():
        print(row(title, size, runs, options.rounds, clock), flush=True)


if __name__ == "__main__":
    main()
