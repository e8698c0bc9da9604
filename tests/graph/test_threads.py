"""Captures of a compiled or transformed function, while other threads read and write the arrays."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import TraceError

from ..core.test_threads import in_threads
from ..natives import variable
from ..oracle import assert_same
from ..transformations.through import engines

Make = Callable[[str], ua.Array]


def an_array(backend: str) -> ua.Array:
    return ua.zeros(4)


def a_variable(backend: str) -> ua.Array:
    return ua.asarray(variable(backend, np.zeros(4)), backend=backend)


def a_view(backend: str) -> ua.Array:
    return ua.zeros(8)[::2]


def a_reversed_view(backend: str) -> ua.Array:
    return ua.zeros(4)[::-1]


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads change turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def elsewhere(program: Callable[[], None]) -> None:
    """Run a program in another thread, and raise its errors."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(program).result(timeout=120)


def use(x: ua.Array, value: float, engine: type) -> None:
    """Read an array, all elements of which have one value, in each way, and write it; it is as before afterwards."""
    wanted = [value] * 4
    assert x.tolist() == wanted
    assert x.base is None or x.base.tolist()[0] in (value, 0.0)
    assert type(x.native) is engine
    assert (x + 1).tolist() == [value + 1] * 4
    assert x[1:].tolist() == wanted[1:]
    assert (float(x[0]), bool((x == value).all()), x.to_numpy().tolist()) == (value, True, wanted)
    x[...] = 7.0
    x += 1
    x[:2] -= 1
    assert x.tolist() == [7.0, 7.0, 8.0, 8.0]
    x[...] = value
    assert repr(ua.compute(x)) == repr(ua.asarray(wanted, backend=x.backend))


@pytest.mark.parametrize("make", [an_array, a_variable, a_view, a_reversed_view])
def test_a_trace_leaves_what_it_captures_to_other_threads(backend: str, make: Make) -> None:
    total = make(backend)
    engine = type(total.native)
    calls = []

    def function(x: ua.Array) -> tuple[ua.Array, ua.Array]:
        total[...] += x
        calls.append(x.shape)
        elsewhere(lambda: use(total, 0.0, engine))
        return total * 1, total + total

    compiled, x = ua.compile(function), ua.ones(4)
    for number in (1.0, 2.0, 3.0):
        one, two = compiled(x)
        assert_same(one, np.full(4, number))
        assert_same(two, np.full(4, 2 * number))
        assert_same(total, np.full(4, number))
    assert len(calls) == 1


def test_a_transformation_leaves_what_it_captures_to_other_threads(backend: str) -> None:
    for name in engines(backend):
        total = ua.ones(4)
        engine = type(total.native)

        def function(x: ua.Array, total: ua.Array = total, engine: type = engine) -> ua.Array:
            total[...] = total * 2
            elsewhere(lambda: use(total, 1.0, engine))
            return ua.sum(x * total)

        assert_same(ua.grad(function, backend=name)(ua.zeros(4)), np.full(4, 2.0))
        assert_same(total, np.full(4, 2.0))


def test_a_trace_of_a_transformation_leaves_what_it_captures_to_other_threads(backend: str) -> None:
    for name in engines(backend):
        total = ua.ones(4)
        engine = type(total.native)

        def function(x: ua.Array, total: ua.Array = total, engine: type = engine) -> ua.Array:
            total[...] = total * 2
            elsewhere(lambda: use(total, 1.0, engine))
            return ua.sum(x * total)

        compiled = ua.compile(ua.grad(function, backend=name))
        assert_same(compiled(ua.zeros(4)), np.full(4, 2.0))
        assert_same(compiled(ua.zeros(4)), np.full(4, 4.0))
        assert_same(total, np.full(4, 4.0))


@pytest.mark.usefixtures("switching")
def test_other_threads_read_and_write_what_is_captured(backend: str) -> None:
    total, x = ua.zeros(4), ua.ones(4)
    engine = type(total.native)
    stop = threading.Event()

    def whole(values: list[float]) -> None:
        # torch computes without Python's lock, so that of two writes at once one may have some of the elements.
        assert all(value == int(value) for value in values)
        assert backend == "torch" or len(set(values)) == 1

    def other() -> None:
        while not stop.is_set():
            whole(total.tolist())
            whole((total + 1).tolist())
            assert type(total.native) is engine
            total[...] = 100.0
            total[...] += 1

    def tracer() -> None:
        try:
            for _ in range(5):

                def function(x: ua.Array) -> tuple[ua.Array, ua.Array]:
                    total[...] += x
                    return total * 1, total + total

                compiled = ua.compile(function)
                for _ in range(20):
                    one, two = compiled(x)
                    whole(one.tolist())
                    whole(two.tolist())
        finally:
            stop.set()

    in_threads(tracer, other)


