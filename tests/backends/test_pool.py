"""Buffers of large results are used again only when nothing refers to them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.backends.numpy import _pool
from unifyarr.backends.numpy._pool import COUNTS, LARGE, POOL, large

from ..oracle import assert_values

COUNT = LARGE // 8 + 8
# Objects that keep an array in use, one reference each, and how to read its first element from them.
HOLDERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array": (lambda x: x, lambda held: held.native[0]),
    "native": (lambda x: x.native, lambda held: held[0]),
    "view": (lambda x: x[:3], lambda held: held.native[0]),
    "native view": (lambda x: x.native[::2][:4], lambda held: held[0]),
    "memoryview": (lambda x: memoryview(x.native), lambda held: held[0]),
    "exporter": (lambda x: np.from_dlpack(x), lambda held: held[0]),
    "torch": (lambda x: pytest.importorskip("torch").from_numpy(x.native), lambda held: float(held[0])),
    "object array": (lambda x: np.array([x.native, None], dtype=object), lambda held: held[0][0]),
    "closure": (lambda x: lambda: x, lambda held: held().native[0]),
    "generator": (lambda x: (each for each in [x]), lambda held: next(held).native[0]),
    "container": (lambda x: ua.Container(x=x), lambda held: held.x.native[0]),
}


@pytest.fixture(autouse=True)
def numpy_is_current() -> Any:
    with ua.use_backend("numpy"):
        yield


@given(names=st.lists(st.sampled_from(sorted(HOLDERS)), min_size=1, max_size=8), data=st.data())
def test_what_is_held_keeps_its_values(names: list[str], data: st.DataObject) -> None:
    x = ua.asarray(np.zeros(COUNT))
    held: list[tuple[str, Any, float]] = []
    for number, name in enumerate(names):
        value = float(number + 1)
        held.append((name, HOLDERS[name][0](x + value), value))
        if data.draw(st.booleans()):
            # Temporaries in between, of the same shape.
            ua.exp(x * 2.0 - 1.0)
        if len(held) > 1 and data.draw(st.booleans()):
            del held[data.draw(st.integers(0, len(held) - 1))]
        for kind, holder, expected in held:
            if kind != "generator":
                assert HOLDERS[kind][1](holder) == expected, kind
    for kind, holder, expected in held:
        assert HOLDERS[kind][1](holder) == expected, kind


@pytest.mark.skipif(not COUNTS, reason="without counts of references nothing is pooled")
def test_memory_is_used_again() -> None:
    x = ua.asarray(np.ones(COUNT))
    places = set()
    for _ in range(20):
        result = (x + 1.0) * 2.0 - x
        places.add(result.native.ctypes.data)
        assert float(result[-1]) == 3.0
    assert len(places) <= 4


@pytest.mark.skipif(not COUNTS, reason="without counts of references nothing is pooled")
def test_rolled_arrays_are_in_the_pool() -> None:
    values = np.arange(float(2 * COUNT)).reshape(2, COUNT)
    for x in (values, np.asfortranarray(values), values[:, ::2]):
        result = ua.roll(ua.asarray(x, copy=False), 3, axis=1)
        assert_values(result, np.roll(x, 3, axis=1))
        pooled = any(result.native is each for alike in POOL._kept.values() for each in alike)
        assert pooled == x.flags.c_contiguous
        assert result.native.flags.c_contiguous == np.empty_like(x).flags.c_contiguous


def test_elements_of_object_arrays_stay() -> None:
    # NumPy's loops call operators with borrowed references, which look like temporaries.
    x = ua.asarray(np.ones(COUNT))
    objects = np.empty(2, dtype=object)
    for _ in range(3):
        objects[0], objects[1] = x + 1.0, x + 2.0
        found = objects * 10.0
        assert [float(each[0]) for each in objects] == [2.0, 3.0]
        assert [float(each[0]) for each in found] == [20.0, 30.0]


def test_threads_share_no_buffer() -> None:
    wrong: list[float] = []

    def work(value: float) -> None:
        with ua.use_backend("numpy"):
            x = ua.asarray(np.full(COUNT, value))
            for _ in range(200):
                y = (x + value) * 2.0
                z = y - x
                if float(z[0]) != 3 * value or float(z[-1]) != 3 * value or float(y[7]) != 4 * value:
                    wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(value),)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8", "bool", "complex128", "bfloat16"])
@pytest.mark.parametrize("function", ["add", "multiply", "divide", "less", "maximum", "exp", "negative", "pow"])
def test_values_are_those_of_small_arrays(dtype: str, function: str) -> None:
    kind = np.dtype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    values = (np.arange(LARGE) % 3).astype(kind)
    call = getattr(ua, function)
    counts = 1 if function in ("exp", "negative") else 2

    def outcome(x: np.ndarray, *others: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(call(ua.asarray(x), *others))
        except TypeError:
            return None

    operands: list[tuple[Any, ...]] = [()] if counts == 1 else [(2,), (0.5,), (ua.asarray(values),), (values[::-1],)]
    for others in operands:
        large = outcome(values, *others)
        small = outcome(values[:6], *[x if np.ndim(x) == 0 else x[:6] for x in others])
        assert (large is None) == (small is None)
        if large is not None:
            assert large.dtype == small.dtype
            assert_values(large[:6], small)
            if counts == 2 and np.ndim(others[0]) == 0 and function != "pow":
                with np.errstate(all="ignore"):
                    turned = call(others[0], ua.asarray(values))
                    assert_values(np.asarray(turned)[:6], np.asarray(call(others[0], ua.asarray(values[:6]))))


@pytest.mark.parametrize("other", [lambda x: x[::-1], lambda x: x[:1], lambda x: x.reshape((-1, 1))[:2]])
def test_other_layouts_and_shapes(other: Callable[[Any], Any]) -> None:
    x = np.arange(COUNT, dtype=float)
    np.testing.assert_array_equal(np.asarray(ua.asarray(x) + ua.asarray(other(x))), x + other(x))
    square = np.asfortranarray(np.arange(512.0 * 512).reshape(512, 512))
    result = ua.asarray(square) + ua.asarray(square)
    assert result.native.flags.f_contiguous
    np.testing.assert_array_equal(np.asarray(result), square + square)


def test_a_failing_call_takes_nothing() -> None:
    x = ua.asarray(np.ones(COUNT))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        x / ua.asarray(np.zeros(COUNT))
    assert float((x + x)[5]) == 2.0


def test_the_pool_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    POOL.clear()
    monkeypatch.setattr(_pool, "MOST_BYTES", 20 * LARGE)
    for number in range(200):
        x = ua.asarray(np.ones(COUNT + number % 50))
        ua.exp(x + x)
        assert sum(each.nbytes for buffers in POOL._kept.values() for each in buffers) <= 20 * LARGE
        assert POOL._bytes == sum(each.nbytes for buffers in POOL._kept.values() for each in buffers)
    POOL.clear()


def _layout(x: np.ndarray) -> list[int]:
    return [stride for stride, length in zip(x.strides, x.shape, strict=True) if length > 1]


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays that can be broadcast: windows, transposed, reversed or of the order of Fortran."""
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=3))

    def array() -> np.ndarray:
        steps = [draw(st.sampled_from([1, 2, -1, -2])) for _ in shape]
        x = np.arange(np.prod([2 * length for length in shape]) * 1.0).reshape([2 * length for length in shape])
        x = x[tuple(slice(None, None, step) for step in steps)]
        x = x[tuple(slice(0, draw(st.sampled_from([length, length, 1]))) for length in shape)]
        order = draw(st.sampled_from(["as it is", "C", "F", "broadcast", "fewer axes"]))
        if order in ("C", "F"):
            return np.asarray(x, order=order)
        if order == "fewer axes" and len(x) == 1 and x.ndim > 1:
            return x[0]
        return np.broadcast_to(x, shape) if order == "broadcast" else x

    return array(), array()


@given(operands())
@settings(max_examples=200)
def test_results_of_the_pool_are_laid_out_as_numpys(pair: tuple[np.ndarray, np.ndarray]) -> None:
    for ufunc, natives in ((np.add, pair), (np.negative, pair[:1]), (np.less, pair)):
        got, wanted = large(ufunc)(*natives), ufunc(*natives)
        np.testing.assert_array_equal(got, wanted)
        assert got.shape == wanted.shape
        assert _layout(got) == _layout(wanted)
