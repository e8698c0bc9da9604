"""One-time costs: CPU time of ``import unifyarr`` over ``import numpy``, and of the first call of every function.

python benchmarks/first_use.py [--import | --alone] [BACKEND ...]

The import is the least of several fresh processes, with bytecode. Of each function one call is made three times, in a
fresh process that has loaded the backend: the first compiles its dispatcher, the second is recorded, and the third is
what a call takes from then on. A time over the third is the least of several processes. The calls are those of the
tests, the first case of each line. Each process goes through the functions in another order, so that in most of them
a function that another one calls has been called before. ``--alone`` makes the first call of each function in a process
of its own: that of a composition is the first call of all functions that it is made of.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORTS, ROUNDS, ALONE = 15, 7, 3
_IMPORT = """
import {first}
from time import process_time
before = process_time()
import {module}
print(process_time() - before)
"""


def fresh(*arguments: str, caches: str, **more: str) -> str:
    """Return the output of another Python, which caches its bytecode in a folder, as for an installed package."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": caches, "PYTHONPATH": str(ROOT), **more}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


def import_time(caches: str) -> None:
    """Print the time of the import."""
    codes = {"numpy": ("sys", "numpy"), "unifyarr over numpy": ("numpy", "unifyarr")}
    times: dict[str, list[float]] = {name: [] for name in codes}
    for round in range(IMPORTS + 1):
        for name, (first, module) in codes.items():
            found = float(fresh("-c", _IMPORT.format(first=first, module=module), caches=caches))
            # The first one compiles the bytecode.
            times[name] += [found] if round else []
    for name, each in times.items():
        print(f"import {name:22} {1e3 * min(each):8.1f} ms, median {1e3 * statistics.median(each):.1f}")


def first_calls(seed: str, only: list[str]) -> dict[str, list[float]]:
    """Return by name the seconds of the first three calls of each function, made in an order that the seed draws."""
    import unifyarr as ua
    from tests.functions.calls import CALLS, SEVERAL, find, lift

    # Load once-per-process parts that belong to no function.
    ua.Array.tolist(ua.asarray([1.0]) + 1)
    prepared = [
        (name, find(name), [lift(name, each) for each in arguments], options)
        for name, (arguments, options) in (CALLS | SEVERAL).items()
        if not only or name in only
    ]
    random.Random(seed).shuffle(prepared)
    times: dict[str, list[float]] = {}
    clock = time.thread_time
    for name, function, arguments, options in prepared:
        times[name] = []
        for _ in range(3):
            before = clock()
            function(*arguments, **options)
            times[name].append(clock() - before)
    return times


def show(backend: str, caches: str, alone: bool) -> None:
    """Print the first calls of a backend's arrays."""

    def measured(seed: int, *only: str) -> dict[str, list[float]]:
        command = "-W", "ignore", __file__, "--calls", str(seed), *only
        found: dict[str, list[float]] = json.loads(fresh(*command, caches=caches, UNIFYARR_BACKEND=backend))
        return found

    rounds = [measured(seed) for seed in range(1 if alone else ROUNDS)]
    if alone:
        names = list(rounds[0])
        rounds = [{name: measured(0, name)[name] for name in names} for _ in range(ALONE)]
    print(f"\n{backend}: {len(rounds[0])} functions, ms over the third call")
    print(f"  {'':12} median    95 %   worst ten")
    for place, what in enumerate(("first call", "second call")):
        found = {name: max(0.0, 1e3 * min(each[name][place] - each[name][2] for each in rounds)) for name in rounds[0]}
        ranked = sorted(found, key=found.__getitem__, reverse=True)
        percentile = found[ranked[len(ranked) // 20]]
        worst = ", ".join(f"{name} {found[name]:.2f}" for name in ranked[:10])
        print(f"  {what:12} {statistics.median(found.values()):6.2f}  {percentile:6.2f}   {worst}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--calls"]:
        warnings.simplefilter("ignore")
        print(json.dumps(first_calls(sys.argv[2], sys.argv[3:])))
    else:
        with tempfile.TemporaryDirectory() as folder:
            import_time(folder)
            if "--import" not in sys.argv:
                for each in [each for each in sys.argv[1:] if each != "--alone"] or ["numpy"]:
                    show(each, folder, "--alone" in sys.argv)
