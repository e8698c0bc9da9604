"""Fused operations that run one after the other in the memory of arguments: one call of the compiled part."""

from __future__ import annotations

import _thread
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling.programs import Program
from unifyarr.graph.fusion import machine
from unifyarr.graph.fusion.region import Axis, FusedRegion, FusedStep, Operand

pytestmark = pytest.mark.skipif(
    not machine.is_compiled(), reason="the compiled part of the package isn't there: nothing is fused"
)
F8 = np.dtype("f8")


@pytest.fixture(autouse=True)
def numpy_alone() -> Iterator[None]:
    """Make arrays of NumPy's backend."""
    with ua.use_backend("numpy"):
        yield


def step(parameters: Any, gradients: Any, moments: Any) -> None:
    moments *= 0.9
    moments += 0.1 * gradients
    parameters -= ua.sqrt(moments) / (ua.abs(gradients) + 1e-3)


def nests(*shapes: tuple[int, ...]) -> list[ua.Container]:
    rng = np.random.default_rng(0)
    return [ua.Container([ua.asarray(rng.random(shape) + 0.5) for shape in shapes]) for _ in range(3)]


def run_of(compiled: Any, *arguments: Any) -> Any:
    """Return the function that runs the graph of a compiled function, after a call."""
    compiled(*arguments)
    (program,) = compiled._programs.values()
    return program.executor().run


def bits(given: list[ua.Container]) -> list[bytes]:
    return [np.asarray(x).tobytes() for each in given for x in each]


@pytest.mark.parametrize("wait", [False, True])
def test_an_update_of_many_arrays_is_one_call(wait: bool) -> None:
    shapes = [(4, 8), (8,), (2,), (4, 8), (3, 1, 5), (3000,)]
    mine, theirs = nests(*shapes), nests(*shapes)
    compiled = ua.compile(step, wait=wait)
    for _ in range(4):
        compiled(*mine)
        step(*theirs)
        assert bits(mine) == bits(theirs)
    assert not isinstance(run_of(compiled, *mine), Program)


def test_results_are_arguments_and_constants_are_passed() -> None:
    weights = np.arange(6.0)

    def update(x: ua.Array, y: ua.Array) -> ua.Array:
        x += ua.exp(-y) * ua.asarray(weights)
        y *= 1.0 / (2.0 + x)
        return x

    compiled = ua.compile(update)
    x, y = ua.linspace(0.0, 1.0, 6), ua.linspace(1.0, 2.0, 6)
    a, b = np.linspace(0.0, 1.0, 6), np.linspace(1.0, 2.0, 6)
    for _ in range(3):
        result = compiled(x, y)
        a += np.exp(-b) * weights
        b *= 1.0 / (2.0 + a)
        assert np.asarray(result).tobytes() == np.asarray(x).tobytes() == a.tobytes()
        assert np.asarray(y).tobytes() == b.tobytes()


def test_what_makes_arrays_is_called_from_python() -> None:
    def update(x: ua.Array, y: ua.Array) -> ua.Array:
        x += ua.exp(y) * 2.0
        return ua.sum(x) + ua.sqrt(y) * 3.0

    assert isinstance(run_of(ua.compile(update), ua.ones(5), ua.ones(5)), Program)


def test_warnings_and_errors_are_those_of_single_calls() -> None:
    shapes = [(5,), (2, 3), (7,)]
    given = nests(*shapes)
    compiled = ua.compile(step)
    for _ in range(3):
        compiled(*given)
    given[2][1][...] = -1.0
    before = bits(given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(*given)
    assert [str(each.message) for each in caught] == ["invalid value encountered in sqrt"]
    assert caught[0].filename == __file__
    assert bits(given) != before
    given[2][1][...] = -1.0
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="sqrt"):
        compiled(*given)


def test_arrays_that_overlap_run_as_written() -> None:
    compiled = ua.compile(step)
    room, other = np.linspace(1.0, 2.0, 8), np.linspace(1.0, 2.0, 8)
    for _ in range(3):
        for memory, function in ((room, compiled), (other, step)):
            shown = [[ua.asarray(memory[:5], copy=False)], [ua.asarray(memory[2:7], copy=False)], [ua.ones(5)]]
            function(*map(ua.Container, shown))
        assert room.tobytes() == other.tobytes()


def doubling(n: int) -> Any:
    whole = Operand(0, (0,), (Axis(0),))
    region = FusedRegion((n,), (((n,), F8),), (whole,), (), (FusedStep("add", (0, 0), (F8,) * 3),), ((1, whole),))
    return machine.bind(region)


def sequence(n: int, count: int) -> Callable[..., list[Any]]:
    program = doubling(n)
    made: Callable[..., list[Any]] = machine.native.sequence((program,) * count, ((0,),) * count, (0,), (), 1)
    return made


def test_other_threads_run_python_meanwhile() -> None:
    run, x = sequence(100, 200_000), np.zeros(100)
    stop, turns = threading.Event(), []

    def count() -> None:
        while not stop.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    run(x)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert any(begin + 0.001 < each < end for each in turns)


def test_an_interrupt_ends_it() -> None:
    # Minutes, if it went to the end.
    run, x = sequence(1_000_000, 200_000), np.zeros(1_000_000)
    timer = threading.Timer(0.05, _thread.interrupt_main)
    # A shell has its background jobs ignore interrupts.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            run(x)
        timer.join()
    finally:
        signal.signal(signal.SIGINT, former)


def test_wrong_sequences_are_refused() -> None:
    program, native = doubling(3), machine.native
    with pytest.raises(TypeError, match="1 arrays got 2"):
        sequence(3, 1)(np.zeros(3), np.zeros(3))
    for wrong in (
        ((program,), ((0,), (0,)), (0,), (), 1),
        ((program,), ((0, 0),), (0,), (), 1),
        ((program,), ((1,),), (0,), (), 1),
        ((program,), ((0,),), (-1,), (), 1),
        ((len,), ((0,),), (0,), (), 1),
    ):
        with pytest.raises(ValueError, match="not a program"):
            native.sequence(*wrong)
    # Other arrays run step by step, with those errors.
    with pytest.raises(ValueError, match="read-only"):
        sequence(3, 2)(np.broadcast_to(1.0, 3))
