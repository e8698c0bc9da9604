"""Threads: each with a backend of its own, and several on one array."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.testing import has

from ..engines import mixes_threads
from ..kernels import replace_plain_call, skip_without_core
from ..natives import variable
from ..oracle import assert_same
from ..transformations.through import engines


def rounds_on(backend: str) -> int:
    """Return how often threads do something: where each look computes a history anew, that takes the square."""
    return 1_000 if has(backend, "values") else 100


@pytest.fixture(autouse=True)
def switching(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let threads change turns as often as they can."""
    if "backend" in request.fixturenames and mixes_threads(request.getfixturevalue("backend")):
        pytest.skip("the engine itself mixes up the values of threads on this device")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(*programs: Callable[[], None]) -> None:
    """Run programs in threads that start together; what one raises is raised."""
    barrier = threading.Barrier(len(programs), timeout=120)

    def program(body: Callable[[], None]) -> None:
        barrier.wait()
        body()

    with ThreadPoolExecutor(len(programs)) as pool:
        for future in [pool.submit(program, body) for body in programs]:
            future.result(timeout=300)


def test_two_threads_on_two_backends(backend: str) -> None:
    other = "numpy" if backend != "numpy" else next((name for name in ua.available_backends() if name != "numpy"), "")
    if not other:
        pytest.skip("one backend alone is installed")

    rounds = rounds_on(backend)

    def program(name: str) -> Callable[[], None]:
        def body() -> None:
            with ua.use_backend(name):
                x = ua.zeros(4)
                view, reverse = x[1:], x[::-1]
                for number in range(rounds):
                    assert ua.current_backend() == name
                    y = ua.ones(4)
                    assert y.backend == name
                    x += y
                    view[0] = number
                    ua.add(reverse, y, out=reverse)
                assert x.backend == name
                assert x.tolist() == [2.0 * rounds, rounds, 2.0 * rounds, 2.0 * rounds]

        return body

    in_threads(program(backend), program(other))


def halves(x: ua.Array) -> dict[str, tuple[ua.Array, ua.Array]]:
    """Return pairs of views without a common element."""
    return {
        "slices": (x[:4], x[4:]),
        "steps": (x[::2], x[1::2]),
        "reversed": (x[3::-1], x[:3:-1]),
        "reshaped": (x.reshape(2, 4)[0], x.reshape(2, 4)[1]),
    }


