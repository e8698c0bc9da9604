"""Calls of engines during which no signal handler may run: an exception raised there would lose an array.

An engine that uses up an array and makes another one of it runs Python of its own in between, as JAX does. Ctrl-C and
time limits raise exceptions there, and then neither array is left. In an undisturbed call they come at the end.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from .._native import core

R = TypeVar("R")


def _disturbed(function: Callable[..., R], /, *arguments: Any) -> R:
    return function(*arguments)


# Calls a function with arguments: signals that come meanwhile are raised when it's done. Without the compiled core
# their handlers run in the middle of it.
undisturbed: Callable[..., Any] = _disturbed
if core is not None:

    def _find_handler() -> None:
        """Give the compiled core the handler in C by which Python calls those that are written in Python."""
        known = [each for each in signal.valid_signals() if callable(signal.getsignal(each))]
        if known:
            core.take_handler(known[0])
            return
        # Nothing sends it, and else it's ignored.
        before = signal.signal(signal.SIGURG, lambda number, frame: None)
        core.take_handler(signal.SIGURG)
        signal.signal(signal.SIGURG, before)

    def _set_up() -> None:
        core.set_up_signals(threading.main_thread().ident or 0, _find_handler)

    undisturbed = core.undisturbed
    _set_up()
    if hasattr(os, "register_at_fork"):
        # Its main thread is the one that forked.
        os.register_at_fork(after_in_child=_set_up)
