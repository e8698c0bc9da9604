"""The programs of ``examples/gallery`` beside the same by hand, in seconds by the clock, in one thread.

python benchmarks/gallery.py [--only NAME] [--engines numpy,torch,jax,tensorflow] [--runs 5] [--json FILE]

Each program runs in a process of its own for each engine. The first run compiles. Of the others the least time counts:
the two take turns. Results are compared first.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ONE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
ROOT = Path(__file__).parents[1]
PROGRAMS = ("ocean", "regression", "sampler", "smoother", "convolutions", "transformer")
ENGINES = ("numpy", "torch", "jax", "tensorflow")


def seconds(run: Callable[..., Any], given: Any) -> tuple[float, list[Any]]:
    """Return how long a run took until its results are there, and these as NumPy's arrays."""
    import numpy as np

    began = time.perf_counter()
    found = run(*given)
    found = [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]
    return time.perf_counter() - began, found


def measure(name: str, engine: str, runs: int) -> dict[str, list[float]]:
    """Return seconds of the first run, and the least of the others, of the program and of the one by hand."""
    import numpy as np

    import unifyarr as ua

    ua.set_backend(engine)
    program = importlib.import_module(f"examples.gallery.{name}")
    by_hand = getattr(importlib.import_module(f"examples.gallery.by_hand.{name}"), engine, None)
    given = program.data()
    contenders = {"unifyarr": program.solve} | ({"by hand": by_hand} if by_hand else {})
    first = {who: seconds(run, given) for who, run in contenders.items()}
    for one, other in zip(first["unifyarr"][1], first.get("by hand", first["unifyarr"])[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(runs):
        for who, run in contenders.items():
            best[who] = min(best[who], seconds(run, given)[0])
    return {who: [round(first[who][0], 3), round(best[who], 3)] for who in contenders}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", metavar="FILE", help="where to keep the figures, beside those that are there")
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.only, options.here, options.runs)))
        return
    kept = Path(options.json) if options.json else None
    found: dict[str, Any] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    alone = {**dict.fromkeys(ONE, "1"), "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    environment = os.environ | alone | {"JAX_ENABLE_X64": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}
    for name in [options.only] if options.only else PROGRAMS:
        for engine in options.engines.split(","):
            command = [sys.executable, __file__, "--only", name, "--here", engine, "--runs", str(options.runs)]
            done = subprocess.run(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
            found.setdefault(name, {})[engine] = json.loads(done.stdout.splitlines()[-1])
            print(name, engine, found[name][engine], flush=True)
            if kept:
                kept.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
