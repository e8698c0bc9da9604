"""How many threads run a region: parts of it, with the same bits whatever their number."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

# The estimated nanoseconds of a run from which on threads pay: to wake one takes some 50 microseconds.
LONG = 400_000
# How many parts there are for each thread.
PARTS = 4
# From how many bytes on what was kept is copied by several threads.
MANY = 4 << 20
# So many runs are made in threads, and as many without: the way goes on that took least.
TRIES = 4

_lock = threading.Lock()
_threads: int | None = None
_pool: ThreadPoolExecutor | None = None


def set_num_threads(n: int) -> None:
    """Set how many threads run the loops of a compiled function, on the NumPy backend.

    Results don't depend on the number, to the last bit. Short loops run in one thread, and so do calls from a thread
    other than the main one, where a pool of the program's is at work already. The engines' own threads are set with
    the engine; on torch, the loops of a compiled function run in as many.

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
    global _threads, _pool
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"the number of threads is an int from 1 on, but it's {n!r}; pass 1 to run without threads")
    with _lock:
        if n != _threads and _pool is not None:
            _pool.shutdown(wait=False)
            _pool = None
        _threads = n


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


class Parallel:
    """Runs the parts of a program in threads."""

    def __init__(
        self,
        program: Any,
        fallback: Callable[..., None],
        report: Callable[[bytes], None],
        threads: Callable[[], int] = get_num_threads,
    ):
        self._program, self._fallback, self._report, self._threads = program, fallback, report, threads
        # How long runs took, in nanoseconds, by the number of threads.
        self._took: dict[int, list[int]] = {}

    def __call__(self, arrays: tuple[np.ndarray, ...], watched: int) -> bool:
        """Run on arrays that suit the program, unless it's to run alone; ``watched`` are the flags to report.

        Return whether it ran: if not, the program does that by itself.
        """
        n = self._choose() if threading.current_thread() is threading.main_thread() else 1
        if n == 1 and (self._threads() == 1 or len(self._took.get(1, ())) == TRIES):
            return False
        start = time.perf_counter_ns()
        self._run(arrays, watched, n)
        took = self._took.setdefault(n, [])
        if len(took) < TRIES:
            took.append(time.perf_counter_ns() - start)
        return True

    def _choose(self) -> int:
        """Return the number of threads of the next run: how long one takes is only estimated before."""
        n = self._threads()
        together, alone = self._took.get(n, ()), self._took.get(1, ())
        if n == 1 or len(together) < TRIES:
            return n
        return 1 if len(alone) < TRIES or min(alone) < min(together) else n

    def _run(self, arrays: tuple[np.ndarray, ...], watched: int, n: int) -> None:
        parts = 1 if n == 1 else PARTS * n
        # What is written late, since it's read elsewhere, is kept until all parts are computed.
        size = self._program.room(arrays) if parts > 1 else 0
        room = np.empty(size, np.uint8) if size else None
        flags = self._run_parts(arrays, watched, n, parts, room, False)
        if room is not None:
            # To wake threads for a short copy takes longer.
            self._run_parts(arrays, watched, n if size > MANY else 1, parts, room, True)
        if None in flags:
            # The layout is the same for all parts, so that none of them has written anything.
            self._fallback(*arrays)
        else:
            raised = np.bitwise_or.reduce([np.frombuffer(each or b"", np.uint8) for each in flags])
            if raised.any():
                self._report(raised.tobytes())

    def _run_parts(
        self, arrays: tuple[np.ndarray, ...], watched: int, n: int, parts: int, room: np.ndarray | None, writes: bool
    ) -> list[bytes | None]:
        """Run all parts, and return their flags; if it ``writes``, only what was kept is written."""
        # Each thread takes the next part when it's done with one: none waits for a thread that starts late.
        numbers, lock = iter(range(parts)), threading.Lock()
        flags: list[bytes | None] = []

        def work() -> None:
            while True:
                with lock:
                    part = next(numbers, None)
                if part is None:
                    return
                flags.append(self._program.part(arrays, part, parts, watched, room, writes))

        others = [_submit(work) for _ in range(n - 1)]
        work()
        for each in others:
            if not each.cancel():
                each.result()
        return flags


def _submit(run: Callable[[], None]) -> Future[None]:
    """Run in a thread of the pool; here and now, if the interpreter starts none any more as it exits."""
    global _pool
    try:
        with _lock:
            if _pool is None:
                _pool = ThreadPoolExecutor(max((_threads or 1) - 1, 1), thread_name_prefix="unifyarr")
            return _pool.submit(run)
    except RuntimeError:
        done: Future[None] = Future()
        run()
        done.set_result(None)
        return done


def _forget() -> None:
    """Forget the pool in a process that was forked: its threads run in the parent only."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
