"""``compile(fgraph, givens=...)``: variables of a graph are replaced."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of
from unifyarr import Array
from unifyarr.graph import FunctionGraph, Variable, array_type


def vector(name: str, length: int | None = 2, dtype: str = "float64") -> Variable:
    return Variable(array_type(length if length is None else (length,), dtype), name)


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(values_of(found), wanted, rtol=1e-14)


X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0])


def arrays() -> tuple[Array, Array]:
    return ua.asarray(X.copy()), ua.asarray(Y.copy())


def test_an_input_is_replaced_by_an_expression(backend: str) -> None:
    x, y, z = vector("x"), vector("y"), vector("z")
    fgraph = FunctionGraph([x, y], [x - y])
    # The variable that the graph was made of, and the graph's own.
    for old in (x, fgraph.inputs[0]):
        f = ua.compile(fgraph, givens={old: ua.exp(z)})
        same(f(*arrays()[::-1]), np.exp(X) - Y)
    assert str(f.graph(*arrays()).inputs) == "[y, z]"
    # The graph stays as it was.
    same(ua.compile(fgraph)(*arrays()), X - Y)


def test_an_input_is_replaced_by_a_value(backend: str) -> None:
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [x * y])
    for value in (ua.asarray(Y), Y, [3.0, 5.0]):
        same(ua.compile(fgraph, givens={y: value})(ua.asarray(X)), X * Y)
    held = ua.asarray(np.array([3.0, 5.0]))
    f = ua.compile(fgraph, givens={y: held})
    held += 1.0
    # A replacement is the value that the array had.
    same(f(ua.asarray(X)), X * Y)


def test_what_is_computed_is_replaced(backend: str) -> None:
    x, y = vector("x"), vector("y")
    inner = ua.sin(x)
    fgraph = FunctionGraph([x, y], [inner * y + inner])
    f = ua.compile(fgraph, givens=[(inner, x * 2)])
    same(f(*arrays()), 2 * X * Y + 2 * X)
    # The replacement may depend on the replaced variable.
    same(ua.compile(fgraph, givens={inner: inner * inner})(*arrays()), np.sin(X) ** 2 * (Y + 1))


def test_all_are_replaced_at_once(backend: str) -> None:
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [x - y, x])
    f = ua.compile(fgraph, givens={x: y, y: x})
    found = f(*arrays())
    same(found[0], Y - X)
    same(found[1], Y)
    same(ua.compile(fgraph, givens={x: x + 1})(*arrays())[0], X + 1 - Y)


def test_loops_read_what_is_replaced(backend: str) -> None:
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [ua.fori_loop(0, 3, lambda i, s: s * y, x)])
    same(ua.compile(fgraph, givens={y: ua.cos(y)})(*arrays()), X * np.cos(Y) ** 3)


def test_lengths_may_be_unknown(backend: str) -> None:
    rows, z = Variable(array_type((None, 2), "float64"), "rows"), Variable(array_type((None, 2), "float64"), "z")
    fgraph = FunctionGraph([rows], [ua.sum(rows, axis=0)])
    f = ua.compile(fgraph, givens={rows: ua.square(z)})
    for length in (2, 3):
        same(f(ua.ones((length, 2)) * 2), np.full(2, 4.0 * length))
    same(ua.compile(fgraph, givens={rows: ua.ones((3, 2))})(), np.full(2, 3.0))


def test_what_a_graph_writes_to_stays_written(backend: str) -> None:
    def step(x: Array, y: Array) -> None:
        x -= y

    fgraph = ua.graph.trace(step, *arrays())
    x = arrays()[0]
    ua.compile(fgraph, givens={fgraph.inputs[1]: [1.0, 1.0]})(x)
    same(x, X - 1)
    with pytest.raises(TypeError, match="which the graph writes to"):
        ua.compile(fgraph, givens={fgraph.inputs[0]: [1.0, 1.0]})


def test_in_a_graph_in_gradients_and_in_pickles(backend: str) -> None:
    x, y, z = vector("x"), vector("y"), vector("z")
    f = ua.compile(FunctionGraph([x, y], [ua.sum(x * y)]), givens={x: ua.exp(z)})
    same(FunctionGraph([y, z], [f(y, z) * 2])(*arrays()), 2 * np.sum(X * np.exp(Y)))
    same(ua.grad(f, argnums=1)(*arrays()), X * np.exp(Y))
    same(pickle.loads(pickle.dumps(f))(*arrays()), np.sum(X * np.exp(Y)))
    copied = FunctionGraph([x, y], [x - y]).copy()
    same(ua.compile(copied, givens={x: z})(*arrays()), Y - X)


def test_rewrites_and_modes(backend: str) -> None:
    x, z = vector("x"), vector("z")
    fgraph = FunctionGraph([x], [ua.log(x)])
    f = ua.compile(fgraph, givens={x: 1 + ua.exp(z)}, include="stabilize", mode="debug")
    same(f(ua.asarray([800.0, 0.0])), [800.0, np.log(2.0)])


def test_without_any_nothing_changes(backend: str) -> None:
    x = vector("x")
    for givens in ((), {}, []):
        same(ua.compile(FunctionGraph([x], [x + x]), givens=givens)(arrays()[0]), 2 * X)


@pytest.mark.parametrize(
    ("givens", "error", "says"),
    [
        (lambda x: {"x": x}, TypeError, "givens replace variables of the graph, not str"),
        (lambda x: {vector("other"): x}, ValueError, "givens replace other, which isn't in the graph"),
        (lambda x: {x: [1.0, 2.0, 3.0]}, ua.errors.ShapeError, r"x, which is float64 \(2,\), by float64 \(3,\)"),
        (lambda x: {x: vector("z", dtype="float32")}, ua.errors.ShapeError, r"by float32 \(2,\)"),
        (lambda x: {x: ua.ones(2, dtype="int64")}, ua.errors.ShapeError, r"by int64 \(2,\)"),
    ],
)
def test_what_is_refused(backend: str, givens: Any, error: type[Exception], says: str) -> None:
    x = vector("x")
    with pytest.raises(error, match="compile.*" + says):
        ua.compile(FunctionGraph([x], [x + 1.0]), givens=givens(x))


def test_functions_have_none(backend: str) -> None:
    with pytest.raises(TypeError, match="givens replace variables of a FunctionGraph"):
        ua.compile(lambda x: x, givens={vector("x"): 1.0})
