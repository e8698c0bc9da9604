"""Regions in threads: the bits of one thread, whatever their number, and nothing that hangs or is left over."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from tests.graph.fusion.random_regions import compare, make, make_late, run
from tests.graph.fusion.small_chunks import in_threads
from tests.graph.fusion.test_machine import F8, chain, ufunc, whole
from tests.oracle import few
from unifyarr.graph.fusion import machine, threads
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand

pytestmark = pytest.mark.skipif(
    not (machine.is_compiled() and machine.native.HAS_POOL), reason="there are no threads without the compiled part"
)


@given(st.integers(0, 2**32), st.integers(2, 4))
@few
def test_threads_compute_the_same_bits(seed: int, n: int) -> None:
    with in_threads(n):
        region, arrays = make(seed)
        compare(region, arrays, machine.bind(region))


@given(st.integers(0, 2**32), st.integers(2, 4))
@few
def test_what_is_written_late_waits_for_the_parts_beside(seed: int, n: int) -> None:
    with in_threads(n):
        region, arrays = make_late(seed)
        compare(region, arrays, machine.bind(region))


def test_generated_loops_write_late_in_threads() -> None:
    with in_threads(3):
        for seed in range(4):
            region, arrays = make_late(seed)
            function = machine.bind(region)
            machine.compile_now(function)
            compare(region, arrays, function)


def grid(rows: int, columns: int) -> tuple[FusedRegion, list[np.ndarray]]:
    """Return a step of heat that spreads in place: each element reads its neighbours in both directions."""
    windows = [Operand(0, start, (Axis(0), Axis(1))) for start in [(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)]]
    steps = (ufunc("add", 1, 2), ufunc("add", 5, 3), ufunc("add", 6, 4), ufunc("subtract", 7, 0))
    shape = (rows + 2, columns + 2)
    region = FusedRegion((rows, columns), ((shape, F8),), tuple(windows), (), steps, ((8, windows[0]),))
    return region, [np.random.default_rng(0).random(shape)]


@pytest.mark.parametrize("shape", [(1, 60), (2, 60), (3, 60), (9, 60), (60, 1), (50, 200), (300, 33)])
def test_a_grid_is_written_in_place(shape: tuple[int, int]) -> None:
    for n in (2, 3, 8):
        with in_threads(n):
            region, arrays = grid(*shape)
            function = machine.bind(region)
            for _ in range(10):
                compare(region, arrays, function)


def test_flags_of_all_threads_are_one_warning() -> None:
    with in_threads(4):
        n = 5000
        function, arrays = machine.bind(chain(n)), [np.ones(n), np.ones(n), np.zeros(n)]
        arrays[1][::500] = 0.0
        _, caught = run(function, arrays)
        assert caught == ["divide by zero encountered in divide"]
        arrays[0][:] = -3.0
        _, caught = run(function, arrays)
        assert caught == ["divide by zero encountered in divide", "invalid value encountered in sqrt"]
        with np.errstate(all="ignore"):
            assert not run(function, arrays)[1]
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            function(*arrays)


def test_what_does_not_suit_runs_step_by_step() -> None:
    region = FusedRegion(
        (90, 50), (((90, 50), F8), ((90,), F8)), (whole(0, 2),), (), (FusedStep("add", (0,), (F8, F8), True),), ()
    )
    region = region._replace(writes=((1, Operand(1, (0,), (Axis(0), Axis(None)))),))
    with in_threads(4):
        arrays = [np.asfortranarray(np.random.default_rng(0).random((90, 50))), np.zeros(90)]
        compare(region, arrays, machine.bind(region))


# -- how many ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def four_threads() -> Iterator[None]:
    before = ua.get_num_threads()
    ua.set_num_threads(4)
    yield
    ua.set_num_threads(before)


def elsewhere(function: Callable[..., None], *arrays: np.ndarray) -> None:
    thread = threading.Thread(target=function, args=arrays)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.usefixtures("four_threads")
def test_long_runs_are_in_threads_but_not_from_threads() -> None:
    n = 10_000_000
    function, rng = machine.bind(chain(n)), np.random.default_rng(4)
    arrays = [rng.random(n), rng.random(n), np.zeros(n)]
    function(*arrays)
    assert function.used == 4
    expected = arrays[2].copy()
    arrays[2][:] = 0
    elsewhere(function, *arrays)
    assert function.used == 1
    assert np.array_equal(arrays[2], expected)
    assert machine.bind(chain(1000)).threads is None


@pytest.mark.usefixtures("four_threads")
def test_short_runs_are_in_one_thread() -> None:
    n = 20_000
    function, arrays = machine.bind(chain(n)), [np.ones(n), np.ones(n), np.zeros(n)]
    function.grain = 10**9
    used = set()
    for _ in range(50):
        function(*arrays)
        used.add(function.used)
    # Two are tried, and may be quicker; more are never worth it.
    assert used <= {1, 2}


def test_the_number_goes_up_and_down() -> None:
    region, arrays = grid(60, 60)
    tasks, most = Path("/proc/self/task"), 0
    with in_threads(2):
        function = machine.bind(region)
        for n in (2, 6, 3, 1, 6, 2, 5, 4) * 3:
            ua.set_num_threads(n)
            compare(region, arrays, function)
            assert function.used == n
            if tasks.exists():
                # As many as were ever needed, and no more.
                most = most or len(list(tasks.iterdir())) + 4
                assert len(list(tasks.iterdir())) <= most


def test_threads_sleep_when_nothing_is_to_do() -> None:
    with in_threads(4):
        region, arrays = grid(60, 60)
        function = machine.bind(region)
        function(*arrays)
        time.sleep(0.05)
        before = time.process_time()
        time.sleep(0.3)
        assert time.process_time() - before < 0.1


def test_two_threads_call_at_once() -> None:
    with in_threads(3):
        region, arrays = grid(60, 60)
        function, expected = machine.bind(region), arrays[0].copy()
        machine.bind(region)(expected)
        found: list[np.ndarray] = []

        def other() -> None:
            for _ in range(300):
                found.append(arrays[0].copy())
                function(found[-1])

        thread = threading.Thread(target=other)
        thread.start()
        for _ in range(100):
            compare(region, arrays, function)
        thread.join(60)
        assert not thread.is_alive()
        assert len(found) == 300
        assert all(np.array_equal(each, expected) for each in found)


@pytest.mark.parametrize("n", [0, -1, True, 1.5, "2"])
def test_wrong_numbers_of_threads(n):
    before = ua.get_num_threads()
    with pytest.raises(ValueError, match="from 1 on"):
        ua.set_num_threads(n)
    assert ua.get_num_threads() == before


@pytest.mark.parametrize(
    ("ours", "openmp", "expected"),
    [("3", "2", 3), ("", "2,1", 2), ("", "", None), ("", "many", None), ("0", "", ValueError)],
)
def test_numbers_of_threads_in_the_environment(monkeypatch, ours, openmp, expected):
    monkeypatch.setenv("UNIFYARR_NUM_THREADS", ours)
    monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    monkeypatch.setattr(threads, "_threads", None)
    if expected is ValueError:
        with pytest.raises(ValueError, match="UNIFYARR_NUM_THREADS"):
            ua.get_num_threads()
    else:
        assert ua.get_num_threads() == (expected or len(os.sched_getaffinity(0)))


# -- processes --------------------------------------------------------------------------------------------------------

PROCESS = """
import os, sys, threading, numpy as np, unifyarr as ua
from tests.graph.fusion.test_in_threads import grid
from unifyarr.graph.fusion import machine
ua.set_num_threads(4)
machine.GRAIN = 0
region, arrays = grid(300, 300)
function = machine.bind(region)
function(*[each.copy() for each in arrays])
assert function.used == 4
expected = arrays[0].copy()
machine.bind(region)(expected)
"""


def process(code: str) -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", PROCESS + code], check=True, timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("where", ["the main thread", "another thread, which is the main one then"])
def test_a_forked_process_has_threads_of_its_own(where: str) -> None:
    code = """
def fork():
    child = os.fork()
    if not child:
        for _ in range(100):
            mine = arrays[0].copy()
            function(mine)
            if function.used != 4 or mine.tobytes() != expected.tobytes():
                os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
    once = "fork()" if where == "the main thread" else "t = threading.Thread(target=fork); t.start(); t.join()"
    # In the other case the main thread runs in the pool meanwhile.
    process(code + once if where == "the main thread" else code + BESIDE)


BESIDE = """
import time
done = []
t = threading.Thread(target=lambda: (fork(), fork(), done.append(1)))
t.start()
while t.is_alive():
    function(arrays[0].copy())
t.join()
assert done
"""


def test_a_process_ends_while_threads_wait_or_run() -> None:
    process("function(*arrays)")
    process("import atexit; atexit.register(function, *arrays)")
    process("threading.Thread(target=lambda: [function(arrays[0].copy()) for _ in range(20000)], daemon=True).start()")
    process("function(*arrays); sys.exit(0)")


def test_processes_that_fork_in_a_row_end() -> None:
    process(
        """
import multiprocessing
def work(number):
    mine = arrays[0].copy()
    function(mine)
    return mine.tobytes() == expected.tobytes()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert all(pool.map(work, range(20)))
"""
    )
