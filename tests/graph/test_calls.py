"""Calls of compiled functions: which program serves a call, and that it's the same however often it's called."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, Container
from unifyarr.errors import BackendMismatchError, CompileWarning, ReadOnlyError
from unifyarr.testing import has, needs

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same

Pair = namedtuple("Pair", "first second")
# The first call traces, the second one prepares the third.
CALLS = 4


NAMES = (
    "arrays",
    "keywords",
    "tuple",
    "list",
    "dict",
    "container",
    "list in it",
    "named tuple",
    "numbers",
    "nothing",
)


def array(*values: float) -> Array:
    return ua.asarray(np.array(values, dtype=float), copy=True)


def nests(x: Array, y: Array) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    return {
        "arrays": ((x, y), {}),
        "keywords": ((x,), {"y": y}),
        "tuple": (((x, y),), {}),
        "list": (([x, [y]],), {}),
        "dict": (({"b": x, "a": y},), {}),
        "container": ((Container(w=x, inner={"b": y}),), {}),
        "list in it": ((Container([x, y]),), {}),
        "named tuple": ((Pair(x, y),), {}),
        "numbers": ((x, y, 2, "mean", None, True, -0.0, 1j), {}),
        "nothing": ((), {}),
    }


def leaves(tree: Any) -> list[Any]:
    if isinstance(tree, Array):
        return [tree]
    if isinstance(tree, Container):
        return tree.leaves()
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for each in tree for leaf in leaves(each)]
    return [tree]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_passed_and_returned(backend: str, name: str) -> None:
    def function(*args: Any, **kwargs: Any) -> Any:
        found = [each for each in leaves((args, kwargs)) if isinstance(each, Array)]
        made = [x * 2 for x in found]
        return args, kwargs, Container(made=made, x={"y": ua.ones(2)}), {"b": made, "c": (), "a": [None, Pair(1, made)]}

    x, y = array(1, 2), array(3, 4)
    args, kwargs = nests(x, y)[name]
    compiled = ua.compile(function)
    for count in range(CALLS):
        x[0] += count
        found, wanted = compiled(*args, **kwargs), function(*args, **kwargs)
        assert list(found[3]) == list(wanted[3])
        assert type(found[3]["a"][1]) is Pair
        for one, other in zip(leaves(found), leaves(wanted), strict=True):
            if isinstance(other, Array):
                assert_same(one, as_numpy(other))
            else:
                assert repr(one) == repr(other)
        passed = [each for each in leaves((args, kwargs)) if isinstance(each, Array)]
        returned = [each for each in leaves(found[:2]) if isinstance(each, Array)]
        assert all(one is other for one, other in zip(passed, returned, strict=True))
    assert len(compiled._programs) == 1


def test_other_arguments_find_their_own_program(backend: str) -> None:
    seen = []

    @ua.compile
    def function(x: Any, *more: Any, **named: Any) -> Any:
        seen.append(1)
        each = x["a"] if isinstance(x, (dict, Container)) else x[0] if isinstance(x, (list, tuple)) else x
        return each * 2, len(more), sorted(named), isinstance(x, Array)

    x = array(1, 2, 3)
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x,), {}),
        ((x[:2],), {}),
        ((x[::2],), {}),
        ((x[None],), {}),
        ((ua.astype(x, ua.float32),), {}),
        ((x, 1), {}),
        ((x, True), {}),
        ((x, "1"), {}),
        ((x, None), {}),
        ((x, x), {}),
        ((x,), {"y": 1}),
        ((x,), {"z": 1}),
        (([x],), {}),
        (((x,),), {}),
        (({"a": x},), {}),
        ((Container(a=x),), {}),
        ((ua.asarray(2.0),), {}),
        ((x[:0],), {}),
    ]
    for _ in range(3):
        # Each of them twice in a row, so that it's the one that is tried first.
        for args, kwargs in calls:
            for _ in range(3):
                first, *rest = function(*args, **kwargs)
                each = args[0]
                tree = (
                    each["a"]
                    if isinstance(each, (dict, Container))
                    else each[0]
                    if type(each) in (list, tuple)
                    else each
                )
                assert_same(first, as_numpy(tree) * 2)
                assert rest == [len(args) - 1, sorted(kwargs), isinstance(each, Array)]
    assert len(seen) == len(calls)


def test_a_program_is_for_one_backend(backend: str) -> None:
    skip_unless("torch", *ua.available_backends(), why="torch beside NumPy")
    function = ua.compile(lambda n: ua.ones(n) + 1)
    plus = ua.compile(lambda x: x + 1)
    for _ in range(CALLS):
        for name in ("numpy", "torch"):
            with ua.use_backend(name):
                for _ in range(3):
                    assert function(3).backend == name
                    assert plus(ua.ones(2)).backend == name
    both = ua.compile(lambda x, y: x + y)
    for _ in range(CALLS):
        both(ua.ones(2, backend="numpy"), ua.ones(2, backend="numpy"))
    with pytest.raises(BackendMismatchError):
        both(ua.ones(2, backend="numpy"), ua.ones(2, backend="torch"))


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_writes_are_checked_at_each_call(backend: str, mode: str) -> None:
    def function(x: Array, y: Array) -> Array:
        x[1:] += y[:-1]
        y *= 2
        return x + y

    compiled = ua.compile(function, mode=mode)
    memory, other = array(*range(8)), array(*range(8))
    places = [(slice(0, 4), slice(4, 8)), (slice(0, 4), slice(2, 6)), (slice(0, 4), slice(0, 4))]
    for first, second in places * CALLS:
        assert_same(compiled(memory[first], memory[second]), as_numpy(function(other[first], other[second])))
        assert_same(memory, as_numpy(other))
    if backend == "numpy":
        x = array(1, 2, 3, 4)
        for _ in range(CALLS):
            compiled(x, array(1, 2, 3, 4))
        x.native.flags.writeable = False
        before = as_numpy(x).copy()
        for _ in range(2):
            with pytest.raises(ReadOnlyError):
                compiled(x, array(1, 2, 3, 4))
        assert_same(x, before)


def test_captured_arrays_are_read_and_written_at_each_call(backend: str) -> None:
    total, view = array(0, 0), array(5, 6, 7)
    part = view[1:]

    @ua.compile
    def add(x: Array) -> Array:
        total[...] = total + x
        return total * part

    wanted = np.zeros(2)
    for count in range(CALLS):
        wanted += count
        view[1] = count
        assert_same(add(array(count, count)), wanted * [count, 7])
        assert_same(total, wanted)


def test_gradients_are_recorded_at_a_later_call_too(backend: str) -> None:
    skip_unless(backend, "torch", why="an engine that records gradients of arrays")
    import torch

    compiled = ua.compile(lambda x: ua.sum(x * x))
    x = ua.asarray(torch.ones(3, dtype=torch.float64))
    for _ in range(CALLS):
        assert not compiled(x).native.requires_grad
    leaf = torch.ones(3, dtype=torch.float64, requires_grad=True)
    compiled(ua.asarray(leaf)).native.backward()
    assert leaf.grad.tolist() == [2.0, 2.0, 2.0]
    assert not compiled(x).native.requires_grad


@needs("compiling", why="an engine that compiles functions itself")
def test_inside_a_trace_of_the_engine_at_a_later_call_too(backend: str) -> None:
    from ..gradients import traced

    inner = ua.compile(lambda x: x * 2 + 1)
    x = array(1, 2)
    for _ in range(CALLS):
        assert_same(inner(x), np.array([3.0, 5.0]))
    assert_same(traced(backend, lambda y: inner(x) + inner(y), np.array([1.0, 2.0])), np.array([6.0, 10.0]))
    assert_same(inner(x), np.array([3.0, 5.0]))


def test_inside_another_trace_and_debug_at_a_later_call_too(backend: str) -> None:
    inner = ua.compile(lambda x: x * 2)
    x = array(1, 2)
    for _ in range(CALLS):
        inner(x)
    outer = ua.compile(lambda x: inner(x) + inner(x[::-1]))
    for _ in range(CALLS):
        assert_same(outer(x), np.array([6.0, 6.0]))
    assert "multiply" in str(outer.graph(x))  # type: ignore[attr-defined]
    with ua.debug():
        assert_same(inner(x), np.array([2.0, 4.0]))


def test_an_error_is_raised_at_each_call(backend: str) -> None:
    @ua.compile
    def solve(a: Array) -> Array:
        return ua.linalg.cholesky(a)

    good, bad = ua.eye(2), -ua.eye(2)
    skip_unless(backend, "numpy", "torch", why="an engine that raises errors about values")
    for _ in range(CALLS):
        assert_same(solve(good), np.eye(2))
    for _ in range(2):
        with pytest.raises((ValueError, RuntimeError)):
            solve(bad)
    assert_same(solve(good), np.eye(2))
    with pytest.raises(TypeError, match="wrap the ndarray"):
        solve(np.eye(2))
    with pytest.raises(TypeError, match="hashable"):
        solve(good, {1, 2})  # type: ignore[call-arg]


def test_the_programs_that_are_kept_are_those_called_last(backend: str) -> None:
    skip_unless(backend, "numpy", why="one engine, since it's about a dictionary")
    traced: list[int] = []

    @ua.compile(programs=3)
    def function(x: Array) -> Array:
        traced.append(x.shape[0])
        return x + 1

    for length in (1, 2, 3, 1, 1, 1, 4, 1, 2, 1):
        assert_same(function(ua.zeros(length)), np.ones(length))
    # The third one makes way for the fourth only after the second, since the first was called again.
    assert traced == [1, 2, 3, 4, 2]
    assert len(function._programs) == 3  # type: ignore[attr-defined]
    assert len(function.memory().programs) == 3  # type: ignore[attr-defined]
    function.clear()  # type: ignore[attr-defined]
    assert not function._programs  # type: ignore[attr-defined]
    function(ua.zeros(1))
    assert traced[5:] == [1]
    with pytest.raises(ValueError, match="at least 1, not 0"):
        ua.compile(lambda x: x, programs=0)
    for wrong in (True, 2.0, None):
        with pytest.raises(TypeError, match="programs is the most programs to keep"):
            ua.compile(lambda x: x, programs=wrong)  # type: ignore[call-overload]


def test_what_is_dropped_is_freed(backend: str) -> None:
    captured = [ua.ones(3)]
    function = ua.compile(lambda x: x + captured[0])
    for _ in range(CALLS):
        function(ua.ones(3))
    found = weakref.ref(captured.pop())
    gc.collect()
    assert found() is not None
    function.clear()  # type: ignore[attr-defined]
    gc.collect()
    assert found() is None


def test_a_call_goes_on_without_the_object(backend: str) -> None:
    function = ua.compile(lambda x, n=2: x * n)
    for _ in range(CALLS):
        function(ua.ones(3))
    call = function.__call__
    del function
    gc.collect()
    assert_same(call(ua.ones(3)), np.full(3, 2.0))
    assert_same(call(ua.ones(2), n=3), np.full(2, 3.0))


@pytest.mark.parametrize("wrong", [((), {}), ((1, 2, 3), {}), ((1,), {"z": 2}), ((1,), {"x": 2})])
def test_wrong_arguments_are_refused_in_the_words_of_the_function(
    backend: str, wrong: tuple[tuple[Any, ...], dict[str, Any]]
) -> None:
    def scaled(x: Array, y: Any = 2) -> Array:
        return x * y

    function: Any = ua.compile(scaled)
    args, kwargs = wrong
    with pytest.raises(TypeError) as expected:
        scaled(*args, **kwargs)
    for _ in range(CALLS):
        with pytest.raises(TypeError) as found:
            function(*args, **kwargs)
        assert str(found.value) == str(expected.value)
        assert_same(function(ua.ones(3)), np.full(3, 2.0))
        assert_same(function(ua.ones(3), ua.ones(3)), np.ones(3))


def test_several_threads_with_several_programs(backend: str) -> None:
    function = ua.compile(lambda x, n: x * n, programs=2)
    failures: list[Any] = []

    def work(length: int) -> None:
        x = ua.ones(length)
        for n in range(20):
            result = function(x, n % 3)
            if result.shape != (length,) or float(result[0]) != n % 3:
                failures.append((length, n))

    threads = [threading.Thread(target=work, args=(length,)) for length in (1, 2, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_elements_and_views_are_arguments_too(backend: str) -> None:
    x = array(1, 2, 3)
    function = ua.compile(lambda x, y: x * y)
    for _ in range(CALLS):
        assert_same(function(x[::-1], x[1]), np.array([6.0, 4.0, 2.0]))
    assert len(function._programs) <= 2  # type: ignore[attr-defined]
    if not has(backend, "writes"):
        x[1] = 5.0
        assert_same(function(x[::-1], x[1]), np.array([15.0, 25.0, 5.0]))


def count_runs(compiled: Any) -> list[int]:
    """Return a list that gets longer whenever the executor of a function's only program runs."""
    (program,) = compiled._programs.values()
    run, runs = program.executor(), list[int]()

    def counted(*natives: Any) -> Any:
        runs.append(len(natives))
        return run(*natives)

    program._executors[()] = counted
    return runs


