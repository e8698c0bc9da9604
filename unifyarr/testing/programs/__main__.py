"""Run many programs: ``python -m unifyarr.testing.programs BACKEND COUNT SEED``, up to a difference from NumPy."""

from __future__ import annotations

import resource
import sys
import time

from .running import forget, run

BATCH, STEPS = 250, 30
# After so many programs JAX forgets what it has compiled.
FORGETS = 2500


def main(backend: str, count: int, seed: int) -> None:
    """Run programs in batches, each of its own seed, and tell how far it got and what memory that took at most."""
    start = time.perf_counter()

    def tell(done: int, what: str) -> None:
        # In KiB, on Linux.
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{backend}: {done} programs, {time.perf_counter() - start:.0f} s, {memory:.0f} MiB; {what}", flush=True)

    for first in range(0, count, BATCH):
        number = seed + first // BATCH
        if first % FORGETS == 0:
            forget(backend)
        tell(first, f"now seed {number}")
        run(backend, min(BATCH, count - first), STEPS, seed=number)
    tell(count, "no difference from NumPy")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
