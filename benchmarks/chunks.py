"""The cost of arrays of many chunks beside ``dask.array``: building graphs, and memory while computing.

python benchmarks/chunks.py [--chunks 10000] [--rounds 5] [--megabytes 512] [--only chain,std] [--json FILE]

Building is timed in one process, in turns, without computing; medians. Memory is the peak of a process for each
operation and version over that of one that computes nothing, on two threads and in chunks of 8 MB.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import unifyarr as ua

Function = Callable[[Any], Any]


def chain(x: Any) -> Any:
    """Ten elementwise operations, by operators alone: both libraries run this text."""
    y = x * 2 + 1
    y = (y - x) * y
    return -(y * y + x) * 0.5 - y / 3


def _stencil(x: ua.Array) -> ua.Array:
    x = ua.asarray(x, copy=True)
    inner = x[1:-1]
    inner += 0.25 * (x[:-2] + x[2:])
    return x


def _stencil_by_hand(x: da.Array) -> da.Array:
    # dask's own assignment of arrays takes time that grows with the square of the chunks.
    inner = x[1:-1] + 0.25 * (x[:-2] + x[2:])
    # Divided as before, so that a second step isn't more work than the first.
    return da.concatenate([x[:1], inner, x[-1:]]).rechunk(x.chunks)


def _masked(x: ua.Array) -> ua.Array:
    x = ua.asarray(x, copy=True)
    x[x > 0.5] = 0.0
    return x


# Name -> the operation by unifyarr and by dask.array.
OPERATIONS: dict[str, tuple[Function, Function]] = {
    "chain": (chain, chain),
    "compiled": (ua.compile(chain), chain),
    "stencil": (_stencil, _stencil_by_hand),
    "mask": (_masked, lambda x: da.where(x > 0.5, 0.0, x)),
    "mean": (lambda x: ua.mean(x, axis=0), lambda x: x.mean(axis=0)),
    "sum": (lambda x: ua.sum(x, axis=1), lambda x: x.sum(axis=1)),
    "std": (lambda x: ua.std(x, axis=1), lambda x: x.std(axis=1)),
    "transposed": (lambda x: x.T + x, lambda x: x.T + x),
    "slices": (lambda x: x[1:, ::2] + 0.0, lambda x: x[1:, ::2] + 0.0),
}


def native(result: Any) -> da.Array:
    """Return dask's array of a result."""
    return result.native if isinstance(result, ua.Array) else result


# -- building ---------------------------------------------------------------------------------------------------------


def building(names: list[str], chunks: int, rounds: int) -> dict[str, list[float]]:
    """Return for each operation the seconds to build its graph, ours and dask's, and how many tasks are left of it."""
    side = max(int(chunks**0.5), 1)
    found = {}
    for name in names:
        own, by_hand = OPERATIONS[name]
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds + 1):
            given = da.ones((2 * side, 2 * side), chunks=(2, 2)) + 0
            array = ua.asarray(given)
            # Layers keep the tasks that were made of them, so that whoever asks first would pay for these.
            given.__dask_graph__().to_dict()
            for taken, function, x in zip(times, (own, by_hand), (array, given), strict=True):
                gc.collect()
                start = time.perf_counter()
                # Lazy parts of a graph are built as well.
                native(function(x)).__dask_graph__().to_dict()
                taken.append(time.perf_counter() - start)
        # The first round traces compiled functions.
        medians = [statistics.median(each[1:]) for each in times]
        left = [len(dict(dask.optimize(native(f(x)))[0].__dask_graph__())) for f, x in ((own, array), (by_hand, given))]
        found[name] = [*medians, *left]
    return found


# -- memory -----------------------------------------------------------------------------------------------------------


def peak(name: str, version: int, megabytes: int) -> float:
    """Return the peak memory in MB of a process that computes an operation, or ``nothing``."""
    command = [sys.executable, __file__, "--peak", name, str(version), "--megabytes", str(megabytes)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def compute(name: str, version: int, megabytes: int) -> None:
    """Compute an operation on a square of float64, and print the peak memory of this process in MB."""
    side = int((megabytes * 125_000) ** 0.5)
    given = da.random.default_rng(0).random((side, side), chunks=(1000, 1000))
    if name != "nothing":
        result = native(OPERATIONS[name][version](given if version else ua.asarray(given)))
        with dask.config.set(num_workers=2):
            # Only a number of each chunk is kept, so that results are freed as soon as possible.
            result.sum().compute()
    # Linux's own number for a program: ``getrusage`` counts what the process held before it became one.
    status = Path("/proc/self/status").read_text()
    print(next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1000)


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=int, default=512, help="of the array; 0 leaves the memory out")
    parser.add_argument("--only", default=",".join(OPERATIONS), help="comma-separated names")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--peak", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    ua.set_backend("dask")
    if options.peak:
        compute(options.peak[0], int(options.peak[1]), options.megabytes)
        return
    names = options.only.split(",")
    built = building(names, options.chunks, options.rounds)
    print(f"\nbuilding, {options.chunks} chunks   ours ms   dask ms  ratio   tasks left   dask's")
    for name, (ours, by_hand, left, left_by_hand) in built.items():
        ratio = ours / by_hand
        print(f"  {name:<24}{ours * 1e3:8.1f}{by_hand * 1e3:10.1f}{ratio:7.2f}{left:13}{left_by_hand:9}")
    peaks = {}
    if options.megabytes:
        least = peak("nothing", 0, options.megabytes)
        print(f"\npeak memory, MB over {least:.0f}, of {options.megabytes}   ours   dask  ratio")
        for name in names:
            # It varies with which chunks meet in memory.
            peaks[name] = [
                float(np.median([peak(name, version, options.megabytes) - least for _ in range(3)]))
                for version in (0, 1)
            ]
            ours, by_hand = peaks[name]
            print(f"  {name:<30}{ours:14.0f}{by_hand:7.0f}{ours / by_hand:7.2f}")
    if options.json:
        options.json.write_text(json.dumps({"building": built, "peaks": peaks}, indent=1))


if __name__ == "__main__":
    main()
