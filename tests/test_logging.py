"""Logging: traces and their reasons, slow paths and copies; and nothing else."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.arrays.ownership import LOCK, MANY
from unifyarr._core.engines import tested
from unifyarr._core.engines.registry import load

from .kernels import leave_shortcuts


@contextmanager
def listening(area: str = "", level: int = logging.DEBUG) -> Iterator[list[str]]:
    """Collect the messages of an area; no lock is held where one comes."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            def note() -> None:
                if LOCK.acquire(timeout=5):
                    found.append(record.getMessage())
                    LOCK.release()

            other = threading.Thread(target=note)
            other.start()
            other.join()

    logger, handler = logging.getLogger(f"unifyarr.{area}".rstrip(".")), Handler()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def test_traces_and_what_differs(backend: str) -> None:
    @ua.compile(programs=3)
    def step(x: ua.Array, rate: float, power: int = 1) -> ua.Array:
        return ua.sum(x * rate**power)

    with listening("compile", logging.INFO) as found:
        step(ua.ones(3), 0.5, 1)
        step(ua.ones(3), 0.5, 1)
        assert [each.partition(":")[0] for each in found] == ["step() is traced for (x"]
        assert f"x: float64 (3,), rate: 0.5, power: 1) on {backend}" in found[0]
        step(ua.ones(4), 0.5, 1)
        assert found[1].endswith("number 2: x is float64 (4,), and was float64 (3,)")
        step(ua.ones(4), 0.5, 2)
        assert found[2].endswith("number 3: power is 2, and was 1")
        step(ua.ones(4), 0.5, power=2)
        assert "the structure of its arguments" in found[3]
        assert found[4] == "step() keeps 3 programs, and drops the one that was called longest ago"
        assert len(found) == 5


def test_calls_that_run_in_python(backend: str) -> None:
    @ua.compile
    def shift(x: ua.Array, y: ua.Array) -> None:
        x += y

    x = ua.ones(4)
    with listening("compile") as found:
        shift(x[1:], x[:-1])
    assert found[1:] == ["shift() runs in Python in this call: arguments that it writes overlap others"]


def test_what_is_composed(backend: str) -> None:
    x = ua.asarray([0.5, 1.5])
    with listening("fallback") as found:
        ua.interp(x, [0.0, 1.0], [1.0, 2.0])
    wanted = f"interp of float64 (2,), float64 (2,), float64 (2,): composed of other functions, no kernel of {backend}"
    # NumPy has a kernel for it.
    assert any(each.startswith(wanted) for each in found) == ("interp" not in load(backend).kernels)


def test_what_the_host_computes(backend: str) -> None:
    handle = load(backend)
    by_host = sorted(handle.by_host & {"eig", "eigvals", "lexsort", "histogram", "unique_all", "cummax"})
    x = ua.asarray([[2.0, 1.0], [0.0, 3.0]])
    with listening("fallback") as found:
        ua.linalg.eigvals(x)
        ua.unique_all(x)
    for name in {"eigvals", "unique_all"} & {*by_host}:
        assert any(each.startswith(f"{name} of float64 (2, 2): by NumPy on the host, on {backend}") for each in found)
    assert any("on the host" in each for each in found) == bool({"eigvals", "unique_all"} & {*by_host})


def test_results_that_are_copied_to_out(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A repeated call takes a shortcut, and isn't logged again.
    leave_shortcuts(monkeypatch)
    x, out = ua.ones((2, 3)), ua.zeros(3, dtype="float32")
    with listening("copy") as found:
        ua.sum(x, axis=0, out=out)
    assert "sum: the result is copied to out float32 (3,), since it has dtype float32, the result float64" in found


def test_writes_that_copy_for_want_of_ownership(backend: str) -> None:
    x = ua.zeros(MANY)
    x[...] = 1.0
    x[0] = 2.0
    copied = f"a write to an array float64 ({MANY},) on {backend} has copied it"
    with listening("copy") as found:
        x[0] = 3.0
        assert found == []
        native = x.native
        x[0] = 4.0
        del native
        assert any(each.startswith(copied) for each in found) == load(backend).destroys
        found.clear()
        x[0] = 5.0
        assert found == []


def test_a_compiled_call_that_copies_an_argument(backend: str) -> None:
    @ua.compile
    def step(x: ua.Array) -> None:
        x += 1

    x = ua.ones(5)
    step(x)
    with listening("copy") as found:
        step(x)
        assert found == []
        native = x.native
        step(x)
        del native
    assert any("has copied it" in each for each in found) == load(backend).destroys


def calls() -> list[Callable[[], object]]:
    x, y = ua.ones((3, 4)), ua.ones((3, 4))
    row, out = ua.zeros(4), ua.zeros((3, 4))
    return [
        lambda: x + y,
        lambda: ua.add(x, y, out=out),
        lambda: ua.sum(x, axis=0),
        lambda: x.__setitem__(0, row),
        lambda: ua.sort(x),
        lambda: ua.matmul(x, y.T),
        lambda: x.__iadd__(y),
    ]


def test_quick_calls_say_nothing(backend: str) -> None:
    every = calls()
    for _ in range(3):
        for call in every:
            call()
    with listening() as found:
        for call in every:
            call()
    assert found == []


def test_nothing_is_printed_unasked_and_logging_isnt_imported() -> None:
    code = (
        "import sys, unifyarr as ua\n"
        "f = ua.compile(lambda x: ua.sum(x)); f(ua.ones(3)); f(ua.ones(4))\n"
        "ua.interp(ua.ones(2), [0., 1.], [1., 2.]); ua.sum(ua.ones((2, 2)), axis=0, out=ua.zeros(2, dtype='float32'))\n"
        "print('logging' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    # optree, which compiled functions need, may import it.
    assert done.stdout in ("False\n", "True\n")


def test_a_handler_may_use_arrays(backend: str) -> None:
    """One that prints the array which a message is about, as messages of users do."""
    x, texts = ua.zeros(MANY), []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            texts.append(f"{record.getMessage()} {np.asarray(x)[0]}")

    logger, handler = logging.getLogger("unifyarr.copy"), Handler()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        for value in range(3):
            native = x.native
            x[0] = float(value)
            del native
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert x[0].tolist() == 2.0
    assert len(texts) == (3 if load(backend).destroys else 0)


@pytest.mark.parametrize(
    ("version", "newer"),
    [("2.3.0", False), ("2.4.99", False), ("2.4.6+cpu", False), ("2.5.0rc1", True), ("2.15.1", True), ("3.0", True)],
)
def test_an_engine_that_is_newer_than_tested_is_reported(
    version: str, newer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tested, "NEWEST", {"numpy": "2.4.6"})
    monkeypatch.setattr(np, "__version__", version)
    with listening("versions") as messages:
        tested.report("numpy")
        # Engines of other packages have no versions that were tested.
        tested.report("an_engine_of_others")
    said = [f"numpy {version} is newer than 2.4.6, the newest version that unifyarr was tested with"]
    assert messages == (said if newer else [])


def test_an_engine_is_reported_once(backend: str) -> None:
    program = (
        "import logging, unifyarr as ua\n"
        "from unifyarr._core.engines import tested\n"
        "tested.NEWEST.update(dict.fromkeys(tested.NEWEST, '0.1'))\n"
        "logging.basicConfig(level='INFO', format='%(name)s %(message)s')\n"
        f"for _ in range(3): ua.zeros(2, backend={backend!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.count(f"unifyarr.versions {backend} ") == 1
