"""Graphs as operations of other graphs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of
from unifyarr import Array
from unifyarr.graph import FunctionGraph, OpFromGraph, Variable, array_type


def vector(name: str, length: int | None = 3) -> Variable:
    return Variable(array_type((length,), "float64"), name)


def distance(**options: Any) -> OpFromGraph:
    x, y = vector("x"), vector("y")
    return OpFromGraph(FunctionGraph([x, y], [ua.sqrt(ua.sum((x - y) ** 2))]), name="distance", **options)


def sine(x: Array, y: Array) -> list[Array]:
    return [ua.sin(x) * y, x - y]


def pair(**options: Any) -> OpFromGraph:
    x, y = vector("x"), vector("y")
    return OpFromGraph(FunctionGraph([x, y], sine(x, y)), name="pair", **options)  # type: ignore[arg-type]


X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, -0.25])


def arrays() -> tuple[Array, Array]:
    return ua.asarray(X.copy()), ua.asarray(Y.copy())


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(values_of(found), wanted, rtol=1e-13)


def names(fgraph: FunctionGraph) -> list[str]:
    return [node.op.name for node in fgraph.toposort()]


@pytest.mark.parametrize("inline", [False, True])
def test_it_is_called_on_variables_and_on_arrays(backend: str, inline: bool) -> None:
    op = pair(inline=inline)
    x, y = vector("x"), vector("y")
    first, second = op(x, y)
    fgraph = FunctionGraph([x, y], [ua.sum(first), op(second, x)[0]])
    assert names(fgraph).count("pair") == 2
    wanted = np.sum(np.sin(X) * Y), np.sin(X - Y) * X
    for call in (fgraph, ua.compile(fgraph), ua.compile(fgraph, mode="debug"), ua.compile(fgraph, mode="pure")):
        for found, each in zip(call(*arrays()), wanted, strict=True):
            same(found, each)
    for found, each in zip(op(*arrays()), (np.sin(X) * Y, X - Y), strict=True):
        same(found, each)
    found = ua.compile(lambda x, y: op(x + 0, y)[0] * 2)(*arrays())
    same(found, 2 * np.sin(X) * Y)


def test_inline_graphs_are_fused_with_others_and_others_stay_nodes(backend: str) -> None:
    x, y = vector("x"), vector("y")
    for inline in (False, True):
        fgraph = FunctionGraph([x, y], [distance(inline=inline)(x, y) + distance(inline=inline)(y, x)])
        run = ua.compile(fgraph, exclude="fuse")
        same(run(*arrays()), 2 * np.linalg.norm(X - Y))
        assert ("distance" in names(run.graph(*arrays()))) == (not inline)


def test_equal_ones_are_merged(backend: str) -> None:
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [distance()(x, y) + distance()(x, y)])
    assert names(ua.compile(fgraph, exclude="fuse").graph(*arrays())) == ["distance", "add"]
    assert distance() == distance()
    assert hash(distance()) == hash(distance())
    assert distance() != distance(inline=True)
    assert distance() != pair()


def test_derivatives_are_those_of_the_graph(backend: str) -> None:
    op = distance()
    wanted = (X - Y) / np.linalg.norm(X - Y)
    same(ua.grad(op)(*arrays()), wanted)
    same(ua.compile(ua.grad(op))(*arrays()), wanted)
    same(ua.grad(lambda x, y: op(x * x, y) + op(y, x), argnums=0)(*arrays()), _slope(X, Y))
    # With two results, and by the second input.
    slope = ua.grad(lambda x, y: ua.sum(pair()(x, y)[0] * 2 + pair()(x, y)[1]), argnums=1)
    same(slope(*arrays()), 2 * np.sin(X) - 1)
    same(ua.hessian(op)(*arrays()), (np.eye(3) - np.outer(wanted, wanted)) / np.linalg.norm(X - Y))


def _slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * x * (x * x - y) / np.linalg.norm(x * x - y) + (x - y) / np.linalg.norm(x - y)


def test_a_gradient_of_ones_own_takes_its_place(backend: str) -> None:
    def grad(inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * 10 * inputs[1], None]

    for inline in (False, True):
        op = distance(grad=grad, inline=inline)
        same(ua.grad(op)(*arrays()), 10 * Y)
        same(ua.compile(ua.grad(op))(*arrays()), 10 * Y)
        same(ua.grad(op, argnums=1)(*arrays()), np.zeros(3))


def test_batches(backend: str) -> None:
    x = np.stack([X, 2 * X])
    found = ua.vmap(distance(), in_axes=(0, None))(ua.asarray(x), ua.asarray(Y))
    same(found, np.linalg.norm(x - Y, axis=1))
    slopes = ua.vmap(ua.grad(distance()), in_axes=(0, None))(ua.asarray(x), ua.asarray(Y))
    same(slopes, (x - Y) / np.linalg.norm(x - Y, axis=1)[:, None])


def test_it_is_copied_and_pickled(backend: str) -> None:
    op = distance()
    op(*arrays())
    for other in (copy.copy(op), copy.deepcopy(op), pickle.loads(pickle.dumps(op))):
        assert other == op
        assert hash(other) == hash(op)
        same(other(*arrays()), np.linalg.norm(X - Y))
    x, y = vector("x"), vector("y")
    fgraph = FunctionGraph([x, y], [op(x, y)])
    again = pickle.loads(pickle.dumps(fgraph))
    assert again == fgraph
    same(ua.compile(again)(*arrays()), np.linalg.norm(X - Y))


def test_loops_and_integers_in_it(backend: str) -> None:
    x, n = vector("x"), Variable(array_type((), "int64"), "n")
    op = OpFromGraph(
        FunctionGraph([x, n], [ua.fori_loop(0, 3, lambda i, s: ua.sin(s), x) * ua.astype(n, "float64"), n + 1])
    )
    first, second = op(arrays()[0], ua.asarray(2))
    same(first, 2 * np.sin(np.sin(np.sin(X))))
    assert int(second) == 3


def test_arguments_keep_their_values_and_results_are_independent(backend: str) -> None:
    x = vector("x")
    op = OpFromGraph(FunctionGraph([x], [x, x]))
    given = arrays()[0]
    first, second = ua.compile(lambda x: op(x + 0))(given)
    first += 1.0
    same(second, X)
    same(given, X)


def _raised(x: Array) -> None:
    x += 1.0


@pytest.mark.parametrize(
    ("use", "error", "says"),
    [
        (lambda: OpFromGraph(lambda x: x), TypeError, "takes a FunctionGraph, not function"),  # type: ignore[arg-type]
        (lambda: distance(inline=1), TypeError, "inline is True or False, not 1"),
        (lambda: distance()(ua.ones(3)), TypeError, "2 inputs"),
        (lambda: distance()(ua.ones(3), ua.ones(4)), ua.errors.ShapeError, r"input y of the graph is float64 \(3,\)"),
        (lambda: distance()(vector("x"), vector("y", 4)), ua.errors.ShapeError, r"float64 \(4,\)"),
        (
            lambda: OpFromGraph(ua.graph.trace(_raised, ua.ones(()))),
            TypeError,
            "writes to none of its inputs",
        ),
    ],
)
def test_what_is_refused(backend: str, use: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        use()


LOOPS = {
    "scan": lambda x: ua.scan(lambda c, row: (c * 0.5 + row * x, ua.sum(c)), ua.zeros_like(x), ua.stack([x, x * 2]))[0],
    "fori_loop that writes": lambda x: ua.fori_loop(0, 2, lambda i, c: _written(c, i), x),
    "while_loop": lambda x: ua.while_loop(lambda c: ua.sum(c) < 20, lambda c: c * 2 + x, ua.abs(x)),
    "cond": lambda x: ua.cond(ua.sum(x) > 0, lambda a: ua.sin(a) * x, lambda a: -a, x),
}


def _written(c: Array, i: Array) -> Array:
    c[i] = c[2] * c[i]
    return c


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("fuses", [False, True])
def test_graphs_with_loops_are_called_where_they_were_not_traced(backend: str, name: str, fuses: bool) -> None:
    program, x = LOOPS[name], ua.asarray(X, backend="numpy")
    wanted, slope = program(x), ua.grad(lambda x: ua.sum(program(x)))(x)
    fgraph = ua.compile(program).graph(x) if fuses else ua.graph.trace(program, x)
    x = ua.asarray(X)
    same(fgraph(x), values_of(wanted))
    if fuses and backend in ("jax", "tensorflow"):
        # Their compilers take seconds, and have nothing to do with what was fused.
        return
    same(ua.vmap(fgraph)(ua.stack([x, x]))[1], values_of(wanted))
    same(ua.compile(lambda x: OpFromGraph(fgraph)(x + 0) * 2)(x), 2 * values_of(wanted))
    if name != "while_loop" or backend not in ("jax", "tensorflow"):
        same(ua.grad(lambda x: ua.sum(fgraph(x)))(x), values_of(slope))
        same(ua.compile(ua.grad(lambda x: ua.sum(OpFromGraph(fgraph)(x))))(x), values_of(slope))
