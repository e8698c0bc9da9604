"""Containers and optimizers on a device: all leaves are computed in one launch, with the bits of one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._native import core

from .counting import counting
from .test_cases import there

SPECIAL = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 5e-324, 1e308]
LEAVES: dict[str, Any] = {"a": np.array(SPECIAL), "b": {"c": np.array(SPECIAL[::-1]).reshape(3, 3), "d": np.array(0.3)}}
CASES: dict[str, tuple[Callable[[Any], Any], int]] = {
    "a sum": (lambda x: x + x, 1),
    "a difference": (lambda x: x - x * 0.5, 2),
    "a quotient": (lambda x: x / (x + 1), 2),
    "a number": (lambda x: 2.5 * x, 1),
    "an array of the device": (lambda x: x.b.d * x / x.b.d, 2),
    "an array of the device added": (lambda x: x + x.b.d, 1),
    "a function": (lambda x: ua.sqrt(ua.exp(-x)), 3),
    "a function of two": (lambda x: ua.multiply(x, x), 1),
    # For these each leaf is launched.
    "a number before": (lambda x: 2 - x, 3),
    "a great number": (lambda x: x + 10**6, 3),
    "one more axis": (lambda x: x + x.map(lambda each: each[..., None]), 3),
    "an array with axes": (lambda x: ua.Container(a=x.a, e=x.a * 2) + x.a, 3),
}


def nest(make: Callable[[np.ndarray], ua.Array]) -> Any:
    return ua.Container(LEAVES).map(lambda x: make(np.asarray(x)))


@pytest.mark.parametrize("name", CASES)
def test_leaves_are_computed_in_one_launch(backend: str, name: str) -> None:
    function, launches = CASES[name]
    x = nest(there)
    function(x)
    with counting() as events:
        found = function(x)
    if core is None:
        # Python launches each leaf.
        launches = max(launches, events["launch"])
    assert (events["launch"], events["sync"], events["to_host"], events["to_device"]) == (launches, 0, 0, 0)
    with np.errstate(all="ignore"):
        expected = function(nest(lambda each: ua.asarray(each, device="cpu")))
    for mine, right in zip(found.leaves(), expected.leaves(), strict=True):
        assert mine.device == x.a.device
        assert mine.to_numpy().tobytes() == right.to_numpy().tobytes()


def test_leaves_of_several_dtypes_and_devices_are_computed_alike(backend: str) -> None:
    x = ua.Container(a=there(np.ones(2)), b=there(np.ones(2, "f4")), c=ua.ones(2, device="cpu"))
    found = x * 2.0
    assert [each.device for each in found.leaves()] == [each.device for each in x.leaves()]
    assert [each.dtype for each in found.leaves()] == [each.dtype for each in x.leaves()]
    with pytest.raises(ua.errors.DeviceError):
        x + ua.Container(a=x.c, b=x.b, c=x.c)


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw", "rmsprop"])
def test_optimizers_launch_as_often_for_many_parameters(backend: str, name: str) -> None:
    optimizer = getattr(ua.optim, name)(0.1, **({"momentum": 0.9} if name in ("sgd", "rmsprop") else {}))
    generator = np.random.default_rng(0)
    values = [generator.standard_normal(shape) for shape in ((3, 2), (4,), (), (2, 2, 2))]
    dtypes = ("float64", "float64", "float32", "complex64")

    def moved(make: Callable[[np.ndarray], ua.Array], count: int) -> tuple[list[ua.Array], int]:
        params, slopes = ([make(x.astype(t)) for x, t in zip(values, dtypes, strict=True)][:count] for _ in "ab")
        state = optimizer.init(params)
        optimizer.update(params, slopes, state)
        with counting() as events:
            optimizer.update(params, slopes, state)
        return params, events["launch"]

    # Without the core Python launches each leaf.
    assert core is None or moved(there, 2)[1] == moved(there, 1)[1]
    mine, right = moved(there, 4)[0], moved(lambda x: ua.asarray(x, device="cpu"), 4)[0]
    for x, y in zip(mine, right, strict=True):
        assert x.to_numpy().tobytes() == y.to_numpy().tobytes()
