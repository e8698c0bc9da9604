"""Run many programs: ``python -m tests.core.programs BACKEND COUNT SEED`` stops at the first difference from NumPy."""

from __future__ import annotations

import sys
import time

from .machine import run

BATCH, STEPS = 250, 30


def main(backend: str, count: int, seed: int) -> None:
    """Run programs in batches, each of its own seed, and tell how far it got."""
    start = time.perf_counter()
    for first in range(0, count, BATCH):
        number = seed + first // BATCH
        print(f"{backend}: {first} programs, {time.perf_counter() - start:.0f} s; now seed {number}", flush=True)
        run(backend, min(BATCH, count - first), STEPS, seed=number)
    print(f"{backend}: {count} programs, {time.perf_counter() - start:.0f} s, no difference from NumPy")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
