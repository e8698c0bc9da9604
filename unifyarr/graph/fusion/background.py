"""What is compiled while a program goes on: one at a time, in a thread that nothing waits for."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

_lock = threading.Lock()
_waiting: deque[Callable[[], None]] = deque()
_thread: threading.Thread | None = None


def later(work: Callable[[], None]) -> None:
    """Do this work in the background."""
    with _lock:
        _waiting.append(work)
        if _thread is None:
            _start()


def _start() -> None:
    global _thread
    # A daemon, so that the interpreter exits without it. A compiler that still runs then writes to a directory of its
    # own, which nothing reads.
    _thread = threading.Thread(target=_work, name="unifyarr compiler", daemon=True)
    _thread.start()


def _work() -> None:
    global _thread
    try:
        _take_all()
    finally:
        # An error ends this thread, and Python shows it: another thread does what is left.
        with _lock:
            _thread = None
            if _waiting:
                _start()


def _take_all() -> None:
    while True:
        with _lock:
            if not _waiting:
                return
            work = _waiting.popleft()
        work()


def _forget() -> None:
    """In a process that was forked: the thread, and what it was to do, are the parent's."""
    global _thread, _lock
    _lock, _thread = threading.Lock(), None
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
