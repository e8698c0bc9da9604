"""Processes that are forked while another thread is in the middle of something."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.declaring import plain
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr._core.values.lazily import cached_property
from unifyarr.backends import forks

from . import forks as search

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

# A thread does ``MIDDLE``, calls ``begin()`` in it, and goes on for a while. The process that is forked meanwhile does
# ``USE``.
PROGRAM = """
import faulthandler, os, sys, threading, time
# What is registered first is called last before a fork.
def late():
    pass
os.register_at_fork(before=lambda: late())
import numpy as np
import unifyarr as ua
from unifyarr._core.arrays.ownership import LOCK
from unifyarr._core.engines.handle import LOAD_LOCK
from unifyarr._core.values.lazily import cached_property
from unifyarr.backends import forks
begun = threading.Event()
def begin(seconds=0.5):
    if threading.current_thread() is not threading.main_thread() and not begun.is_set():
        begun.set()
        time.sleep(seconds)
SET_UP
def middle():
    MIDDLE
def use():
    USE
thread = threading.Thread(target=middle, daemon=True)
thread.start()
assert begun.wait(60)
child = os.fork()
if not child:
    faulthandler.dump_traceback_later(30, exit=True)
    use()
    os._exit(0)
status = os.waitpid(child, 0)[1]
assert status == 0, status
thread.join(60)
assert not thread.is_alive()
# In the parent all locks are free again too.
use()
"""
TRACED = """
def traced(x):
    begin(2)
    return x * 2
compiled = ua.compile(traced)
"""
COMPUTED = """
class Slow:
    @cached_property
    def value(self):
        begin()
        return 3
slow = Slow()
"""
# As a function of the package does it.
IMPORTS = """
import tempfile, unifyarr
folder = tempfile.mkdtemp()
open(folder + "/slow_module.py", "w").write("import __main__; __main__.begin(); done = True")
sys.path.insert(0, folder)
import_it = compile("import slow_module", unifyarr.__path__[0] + "/somewhere.py", "exec")
"""
LOGGING_IMPORTS = IMPORTS.replace(
    "import __main__; __main__.begin()", "import logging, __main__; __main__.begin(); logging.getLogger('slow')"
)
LATE_IMPORTS = """
import tempfile, unifyarr
folder = tempfile.mkdtemp()
open(folder + "/slow_module.py", "w").write("import time; time.sleep(1); done = True")
sys.path.insert(0, folder)
import_it = compile("import slow_module", unifyarr.__path__[0] + "/somewhere.py", "exec")
forking = threading.Event()
def late():
    forking.set()
    time.sleep(0.5)
"""
GENERATOR = """
generator = ua.random.Generator(3)
"""
NEVER = """
forks.PATIENCE = 0.2
forks._locks = {each: min(patience, 0.2) for each, patience in forks._locks.items()}
"""
FORKING = """
def forking(x):
    begin(0)
    child = os.fork()
    y = x + 1
    if not child:
        compiled_too = ua.compile(lambda x: x * 3)(ua.ones(2))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return y
compiled = ua.compile(forking)
"""
CASES = {
    "a backend is loaded": ("", "with LOAD_LOCK: begin()", "with LOAD_LOCK: pass"),
    "an array is written": ("", "with LOCK: begin()", "x = ua.ones(3); x[0] = 2; assert x[0] == 2; LOCK.acquire()"),
    "a function is traced": (TRACED, "compiled(ua.ones(2))", "assert compiled(ua.ones(3)).tolist() == [2, 2, 2]"),
    "an attribute is computed": (COMPUTED, "slow.value", "assert slow.value == 3"),
    "a module is imported": (IMPORTS, "exec(import_it)", "import slow_module; assert slow_module.done"),
    "a module that logs is imported": (
        LOGGING_IMPORTS,
        "exec(import_it)",
        "import slow_module; assert slow_module.done",
    ),
    "a module is imported at last": (
        LATE_IMPORTS,
        "begin(0); forking.wait(); exec(import_it)",
        "import slow_module; assert slow_module.done",
    ),
    "numbers are drawn": (GENERATOR, "with generator._lock: begin()", "generator.normal(size=3)"),
    "a thread never ends": (NEVER, "with LOAD_LOCK: begin(2)", "with LOAD_LOCK: pass"),
    "it is the one that forks": (FORKING, "begin(0)", "compiled(ua.ones(2))"),
}


@pytest.mark.parametrize(("set_up", "middle", "use"), CASES.values(), ids=CASES)
def test_a_process_that_is_forked_in_the_middle_goes_on(set_up: str, middle: str, use: str) -> None:
    program = PROGRAM.replace("SET_UP", set_up).replace("MIDDLE", middle).replace("USE", use)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_processes_that_are_forked_at_first_uses_go_on() -> None:
    wrong = search.in_processes("numpy", count=1, seed=20261127)
    assert not wrong, "\n".join(wrong)


def test_a_lock_that_nothing_has_is_forgotten() -> None:
    before = len(forks._locks)
    locks = [forks.free_after_fork(threading.Lock()) for _ in range(3)]
    assert len(forks._locks) == before + 3
    locks.clear()
    assert len(forks._locks) == before


# -- what threads do at once ----------------------------------------------------------------------------------------


def test_a_backend_is_loaded_while_functions_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that declares functions is imported for the first time by another thread."""

    class Growing(dict[str, Any]):
        def values(self) -> Any:
            return Others(self)

    class Others:
        def __init__(self, declarations: dict[str, Any]) -> None:
            self.declarations = declarations

        def __iter__(self) -> Iterator[Any]:
            return iter(dict.values(self.declarations))

    growing = Growing(DECLARATIONS)
    let_cast, first = plain.let_cast, next(iter(DECLARATIONS.values()))

    def cast_and_grow(handle: Any, declaration: Any) -> None:
        growing[f"new {len(growing)}"] = first
        if len(growing) < 5000:
            let_cast(handle, declaration)

    monkeypatch.setattr(plain, "DECLARATIONS", growing)
    monkeypatch.setattr(plain, "let_cast", cast_and_grow)
    plain.let_all_cast(load("numpy"))


def test_an_attribute_is_computed_once_and_is_one_for_all() -> None:
    together = threading.Barrier(2, timeout=60)

    class Slow:
        @cached_property
        def value(self) -> object:
            """Return something."""
            if threading.current_thread() is not threading.main_thread():
                together.wait()
            return object()

    slow, found = Slow(), list[object]()
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert found[0] is found[1] is slow.value
    assert Slow.value.__doc__ == "Return something."
    assert ua.add.declaration.signature is ua.add.declaration.signature  # type: ignore[attr-defined]
