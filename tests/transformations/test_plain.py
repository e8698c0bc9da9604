"""Gradients by plain arrays take a short way, and go on by the general one where the function does more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import DtypeError, ShapeError
from unifyarr.testing import needs
from unifyarr.transformations import run

from ..oracle import assert_same
from .through import fresh

CALLS = 6


@needs("writes")
def test_plain_arrays_need_no_general_call(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the general way")

    monkeypatch.setattr(run.TransformedCall, "__init__", refuse)
    x, y = fresh([1.0, 2.0], [3.0, 4.0])
    for _ in range(CALLS):
        assert_same(ua.grad(lambda x: ua.sum(x * x))(x), [2.0, 4.0])
        value, (by_x, by_y) = ua.value_and_grad(lambda x, y: ua.sum(x * y), (0, 1))(x, y)
        assert_same(value, 11.0)
        assert_same(by_x, [3.0, 4.0])
        assert_same(by_y, [1.0, 2.0])
        tree = ua.Container(w=x, b=[y])
        found = ua.grad(lambda tree, factor: ua.sum(tree.w * tree.b[0] * factor))(tree, 2)
        assert_same(found.w, [6.0, 8.0])
        assert_same(found.b[0], [2.0, 4.0])


@pytest.mark.parametrize("has_aux", [False, True])
def test_what_a_function_writes_is_written(backend: str, has_aux: bool) -> None:
    (c,) = fresh([0.0, 0.0])

    def function(x: ua.Array, y: ua.Array) -> Any:
        y += x
        c[0] = x[1]
        value = ua.sum(x * y)
        return (value, {"twice": value * 2}) if has_aux else value

    for _ in range(CALLS):
        x, y = fresh([1.0, 2.0], [3.0, 4.0])
        found = ua.grad(function, has_aux=has_aux)(x, y)
        if has_aux:
            found, aux = found
            assert_same(aux["twice"], 32.0)
        assert_same(found, [5.0, 8.0])
        assert_same(x, [1.0, 2.0])
        assert_same(y, [4.0, 6.0])
        assert_same(c, [2.0, 0.0])


def test_the_differentiated_argument_may_be_written(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        x *= 2
        return ua.sum(x * x)

    for _ in range(CALLS):
        (x,) = fresh([1.0, 2.0])
        value, gradient = ua.value_and_grad(function)(x)
        assert_same(value, 20.0)
        assert_same(gradient, [8.0, 16.0])
        assert_same(x, [2.0, 4.0])


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda x: x, ShapeError, "0-d"),
        (lambda x: (ua.sum(x), ua.sum(x)), ShapeError, "2 arrays"),
        (lambda x: ua.astype(ua.sum(x), ua.int64), DtypeError, "real floating-point"),
        (lambda x: ua.astype(ua.sum(x), ua.complex128), DtypeError, "real floating-point"),
        (lambda x: 1.0, TypeError, "must return arrays"),
        (lambda x: None, TypeError, "must return arrays"),
        (3, TypeError, "a transformation"),
    ],
)
def test_other_results_are_refused(
    backend: str, function: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    (x,) = fresh([1.0, 2.0])
    for _ in range(CALLS):
        with pytest.raises(error, match=words):
            ua.grad(function)(x)


def test_values_are_in_memory_of_their_own(backend: str) -> None:
    for function in (lambda x, y: x, lambda x, y: y):
        x, y = fresh(2.0, 3.0)
        value, gradient = ua.value_and_grad(function)(x, y)
        value += 5
        gradient += 5
        assert_same(x, 2.0)
        assert_same(y, 3.0)


def test_constants_are_results_too(backend: str) -> None:
    x, c = fresh([1.0, 2.0], 7.0)
    for _ in range(CALLS):
        value, gradient = ua.value_and_grad(lambda x: c)(x)
        assert_same(value, 7.0)
        assert_same(gradient, [0.0, 0.0])
        value += 1
        assert_same(c, 7.0)


def test_arguments_of_other_kinds_take_the_general_way(backend: str) -> None:
    (x,) = fresh([1.0, 2.0])
    for _ in range(CALLS):
        assert_same(ua.grad(lambda x, y: ua.sum(x * y))(x, np.asarray([3.0, 4.0])), [3.0, 4.0])
        assert_same(ua.grad(lambda x, y: ua.sum(x * y), -2)(x, x), [1.0, 2.0])
        assert_same(ua.grad(lambda x, y: ua.sum(x * y))(x, y=x), [1.0, 2.0])
        by_y, by_x = ua.grad(lambda x, y: ua.sum(x * x * y), (1, 0))(x, x)
        assert_same(by_y, [1.0, 4.0])
        assert_same(by_x, [2.0, 8.0])
        with pytest.raises(DtypeError, match="floating-point"):
            ua.grad(lambda x: ua.sum(x))(ua.asarray([1, 2]))
        with pytest.raises(ValueError, match="argnums"):
            ua.grad(lambda x: ua.sum(x), 1)(x)
