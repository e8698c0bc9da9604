"""Calls whose arrays are checked together, in the compiled part: other arguments take another path."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr import Array
from unifyarr._core.values.called import call_of
from unifyarr._native import core
from unifyarr.errors import ReadOnlyError
from unifyarr.graph.fusion import machine
from unifyarr.graph.run import guards, program_calls

from ..oracle import as_numpy, assert_same

COUNT = 5
# From how many arrays on a table of their blocks doesn't fit the stack of the C function.
MANY = 70


@pytest.fixture(params=["in C", "in Python"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "in Python":
        monkeypatch.setattr(program_calls, "can_guard", lambda: False)
    elif not machine.is_compiled() or core is None:
        pytest.skip("no compiled part")
    way: str = request.param
    return way


def on_numpy(values: np.ndarray) -> Array:
    return ua.asarray(values, backend="numpy", copy=False)


def update(*arrays: Array) -> Array:
    """Write all but the last of some arrays."""
    total = arrays[0] * 2
    for number, x in enumerate(arrays[:-1]):
        x += arrays[-1] * (number + 1)
    return total + arrays[-1]


def fresh(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-9, 9, (3, 4)).astype(float) for _ in range(COUNT)]


# Changes to the arrays of a call: a function of the arrays, and of two positions.
CHANGES: dict[str, Callable[[list[np.ndarray], int, int], None]] = {
    "nothing": lambda x, i, j: None,
    "other array": lambda x, i, j: x.__setitem__(i, x[i].copy()),
    "float32": lambda x, i, j: x.__setitem__(i, x[i].astype("f4")),
    "other shape": lambda x, i, j: x.__setitem__(slice(None), [each[:2].copy() for each in x]),
    "a row": lambda x, i, j: x.__setitem__(-1, x[-1][0].copy()),
    "other strides": lambda x, i, j: x.__setitem__(i, x[i].T.copy().T),
    "view of its own": lambda x, i, j: x.__setitem__(i, np.zeros((6, 4))[2:5]),
    "the same": lambda x, i, j: x.__setitem__(i, x[j]),
    "halves": lambda x, i, j: halves(x, i, j, 3),
    "overlap": lambda x, i, j: halves(x, i, j, 2),
    "memory of bytes": lambda x, i, j: x.__setitem__(-1, np.frombuffer(x[-1].tobytes()).reshape(x[-1].shape)),
}


def halves(arrays: list[np.ndarray], i: int, j: int, apart: int) -> None:
    """Let two arrays be rows of one block of memory."""
    whole = np.arange(24.0).reshape(6, 4)
    arrays[i], arrays[j] = whole[:3], whole[apart : apart + 3]


@lru_cache
def compiled_update(way: str) -> Callable[..., Array]:
    """Return the same function for all examples: its programs are for different arrays."""
    return ua.compile(update)


PLACES = st.integers(0, COUNT - 1)


@given(st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), PLACES, PLACES), max_size=6))
def test_whatever_comes_gives_what_the_function_gives(way: str, changes: list[tuple[str, int, int]]) -> None:
    compiled = compiled_update(way)
    for number in range(3):
        compiled(*map(on_numpy, fresh(number)))
    for seed, (name, i, j) in enumerate(changes):
        ours, wanted = fresh(seed), fresh(seed)
        for each in (ours, wanted):
            CHANGES[name](each, i, j)
        found = compiled(*map(on_numpy, ours))
        result = update(*map(on_numpy, wanted))
        assert found.dtype == result.dtype
        np.testing.assert_array_equal(found.native, result.native, err_msg=name)
        for one, other in zip(ours, wanted, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)


def test_what_is_written_has_to_be_writable() -> None:
    compiled = ua.compile(update)
    for number in range(4):
        compiled(*map(on_numpy, fresh(number)))
    arrays = [*map(on_numpy, fresh(0))]
    # Arrays that are only read may be read-only.
    arrays[-1].native.flags.writeable = False
    compiled(*arrays)
    arrays[1].native.flags.writeable = False
    before = [x.native.copy() for x in arrays]
    for _ in range(2):
        with pytest.raises(ReadOnlyError):
            compiled(*arrays)
    for x, values in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x.native, values)


@pytest.mark.parametrize("count", [1, 2, MANY])
def test_what_was_captured_is_tested_too(count: int) -> None:
    whole = np.zeros((count + 1, 3))
    captured = on_numpy(whole[0])

    @ua.compile
    def add(*arrays: Array) -> None:
        for x in arrays:
            x += captured
        captured.__iadd__(1.0)

    arrays = [on_numpy(np.zeros(3)) for _ in range(count)]
    for _ in range(4):
        add(*arrays)
    np.testing.assert_array_equal(whole[0], [4.0] * 3)
    np.testing.assert_array_equal(arrays[-1].native, [6.0] * 3)
    # Beside it in its memory, and then that itself.
    add(*arrays[1:], on_numpy(whole[1]))
    np.testing.assert_array_equal(whole[1], [4.0] * 3)
    add(*arrays[1:], on_numpy(whole[0]))
    np.testing.assert_array_equal(whole[0], [11.0] * 3)


@pytest.mark.parametrize("count", [2, 12])
def test_arrays_of_any_engine(backend: str, count: int) -> None:
    """The checks are those of the engine's ``cache_reads``."""
    captured = ua.asarray(np.full(3, 0.5))

    def function(rate: float, *arrays: Array) -> Array:
        total = captured * rate
        for x in arrays:
            total = total + x
        return total

    def made(number: int, changed: int | None, values: np.ndarray) -> list[Array]:
        arrays = [ua.asarray(np.arange(3.0) + each + number, copy=True) for each in range(count)]
        if changed is not None:
            arrays[changed] = ua.asarray(values, copy=True)
        return arrays

    compiled = ua.compile(function)
    others = [np.ones(3, "f4"), np.ones(1), np.ones((2, 3)), np.ones(3, "i8"), np.ones(3)]
    for number, values in enumerate([None, None, None, *others, None]):
        for place in (0, count - 1):
            arrays = made(number, None if values is None else place, values if values is not None else np.ones(3))
            for rate in (0.5, 2.0):
                assert_same(compiled(rate, *arrays), as_numpy(function(rate, *arrays)))
    with pytest.raises(ValueError, match="shape"):
        compiled(0.5, *made(0, 0, np.ones(4)))


def test_one_test_serves_a_call(way: str) -> None:
    compiled: Any = ua.compile(update)
    for number in range(3):
        compiled(*map(on_numpy, fresh(number)))
    assert (core is not None and type(call_of(compiled)) is core.CompiledCall) == (way == "in C")
    dropped = weakref.ref(compiled._programs.values()[-1])
    compiled.clear()
    del compiled
    gc.collect()
    assert dropped() is None


def test_a_guard_is_of_arrays() -> None:
    if not machine.is_compiled():
        pytest.skip("no compiled part")
    x = on_numpy(np.zeros(3))
    test = guards.guard([x, x], [0], lambda arrays: False)
    assert test(x, x) == (x.native, x.native)
    assert test(x, np.zeros(3)) is None  # type: ignore[arg-type]
    assert test(x, on_numpy(np.zeros(4))) is None
    assert test(x, on_numpy(np.zeros(6)[::2])) is None
    assert test(x, on_numpy(np.zeros(3, "i8"))) is None
    with pytest.raises(TypeError, match="a guard of 2 arrays got 1"):
        test(x)
    with pytest.raises(IndexError, match="there's no array 2 to write"):
        guards.guard([x, x], [2], lambda arrays: False)

    def fail(arrays: Any) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guards.guard([x, x], [0], fail)(x, x)
