"""Calls off the usual paths beside the same by hand: writes between views of one array, complex powers, small loops.

python benchmarks/offpath.py [BACKEND ...] [--size 16] [--only TEXT]

A row is a statement on arrays of ``size`` times ``size`` elements: microseconds, the least of several rounds that
alternate, and the ratio. By hand it's the same statement on the engine's own arrays; torch needs a copy where the two
sides overlap. Then come compiled programs of small things, beside the same by hand and in ``jax.jit``
(``compiled_loops.py``).
"""

from __future__ import annotations

import argparse
import time
import timeit
from typing import Any

import compiled_loops
import numpy as np

import unifyarr as ua

ROUNDS, SECONDS = 15, 0.003

# A statement of ours, and that of torch's users where it differs.
ROWS = """
h[0] = h[1]                        |
h[0] = h[-1]                       |
h[:, 0] = h[:, 1]                  |
h[1:] = h[:-1]                     | h[1:] = h[:-1].clone()
h[::2] = h[1::2]                   |
h[...] = h.T                       | h[...] = h.T.clone()
h[1:-1, 1:-1] += h[:-2, 1:-1]      | h[1:-1, 1:-1] += h[:-2, 1:-1].clone()
xp.multiply(h[1:], 1.0, out=h[1:]) |
xp.add(h[1:], h[:-1], out=h[1:])   | xp.add(h[1:], h[:-1].clone(), out=h[1:])
abs(z)                             |
z == w                             |
z**2                               |
z**3                               |
z**-1                              |
z**0.5                             |
z + w                              |
z - w                              |
z + 1j                             |
"""


def rows(backend: str, only: str) -> list[tuple[str, str]]:
    """Return the statements of ours and by hand."""
    pairs = [tuple(map(str.strip, line.split("|"))) for line in ROWS.strip().splitlines()]
    return [(ours, hand if hand and backend == "torch" else ours) for ours, hand in pairs if only in ours]


def arrays(size: int, convert: Any) -> dict[str, Any]:
    """Return the arrays of the statements."""
    random = np.random.default_rng(5)
    real, z = random.uniform(0.5, 2.0, (size, size)), random.normal(size=(2, size, size))
    return {"h": convert(real), "z": convert(z[0] + 1j * z[1]), "w": convert(z[0] - 1j * z[1])}


def measure(ours: str, hand: str, names: dict[str, Any], by_hand: dict[str, Any]) -> tuple[float, float]:
    """Return the microseconds of both, each the least of rounds that alternate."""
    timers = [
        timeit.Timer(ours, timer=time.process_time, globals=names),
        timeit.Timer(hand, timer=time.process_time, globals=by_hand),
    ]
    numbers = [max(1, round(SECONDS / (timer.timeit(20) / 20))) for timer in timers]
    times = [
        [timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)] for _ in range(ROUNDS)
    ]
    first, second = (min(column) * 1e6 for column in zip(*times, strict=True))
    return first, second


def main() -> None:
    """Print the rows of each backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", default=["numpy", "torch"])
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    for backend in options.backends:
        ua.set_backend(backend)
        engine = __import__(backend)
        convert = engine.asarray
        names = {"xp": ua, **arrays(options.size, ua.asarray)}
        by_hand = {"xp": engine, **arrays(options.size, convert)}
        print(f"\n{backend}, {options.size} x {options.size}: µs, by hand, ratio")
        for ours, hand in rows(backend, options.only):
            first, second = measure(ours, hand, names, by_hand)
            print(f"{ours:36} {first:9.2f} {second:9.2f} {first / second:6.2f}")
        print("\ncompiled programs: ms, and compiled to each")
        compiled_loops.show(options.only)


if __name__ == "__main__":
    main()
