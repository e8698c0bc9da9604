"""Loops and branches on ``sim:1``, eager and compiled, with gradients: beside NumPy's, and where their arrays are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import BackendFeatureError

from ..oracle import as_numpy, assert_values
from .test_cases import assert_there, numpys, there

X = np.linspace(0.5, 1.5, 6).reshape(3, 2)


def _accumulated(x: ua.Array) -> Any:
    return ua.scan(lambda total, row: (total + row, total * row), x[0] * 0, x)


def _numbers(x: ua.Array) -> Any:
    return ua.scan(lambda total, row: (total + ua.sum(row), total), 0.5, x)


def _data(x: ua.Array) -> Any:
    return ua.scan(lambda total, row: (total + row, total), np.ones(2), x)


def _reversed(x: ua.Array) -> Any:
    return ua.scan(lambda total, row: (ua.sin(total) + row, total), x[0], x, reverse=True)


def _counted(x: ua.Array) -> Any:
    return ua.fori_loop(0, 3, lambda i, total: total + x[i] * i, x[0] * 0)


def _counted_numbers(x: ua.Array) -> Any:
    return ua.fori_loop(0, 3, lambda i, carry: (carry[0] + 1, carry[1] * 0.5 + i), (0, x))


def _while(x: ua.Array) -> Any:
    return ua.while_loop(lambda carry: ua.sum(carry[1]) < 40, lambda carry: (carry[0] + 1, carry[1] * 1.5), (0, x))


def _written(x: ua.Array) -> Any:
    y = x * 1

    def step(i: ua.Array, total: ua.Array) -> ua.Array:
        y[i] = y[i] * 2 + total
        return ua.sum(y)

    # A number alone would go to the default device, and meet ``y`` there.
    return ua.fori_loop(0, 3, step, x[0, 0]), y


def _contracted(x: ua.Array) -> Any:
    weights = x[:2] + 0

    def step(total: ua.Array, row: ua.Array) -> Any:
        total = ua.einsum("i,ij->j", ua.tanh(total), weights) + ua.nn.linear(row, weights, total)
        return total, total

    return ua.scan(step, x[0], x)


def _mapped(x: ua.Array) -> Any:
    return ua.map(lambda row: ua.exp(row) / ua.sum(row), x)


def _associative(x: ua.Array) -> Any:
    return ua.associative_scan(lambda a, b: a * b, x)


def _branch(x: ua.Array) -> Any:
    return ua.cond(ua.sum(x) > 0, lambda y: y * 2, lambda y: y - 1, x)


def _switch(x: ua.Array) -> Any:
    return ua.switch(ua.astype(x[0, 0] * 2, ua.int64), [lambda y: y, lambda y: y * 3], x)


PROGRAMS = [
    *(_accumulated, _numbers, _data, _reversed, _counted, _counted_numbers, _while, _written),
    *(_mapped, _associative, _branch, _switch, _contracted),
]
programs = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__[1:])
compiled = pytest.mark.parametrize("is_compiled", [False, True], ids=["eager", "compiled"])


def _compare(function: Callable[..., Any], program: Callable[..., Any]) -> None:
    expected, found = flatten(numpys(function, X))[0], flatten(function(there(X)))[0]
    assert_there(found)
    for mine, right in zip(found, expected, strict=True):
        assert mine.dtype == right.dtype
        assert_values(as_numpy(mine), as_numpy(right), rtol=1e-12, what=program.__name__)


@compiled
@programs
def test_results_are_numpys_and_stay_there(backend: str, program: Callable[..., Any], is_compiled: bool) -> None:
    function = ua.compile(program) if is_compiled else program
    _compare(function, program)
    _compare(function, program)


@compiled
@programs
def test_gradients_stay_there(backend: str, program: Callable[..., Any], is_compiled: bool) -> None:
    def total(x: ua.Array) -> ua.Array:
        return sum(ua.sum(each * each) for each in flatten(program(x))[0] if each.dtype == ua.float64)

    gradient = ua.grad(total)
    if backend == "jax" and is_compiled and program is _while:
        with pytest.raises(BackendFeatureError, match="reverse mode"):
            ua.compile(gradient)(there(X))
        return
    _compare(ua.compile(gradient) if is_compiled else gradient, program)


@compiled
@programs
def test_batches_stay_there(backend: str, program: Callable[..., Any], is_compiled: bool) -> None:
    batch = ua.vmap(program)

    def batched(x: ua.Array) -> Any:
        return batch(ua.stack([x, x * 1.25]))

    _compare(ua.compile(batched) if is_compiled else batched, program)
