"""``scatter`` that combines, in compiled functions: in the memory of the array that it changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless

MODES = ("set", "add", "multiply", "max", "min")
FIRST, SECOND = np.array([0, 1, 1]), np.array([2, 2, 3])
X = np.cos(np.arange(12.0)).reshape(4, 3)
V = np.sin(np.arange(9.0)).reshape(3, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", "CF")
def test_it_writes_to_arguments_and_to_what_was_computed(backend: str, mode: Any, order: Any) -> None:
    def function(x: ua.Array, i: ua.Array, v: ua.Array) -> ua.Array:
        y = ua.scatter(x * 2.0, i[:, None], v, mode=mode)
        x[...] = ua.scatter(x, i[:, None], v, mode=mode)
        return y + 1.0

    def run(way: Any) -> list[np.ndarray]:
        x = ua.asarray(np.array(X, order=order), copy=True)
        y = way(function)(x, ua.asarray(FIRST), ua.asarray(V))
        return [np.asarray(x), np.asarray(y)]

    for found, expected in zip(run(ua.compile), run(lambda f: f), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_gradients_of_rows_are_added_up_in_one_array(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="arrays are written in place")

    def function(x: ua.Array, i: ua.Array, j: ua.Array) -> ua.Array:
        return ua.sum(ua.sin(ua.take(x, i, axis=0))) + ua.sum(ua.cos(ua.take(x, j, axis=0))) + ua.sum(x * x)

    given = [ua.asarray(each) for each in (X, FIRST, SECOND)]
    compiled = ua.compile(ua.grad(function))
    np.testing.assert_allclose(np.asarray(compiled(*given)), np.asarray(ua.grad(function)(*given)), rtol=1e-14)
    written = [node.op.destroy_map for node in compiled.graph(*given).toposort() if node.op.name == "scatter_reduce"]
    assert written == [{0: (0,)}, {0: (0,)}]


def test_an_index_out_of_bounds_leaves_the_argument_as_it_was(backend: str) -> None:
    skip_unless(backend, "numpy", "torch", why="others raise no errors about values")
    x = ua.asarray(X, copy=True)

    def function(x: ua.Array, i: ua.Array) -> None:
        x[...] = ua.scatter(x, i[:, None], V, mode="add")

    with pytest.raises(IndexError):
        ua.compile(function)(x, ua.asarray([0, 1, 9]))
    np.testing.assert_array_equal(np.asarray(x), X)
