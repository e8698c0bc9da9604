"""Arrays that are written part by part, and read in between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.testing import lacks

from ..oracle import as_numpy, assert_same


def elimination(x: Array) -> Array:
    above, right = ua.zeros_like(x), ua.zeros_like(x)
    above[:, 0] = x[:, 0]
    right[:, 0] = x[:, 0] * 2
    for place in range(1, 4):
        above[:, place] = x[:, place] / (3 - above[:, place - 1])
        right[:, place] = x[:, place] - above[:, place] * right[:, place - 1]
    for place in range(2, -1, -1):
        right[:, place] -= above[:, place] * right[:, place + 1]
    return right


def slabs(x: Array) -> Array:
    y = ua.empty_like(x)
    y[2:] = x[:1] * 2
    y[:1] = x[1:2]
    y[1:2] = -x[2:]
    return y


def overwritten(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[0] = x[1]
    for place in (1, 0, 2, 1):
        y[place] = x[place] + y[0]
    return y


def partly(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[0] = x[0]
    y[1:] = x[1:] + 1
    y[:2] = x[1:] * 3
    return y


def gaps(x: Array) -> Array:
    y = x * 2
    y[0] = x[1]
    y[2] = x[0]
    return y


def two_axes(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[:2] = x[1:]
    y[:, :1] = 5.0
    y[2:] = x[:1]
    return y


def strided(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[:, ::2] = x[:, 1::2]
    y[:, 1::2] = x[:, ::2] + y[:, ::2]
    return y


def reversed_(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[1::-1] = x[:2]
    y[2] = y[0]
    return y


def read_between(x: Array) -> Array:
    y = ua.zeros_like(x)
    y[0] = x[0]
    total = ua.sum(y)
    y[1:] = x[1:] * total
    return y + y[0] + y[1:2]


def argument(x: Array) -> Array:
    for place in range(3):
        x[place] = x[place] + x[place - 1]
    return x[1] * 2


PROGRAMS: list[Callable[[Array], Array]] = [
    *(elimination, slabs, overwritten, partly, gaps, two_axes, strided, reversed_, read_between, argument)
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_the_function(backend: str, program: Callable[[Array], Array]) -> None:
    values = np.arange(1.0, 13.0).reshape(3, 4) / 8
    compiled = ua.compile(program)
    mine, theirs = (ua.asarray(values, copy=True) for _ in range(2))
    for _ in range(2):
        assert_same(compiled(mine), as_numpy(program(theirs)), rtol=1e-14)
        assert_same(mine, as_numpy(theirs), rtol=1e-14)


@pytest.mark.parametrize("program", [elimination, overwritten, strided])
@lacks("writes", why="the others write in place")
def test_no_read_is_of_an_array_that_is_written(backend: str, program: Callable[[Array], Array]) -> None:
    nodes = ua.compile(program).graph(ua.ones((3, 4))).toposort()
    reads = [node for node in nodes if node.op.name == "get_window"]
    written = {output for node in nodes if node.op.name == "set_window" for output in node.outputs}
    assert reads
    assert not any(node.inputs[0] in written for node in reads)


def test_an_array_that_is_kept_is_written(backend: str) -> None:
    def both(x: Array) -> tuple[Array, Array]:
        y = ua.zeros_like(x)
        y[0] = x[0]
        before = y.copy()
        y[1:] = x[1:]
        return before, y

    x = ua.asarray(np.arange(1.0, 7.0).reshape(3, 2))
    before, after = ua.compile(both)(x)
    assert_same(before, np.array([[1.0, 2.0], [0.0, 0.0], [0.0, 0.0]]))
    assert_same(after, as_numpy(x))
