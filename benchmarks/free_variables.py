"""Free variables of compiled functions: how much ten of them add to a call, in microseconds.

python benchmarks/free_variables.py [BACKEND ...]

A compiled function looks at its free variables before each call. Arrays that it computes with are compared with the
same arrays as arguments, which are looked at too; numbers with literals; and variables that the result doesn't depend
on with a function that has none. Each figure is the least of rounds that alternate.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import unifyarr as ua

ROUNDS, CALLS, COUNT = 60, 1000, 10
Pair = tuple[Callable[[], Any], Callable[[], Any]]


def used_arrays() -> Pair:
    """Return a call that computes with ten free arrays, and one that is passed them."""
    x, values = ua.ones(3), [ua.ones(3) * number for number in range(COUNT)]
    a, b, c, d, e, f, g, h, i, j = values
    free = ua.compile(lambda x: x + a + b + c + d + e + f + g + h + i + j)
    passed = ua.compile(lambda x, a, b, c, d, e, f, g, h, i, j: x + a + b + c + d + e + f + g + h + i + j)
    return lambda: free(x), lambda: passed(x, a, b, c, d, e, f, g, h, i, j)


def used_numbers() -> Pair:
    """Return a call that computes with ten free numbers, and one with literals."""
    x = ua.ones(3)
    a, b, c, d, e, f, g, h, i, j = [1.0 + number for number in range(COUNT)]
    free = ua.compile(lambda x: ((((x * a + b) * c + d) * e + f) * g + h) * i + j)
    literals = ua.compile(lambda x: ((((x * 1.0 + 2.0) * 3.0 + 4.0) * 5.0 + 6.0) * 7.0 + 8.0) * 9.0 + 10.0)
    return lambda: free(x), lambda: literals(x)


def read(values: list[Any]) -> Pair:
    """Return a call of a function that reads ten free variables, and one of a function that has none."""
    x = ua.ones(3)
    a, b, c, d, e, f, g, h, i, j = values

    def function(x: ua.Array) -> ua.Array:
        _ = a, b, c, d, e, f, g, h, i, j
        return x + x

    free, none = ua.compile(function), ua.compile(lambda x: x + x)
    return lambda: free(x), lambda: none(x)


ROWS: dict[str, Callable[[], Pair]] = {
    "arrays, beside arguments": used_arrays,
    "numbers, beside literals": used_numbers,
    "arrays, read only": lambda: read([ua.ones(3) for _ in range(COUNT)]),
    "numbers, read only": lambda: read([1.0 + number for number in range(COUNT)]),
}


def measure(pair: Pair) -> tuple[float, float]:
    """Return the microseconds of both calls."""
    best = [float("inf")] * 2
    for call in pair * 30:
        call()
    for _ in range(ROUNDS):
        for place, call in enumerate(pair):
            begin = time.perf_counter()
            for _ in range(CALLS):
                call()
            best[place] = min(best[place], (time.perf_counter() - begin) / CALLS * 1e6)
    return best[0], best[1]


def main() -> None:
    """Print the rows of each backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", default=["numpy", "torch"])
    for backend in parser.parse_args().backends:
        with ua.use_backend(backend):
            print(f"\n{backend:28}    free  beside   added")
            for name, make in ROWS.items():
                free, beside = measure(make())
                print(f"{name:28} {free:7.3f} {beside:7.3f} {free - beside:+7.3f}", flush=True)


if __name__ == "__main__":
    main()
