"""``examples/climate.py`` on dask beside the same program written for ``dask.array``: time, memory, tasks.

python benchmarks/climate.py [--years 32] [--days 365] [--places 180x360] [--chunk-days 73] [--rounds 3] [--workers 0]
    [--memory 4GB] [--kill 20] [--only ours,dask]

Each run is a process of its own; the versions take turns. CPU seconds are those of all threads and workers, as medians;
compare their ratio on a busy machine. Peak memory is that of each process, the workers' at the end. With ``--kill`` one
worker is killed so many seconds after the beginning. The last columns have the bits of the results of all rounds, and
the difference of their sums from ours.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import climate as example

import unifyarr as ua

VERSIONS = {"ours": "unifyarr", "dask": "dask.array by hand"}


# -- by hand ----------------------------------------------------------------------------------------------------------


def _smoothed(x: np.ndarray) -> np.ndarray:
    x = np.where(x < example.COLDEST, 0.0, x)
    x[:, :, -1, ::7] = 0.0
    inner = x[:, :, 1:-1, 1:-1]
    around = x[:, :, :-2, 1:-1] + x[:, :, 2:, 1:-1] + x[:, :, 1:-1, :-2] + x[:, :, 1:-1, 2:]
    inner += example.SMOOTHING * (0.25 * around - inner)
    return x


def _measured(globe: example.Globe) -> tuple[Any, Any]:
    import dask.array as da

    year = da.arange(float(globe.years), chunks=1)[:, None, None, None]
    day = da.arange(float(globe.days), chunks=globe.chunk_days)[:, None, None]
    latitude = np.linspace(-np.pi / 2, np.pi / 2, globe.height)[:, None]
    longitude = np.linspace(0.0, 2 * np.pi, globe.width)
    season = 2 * np.pi * day / globe.days
    normal = 45 * np.cos(latitude) - 18 - 12 * np.sin(latitude) * da.cos(season)
    east = np.sin(3 * longitude + 2 * latitude)
    front = 2.1 * day + 1.7 * year + 4 * latitude
    height = 4 + 2 * da.cos(1.3 * year + 0.11 * day)
    x = da.sin(front + 5 * longitude) * height * east + (normal + example.WARMING * year)
    # One chunk has all places, so that an expert writes the stencil for a chunk.
    return x.map_blocks(_smoothed, dtype=x.dtype), latitude


def _between(x: np.ndarray) -> np.ndarray:
    low, high = np.quantile(x, (0.05, 0.95), axis=2)
    return high - low


def by_hand(globe: example.Globe) -> tuple[list[np.ndarray], list[int]]:
    """Return the example's results, and the number of tasks of each pass."""
    import dask

    usual = _measured(globe)[0].mean(axis=0)
    counts = [tasks([usual])]
    usual = usual.persist()
    x, latitude = _measured(globe)
    anomaly = x - usual
    weight = np.cos(latitude) / (np.sum(np.cos(latitude)) * globe.width)
    parts = [
        (anomaly * weight).sum(axis=(2, 3)).mean(axis=1),
        anomaly.max(axis=1),
        (anomaly > example.WARM).astype(anomaly.dtype).mean(axis=(0, 1)),
        anomaly.mean(axis=3).map_blocks(_between, drop_axis=2, dtype=anomaly.dtype),
    ]
    counts.append(tasks(parts))
    curve, highest, warm, spread = dask.compute(*parts)
    return [curve, highest.max(axis=0), warm, np.quantile(highest, 0.9, axis=0), spread], counts


def ours(globe: example.Globe) -> tuple[list[np.ndarray], list[int]]:
    """Return the example's results, and the number of tasks of each pass."""
    counts: list[int] = []
    # Each pass ends in one call, which is counted. Other computations have few tasks.
    persist = ua.persist

    def counted(*arrays: ua.Array) -> Any:
        counts.append(tasks([x.native for x in arrays]))
        return persist(*arrays)

    ua.persist = counted
    try:
        with ua.use_backend("dask"):
            found = example.analyse(globe)
    finally:
        ua.persist = persist
    return [found.curve, found.hottest, found.share, found.extremes, found.spread], counts


