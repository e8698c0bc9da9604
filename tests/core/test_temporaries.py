"""Operators write into operands that are temporaries, and into no others.

In ``(x + y) * z`` only the interpreter's stack and the operator's frame refer to the sum. An array that C code holds
when it calls the operator has as few references: those are recognized by the C stack.
"""

from __future__ import annotations

import functools
import gc
import itertools
import operator
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.calling import plain_calls

from . import random_temporaries

# Results that large come from the pool.
SIZE = 1 << 16
VALUES = np.arange(SIZE) + 1.0

finds = pytest.mark.skipif(
    not plain_calls.FINDS,
    reason="the compiled part that finds temporaries is for CPython 3.11 to 3.13 on Linux",
)


def made() -> ua.Array:
    """Return an array in memory of the pool, to which nothing else refers."""
    return ua.arange(SIZE, dtype=ua.float64) + 1.0


def _partial(x: ua.Array) -> Callable[[], Any]:
    call = functools.partial(operator.mul, x)
    return lambda: call(3.0)


def _bound(x: ua.Array) -> Callable[[], Any]:
    method = x.__mul__
    return lambda: method(3.0)


def _in_objects(x: ua.Array) -> Callable[[], Any]:
    objects = np.empty(1, object)
    objects[0] = x
    # The loop of objects calls operators of elements that it keeps.
    return lambda: (objects * 3.0)[0]


def _of_a_class(x: ua.Array) -> Callable[[], Any]:
    box = type("Box", (), {"__mul__": x.__mul__})()
    return lambda: box * 3.0


def _of_a_class_reflected(x: ua.Array) -> Callable[[], Any]:
    box = type("Box", (), {"__rmul__": x.__rmul__})()
    return lambda: 3.0 * box


def _by_a_partial_of_a_class(x: ua.Array) -> Callable[[], Any]:
    box = type("Box", (), {"__mul__": staticmethod(functools.partial(operator.mul, x))})()
    return lambda: box * 3.0


class Keeps:
    """Calls the operator of an array that it alone keeps."""

    def __init__(self, kept: ua.Array) -> None:
        self.kept = kept

    def __mul__(self, other: float) -> Any:
        return self.kept.__mul__(other)

    def __rmul__(self, other: float) -> Any:
        return operator.mul(other, self.kept)

    def __neg__(self) -> Any:
        return self.kept * 3.0


def _by_a_method(x: ua.Array) -> Callable[[], Any]:
    box = Keeps(x)
    return lambda: box * 3.0


def _by_a_reflected_method(x: ua.Array) -> Callable[[], Any]:
    box = Keeps(x)
    return lambda: 3.0 * box


def _by_another_operator(x: ua.Array) -> Callable[[], Any]:
    box = Keeps(x)
    return lambda: -box


def _in_a_list(x: ua.Array) -> Callable[[], Any]:
    xs = [x]
    return lambda: xs[0] * 3.0


def _in_a_list_by_name(x: ua.Array) -> Callable[[], Any]:
    xs = [x]
    return lambda: xs[0].__mul__(3.0)


def _in_a_closure(x: ua.Array) -> Callable[[], Any]:
    return lambda: x * 3.0


def _in_a_default(x: ua.Array) -> Callable[[], Any]:
    return lambda x=x: x * 3.0


def _mapped(x: ua.Array) -> Callable[[], Any]:
    xs = (x,)
    return lambda: next(map(operator.mul, xs, itertools.repeat(3.0)))


def _reduced(x: ua.Array) -> Callable[[], Any]:
    xs = (x, 3.0)
    return lambda: functools.reduce(operator.mul, xs)


def _in_a_generator(x: ua.Array) -> Callable[[], Any]:
    def each(x: ua.Array) -> Iterator[ua.Array]:
        while True:
            yield x * 3.0

    return each(x).__next__


def _on_the_stack(x: ua.Array) -> Callable[[], Any]:
    xs = [x]
    return lambda: (xs[0], xs[0] * 3.0)[1]


