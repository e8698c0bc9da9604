"""Calls in whose middle no handler of a signal runs."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from unifyarr._native import core
from unifyarr.backends.interrupts import undisturbed

pytestmark = [
    pytest.mark.skipif(core is None, reason="the package was installed without its compiled part"),
    pytest.mark.skipif(sys.platform == "win32", reason="handlers of signals are replaced on POSIX alone"),
]


class Late(Exception):
    pass


@pytest.fixture(autouse=True)
def handled() -> Iterator[None]:
    def late(number: int, frame: Any) -> None:
        raise Late(number)

    before = {each: signal.signal(each, late) for each in (signal.SIGUSR1, signal.SIGALRM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def spin(kept: list[int], number: int = signal.SIGUSR1) -> str:
    os.kill(os.getpid(), number)
    for k in range(1000):
        kept.append(k)
    return "done"


def test_a_signal_comes_when_the_call_is_done() -> None:
    kept: list[int] = []
    with pytest.raises(Late):
        undisturbed(spin, kept)
    assert len(kept) == 1000
    # The handlers are Python's again.
    with pytest.raises(Late):
        spin(kept)
    assert len(kept) < 2000


def test_what_is_stored_in_the_call_is_there() -> None:
    results: list[str] = []
    with pytest.raises(Late):
        undisturbed(results.extend, (spin([]) for _ in range(2)))
    assert results == ["done"] * 2


def test_each_signal_comes() -> None:
    came: list[int] = []
    numbers = [signal.SIGUSR1, signal.SIGALRM]
    for number in numbers:
        signal.signal(number, lambda number, frame: came.append(number))

    def both() -> int:
        for number in numbers:
            os.kill(os.getpid(), number)
        return len(came)

    assert undisturbed(both) == 0
    assert sorted(came) == sorted(numbers)


def test_results_and_exceptions_are_those_of_the_function() -> None:
    assert undisturbed(max, 3, 5) == 5
    assert undisturbed(dict) == {}
    with pytest.raises(ZeroDivisionError):
        undisturbed(divmod, 1, 0)
    with pytest.raises(TypeError, match="takes a function"):
        undisturbed()


def test_an_exception_and_a_signal() -> None:
    came: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))

    def fails() -> None:
        spin([])
        raise ValueError("of the function")

    with pytest.raises(ValueError, match="of the function"):
        undisturbed(fails)
    assert came == [signal.SIGUSR1]


def test_calls_in_calls() -> None:
    came: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))

    def outer() -> int:
        undisturbed(spin, [])
        spin([])
        return len(came)

    assert undisturbed(outer) == 0
    assert came == [signal.SIGUSR1]


def test_handlers_are_as_they_were() -> None:
    def ignored(number: int, frame: Any) -> None:
        pass

    signal.signal(signal.SIGUSR1, ignored)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    undisturbed(spin, [])
    assert signal.getsignal(signal.SIGUSR1) is ignored
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    # An ignored signal stays ignored meanwhile.
    undisturbed(spin, [], signal.SIGALRM)


def test_in_another_thread_the_main_one_is_interrupted() -> None:
    # There no handler runs: whatever the thread does, the main thread gets it at once.
    began, goes_on = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        goes_on.wait(60)

    thread = threading.Thread(target=undisturbed, args=(work,))
    thread.start()
    began.wait(60)
    with pytest.raises(Late):
        spin([])
    goes_on.set()
    thread.join()


def test_a_signal_that_another_thread_notes_after_the_call_is_handed_on() -> None:
    came: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, frame: came.append(number))
    library = ctypes.CDLL(None)
    library.signal.argtypes, library.signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p

    def handler() -> int | None:
        found = library.signal(signal.SIGUSR1, None)
        library.signal(signal.SIGUSR1, found)
        return found

    # The system may start the handler of the call in a thread of an engine's, which goes on after the call has ended.
    note = ctypes.CFUNCTYPE(None, ctypes.c_int)(undisturbed(handler))
    assert handler() != ctypes.cast(note, ctypes.c_void_p).value
    thread = threading.Thread(target=note, args=(signal.SIGUSR1,))
    thread.start()
    thread.join()
    assert came == [signal.SIGUSR1]
    undisturbed(dict)
    assert came == [signal.SIGUSR1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_in_a_process_that_another_thread_forked() -> None:
    # Its only thread is the main one, with another number.
    code = """
import os, signal, sys, threading
from unifyarr.backends.interrupts import undisturbed
def late(number, frame):
    os._exit(len(kept) != 1000)
kept = []
def spin():
    os.kill(os.getpid(), signal.SIGUSR1)
    for k in range(1000):
        kept.append(k)
signal.signal(signal.SIGUSR1, late)
def fork():
    global status
    child = os.fork()
    if not child:
        undisturbed(spin)
        # From Python 3.14 on a thread that forked looks for signals a little later.
        for k in range(100_000):
            str(k)
        os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread = threading.Thread(target=fork)
thread.start()
thread.join()
sys.exit(status)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_where_no_signal_has_a_handler_yet() -> None:
    code = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
from unifyarr.backends.interrupts import undisturbed
undisturbed(dict)
assert not any(callable(signal.getsignal(each)) for each in signal.valid_signals())
def late(number, frame):
    os._exit(len(kept) != 1000)
signal.signal(signal.SIGTERM, late)
kept = []
def spin():
    os.kill(os.getpid(), signal.SIGTERM)
    for k in range(1000):
        kept.append(k)
undisturbed(spin)
os._exit(2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
