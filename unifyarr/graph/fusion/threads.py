"""How many threads run a region: parts of it, with the same bits whatever their number.

The threads wait in C: ``native/pool.h`` has them, and ``native/parts.h`` what they do.
"""

from __future__ import annotations

import os
import threading

from ..._core.values.called import boundary

# The nanoseconds of a run that are worth a thread.
GRAIN = 10_000
# The estimated nanoseconds from which on a run isn't a step of a loop in C, where it'd have one thread.
LONG = 400_000

_threads: int | None = None


@boundary
def set_num_threads(n: int) -> None:
    """Set how many threads run the loops of a compiled function, on the NumPy backend.

    Results don't depend on the number, to the last bit. Loops run in fewer threads where that is quicker, and in one if
    they're called from a thread other than the main one, where a pool of the program's is at work already. The engines'
    own threads are set with the engine; on torch, the loops of a compiled function run in as many.

    Parameters
    ----------
    n
        The number of threads, at least 1. Without a call of this function it's the environment variable
        ``UNIFYARR_NUM_THREADS``, else ``OMP_NUM_THREADS``, else the number of processors of the process.

    Examples
    --------
    >>> import unifyarr as ua
    >>> before = ua.get_num_threads()
    >>> ua.set_num_threads(2)
    >>> ua.get_num_threads()
    2
    >>> ua.set_num_threads(before)
    """
    global _threads
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of threads is an int from 1 on, but it's {n!r}; pass 1 to run without threads")
    _threads = n


@boundary
def get_num_threads() -> int:
    """Return how many threads run the loops of a compiled function, on the NumPy backend.

    Examples
    --------
    >>> import unifyarr as ua
    >>> ua.get_num_threads() >= 1
    True
    """
    if _threads is None:
        set_num_threads(_default())
    assert _threads is not None
    return _threads


def _default() -> int:
    given = os.environ.get("UNIFYARR_NUM_THREADS", "")
    if given:
        if not given.isdecimal() or int(given) < 1:
            raise ValueError(f"UNIFYARR_NUM_THREADS is a number from 1 on, but it's {given!r}; set it, or unset it")
        return int(given)
    # OpenMP's may be a list, one for each level of nesting.
    outermost = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if outermost.isdecimal() and int(outermost) >= 1:
        return int(outermost)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main_thread() -> int:
    """Return the number of the main thread, whose calls may use others: elsewhere a pool of the user's is at work."""
    return threading.main_thread().ident or 0