KEPT = [
    *(_partial, _bound, _in_objects, _of_a_class, _of_a_class_reflected, _by_a_partial_of_a_class, _by_a_method),
    *(_by_a_reflected_method, _by_another_operator, _in_a_list, _in_a_list_by_name, _in_a_closure, _in_a_default),
    *(_mapped, _reduced, _in_a_generator, _on_the_stack),
]


@pytest.mark.chunks(SIZE // 4)
@pytest.mark.parametrize("kept", KEPT)
def test_an_operand_that_is_kept_stays_as_it_is(backend: str, kept: Callable[[Any], Callable[[], Any]]) -> None:
    # The interpreter's own calls are known by then, in each way in which it makes them.
    for _ in range(20):
        _ = 3.0 * -((made() + 1.0) * 3.0)
    # Nothing else refers to the operand.
    call = kept(made())
    for _ in range(3):
        assert ua.sum(call() == 3.0 * made()) == SIZE


def _buffers(call: Callable[[], Any]) -> int:
    """Return how many buffers of the pool a call uses, its result's included."""
    from unifyarr.backends.numpy._pool import POOL

    # Operators are compiled at their first call.
    call()
    POOL.clear()
    kept = call()
    count = sum(map(len, POOL._kept.values()))
    del kept
    return count


@finds
def test_temporaries_are_written_over() -> None:
    with ua.use_backend("numpy"):
        x, y, z = made(), made(), made()
        i = ua.arange(SIZE) % 7
        _ = (x + y) * z
        assert _buffers(lambda: (x + y) * z - x) == 1
        assert _buffers(lambda: x - z * (x + y)) == 1
        assert _buffers(lambda: 2.0 / -(1.0 + x * y)) == 1
        assert _buffers(lambda: ~((i & 3) | i)) == 1
        # The right one is in the memory of the other's result, when both are temporaries.
        assert _buffers(lambda: (x + y) * (x - y)) == 2
        assert _buffers(lambda: (x + y) / 3) == 1
        # Its dtype isn't the result's.
        assert _buffers(lambda: (i + i) * 0.5) == 2
        a = x + y
        assert _buffers(lambda: a * z) == 1


@finds
def test_what_small_arrays_give_may_be_large() -> None:
    with ua.use_backend("numpy"):
        side = 1 << 8
        row, one = ua.arange(side) + 1.0, ua.ones(1)
        column, whole = row[:, None], ua.ones((side, side))
        # They are found to be small.
        _ = row + 1.0, column + 1.0, one + 1.0
        assert _buffers(lambda: (column + row) * whole - whole) == 1
        wide = ua.broadcast_to(one, (SIZE,))
        assert _buffers(lambda: (wide + 1.0) * 2.0) == 1
        assert _buffers(lambda: -(ua.repeat(one, SIZE) + 1.0)) == 1


@finds
def test_temporaries_are_written_over_where_a_process_stores_other_packages_numbers() -> None:
    program = f"""
import ml_dtypes, numpy as np, unifyarr as ua
from unifyarr.backends.numpy._pool import POOL
ua.set_backend("numpy")
y = ua.asarray(np.ones({1 << 18}, ml_dtypes.float8_e5m2))
x = ua.ones({SIZE})
for _ in range(2):
    POOL.clear()
    z = (x + x) * x
assert sum(map(len, POOL._kept.values())) == 1
try:
    y + y
except TypeError as error:
    print(error)
"""
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert "astype" in printed


@finds
def test_views_handed_out_memory_and_weak_references_keep_a_temporary() -> None:
    with ua.use_backend("numpy"):
        x, y = made(), made()
        total = VALUES + VALUES
        _ = (x + y) * x
        seen: list[Any] = []

        def keeping(how: Callable[[ua.Array], Any], array: ua.Array) -> ua.Array:
            seen.append(how(array))
            return array

        for how in (lambda a: a[::2], lambda a: a.T, lambda a: a.native, np.asarray, lambda a: memoryview(a.native)):
            result = keeping(how, x + y) * y
            assert np.array_equal(np.asarray(seen[-1]), total[::2] if len(seen) == 1 else total)
            assert np.array_equal(result, total * VALUES)
        assert _buffers(lambda: keeping(weakref.ref, x + y) * y) == 2
        assert seen[-1]() is None
        # A native that was handed out and dropped again isn't kept.
        assert _buffers(lambda: (lambda a: (a.native, a)[1])(x + y) * y) == 1


@finds
def test_what_traces_the_interpreter_finds_operands_as_they_were() -> None:
    with ua.use_backend("numpy"):
        x, y = made(), made()
        _ = (x + y) * x
        found = []

        def trace(frame: Any, event: str, argument: Any) -> Any:
            # The function that the operator calls.
            if frame.f_code.co_name == "binary" and event == "return":
                found.append(np.array(frame.f_locals["x1"]))
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            result = (x + y) * y
        finally:
            sys.settrace(before)
        assert np.array_equal(found[1], VALUES * 2)
        assert np.array_equal(result, VALUES * 2 * VALUES)


@finds
def test_errors_of_a_temporary_are_those_of_numpy() -> None:
    with ua.use_backend("numpy"):
        x = made()
        _ = (x + x) * x
        with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            _ = (x + x) / (x - x)
        with pytest.warns(RuntimeWarning, match="divide by zero") as warned:
            _ = (x + x) / (x - x)
        assert len(warned) == 1
        i = ua.arange(SIZE)
        with pytest.raises(ValueError, match="negative"):
            _ = (i + 1) ** (i - 5)


@finds
def test_threads_keep_temporaries_of_their_own() -> None:
    with ua.use_backend("numpy"):
        x, y = made(), made()
        wrong = []

        def work(factor: float) -> None:
            for _ in range(50):
                result = (x * factor + y) * x - y * factor
                if not np.array_equal(result, (VALUES * factor + VALUES) * VALUES - VALUES * factor):
                    wrong.append(factor)

        threads = [threading.Thread(target=work, args=(float(each),)) for each in range(1, 5)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert not wrong


NAMES = ("x", "y", "z", "i")
_LEAVES = st.sampled_from([*NAMES, "xs[0]", "two", "3", "0.5", "given(x)", "given(y + 1)"])
_OPERATORS = st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "**"])
_EXPRESSIONS = st.recursive(
    _LEAVES,
    lambda parts: st.one_of(
        st.builds("({} {} {})".format, parts, _OPERATORS, parts),
        st.builds("(-{})".format, parts),
        st.builds("(k := {})".format, parts),
        st.builds("keep({})".format, parts),
        st.builds("({0}, {1})[1]".format, parts, parts),
        st.builds("({})[::2].repeat(2)".format, st.sampled_from(["x", "(x + y)"])),
    ),
    max_leaves=12,
)