def tasks(arrays: Sequence[Any]) -> int:
    """Return how many tasks are left for arrays when their graphs are optimised."""
    import dask

    return len({key for x in dask.optimize(*arrays) for key in x.__dask_graph__()})


# -- one run ----------------------------------------------------------------------------------------------------------


def processor() -> float:
    """Return the seconds that processors have worked for this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def peak() -> float:
    """Return the most memory that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def run(version: str, globe: example.Globe, options: argparse.Namespace) -> dict[str, Any]:
    """Run a version, and return its figures."""
    function = {"ours": ours, "dask": by_hand}[version]
    with example.cluster(options.workers, options.memory):
        workers: list[int] = []
        before = [processor()]
        if options.workers:
            from dask.distributed import default_client

            client = default_client()
            workers = list(client.run(os.getpid).values())
            before += client.run(processor).values()
        if options.kill:
            timer = threading.Timer(options.kill, os.kill, (workers[0], signal.SIGKILL))
            timer.daemon = True
            timer.start()
        began = time.perf_counter()
        found, counts = function(globe)
        seconds = time.perf_counter() - began
        after, peaks = [processor()], [peak()]
        if options.workers:
            after += client.run(processor).values()
            peaks += client.run(peak).values()
    bits = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in found)).hexdigest()
    figures = [float(np.abs(x).sum()) for x in found]
    return {
        "seconds": seconds,
        "counts": counts,
        "processor": sum(after) - sum(before),
        "peaks": peaks,
        "bits": bits,
        "sums": figures,
    }


def main() -> None:
    """Run the versions in turns, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=32)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--places", default="180x360")
    parser.add_argument("--chunk-days", type=int, default=73)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--kill", type=float, default=0.0)
    parser.add_argument("--only", default="ours,dask")
    parser.add_argument("--one", help="run this version here, and print its figures as JSON")
    options = parser.parse_args()
    height, width = map(int, options.places.split("x"))
    globe = example.Globe(options.years, options.days, height, width, options.chunk_days)
    if options.one:
        print(json.dumps(run(options.one, globe, options)))
        return
    found: dict[str, list[dict[str, Any]]] = {}
    for number in range(options.rounds):
        for version in options.only.split(",")[:: -1 if number % 2 else 1]:
            command = [sys.executable, __file__, *sys.argv[1:], "--one", version]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            figures = json.loads(done.stdout.splitlines()[-1])
            took = f"{figures['seconds']:.1f} s, of processors {figures['processor']:.1f}"
            print(f"  round {number + 1}, {version}: {took}", file=sys.stderr)
            found.setdefault(version, []).append(figures)
    where = f"{options.workers} workers" if options.workers else "threads"
    print(f"{globe.gigabytes:.2f} GB on {where}, {options.rounds} rounds\n")
    print("| version | seconds | of processors | over by hand | peak GB of each process | tasks | bits | off by |")
    print("|---|---|---|---|---|---|---|---|")
    hand = statistics.median(each["processor"] for each in found.get("dask", next(iter(found.values()))))
    sums = next(iter(found.values()))[0]["sums"]
    for version, rounds in found.items():
        peaks = " ".join(f"{max(each):.2f}" for each in zip(*(each["peaks"] for each in rounds), strict=False))
        bits = " ".join(sorted({each["bits"][:8] for each in rounds}))
        off = max(abs(one / other - 1) for each in rounds for one, other in zip(each["sums"], sums, strict=True))
        seconds = statistics.median(each["seconds"] for each in rounds)
        worked = statistics.median(each["processor"] for each in rounds)
        print(
            f"| {VERSIONS[version]} | {seconds:.1f} | {worked:.1f} | {worked / hand:.2f} | {peaks} "
            f"| {' + '.join(map(str, rounds[0]['counts']))} | {bits} | {off:.0e} |"
        )


if __name__ == "__main__":
    main()
