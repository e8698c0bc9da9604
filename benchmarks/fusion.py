"""Regions of loops on NumPy's arrays: their machine code, without the rest of a compiled function.

python benchmarks/fusion.py [--only chain,wave] [--rounds 9] [--threads 1]

A row has the least microseconds of a call, of the processor (or of the clock, with more threads than one), and its
ratio to NumPy by hand with ``out=``. The contenders take turns. Each result is compared with NumPy's, bit by bit.

- ``numpy``: by hand, in the memory of temporaries where that's possible
- ``steps``: the region's steps one by one
- ``machine``: NumPy's loops on chunks
- ``generated``: with loops in C, where a compiler is there
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
import unifyarr as ua
from unifyarr.graph.fusion import machine
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand, run_by_steps

F8 = np.dtype("f8")


class Case(NamedTuple):
    region: FusedRegion
    by_hand: Callable[..., Any]
    arrays: list[np.ndarray]


class Builder:
    """Writes a region down as an expression."""

    def __init__(self, shape: tuple[int, ...]):
        self.shape = shape
        self.arguments: list[Any] = []
        self.reads: list[Operand] = []
        self.constants: list[np.ndarray] = []
        self.steps: list[FusedStep] = []
        self.outputs: list[Any] = []

    def read(self, argument: int, *start: int) -> tuple[str, int]:
        axes = tuple(map(Axis, range(len(self.shape))))
        self.reads.append(Operand(argument, start or (0,) * len(self.shape), axes))
        return "read", len(self.reads) - 1

    def constant(self, value: float) -> tuple[str, int]:
        self.constants.append(np.array(value))
        return "constant", len(self.constants) - 1

    def __call__(self, name: str, *inputs: tuple[str, int], reduces: bool = False) -> tuple[str, int]:
        self.steps.append(FusedStep(name, inputs, (F8,) * (len(inputs) + 1), reduces))  # type: ignore[arg-type]
        return "step", len(self.steps) - 1

    def region(
        self, shapes: list[tuple[int, ...]], writes: list[tuple[tuple[str, int], int, tuple[int, ...]]]
    ) -> FusedRegion:
        begin = {"read": 0, "constant": len(self.reads), "step": len(self.reads) + len(self.constants)}
        steps = [each._replace(inputs=tuple(begin[kind] + i for kind, i in each.inputs)) for each in self.steps]
        axes = tuple(map(Axis, range(len(self.shape))))
        return FusedRegion(
            self.shape,
            tuple((shape, F8) for shape in shapes),
            tuple(self.reads),
            tuple(self.constants),
            tuple(steps),
            tuple((begin[kind] + i, Operand(argument, start, axes)) for (kind, i), argument, start in writes),
        )


def chain(n: int) -> Case:
    """Return ten operations in a row."""
    do = Builder((n,))
    x, y, two = do.read(0), do.read(1), do.constant(2.0)
    t = do("add", do("multiply", x, y), two)
    t = do("add", do("multiply", do("subtract", t, x), y), x)
    t = do("subtract", do("add", do("multiply", do("sqrt", t), y), two), x)
    t = do("divide", t, y)

    def by_hand(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
        np.multiply(x, y, out=out)
        np.add(out, 2.0, out=out)
        np.subtract(out, x, out=out)
        np.multiply(out, y, out=out)
        np.add(out, x, out=out)
        np.sqrt(out, out=out)
        np.multiply(out, y, out=out)
        np.add(out, 2.0, out=out)
        np.subtract(out, x, out=out)
        np.divide(out, y, out=out)

    rng = np.random.default_rng(0)
    return Case(do.region([(n,)] * 3, [(t, 2, (0,))]), by_hand, [rng.random(n) + 1, rng.random(n) + 1, np.zeros(n)])


def wave(n: int) -> Case:
    """Return a step of the wave equation on windows."""
    do = Builder((n - 2, n - 2))
    north, south, west, east = do.read(0, 0, 1), do.read(0, 2, 1), do.read(0, 1, 0), do.read(0, 1, 2)
    now, before = do.read(0, 1, 1), do.read(1, 1, 1)
    around = do("add", do("add", do("add", north, south), west), east)
    force = do("multiply", do.constant(0.1), do("subtract", around, do("multiply", do.constant(4.0), now)))
    t = do("add", do("subtract", do("add", now, now), before), force)

    def by_hand(u: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
        c, t = u[1:-1, 1:-1], out[1:-1, 1:-1]
        force = u[:-2, 1:-1] + u[2:, 1:-1]
        force += u[1:-1, :-2]
        force += u[1:-1, 2:]
        force -= 4.0 * c
        force *= 0.1
        np.add(c, c, out=t)
        t -= v[1:-1, 1:-1]
        t += force

    rng = np.random.default_rng(0)
    arrays = [rng.random((n, n)), rng.random((n, n)), np.zeros((n, n))]
    return Case(do.region([(n, n)] * 3, [(t, 2, (1, 1))]), by_hand, arrays)


def softmax(n: int) -> Case:
    """Return softmax of rows of 250."""
    shape = (n // 250, 250)
    do = Builder(shape)
    x = do.read(0)
    e = do("exp", do("subtract", x, do("maximum", x, reduces=True)))
    t = do("divide", e, do("add", e, reduces=True))

    def by_hand(x: np.ndarray, out: np.ndarray) -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)

    x0 = np.random.default_rng(0).normal(size=shape)
    return Case(do.region([shape] * 2, [(t, 1, (0, 0))]), by_hand, [x0, np.zeros(shape)])


def black_scholes(n: int) -> Case:
    """Return the price of calls, of spot, strike and time: with SciPy's erf."""
    from scipy.special import erf

    rate, volatility = 0.02, 0.3
    do = Builder((n,))
    s, k, t = do.read(0), do.read(1), do.read(2)
    half, one = do.constant(0.5), do.constant(1.0)
    root = do("multiply", do.constant(volatility), do("sqrt", t))
    drift = do("multiply", do.constant(rate + volatility**2 / 2), t)
    d1 = do("divide", do("add", do("log", do("divide", s, k)), drift), root)
    d2 = do("subtract", d1, root)

    def normal(d: tuple[str, int]) -> tuple[str, int]:
        scaled = do("multiply", d, do.constant(0.5**0.5))
        return do("multiply", half, do("add", one, do("scipy.special.erf", scaled)))

    discounted = do("multiply", k, do("exp", do("multiply", do.constant(-rate), t)))
    price = do("subtract", do("multiply", s, normal(d1)), do("multiply", discounted, normal(d2)))

    def by_hand(s: np.ndarray, k: np.ndarray, t: np.ndarray, out: np.ndarray) -> None:
        root = np.sqrt(t)
        np.multiply(volatility, root, out=root)
        d1 = s / k
        np.log(d1, out=d1)
        np.add(d1, (rate + volatility**2 / 2) * t, out=d1)
        np.divide(d1, root, out=d1)
        np.subtract(d1, root, out=root)
        for d in (d1, root):
            np.multiply(d, 0.5**0.5, out=d)
            erf(d, out=d)
            np.add(1.0, d, out=d)
            np.multiply(0.5, d, out=d)
        np.multiply(s, d1, out=d1)
        np.multiply(-rate, t, out=out)
        np.exp(out, out=out)
        np.multiply(k, out, out=out)
        np.multiply(out, root, out=out)
        np.subtract(d1, out, out=out)

    rng = np.random.default_rng(0)
    arrays = [rng.random(n) * 50 + 75, rng.random(n) * 50 + 75, rng.random(n) + 0.1, np.zeros(n)]
    return Case(do.region([(n,)] * 4, [(price, 3, (0,))]), by_hand, arrays)