@given(_EXPRESSIONS)
@settings(max_examples=60, deadline=None)
def test_expressions_give_numpys_values_and_change_no_operand(text: str) -> None:
    def run(of: Callable[[np.ndarray], Any]) -> tuple[Any, dict[str, Any]]:
        kept: list[Any] = []

        def keep(value: Any) -> Any:
            kept.append(value)
            return value

        values = {"x": VALUES / 7, "y": VALUES[::-1] % 11 + 1, "z": VALUES % 5 - 2.0, "i": np.arange(SIZE) % 9 + 1}
        names: dict[str, Any] = {name: of(value.copy()) for name, value in values.items()}
        names |= {"xs": [of(values["x"] + 2.0)], "two": 2.0, "keep": keep, "given": lambda value: value, "kept": kept}
        with np.errstate(all="ignore"):
            names["result"] = eval(text, names)
        return names

    with ua.use_backend("numpy"):
        try:
            wanted = run(lambda value: value)
        except (TypeError, ValueError, IndexError, AttributeError) as error:
            with pytest.raises((TypeError, ValueError, IndexError, AttributeError)):
                run(ua.asarray)
            del error
            return
        got = run(ua.asarray)
        for name in (*NAMES, "k", "result"):
            if name in wanted:
                np.testing.assert_array_equal(np.asarray(got[name]), np.asarray(wanted[name]))
        for mine, theirs in zip(got["kept"] + got["xs"], wanted["kept"] + wanted["xs"], strict=True):
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))
    gc.collect()


def test_random_expressions_change_nothing_that_is_kept() -> None:
    assert not random_temporaries.differences(300, seed=20261128)
