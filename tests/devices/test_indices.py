"""Indices on a device: none that is out of bounds reaches a kernel, and the device is waited for once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .counting import UNFORGIVEN, counting
from .test_cases import assert_there, numpys, there

X = np.arange(12.0).reshape(4, 3)
PLACES, NEGATIVE, OUTSIDE = np.array([2, 0, 2]), np.array([-1, -4, 3]), np.array([0, 4, 1])
VALUES = np.array([[1.0], [2.0], [3.0]])


def _increment(x: ua.Array, i: Any) -> Any:
    x[i] += 1
    return x


def _write(x: ua.Array, i: Any, value: Any = 7.0) -> Any:
    x[i] = value
    return x


def _write_both(x: ua.Array, i: Any) -> Any:
    x[i, i % 3] = 5.0
    return x


READS: dict[str, Callable[[ua.Array, Any], Any]] = {
    "get": lambda x, i: x[i],
    "get columns": lambda x, i: x.T[:, i],
    "get pairs": lambda x, i: x[i, i % 3],
    "take": lambda x, i: ua.take(x, i, axis=0),
    "take_along_axis": lambda x, i: ua.take_along_axis(x, i[:, None] * ua.ones_like(i[:, None]), axis=0),
    "gather": lambda x, i: ua.gather(x, ua.stack([i, i % 3], axis=-1)),
    "increment": _increment,
    "write a number": _write,
    "write values": lambda x, i: _write(x, i, there(VALUES) if x.backend == "torch" else ua.asarray(VALUES)),
    "write pairs": _write_both,
    "scatter": lambda x, i: ua.scatter(x, i[:, None], 1.0, mode="add"),
    "segment_sum": lambda x, i: ua.segment_sum(x[:3], ua.abs(i), num_segments=4),
}
reads = pytest.mark.parametrize("read", READS.values(), ids=READS)


@reads
@pytest.mark.parametrize("places", [PLACES, NEGATIVE], ids=["positive", "negative"])
def test_indices_mean_what_they_do_on_numpy(backend: str, read: Callable[..., Any], places: np.ndarray) -> None:
    expected = numpys(read, X, places)
    if isinstance(expected, Exception):
        with pytest.raises(type(expected)):
            read(there(X), there(places))
        return
    found = read(there(X), there(places))
    assert_there(found)
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


@reads
def test_an_index_out_of_bounds_raises_before_it_is_launched(backend: str, read: Callable[..., Any]) -> None:
    x, places = there(X), there(OUTSIDE)
    with counting() as events, pytest.raises(IndexError):
        read(x, places)
    assert not any(events[kind] for kind in UNFORGIVEN)
    np.testing.assert_array_equal(x.to_numpy(), X)


def test_plain_keys_out_of_bounds_raise(backend: str) -> None:
    x = there(X)
    for key in (4, -5, (0, 3), [0, 9], np.array([0, 9]), (slice(None), [0, 9]), [[True] * 3] * 3):
        with counting() as events, pytest.raises((IndexError, ua.errors.ShapeError)):
            x[key]
        assert not any(events[kind] for kind in UNFORGIVEN)
        with counting() as events, pytest.raises((IndexError, ua.errors.ShapeError)):
            x[key] = 1.0
        assert not any(events[kind] for kind in UNFORGIVEN)
    np.testing.assert_array_equal(x.to_numpy(), X)


@reads
def test_the_device_is_waited_for_once(backend: str, read: Callable[..., Any]) -> None:
    places = there(PLACES)
    for _ in range(3):
        with counting(places=True) as events:
            read(there(X), places)
    # ``there`` copies the array.
    assert events["sync"] + events["to_host"] <= 2 if read is READS["increment"] else 1, events.of("sync", "to_host")


MADE: dict[str, Callable[[ua.Array], Any]] = {
    "argsort": lambda x: ua.take(x[:, 0], ua.argsort(x[:, 0])),
    "argsort, complex": lambda x: ua.take(x, ua.argsort(x[:, 0] * 1j, descending=True), axis=0),
    "argsort along an axis": lambda x: ua.take_along_axis(x, ua.argsort(x, axis=1), axis=1),
    "argmax": lambda x: ua.take(x, ua.reshape(ua.argmax(x, axis=0), (3,)), axis=0),
    "argmin of all": lambda x: ua.take(ua.reshape(x, (-1,)), ua.reshape(ua.argmin(x), (1,))),
    "argmax, bools": lambda x: x[ua.argmax(x > 3, axis=0)],
    "searchsorted": lambda x: ua.take(
        x, ua.searchsorted(ua.arange(3, device=x.device), ua.astype(x[0], "int64")), axis=0
    ),
    "lexsort": lambda x: ua.take(x, ua.lexsort((x[:, 0], x[:, 1])), axis=0),
    "arange": lambda x: ua.take(x, ua.arange(3, 0, -1, device=x.device), axis=0),
    "zeros": lambda x: ua.take(x, ua.zeros(2, dtype=int, device=x.device), axis=0),
    "ones": lambda x: x[ua.ones(2, dtype=int, device=x.device)],
    "a number": lambda x: x[ua.full(2, 3, dtype=int, device=x.device)],
}


@pytest.mark.parametrize("name", MADE)
def test_indices_that_a_function_has_made_need_no_check(backend: str, name: str) -> None:
    function = MADE[name]
    # Compiled, lexsort takes operands that aren't one kernel's result, and new arrays are constants, which are read
    # once.
    is_eager = name in ("lexsort", "arange", "zeros", "ones", "a number")
    for call in (function, *([] if is_eager else [ua.compile(function, fuse=False)])):
        for _ in range(4):
            x = there(X)
            with counting(places=True) as events:
                found = call(x)
            assert not events["sync"] + events["to_host"], events.of("sync", "to_host")
        np.testing.assert_array_equal(found.to_numpy(), numpys(function, X).to_numpy())


def test_indices_are_checked_once_until_they_are_written(backend: str) -> None:
    x, places = there(X), there(PLACES)
    ua.take(x, places, axis=0)
    for function in (lambda x, i: ua.take(x, i, axis=0), lambda x, i: x[i], lambda x, i: x[i[1:]]):
        gradient = ua.grad(lambda x, i, function=function: ua.sum(function(x, i) ** 2))
        for _ in range(3):
            with counting(places=True) as events:
                found = gradient(x, places)
            assert not events["sync"] + events["to_host"], events.of("sync", "to_host")
        np.testing.assert_array_equal(found.to_numpy(), numpys(gradient, X, PLACES).to_numpy())
    places[0] = 9
    with counting() as events, pytest.raises(IndexError):
        ua.take(x, places, axis=0)
    assert not any(events[kind] for kind in UNFORGIVEN)
    with pytest.raises(IndexError):
        # A check against another length isn't enough.
        ua.take(x[:2], there(PLACES), axis=0)


def test_random_orders_need_no_check(backend: str) -> None:
    x = there(X)
    for draw in (lambda g: g.permutation(x), lambda g: g.choice(x, 3), lambda g: g.permuted(x, axis=1)):
        draw(ua.random.Generator(0))
        with counting(places=True) as events:
            draw(ua.random.Generator(0))
        assert not events["sync"] + events["to_host"], events.of("sync", "to_host")


def test_indices_that_were_written_are_checked(backend: str) -> None:
    x = there(X[:, 0])
    for write in (lambda i: i.__setitem__(0, 9), lambda i: i.__iadd__(9), lambda i: i[:2].__setitem__(0, -9)):
        order = ua.argsort(x)
        write(order)
        with counting() as events, pytest.raises(IndexError):
            ua.take(x, order)
        with pytest.raises(IndexError):
            x[order[::-1]]
        assert not any(events[kind] for kind in UNFORGIVEN)


def test_traces_need_no_check_of_made_indices(backend: str) -> None:
    def total(x: ua.Array) -> ua.Array:
        return ua.sum(ua.pad(x, 1, "reflect") * ua.take(x, ua.argsort(x)[:1])) + ua.top_k(x, 2).values[0]

    call, x = ua.compile(total, fuse=False), there(X[:, 0])
    call(x)
    with counting(places=True) as events:
        found = call(x)
    assert not events["sync"] + events["to_host"], events.of("sync", "to_host")
    np.testing.assert_array_equal(found.to_numpy(), numpys(total, X[:, 0]).to_numpy())
