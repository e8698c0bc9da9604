"""Walking a record: whose memory cotangents are in, and what is let go of on the way."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.derivatives import reverse
from unifyarr.derivatives.kernels import Like
from unifyarr.derivatives.record import Entry
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