@pytest.mark.parametrize("on", ["array", "variable"])
@pytest.mark.parametrize("kind", ["slices", "steps", "reversed", "reshaped"])
def test_writes_to_disjoint_views_are_never_lost(backend: str, kind: str, on: str) -> None:
    if on == "array":
        x = ua.zeros(8)
    else:
        x = ua.asarray(variable(backend, np.zeros(8)), backend=backend)
    first, second = halves(x)[kind]
    rounds = rounds_on(backend)

    def program(view: ua.Array, step: float) -> Callable[[], None]:
        def body() -> None:
            for number in range(rounds):
                place = number % 4
                # Each round reads this thread's last write: a lost write shows at once.
                value = float(view[place])
                assert value == step * (number // 4)
                view[place] = value + step

        return body

    in_threads(program(first, 1.0), program(second, -1.0))
    expected = np.zeros(8)
    whole = ua.asarray(expected, backend="numpy")
    one, other = halves(whole)[kind]
    one[...] = rounds / 4
    other[...] = -rounds / 4
    assert_same(x, whole.__array__())


WRITES: dict[str, Callable[[ua.Array, slice], Any]] = {
    "x[part] = v": lambda x, part: x.__setitem__(part, x[part] + 1),
    "x[part] += 1": lambda x, part: x[part].__iadd__(1),
    "add(out=x[part])": lambda x, part: ua.add(x[part], 1, out=x[part]),
    "inplace_increment": lambda x, part: ua.inplace_increment(x[part], 1),
    "x[mask] = v": lambda x, part: x.__setitem__(_mask(part), x[part] + 1),
    "x[integers] = v": lambda x, part: x.__setitem__(np.arange(8)[part], x[part] + 1),
}


def _mask(part: slice) -> np.ndarray:
    mask = np.zeros(8, bool)
    mask[part] = True
    return mask


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_every_kind_of_write_to_disjoint_parts_counts(backend: str, write: Callable[[ua.Array, slice], Any]) -> None:
    x = ua.zeros(8)
    count = rounds_on(backend) // 4

    def program(part: slice) -> Callable[[], None]:
        def body() -> None:
            with ua.use_backend(backend):
                for _ in range(count):
                    write(x, part)

        return body

    in_threads(program(np.s_[:4]), program(np.s_[4:]))
    assert_same(x, np.full(8, float(count)))


def test_readers_see_whole_writes(backend: str) -> None:
    # A view is got anew while its root is rebound: it never mixes two of them, nor keeps an old one.
    x = ua.zeros(8)
    view = x[::-1]
    count = rounds_on(backend) // 2
    stop = threading.Event()

    def reader() -> None:
        last = -1.0
        while not stop.is_set():
            values = view[:1].tolist()
            assert values[0] >= last
            last = values[0]

    def writer() -> None:
        try:
            for number in range(count):
                x[...] = float(number)
        finally:
            stop.set()

    in_threads(reader, writer)
    assert_same(view, np.full(8, count - 1.0))


def test_the_first_calls_of_a_function_may_come_from_several_threads(backend: str) -> None:
    # A dispatcher is compiled at the first call, which here are four at once.
    declarations = ["log1p", "expm1", "hypot", "cumulative_prod", "unique_values", "moveaxis", "std"]
    x = ua.asarray([[1.0, 2.0], [3.0, 4.0]])
    arguments: dict[str, tuple[Any, ...]] = {"hypot": (x, x), "moveaxis": (x, 0, 1)}
    keywords: dict[str, dict[str, int]] = {"cumulative_prod": {"axis": 0}}

    def body() -> None:
        for name in declarations:
            getattr(fresh, name)(*arguments.get(name, (x,)), **keywords.get(name, {}))

    from unifyarr._core.declaring.declare import DECLARATIONS

    class Fresh:
        """The functions anew, whose dispatchers aren't compiled yet."""

        def __init__(self) -> None:
            self.__dict__.update({name: DECLARATIONS[name].function() for name in declarations})

    for _ in range(20):
        fresh: Any = Fresh()
        in_threads(*[body] * 4)


def _debugged(x: ua.Array, inside: Callable[[], None]) -> None:
    with ua.debug():
        inside()


def _compiled(x: ua.Array, inside: Callable[[], None]) -> None:
    def function(x: ua.Array) -> ua.Array:
        inside()
        return x + 1

    ua.compile(function)(x)


def _differentiated(x: ua.Array, inside: Callable[[], None]) -> None:
    def function(x: ua.Array) -> ua.Array:
        inside()
        return ua.sum(x * x)

    for name in engines(x.backend):
        ua.grad(function, backend=name)(x)


@pytest.mark.parametrize("within", [_debugged, _compiled, _differentiated])
def test_calls_of_other_threads_stay_plain(
    backend: str, within: Callable[[ua.Array, Callable[[], None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without_core()
    if within is _differentiated and not engines(backend):
        pytest.skip("no engine that transforms is installed")
    x = ua.asarray([1.0, 2.0])
    x + x
    handle, served = load(backend), list[int]()
    plain = handle.plain["add"]

    def counting(*natives: Any) -> Any:
        served.append(threading.get_ident())
        return plain(*natives)

    own = threading.get_ident()

    def inside() -> None:
        # A thread that is started inside belongs to no scope of its starter's.
        thread = threading.Thread(target=lambda: x + x)
        # Around it derivatives are added by plain calls.
        with monkeypatch.context() as patch:
            replace_plain_call(patch, handle, "add", counting)
            x + x
            thread.start()
            thread.join()

    within(ua.asarray([3.0, 4.0]), inside)
    assert served
    assert own not in served
