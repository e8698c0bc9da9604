"""Schedules of the learning rate, and clipping of gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import DtypeError, ShapeError

from ..oracle import as_numpy
from .oracle import cosine

optim = ua.optim
# Name -> the schedule, and its formula by hand.
SCHEDULES: dict[str, tuple[Any, Callable[[int], float]]] = {
    "constant": (optim.constant(0.5), lambda n: 0.5),
    "warmup": (optim.warmup(1.0, 5, start=0.25), lambda n: 0.25 + 0.75 * min(n, 5) / 5),
    "falling": (optim.warmup(0.0, 4, start=1.0), lambda n: 1 - min(n, 4) / 4),
    "cosine": (optim.cosine(0.5, 7, end=0.125), cosine(0.5, 7, 0.125)),
    "exponential": (optim.exponential(0.5, 3, 0.25), lambda n: 0.5 * 0.25 ** (n / 3)),
    "staircase": (optim.exponential(0.5, 3, 0.25, staircase=True), lambda n: 0.5 * 0.25 ** (n // 3)),
    "piecewise": (optim.piecewise([1.0, 0.5, 0.25], [2, 6]), lambda n: 1.0 if n < 2 else 0.5 if n < 6 else 0.25),
    "joined": (
        optim.joined([optim.warmup(1.0, 3), optim.cosine(1.0, 5), optim.constant(0.125)], [3, 7]),
        lambda n: n / 3 if n < 3 else cosine(1.0, 5, 0.0)(n - 3) if n < 7 else 0.125,
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_functions_of_the_step(backend: str, name: str) -> None:
    schedule, by_hand = SCHEDULES[name]
    expected = [by_hand(n) for n in range(12)]
    found = schedule(ua.arange(12))
    assert found.dtype == ua.float64
    assert found.backend == backend
    np.testing.assert_allclose(as_numpy(found), expected, rtol=1e-14, atol=1e-16)
    for n in (0, 7):
        assert schedule(n).shape == ()
        assert math.isclose(float(schedule(ua.asarray(n))), expected[n], rel_tol=1e-14, abs_tol=1e-16)
        assert math.isclose(float(schedule(n)), expected[n], rel_tol=1e-14, abs_tol=1e-16)


@pytest.mark.parametrize(
    ("make", "arguments", "error"),
    [
        (optim.constant, (-1.0,), ValueError),
        (optim.constant, (None,), TypeError),
        (optim.warmup, (0.1, 0), ValueError),
        (optim.warmup, (0.1, 2.5), TypeError),
        (optim.cosine, (-0.1, 3), ValueError),
        (optim.cosine, (0.1, -3), ValueError),
        (optim.exponential, (0.1, 3, -0.5), ValueError),
        (optim.exponential, (0.1, 0, 0.5), ValueError),
        (optim.piecewise, ([0.1, 0.2], []), ValueError),
        (optim.piecewise, ([0.1, 0.2, 0.3], [4, 4]), ValueError),
        (optim.piecewise, ([0.1, 0.2], [0]), ValueError),
        (optim.joined, ([0.1, 0.2], [3]), TypeError),
    ],
)
def test_schedules_out_of_range_raise(make: Callable[..., Any], arguments: tuple[Any, ...], error: Any) -> None:
    with pytest.raises(error):
        make(*arguments)


def nest() -> ua.Container:
    return ua.Container(a=ua.asarray([3.0, 0.0]), b=[ua.asarray([[-4.0]], dtype="float32"), ua.asarray(12.0)])


def test_the_norm_is_that_of_all_leaves(backend: str) -> None:
    assert float(optim.global_norm(nest())) == 13.0
    assert optim.global_norm(ua.asarray([1.0], dtype="float16")).dtype == ua.float32
    # The squares of 300 overflow float16.
    assert float(optim.global_norm([ua.full(2, 300.0, dtype="float16")])) == pytest.approx(300 * math.sqrt(2))
    assert float(optim.global_norm((ua.asarray([3j, 4.0]),))) == 5.0
    assert float(optim.global_norm(ua.zeros((0, 3)))) == 0.0
    with pytest.raises(ValueError, match="without arrays"):
        optim.global_norm([])
    with pytest.raises(DtypeError):
        optim.global_norm(ua.asarray([1, 2]))


def test_clipping_by_norm_scales_what_is_longer(backend: str) -> None:
    gradient = nest()
    first = gradient.a
    assert optim.clip_by_norm(gradient, 13.0) is gradient
    assert first.tolist() == [3.0, 0.0]
    optim.clip_by_norm(gradient, 1.0)
    assert gradient.a is first
    np.testing.assert_allclose(as_numpy(first), [3 / 13, 0.0], rtol=1e-12)
    assert gradient.b[0].dtype == ua.float32
    np.testing.assert_allclose(float(optim.global_norm(gradient)), 1.0, rtol=1e-6)
    zero = optim.clip_by_norm(ua.zeros(3), 0.0)
    assert zero.tolist() == [0.0, 0.0, 0.0]
    limited = optim.clip_by_norm([ua.asarray([6.0, 8.0])], ua.asarray(5.0))
    np.testing.assert_allclose(as_numpy(limited[0]), [3.0, 4.0], rtol=1e-12)
    nan = optim.clip_by_norm(ua.asarray([float("nan"), 1.0]), 1.0)
    assert np.isnan(as_numpy(nan)[0])


def test_clipping_by_value_bounds_each_element(backend: str) -> None:
    gradient = nest()
    assert optim.clip_by_value(gradient, 3.5) is gradient
    assert gradient.a.tolist() == [3.0, 0.0]
    assert [x.tolist() for x in gradient.b] == [[[-3.5]], 3.5]
    assert optim.clip_by_value(nest(), ua.asarray(2.0)).a.tolist() == [2.0, 0.0]


@pytest.mark.parametrize("clip", [optim.clip_by_norm, optim.clip_by_value])
def test_what_cant_be_clipped_stays(backend: str, clip: Callable[..., Any]) -> None:
    gradient = nest()
    for limit, error in ((-1.0, ValueError), (ua.ones(2), ShapeError), (None, TypeError)):
        with pytest.raises(error):
            clip(gradient, limit)
    mixed = ua.Container(a=ua.asarray([30.0]), b=ua.asarray([2]))
    with pytest.raises(DtypeError):
        clip(mixed, 1.0)
    assert gradient.a.tolist() == [3.0, 0.0]
    assert mixed.a.tolist() == [30.0]
    if clip is optim.clip_by_value:
        with pytest.raises(DtypeError, match="clip_by_norm"):
            clip(ua.asarray([3j]), 1.0)
