"""Loops that the compiled part runs: without Python between steps, and with the bits and warnings of eager calls."""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.kernels.types import ArrayType
from unifyarr.container.container import flatten
from unifyarr.graph.fusion import background, cache, machine
from unifyarr.graph.loops.stages import Stages

from ..natives import skip_off_host

Function = Callable[..., Any]
pytestmark = pytest.mark.skipif(not machine.is_compiled(), reason="the package was installed without its compiled part")
LENGTH = 37


@pytest.fixture(params=["numpy", "torch"], autouse=True)
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param not in ua.available_backends():
        pytest.skip(f"{request.param} isn't under test")
    skip_off_host(request.param, "these loops run in it")
    with ua.use_backend(request.param):
        yield request.param


def arrays(steps: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [ua.asarray(rng.normal(size=size)) for size in (LENGTH, LENGTH, (steps, LENGTH), steps)]


def fused(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    def step(carry: Any, x: Any) -> Any:
        a, b = carry
        row, number = x
        b += 0.01 * (number - a - 0.1 * b) * row
        a += 0.5 * b
        return (a, b), (a[0], a * 2)

    return ua.scan(step, (a, b), (rows, numbers))


def reverse(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    return ua.scan(lambda c, x: (c * 0.5 + x, c - x), a, rows, reverse=True)


def exchanged(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    """Two arrays that are exchanged in the carry: neither can be computed in place."""
    return ua.scan(lambda c, x: (c[::-1] * 0.5 + x, None), a, numbers)[0]


def swapped(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    return ua.scan(lambda c, x: ((c[1], c[0][::-1] * 0.5 + c[1] + x), c[0]), (a, b), numbers)


def windows(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        c[1:-1] += 0.1 * (c[2:] - 2 * c[1:-1] + c[:-2])
        c[0], c[-1] = x, c[1]
        return c, (c[::2], c[3])

    return ua.scan(step, a, numbers)


def of_one_element(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    return ua.scan(lambda c, x: (c * 0.5 + x, ua.abs(c)), 1.0, numbers)


def counted(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    return ua.fori_loop(2, 2 + numbers.shape[0], lambda i, c: c * 0.5 + ua.astype(i, ua.float64) * b, a)


def until(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    limit = numbers.shape[0]
    return ua.while_loop(lambda c: c[1] < limit, lambda c: (c[0] * 0.5 + b, c[1] + 1), (a, 0))


def mapped(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    return ua.map(lambda row: (row * 2 - a, row), rows)


def outside(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    total = ua.zeros(LENGTH)

    def step(c: Any, x: Any) -> Any:
        total[...] += x * c
        return c - x, total

    return ua.scan(step, a, rows), total


def integers(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    start = ua.astype(a * 10, ua.int16)
    return ua.scan(lambda c, x: ((c * 3) ^ (c << 1), c > 5), start, numbers)


# All of each step is in the compiled part.
WHOLE = [fused, reverse, exchanged, swapped, windows, of_one_element, counted, until, mapped, outside, integers]


def multiplied(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    matrix = ua.reshape(ua.arange(LENGTH**2) % 7 - 3.0, (LENGTH, LENGTH)) / 40

    def step(c: Any, row: Any) -> Any:
        c = ua.tanh(matrix @ c + b * row)
        return c, (ua.sum(c), row[:3, None] @ c[None, :3])

    return ua.scan(step, a, rows)


def kept(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    """Carry on what no step changes."""
    matrix = ua.reshape(ua.arange(LENGTH**2) % 5 - 2.0, (LENGTH, LENGTH)) / 40
    return ua.scan(lambda c, row: ((c[0] @ c[1] + row, c[1]), c[1][0]), (a, matrix), rows)


def indexed(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    def body(i: Any, c: Any) -> Any:
        c[i % LENGTH] = numbers[i] + c[(i * 5) % LENGTH]
        return c

    return ua.fori_loop(0, numbers.shape[0], body, a)


def backwards(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    """Write to a view from the end, which torch has no views for."""
    total = ua.zeros(LENGTH)
    last = total[::-1]

    def step(c: Any, x: Any) -> Any:
        last[...] += x * c
        return c - x, last

    return ua.scan(step, a, rows), total


def branched(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    def step(c: Any, x: Any) -> Any:
        c, d = ua.cond(x > 0, lambda: (c + 1, c * x), lambda: (c - b, c))
        c, _ = ua.scan(lambda c, x: (c * x + d, None), c, numbers[:3])
        return c, d

    return ua.scan(step, a, numbers)


def measured(a: Any, b: Any, rows: Any, numbers: Any) -> Any:
    most = numbers.shape[0]
    goes_on = lambda c: (c[1] < most) & (ua.max(ua.abs(c[0])) > 1e-3)  # noqa: E731
    return ua.while_loop(goes_on, lambda c: (c[0] * 0.9, c[1] + 1), (a, 0))


# Each step has some calls.
MIXED = [multiplied, kept, indexed, backwards, branched, measured]


def bits(found: Any) -> list[Any]:
    leaves, _ = flatten(found)
    return [(x.shape, str(x.dtype), np.asarray(x).tobytes()) for x in leaves if x is not None]


@pytest.fixture
def staged(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list of which loops were run in the compiled part."""
    found: list[bool] = []
    run = Stages.run

    def spied(self: Stages, *args: Any) -> Any:
        end = run(self, *args)
        found.append(end is not None)
        return end

    monkeypatch.setattr(Stages, "run", spied)
    return found


@pytest.mark.parametrize("program", [*WHOLE, *MIXED], ids=lambda f: f.__name__)
@pytest.mark.parametrize("wait", [False, True])
def test_loops_have_the_bits_of_eager_ones(program: Function, wait: bool, staged: list[bool]) -> None:
    for steps in (1, 2, 5, 12):
        given, mine = arrays(steps), arrays(steps)
        compiled = ua.compile(program, wait=wait)
        for _ in range(2):
            assert bits(compiled(*mine)) == bits(program(*given))
        # The argument is unchanged.
        assert bits(mine) == bits(given)
    assert staged
    assert all(staged)


def python_calls(run: Function) -> int:
    """Return how many functions of Python a call runs."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        # How often other threads get turns depends on time.
        count += event == "call" and frame.f_code is not machine.give_turns.__code__

    before = sys.getprofile()
    # Calls by the garbage collector belong to no step.
    gc.collect()
    gc.disable()
    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


@pytest.mark.parametrize("program", WHOLE, ids=lambda f: f.__name__)
def test_no_step_runs_python(program: Function) -> None:
    def calls(steps: int) -> int:
        compiled, given = ua.compile(program), arrays(steps)
        for _ in range(3):
            compiled(*given)
        return python_calls(lambda: compiled(*given))

    assert calls(300) == calls(30)


def test_what_a_step_calls_is_all_that_it_calls(engine: str) -> None:
    matrix = ua.eye(LENGTH)
    compiled = ua.compile(lambda a, rows: ua.scan(lambda c, row: (matrix @ c + row, c * 2), a, rows))
    given = [arrays(steps)[::2] for steps in (10, 110)]
    for each in given * 3:
        compiled(*each)
    few, many = (python_calls(lambda each=each: compiled(*each)) for each in given)
    # The product, and the check of its result; on torch it's made of Python functions.
    assert many - few <= {"numpy": 3, "torch": 12}[engine] * 100


@pytest.mark.parametrize("layout", ["transposed", "with gaps", "backwards", "repeated"])
def test_arrays_of_any_layout(layout: str, staged: list[bool]) -> None:
    def laid_out(x: Any) -> Any:
        if layout == "transposed":
            return x.T.copy().T
        if layout == "with gaps":
            return ua.concat([x, x], axis=1)[:, ::2]
        return x[::-1, ::-1] if layout == "backwards" else ua.broadcast_to(x[:1, :], x.shape)

    rows = laid_out(arrays(6)[2])
    compiled = ua.compile(fused)
    for _ in range(2):
        given = rows[0], rows[-1], rows, rows[:, 3]
        assert bits(compiled(*given)) == bits(fused(*given))
    assert all(staged)


def divided(a: Any, xs: Any) -> Any:
    return ua.scan(lambda c, x: (c / x, ua.sqrt(c) - 1), a, xs)


def test_warnings_are_those_of_numpy(engine: str, staged: list[bool]) -> None:
    if engine != "numpy":
        pytest.skip("the other engines give no warnings")
    a, xs = ua.asarray([1.0, -1.0, 0.0]), ua.asarray([1.0, 0.0, 2.0])
    compiled = ua.compile(divided)
    compiled(ua.ones(3), ua.ones(3))
    caught = []
    for run in (divided, compiled):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            run(a, xs)
        caught.append({str(each.message) for each in found})
    assert caught[0] == caught[1]
    assert len(found) == len(caught[1]) == 3
    assert all(each.filename == __file__ for each in found)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(a, xs)
    assert all(staged)
    # Errors at once need each operation by itself.
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        compiled(a, xs)
    assert not staged[-1]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer that sends signals")
@pytest.mark.parametrize("calls", [False, True])
def test_endless_loops_can_be_interrupted(calls: bool) -> None:
    written, matrix = ua.zeros(LENGTH), ua.eye(LENGTH)

    def endless(a: Any) -> Any:
        def body(c: Any) -> Any:
            written[...] += 1
            return matrix @ c if calls else c * 0.5

        return ua.while_loop(lambda c: c[0] < 2, body, a)

    class Interrupted(Exception):
        pass

    def interrupt(*_: Any) -> None:
        raise Interrupted

    compiled = ua.compile(endless)
    compiled(ua.full(LENGTH, 3.0))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Interrupted):
            compiled(ua.ones(LENGTH))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not np.asarray(written).any()


@pytest.mark.skipif(cache.find_compiler() is None, reason="there is no C compiler")
def test_loops_are_compiled_while_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def at_once(run: Callable[[], None]) -> None:
        done.append(run())

    monkeypatch.setattr(background, "later", at_once)
    monkeypatch.setattr(machine, "HOT", 1.0)
    # With constants that no other test has, whose loops aren't compiled yet.
    program = lambda a, b, rows, numbers: ua.scan(lambda c, x: ((c * 0.123 + x) * b - 0.321, c), a, numbers)  # noqa: E731
    given = arrays(4000)
    compiled = ua.compile(program)
    assert bits(compiled(*given)) == bits(program(*given))
    assert done


def test_what_runs_long_goes_to_threads(staged: list[bool]) -> None:
    a, x = ua.ones(200_000), ua.asarray([0.5, 2.0, 0.25])
    program = lambda a, xs: ua.scan(lambda c, x: (c * x + c * c - x * 0.5, None), a, xs)[0]  # noqa: E731
    assert bits(ua.compile(program)(a, x)) == bits(program(a, x))
    assert all(staged)


def test_without_the_compiled_part(monkeypatch: pytest.MonkeyPatch, staged: list[bool]) -> None:
    monkeypatch.setattr(machine, "native", None)
    for program in (fused, until, multiplied):
        assert bits(ua.compile(program)(*arrays(5))) == bits(program(*arrays(5)))
    assert not staged


@pytest.mark.parametrize("program", [fused, until, multiplied], ids=lambda f: f.__name__)
def test_graphs_of_loops_that_ran_are_pickled(program: Function) -> None:
    given, compiled = arrays(3), ua.compile(program)
    compiled(*given)
    graph = compiled.graph(*given)
    assert str(pickle.loads(pickle.dumps(graph))) == str(graph)


def test_two_threads_run_one_loop() -> None:
    compiled, given = ua.compile(fused), [arrays(400, seed) for seed in range(4)]
    expected = [bits(fused(*each)) for each in given]

    def run(number: int) -> bool:
        with ua.use_backend(given[number][0].backend):
            return all(bits(compiled(*given[number])) == expected[number] for _ in range(5))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


def test_the_machine_takes_no_stages_that_are_none() -> None:
    copy = machine.copying((3,), ArrayType((3,), np.dtype(float)))
    x, rows, still = np.arange(3.0), np.zeros((4, 3)), ((0, False), (0, False))
    moves = ((0, False), (rows.strides[0], False))
    assert machine.native.repeat(((copy, (0, 1)),), (x, rows[0]), moves, 4, -1, None) == 4
    assert (rows == x).all()
    for stages in (((copy, (0,)),), ((copy, (0, 2)),), ((copy,),)):
        with pytest.raises(ValueError, match="not a program"):
            machine.native.repeat(stages, (x, rows[0]), still, 1, -1, None)
    for wrong in (still[:1], 4, -1, None), (still, -1, -1, None), (still, 4, 1, np.True_):
        with pytest.raises(ValueError, match="a move for each array"):
            machine.native.repeat(((copy, (0, 1)),), (x, rows[0]), *wrong)
    # Overlapping arrays aren't copied this way.
    assert machine.native.repeat(((copy, (0, 1)),), (x, x[::-1]), still, 1, -1, None) is None