@needs("compiling", why="an engine that compiles graphs as a whole")
def test_further_calls_run_what_the_engine_compiled(backend: str) -> None:
    compiled: Any = ua.compile(lambda x: x * 2 + 1)
    compiled(array(1, 2))
    runs = count_runs(compiled)
    for _ in range(CALLS):
        assert_same(compiled(array(1, 2)), np.array([3.0, 5.0]))
    assert len(runs) == CALLS


def test_further_calls_on_tensorflow_go_to_the_function_that_was_traced(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="it's about tf.function")
    import tensorflow as tf

    compiled: Any = ua.compile(lambda x, y: ua.sum(x * y))
    x, y = array(1, 2), array(3, 4)
    for _ in range(CALLS):
        assert float(compiled(x, y)) == 11
    (program,) = compiled._programs.values()
    whole = program.executor()
    general = whole._called
    whole._called = None
    assert float(compiled(x, y)) == 11
    # A tape has to see the call.
    whole._called = general
    with tf.GradientTape() as tape:
        tape.watch(x.native)
        result = compiled(x, y)
    np.testing.assert_array_equal(tape.gradient(result.native, x.native), [3.0, 4.0])
    whole._called = None
    # Elsewhere the types of arguments are looked at before; here they aren't.
    with pytest.raises(TypeError, match="not callable"):
        whole(tf.zeros(3, tf.float64), tf.zeros(3, tf.float64))


