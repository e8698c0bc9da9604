"""Make many hostile calls: ``python -m tests.hostile BACKEND COUNT SEED [FIRST]`` prints the failures.

A call that crashes or hangs ends the process with its number; the same command with that number as ``FIRST`` and a
``COUNT`` of 1 makes it again.
"""

from __future__ import annotations

import collections
import contextlib
import faulthandler
import gc
import os
import resource
import sys
import time
from pathlib import Path

import unifyarr as ua

from .run import Caller, Finding

# Time limit of one call, and memory limit of all of them over the engine's.
SECONDS, ROOM = 60, 4 << 30
# Allowed growth of memory from the middle to the end of a run, beside engines' compilation caches.
GROWTH = {"jax": 1 << 30, "tensorflow": 1 << 29}


def _pages() -> int:
    return os.sysconf("SC_PAGE_SIZE")


def _sizes() -> tuple[int, int]:
    total, resident, *_ = (int(each) * _pages() for each in Path("/proc/self/statm").read_text().split()[:2])
    return total, resident


def main(backend: str, count: int, seed: int, first: int = 0) -> int:
    """Make the calls, print the findings, and return their number."""
    faulthandler.enable()
    found: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    start = time.perf_counter()
    with ua.use_backend(backend):
        caller = Caller(seed)
        # The engine allocates its own memory before a limit is set.
        for make in list(caller.calls.values())[::7]:
            good = make()
            with contextlib.suppress(Exception):
                good.function(*good.arguments, **good.options)
        limit = _sizes()[0] + ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        middle = 0
        for number in range(first, first + count):
            if number - first == count // 2:
                gc.collect()
                middle = _sizes()[1]
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            if os.environ.get("HOSTILE_TRACE"):
                print(number, caller.draw(number)[0], file=sys.stderr, flush=True)
            began = time.perf_counter()
            finding = caller.make(number)
            took = time.perf_counter() - began
            if finding is None and took > SECONDS / 2:
                finding = Finding(number, caller.draw(number)[0], f"took {took:.0f} s")
            if finding is not None:
                found[finding.place.split(" < ")[0], finding.complaint.split(":")[0]].append(finding)
            if (number - first) % 1000 == 999:
                print(f"{backend}: {number + 1 - first} calls, {time.perf_counter() - start:.0f} s", flush=True)
        faulthandler.cancel_dump_traceback_later()
        gc.collect()
        growth = _sizes()[1] - middle
    for several in sorted(found.values(), key=len):
        print(f"{len(several)} times:", several[0])
    bad = sum(map(len, found.values()))
    print(f"{backend}: {count} calls, seed {seed}, {bad} findings; {growth >> 20} MiB more than in the middle")
    return bad + (count >= 1000 and growth > GROWTH.get(backend, 1 << 27))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], *map(int, sys.argv[2:])) > 0)
