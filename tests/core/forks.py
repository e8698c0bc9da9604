"""Processes that are forked at first uses: ``python -m tests.core.forks COUNT SEED [BACKEND]``.

Threads call everything for the first time while another one forks, again and again. Each new process makes some of the
calls too: it has to come to their end, whatever the threads were about that it doesn't have.
"""

from __future__ import annotations

import faulthandler
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np

from .first_use import all_calls

THREADS = 4
# After so many seconds a process hangs.
LIMIT = 60


def in_this_process(backend: str, seed: int, count: int) -> int:
    """Fork a number of times at first uses; return how many of the processes hung or failed."""
    import unifyarr as ua

    draw, calls = random.Random(seed), all_calls()
    names = sorted(calls)
    draw.shuffle(names)
    goes_on = True

    def make() -> None:
        with ua.use_backend(backend), np.errstate(all="ignore"):
            for name in names:
                if goes_on:
                    calls[name]()

    def in_child(number: int) -> int:
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        try:
            with ua.use_backend(backend), np.errstate(all="ignore"):
                for name in random.Random(seed + number).sample(names, 8):
                    calls[name]()
        except BaseException:
            traceback.print_exc()
            return 3
        return 0

    threads = [threading.Thread(target=make) for _ in range(THREADS)]
    for each in threads:
        each.start()
    wrong = 0
    for number in range(count):
        time.sleep(draw.random() / 20)
        child = os.fork()
        if not child:
            os._exit(in_child(number))
        wrong += os.waitpid(child, 0)[1] != 0
    goes_on = False
    for each in threads:
        each.join()
    return wrong


def in_processes(backend: str, count: int, seed: int, each: int = 5) -> list[str]:
    """Fork from processes that use everything for the first time; return the failures."""
    wrong = []
    for number in range(seed, seed + count):
        how = [sys.executable, "-W", "ignore", "-m", "tests.core.forks", "--here", backend, str(number), str(each)]
        done = subprocess.run(
            how, capture_output=True, text=True, check=False, timeout=1800, cwd=Path(__file__).parents[2]
        )
        if done.returncode:
            wrong.append(f"seed {number}: {done.stdout}{done.stderr[-4000:]}")
    return wrong


if __name__ == "__main__":
    if sys.argv[1] == "--here":
        sys.exit(in_this_process(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    found = in_processes(*(sys.argv[3:] or ["numpy"]), count=int(sys.argv[1]), seed=int(sys.argv[2]))
    print("\n".join(found) or "no process hung or failed")
    sys.exit(bool(found))