def test_errors_about_values_are_the_same_in_further_calls_on_tensorflow(backend: str) -> None:
    skip_unless(backend, "tensorflow", why="it's about tf.function")
    import tensorflow as tf

    # XLA would take the nearest element: it isn't used.
    compiled: Any = ua.compile(lambda x, places: ua.take(x, places))
    x, good, bad = array(1, 2, 3), ua.asarray(np.array([2, 0])), ua.asarray(np.array([0, 3]))
    with pytest.warns(CompileWarning):
        assert_same(compiled(x, good), np.array([3.0, 1.0]))
    for _ in range(CALLS):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 3\)"):
            compiled(x, bad)
        assert_same(compiled(x, good), np.array([3.0, 1.0]))


def test_further_calls_that_return_arguments_run_nothing(backend: str) -> None:
    compiled: Any = ua.compile(lambda x, y: (y, x))
    x, y = array(1, 2), array(3, 4)
    compiled(x, y)
    runs = count_runs(compiled)
    for _ in range(CALLS):
        first, second = compiled(x, y)
        assert first is y
        assert second is x
    # The second call finds the program by its key.
    assert len(runs) == 1


def test_programs_that_are_dropped_are_freed(backend: str) -> None:
    function: Any = ua.compile(lambda x: x[1:] * 2 + 1, programs=2)
    found = []
    for length in (2, 3, 4, 5):
        for _ in range(CALLS):
            function(ua.ones(length))
        found.append(weakref.ref(function._programs.values()[-1]))
    gc.collect()
    assert [each() is not None for each in found] == [False, False, True, True]


def test_where_arrays_live_is_compared_by_identity(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAX compares shardings in Python, which takes longer than a call of a compiled function for each array."""
    skip_unless(backend, "jax", why="shardings")
    step = ua.compile(lambda c: ua.inplace_increment(c, 1.0))
    nest = ua.Container(a=ua.zeros(3), b=[ua.zeros(2)])
    for _ in range(4):
        step(nest)
    kind = type(nest.a.native.sharding)
    compared: list[int] = []
    equal = kind.__eq__
    monkeypatch.setattr(kind, "__eq__", lambda one, other: compared.append(1) or equal(one, other))
    # The native was handed out, so that the first of these calls copies.
    for _ in range(3):
        compared.clear()
        step(nest)
    assert not compared
    assert nest.a.tolist() == [7.0] * 3
