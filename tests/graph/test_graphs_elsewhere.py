"""Graphs with loops and branches, run where they weren't made: in derivatives and batches, and on other backends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of
from unifyarr.graph import FunctionGraph, Variable, array_type

LOOPS: dict[str, Callable[[Any, Any], Any]] = {
    "scan": lambda x, y: ua.scan(lambda s, row: (ua.sin(s) + row * y, s * row), x[0], x)[1],
    "reversed scan without rows": lambda x, y: ua.scan(
        lambda s, _: (ua.sin(s) * y, s), x, None, length=3, reverse=True
    )[0],
    "fori_loop": lambda x, y: ua.fori_loop(0, 3, lambda i, s: ua.sin(s) * y, x),
    "while_loop": lambda x, y: ua.while_loop(lambda s: ua.sum(s) < 40.0, lambda s: s * 2.0 + y * y, x),
    "cond": lambda x, y: ua.cond(ua.sum(x) > 0, lambda: x * y, lambda: x - y),
    "switch": lambda x, y: ua.switch(
        ua.astype(ua.sum(x) > 0, "int64"), [lambda: x, lambda: ua.sin(x) * y, lambda: y + x]
    ),
    "nested": lambda x, y: ua.fori_loop(0, 2, lambda i, s: ua.cond(ua.sum(s) > 0, lambda: s * y, lambda: s), x),
}
X, Y = np.array([[0.5, 1.0], [2.0, 0.25]]), np.array([1.5, 2.0])


def graph(name: str) -> FunctionGraph:
    x, y = Variable(array_type((2, 2), "float64"), "x"), Variable(array_type(2, "float64"), "y")
    return FunctionGraph([x, y], [LOOPS[name](x, y)])


def arrays() -> list[Any]:
    return [ua.asarray(X.copy()), ua.asarray(Y.copy())]


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(values_of(found), values_of(wanted), rtol=1e-12)


@pytest.mark.parametrize("name", LOOPS)
def test_derivatives_and_batches(backend: str, name: str) -> None:
    fgraph, function = graph(name), LOOPS[name]
    if name != "while_loop":
        wanted = ua.grad(lambda x, y: ua.sum(function(x, y)))(*arrays())
        same(ua.grad(lambda x, y: ua.sum(fgraph(x, y)))(*arrays()), wanted)
        same(ua.compile(ua.grad(lambda x, y: ua.sum(fgraph(x, y))))(*arrays()), wanted)
    x, y = arrays()
    same(ua.jvp(fgraph, (x, y), (x, y))[1], ua.jvp(function, (x, y), (x, y))[1])
    each = ua.vmap(fgraph, in_axes=(0, None))(ua.stack([x, x * 2]), y)
    same(each, ua.stack([function(x, y), function(x * 2, y)]))


@pytest.mark.parametrize("name", LOOPS)
def test_other_backends(backend: str, name: str) -> None:
    with ua.use_backend("numpy"):
        made = graph(name)
        wanted = values_of(made(*arrays()))
    if backend != "numpy":
        same(made(*arrays()), wanted)
        same(ua.compile(made)(*arrays()), wanted)
