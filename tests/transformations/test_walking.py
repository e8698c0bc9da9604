"""Walking a record: whose memory cotangents are in, and what is let go of on the way."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.derivatives.walks import reverse
from unifyarr.modes.like import Like
from unifyarr.modes.tape.entries import Entry
from unifyarr.testing import needs

from ..oracle import assert_same
from .through import fresh


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3,)])
def test_a_gradient_is_in_memory_of_its_own(backend: str, shape: tuple[int, ...]) -> None:
    (x,) = fresh(np.full(shape, 2.0))
    gradient = ua.grad(lambda x: ua.sum(x))(x)
    gradient += 5
    assert_same(gradient, np.full(shape, 6.0))
    assert_same(ua.grad(lambda x: ua.sum(x))(x), np.ones(shape))
    through = ua.grad(lambda x: ua.sum(ua.reshape(ua.floor(x), (-1,))))(x)
    through += 5
    assert_same(ua.grad(lambda x: ua.sum(ua.reshape(ua.floor(x), (-1,))))(x), np.zeros(shape))


def test_sums_in_place_write_nothing_else(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reverse, "MANY", 1)
    x, y = fresh([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])

    def function(x: Any, y: Any) -> tuple[Any, Any]:
        z = x + y
        # The cotangent of the sum goes to both, and more is added to each.
        return z + x + x * x + x, z + y + y + z

    results, pullback = ua.vjp(function, x, y)
    first, second = fresh([1.0, 10.0, 100.0], [2.0, 3.0, 4.0])
    for _ in range(2):
        by_x, by_y = pullback((first, second))
        assert_same(by_x, (3 + 2 * np.array([1.0, 2, 3])) * [1, 10, 100] + 2 * np.array([2.0, 3, 4]))
        assert_same(by_y, np.array([1.0, 10, 100]) + 4 * np.array([2.0, 3, 4]))
        assert_same(first, np.array([1.0, 10, 100]))
        assert_same(second, np.array([2.0, 3, 4]))
    assert_same(results[0], np.array([1.0, 2, 3]) * 3 + [4, 5, 6] + np.array([1.0, 4, 9]))


@needs("values")
def test_each_entry_lets_go_of_its_arrays(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[weakref.ref[Any]] = []
    alive: list[int] = []
    cotangents = Entry.cotangents

    def watched(entry: Entry, k: Any, found: Any, arguments: Any, outputs: Any) -> Any:
        alive.append(sum(each() is not None for each in walked))
        # The result of a sum isn't kept.
        if not isinstance(outputs[0], Like):
            walked.append(weakref.ref(outputs[0]))
        return cotangents(entry, k, found, arguments, outputs)

    monkeypatch.setattr(Entry, "cotangents", watched)
    (x,) = fresh([0.1, 0.2])
    gradient = ua.grad(lambda x: ua.sum(ua.exp(ua.exp(ua.exp(x)))))(x)
    assert len(walked) == 3
    assert alive == [0, 0, 0, 0]
    e = np.exp([0.1, 0.2])
    assert_same(gradient, e * np.exp(e) * np.exp(np.exp(e)), rtol=1e-12)


def added(x: Any, y: Any) -> None:
    x[1:3] += y


def added_twice(x: Any, y: Any) -> None:
    x[1:3] += y
    x[1:3] -= 2 * y


def scaled(x: Any, y: Any) -> None:
    x[1:3] *= y


def replaced(x: Any, y: Any) -> None:
    x[1:3] = y


def replaced_by_others(x: Any, y: Any) -> None:
    x[1:3] = x[0:2] * y


def shifted(x: Any, y: Any) -> None:
    x[1:] += x[:-1]
    x[1:3] += y


def by_steps(x: Any, y: Any) -> None:
    x[::2] += y
    x[::-1] *= 3.0
    x[2::-2] -= y


def of_one_number(x: Any, y: Any) -> None:
    x[1:3] += y[0]
    x[1:4] *= y[1]


def read_between(x: Any, y: Any) -> None:
    before = x[1:3] * 1.0
    x[1:3] += y
    x += x * x
    x[1:3] += before


WRITES = [added, added_twice, scaled, replaced, replaced_by_others, shifted, by_steps, of_one_number, read_between]


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_writes_to_parts_are_walked(backend: str, write: Callable[..., None], compiled: bool) -> None:
    start, other, weights = np.array([1.0, -2, 3, 4]), np.array([0.5, -3]), np.array([1.0, 10, 100, 1000])

    def function(x: Any, y: Any) -> Any:
        z = x * 1.0
        write(z, y)
        return z

    gradient = ua.grad(lambda x, y: ua.sum(function(x, y) * ua.asarray(weights)), argnums=(0, 1))
    found = (ua.compile(gradient) if compiled else gradient)(*fresh(start, other))
    for place, x in enumerate((start, other)):
        for element in range(x.size):
            ends = []
            for step in (0.5, -0.5):
                moved = [start.copy(), other.copy()]
                moved[place][element] += step
                ends.append(np.sum(function(*moved) * weights))
            # No function is of more than the second degree in one element, so the difference is exact.
            np.testing.assert_allclose(float(found[place][element]), ends[0] - ends[1], rtol=1e-12, atol=1e-12)


def test_gradients_of_parts_share_no_memory(backend: str) -> None:
    x, y, cotangent = fresh([1.0, 2.0, 3.0, 4.0], [5.0, 6.0], [1.0, 10.0, 100.0, 1000.0])

    def function(x: Any, y: Any) -> Any:
        x = x.copy()
        x[1:3] += y
        return x

    _, pullback = ua.vjp(function, x, y)
    by_x, by_y = pullback(cotangent)
    by_x += 7
    assert_same(by_y, np.array([10.0, 100.0]))
    by_y += 7
    assert_same(by_x, np.array([8.0, 17, 107, 1007]))
    assert_same(cotangent, np.array([1.0, 10, 100, 1000]))


def test_nothing_is_computed_backwards_of_what_is_added_to_a_part(backend: str) -> None:
    def total(x: Any, y: Any) -> Any:
        x = x.copy()
        x[1:3] += y
        return ua.sum(ua.sin(x))

    x, y = fresh([1.0, 2.0, 3.0, 4.0], [5.0, 6.0])
    fgraph = ua.graph.trace(ua.grad(total, argnums=(0, 1)), x, y)
    # That of the function itself.
    assert [each.op.name for each in fgraph.toposort()].count("set_window") == 1