# -- in the thread that traces -----------------------------------------------------------------------------------------


def test_a_trace_knows_an_array_by_its_name(backend: str) -> None:
    total, seen = ua.zeros(4), []

    def function(x: ua.Array) -> ua.Array:
        nonlocal total
        before = total
        total += x
        assert total is before
        assert ua.add(total, x, out=total) is total
        assert ua.inplace_update(total, total) is total
        assert ua.asarray(total) is total
        assert ua.astype(total, total.dtype, copy=False) is total
        assert total.to_device(total.device) is total
        view = total[1:]
        assert view.base is total
        view += 1
        seen.append(repr(total))
        return total

    compiled = ua.compile(function)
    assert compiled(ua.ones(4)) is total
    assert compiled(ua.ones(4)) is total
    assert_same(total, np.array([4.0, 6.0, 6.0, 6.0]))
    assert len(seen) == 1
    assert "traced" in seen[0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.tolist(),
        lambda x: x.item(0),
        lambda x: x.native,
        lambda x: x.to_numpy(),
        lambda x: np.asarray(x),
        lambda x: np.emath.sqrt(x),
        lambda x: float(x[0]),
        lambda x: x[1:].tolist(),
        lambda x: x.__dlpack__(),
        lambda x: ua.Container(x=x).diff(ua.Container(x=x)),
    ],
)
def test_the_values_of_what_a_trace_has_captured_are_not_known(backend: str, ask: Callable[[ua.Array], Any]) -> None:
    total = ua.zeros(4)

    def function(x: ua.Array) -> ua.Array:
        total[...] += x
        ask(total)
        return x

    with pytest.raises(TraceError):
        ua.compile(function)(ua.ones(4))
    assert_same(total, np.zeros(4))


def test_views_from_outside_follow_what_a_trace_writes(backend: str) -> None:
    total = ua.zeros(4)
    view = total[::-1]

    def function(x: ua.Array) -> ua.Array:
        total[:2] += x
        return view + 0

    compiled = ua.compile(function)
    for number in (1.0, 2.0):
        found = compiled(ua.ones(2))
        assert_same(found, view.to_numpy())
        assert_same(total, np.array([number, number, 0.0, 0.0]))


def test_leaves_of_a_captured_container_are_written(backend: str) -> None:
    weights = ua.Container(a=ua.zeros(3), b={"c": ua.ones(2)})
    leaves = weights.leaves()

    def function(x: ua.Array) -> ua.Container:
        nonlocal weights
        weights += x
        ua.inplace_update(weights, weights * 2)
        ua.inplace_increment(weights, x)
        ua.astype(weights, "float64", copy=False)
        return weights

    compiled = ua.compile(function)
    for wanted in (3.0, 9.0):
        compiled(ua.asarray(1.0))
        assert_same(weights.a, np.full(3, wanted))
    assert all(x is y for x, y in zip(weights.leaves(), leaves, strict=True))
    assert_same(leaves[1], np.full(2, 13.0))


def test_lists_with_captured_arrays(backend: str) -> None:
    total = ua.zeros(2)

    def function(x: ua.Array) -> ua.Array:
        total[...] += x
        return ua.asarray([total[0], 1.0]) + ua.stack([total, total])[0]

    compiled = ua.compile(function)
    assert_same(compiled(ua.ones(2)), np.array([2.0, 2.0]))
    assert_same(compiled(ua.ones(2)), np.array([4.0, 3.0]))


def test_a_transformation_knows_an_array_by_its_name(backend: str) -> None:
    for name in engines(backend):
        total = ua.ones(3)

        def function(x: ua.Array, total: ua.Array = total) -> ua.Array:
            before = total
            total *= 2
            assert total is before
            assert ua.asarray(total) is total
            assert total[1:].base is total
            # The inner gradient is taken at the values written by the outer function.
            inner = ua.grad(lambda y: ua.sum(y * total * total))(x)
            return ua.sum(x * inner)

        assert_same(ua.grad(function, backend=name)(ua.ones(3)), np.full(3, 4.0))
        assert_same(total, np.full(3, 2.0))


def test_what_is_captured_is_written_inside_debug(backend: str) -> None:
    total = ua.zeros(4)

    def function(x: ua.Array) -> ua.Array:
        total[1:] = x[1:]
        total.fill(2.0)
        ua.inplace_update(total, total + x)
        ua.add(total, x, out=total)
        return total[:2]

    compiled = ua.compile(function)
    with ua.debug():
        for _ in range(2):
            assert_same(compiled(ua.ones(4)), np.full(2, 4.0))
            assert_same(total, np.full(4, 4.0))
    for name in engines(backend):
        with ua.debug():
            ua.grad(lambda x: ua.sum(x * function(ua.ones(4))[0]), backend=name)(ua.ones(4))
        assert_same(total, np.full(4, 4.0))