CASES = {
    "chain": (chain, (10, 1000, 100_000, 1_000_000, 10_000_000)),
    "wave": (wave, (128, 512)),
    "softmax": (softmax, (1000, 100_000, 1_000_000)),
    "black_scholes": (black_scholes, (1000, 100_000, 1_000_000)),
}


def measure(name: str, n: int, rounds: int, threads: int) -> str:
    case = CASES[name][0](n)
    contenders: dict[str, Callable[..., Any]] = {
        "numpy": case.by_hand,
        "steps": lambda *arrays: run_by_steps(case.region, arrays),
        "machine": machine.bind(case.region),
    }
    # It stays as it is, however often it's called.
    if machine.is_compiled():
        contenders["machine"].calls = 0  # type: ignore[attr-defined]
    generated = machine.bind(case.region)
    if machine.compile_now(generated):
        contenders["generated"] = generated
    clock = time.process_time if threads == 1 else time.perf_counter
    least = dict.fromkeys(contenders, float("inf"))
    results = {}
    for _ in range(rounds):
        for contender, run in contenders.items():
            # About ten milliseconds.
            repeats = max(1, int(0.01 / (math.prod(case.region.shape) * 5e-9 + 2e-6)))
            begin = clock()
            for _ in range(repeats):
                run(*case.arrays)
            least[contender] = min(least[contender], (clock() - begin) / repeats * 1e6)
            results[contender] = case.arrays[-1].tobytes()
    wrong = [each for each, result in results.items() if result != results["numpy"]]
    cells = [f"{each} {took:10.1f} {took / least['numpy']:5.2f}" for each, took in least.items()]
    return f"{name:14}{n:>10}  " + "   ".join(cells) + (f"   WRONG: {wrong}" if wrong else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES), help="cases, such as chain,wave")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    ua.set_num_threads(options.threads)
    if not machine.is_compiled():
        print("the package was installed without its compiled part: there is only numpy, and steps")
    for name in options.only.split(","):
        for n in CASES[name][1]:
            print(measure(name, n, options.rounds, options.threads), flush=True)


if __name__ == "__main__":
    main()
