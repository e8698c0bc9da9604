"""Locks in processes that are forked: a thread that held one in the parent isn't there to release it."""

from __future__ import annotations

import _imp
import os
import sys
import threading
import time
import weakref
from types import FrameType
from typing import Any, TypeVar

Lock = TypeVar("Lock")
# How long a fork waits for a lock, in seconds: loading an engine takes some of them.
PATIENCE = 60.0

# Whether ``logging`` was imported before.
_LOGS = "logging" in sys.modules
# The file names of the code that imports, and of this package's.
_IMPORTING = "<frozen importlib._bootstrap>"
_OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


class _ImportLock:
    """The lock that an import holds for a moment before it takes that of its module: held here, it stops imports."""

    acquire = staticmethod(_imp.acquire_lock)
    release = staticmethod(_imp.release_lock)


_locks: dict[weakref.ref[Any], float] = {}
# By thread, since two may fork at once.
_taken: dict[int, list[Any]] = {}


def free_after_fork(lock: Lock, *, patience: float = PATIENCE) -> Lock:
    """Return a lock, which no other thread holds in a process that is forked from now on.

    A fork waits for the thread that holds the lock, so that the child process finds the guarded state consistent.
    ``patience`` is the longest wait. It is 0 if users' code runs under the lock, since that may wait for the fork, and
    the guarded state is always consistent.
    """
    _locks[weakref.ref(lock, _forget)] = patience
    return lock


def _forget(reference: weakref.ref[Any]) -> None:
    _locks.pop(reference, None)


def _take() -> None:
    logging = _lock_of_logging()
    if logging is not None:
        logging.release()
    try:
        _take_ours()
    finally:
        if logging is not None:
            logging.acquire()


def _lock_of_logging() -> Any:
    """Return the lock of ``logging`` if a fork takes it before ours, or None.

    Modules that were imported later take their locks earlier. A thread that holds one of ours may wait for this one.
    """
    lock = None if _LOGS else getattr(sys.modules.get("logging"), "_lock", None)
    return lock if lock is not None and lock._is_owned() else None


def _take_ours() -> None:
    deadline = time.monotonic() + PATIENCE
    _acquire()
    # Python's own locks of modules stay taken too. An import may need a lock of ours to come to its end.
    while _is_importing() and time.monotonic() < deadline:
        _release()
        time.sleep(0.001)
        _acquire()


def _is_importing() -> bool:
    """Return whether another thread imports a module for this package, as it does at many a first use."""
    for thread, innermost in sys._current_frames().items():
        frame: FrameType | None = innermost if thread != threading.get_ident() else None
        imports = False
        while frame is not None:
            file = frame.f_code.co_filename
            imports = imports or file == _IMPORTING
            if imports and file.startswith(_OURS):
                return True
            frame = frame.f_back
    return False


def _acquire() -> None:
    taken = _taken[threading.get_ident()] = []
    # A lock that is taken inside another was made earlier, since imports point one way.
    for reference, patience in reversed(tuple(_locks.items())):
        lock = reference()
        # This thread may have an ``RLock`` already, and then takes it once more.
        if lock is not None and lock.acquire(timeout=patience):
            taken.append(lock)
    _ImportLock.acquire()
    taken.append(_ImportLock)


def _release() -> None:
    for lock in reversed(_taken.pop(threading.get_ident(), [])):
        lock.release()


def _renew() -> None:
    taken = {*map(id, _taken.get(threading.get_ident(), []))}
    for reference in tuple(_locks):
        lock = reference()
        if lock is not None and id(lock) not in taken:
            # As the locks of the standard library are.
            lock._at_fork_reinit()
    _release()
    _taken.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take, after_in_parent=_release, after_in_child=_renew)
