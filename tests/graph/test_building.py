"""Functions, operators and indexing of variables make nodes; graphs compare, hash, print and pickle."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import ShapeError, TraceError
from unifyarr.graph import Constant, DestroyHandler, FunctionGraph, Op, Supervisor, Variable, array_type, inplace

from ..oracle import assert_same
from .ops import A, S, Vector, evaluate, vectors


def inputs(names: str = "x y", length: int = 3, dtype: str = "float64") -> list[Variable]:
    return [Variable(array_type(length, dtype), name) for name in names.split()]


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "operators": lambda x, y: (-x + y * 2 - 1 / (abs(y) + 2)) ** 2 // 3 % 2,
    "reflected": lambda x, y: 2 - (3 * x) + (1 + y) + (7 // (abs(x) + 1)) + (9 % (abs(y) + 1)),
    "comparisons": lambda x, y: ua.where((x > 0) & (y <= x) | ~(y < 1), x, 0),
    "functions": lambda x, y: ua.exp(ua.sin(x)) + ua.maximum(x, y),
    "reductions": lambda x, y: ua.sum(x * y) + ua.mean(x, axis=0, keepdims=True),
    "indexing": lambda x, y: x[::-1][1:] * y[0] + x[[0, 2]],
    "an index that is computed": lambda x, y: x[ua.argsort(y)],
    "new axes": lambda x, y: x[:, None] * y[None, :],
    "sequences": lambda x, y: ua.stack([x, y, x + y], axis=1),
    "products": lambda x, y: ua.matmul(x[None], y[:, None])[0, 0] + x @ y,
    "several results": lambda x, y: ua.linalg.qr(ua.stack([x, y], axis=1)).R[0, 1] ** 2,
    "numbers and data": lambda x, y: np.arange(3.0) * x + ua.asarray([1.0, 2.0, 4.0]) - [1.0, 0.0, 1.0],
    "compositions": lambda x, y: ua.nn.softmax(x) * ua.var(y),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_of_variables(backend: str, name: str) -> None:
    program = PROGRAMS[name]
    x, y = inputs()
    result = program(x, y)
    assert isinstance(result, Variable)
    given = [ua.asarray([0.5, -2.0, 3.0]), ua.asarray([1.5, 0.25, -1.0])]
    found = FunctionGraph([x, y], [result])(*given)
    expected = program(*given)
    assert (tuple(result.type.shape), result.type.dtype) == (expected.shape, expected.dtype)  # type: ignore[union-attr]
    assert_same(found, expected.to_numpy())


@ua.op
def scaled(x: ua.Array, /, factor: float = 2.0) -> ua.Array:
    """Return a multiple."""
    return x * factor


def test_operations_of_users_and_bound_functions(backend: str) -> None:
    (x,) = inputs("x")
    fgraph = FunctionGraph([x], [scaled(x, factor=3.0)])
    assert fgraph.toposort()
    assert_same(fgraph(ua.asarray([1.0, 2.0, 3.0])), np.array([3.0, 6.0, 9.0]))


def test_results_keep_their_structure(backend: str) -> None:
    (x,) = inputs("x")
    found = ua.linalg.qr(x[:, None])
    assert type(found).__name__ == "QRResult"
    assert isinstance(found.Q, Variable)
    assert found.Q.owner is found.R.owner


def test_an_array_beside_a_variable_is_a_constant(backend: str) -> None:
    (x,) = inputs("x")
    weights = ua.asarray([1.0, 2.0, 3.0])
    y = x * weights
    weights[...] = 0
    assert any(isinstance(each, Constant) for each in y.owner.inputs)  # type: ignore[union-attr]
    assert_same(FunctionGraph([x], [y])(ua.ones(3)), np.array([1.0, 2.0, 3.0]))


def test_constants_of_the_user(backend: str) -> None:
    (x,) = inputs("x")
    for value in (2.0, np.asarray(2.0), ua.asarray(2.0).native):
        assert_same(FunctionGraph([x], [x * Constant(value)])(ua.ones(3)), np.full(3, 2.0))
        double = Op("double", perform=lambda node, values: values[0] * values[1])
        assert_same(FunctionGraph([x], [double(x, Constant(value))])(ua.ones(3)), np.full(3, 2.0))


def test_variables_compare_themselves() -> None:
    x, y = inputs()
    assert x == x
    assert x != y
    assert len({x, y, x}) == 2
    assert np.ones(3).__add__(x) is NotImplemented


@pytest.mark.parametrize(
    ("use", "error", "says"),
    [
        (lambda x, y: bool(x > 0), TypeError, "neither true nor false: choose with ua.where"),
        (lambda x, y: ua.compile(lambda z: z + x)(ua.ones(3)), TraceError, "make the variable an argument"),
        (lambda x, y: list(x), TypeError, "not iterable"),
        (lambda x, y: ua.add(x, y, out=ua.ones(3)), TypeError, "add..: out is for arrays"),
        (lambda x, y: Variable(name="u") + 1, TypeError, "u has the type None: make it with Variable.array_type"),
        (lambda x, y: vectors("v")[0] + 1, TypeError, "v has the type Vector"),
        (lambda x, y: Op("f")(x) + 1, TypeError, "declare infer of the operation"),
        (lambda x, y: x[3], IndexError, "out of bounds"),
        (lambda x, y: x + ua.ones(2), ValueError, "shape"),
        (lambda x, y: array_type("ab", "float64"), TypeError, "has lengths"),
        (lambda x, y: array_type(-1, "float64"), ValueError, "aren't negative"),
        (lambda x, y: array_type(3, "text"), TypeError, "text"),
    ],
)
def test_what_variables_refuse(use: Callable[[Any, Any], Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        use(*inputs())


def build(name: str = "x", factor: float = 2.0) -> FunctionGraph:
    x, y = inputs(f"{name} y")
    return FunctionGraph([x, y], [ua.exp(x + y * factor)[::-1], ua.sum(x * y)])


def test_graphs_are_equal_by_their_structure(backend: str) -> None:
    fgraph = build()
    assert fgraph == build("other_name") == fgraph.copy() == copy.deepcopy(fgraph)
    assert hash(fgraph) == hash(build())
    assert len({fgraph, build(), build(factor=3.0)}) == 2
    x, y = inputs()
    others = [
        build(factor=3.0),
        FunctionGraph(fgraph.inputs, fgraph.outputs[::-1]),
        FunctionGraph(fgraph.inputs[::-1], fgraph.outputs),
        FunctionGraph([x, y], [x + y]),
        FunctionGraph([x, y], [y + x]),
        FunctionGraph([x], [x]),
        FunctionGraph(inputs("x", 4), []),
    ]
    for number, other in enumerate(others):
        assert other != fgraph
        assert all(other != each for each in others[:number])
    assert fgraph != 3
    fgraph.update_mapping = {0: 0}
    assert fgraph != build()


def test_graphs_in_place_differ_from_pure_ones() -> None:
    with ua.use_backend("numpy"):
        x, y = inputs()
        fgraph = FunctionGraph([x, y], [ua.exp(x + y)], [DestroyHandler()])
        pure = fgraph.copy()
        assert inplace(fgraph) == 1
        assert fgraph != pure
        assert "d={0: [0]}" in str(fgraph)
        assert fgraph.dot() != pure.dot()
        assert fgraph.svg().startswith("<svg")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_graphs_are_pickled(backend: str, protocol: int) -> None:
    fgraph = build()
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor(fgraph.inputs[:1]))
    inplace(fgraph)
    found = pickle.loads(pickle.dumps(fgraph, protocol))
    assert found == fgraph
    assert [type(each) for each in found.features] == [DestroyHandler, Supervisor]
    assert found.features[1].protected == found.inputs[:1]
    assert [str(each) for each in found.inputs] == ["x", "y"]
    given = ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0.0, 1.0, 0.5])
    for one, other in zip(found(*given), fgraph(*given), strict=True):
        assert_same(one, other.to_numpy())


def test_deep_graphs_are_compared_and_pickled(backend: str) -> None:
    (x,) = inputs("x")
    y = x
    step = Op("step")
    for _ in range(3000):
        y = step(y)
    fgraph = FunctionGraph([x], [y])
    found = pickle.loads(pickle.dumps(fgraph))
    assert found == fgraph
    assert hash(found) == hash(fgraph)


def test_types_of_others_stay_as_they_are() -> None:
    (x,) = vectors("x")
    found = pickle.loads(pickle.dumps(FunctionGraph([x], [Op("f")(x)])))
    assert found.inputs[0].type == Vector(4)


# -- graphs of graphs --------------------------------------------------------------------------------------------------


def into(node: object, values: list[Any]) -> Any:
    target, other = values
    target += other
    return target


INTO = Op("add!", infer=lambda x, y: x, perform=into, destroy_map={0: [0]})
INLINED: dict[str, Callable[[Any, Any], Any]] = {
    "functions": lambda x, y: (ua.sin(x) * y, x),
    "views": lambda x, y: (x[1:], ua.sum(x[1:] * y[1:])),
    "a loop": lambda x, y: ua.scan(lambda s, row: (s + row, s * row), y[0], x),
    "what overwrites": lambda x, y: (INTO(x, y), x),
    "what overwrites a result": lambda x, y: (twice := x * 2, INTO(twice, y)),
    "constants": lambda x, y: x * ua.asarray([1.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("name", INLINED)
def test_graphs_are_called_on_variables(backend: str, name: str) -> None:
    x, y = (Variable(array_type(3, "float64"), each) for each in "xy")
    found = INLINED[name](x, y)
    inner = FunctionGraph([x, y], found if isinstance(found, tuple) else [found])
    given = [ua.asarray([1.0, 2.0, 3.0]), ua.asarray([0.5, -1.0, 4.0])]
    run: Any = ua.compile(inner)
    for call in (inner, run):
        a, b = (Variable(array_type(3, "float64"), each) for each in "ab")
        results = call(ua.exp(a), b)
        results = results if isinstance(results, tuple) else (results,)
        assert all(isinstance(each, Variable) for each in results)
        # Called twice on the same variable, and its value is read later.
        outer = FunctionGraph([a, b], [*(each * 2 for each in results), *results, ua.sum(b), ua.exp(a)])
        inlined = inner(ua.exp(given[0]), given[1])
        expected = [each.to_numpy() for each in (inlined if isinstance(inlined, tuple) else (inlined,))]
        expected = [*(2 * each for each in expected), *expected, np.asarray(3.5), np.exp([1.0, 2.0, 3.0])]
        for way in (outer, ua.compile(outer), ua.compile(outer, mode="debug")):
            for result, wanted in zip(way(*given), expected, strict=True):
                assert_same(result, wanted)
    assert not len(run._programs)
    # Arrays and data beside a variable are constants.
    a = Variable(array_type(3, "float64"), "a")
    mixed = inner(a, given[1])
    fgraph = FunctionGraph([a], mixed if isinstance(mixed, tuple) else [mixed])
    given[1][...] = 100.0
    wanted = inner(given[0], ua.asarray([0.5, -1.0, 4.0]))
    for result, each in zip(_results(fgraph(given[0])), _results(wanted), strict=True):
        assert_same(result, each.to_numpy())


def _results(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


def test_graphs_of_any_operations_are_called_on_variables() -> None:
    x, y, z = vectors("x y z")
    inner = FunctionGraph([x], [A(S(x), x)])
    outer = FunctionGraph([y, z], [A(inner(y), z), inner(z)])
    values = [np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8])]
    first = FunctionGraph([y, z], [A(A(S(y), y), z), A(S(z), z)])
    for result, wanted in zip(outer(*values), evaluate(first, values, pure=True), strict=True):
        assert_same(result, wanted)
    # A variable of unknown type is accepted, and the graph decides the result.
    assert inner(Variable()).type == Vector(4)


def test_a_graph_is_called_on_variables_in_a_step(backend: str) -> None:
    x, rate = Variable(array_type(3, "float64"), "x"), Variable(array_type((), "float64"), "rate")
    inner = FunctionGraph([x, rate], [x * rate + 1])
    for call in (inner, ua.compile(inner)):
        outer = FunctionGraph([x, rate], [ua.fori_loop(0, 2, lambda i, s, call=call: call(s, rate), x)])
        assert_same(outer(ua.asarray([1.0, 2.0, 3.0]), ua.asarray(2.0)), np.array([7.0, 11.0, 15.0]))


@pytest.mark.parametrize(
    ("use", "error", "says"),
    [
        (lambda graph, x: graph(x), TypeError, "the graph has 2 inputs, x, y, but was called on 1"),
        (
            lambda graph, x: graph(x, x[1:]),
            ShapeError,
            r"input y of the graph is float64 \(3,\), but was given float64 \(2,",
        ),
        (lambda graph, x: graph(x, [1.0, 2.0]), ShapeError, r"input y of the graph is float64 \(3,\), but was given"),
        (lambda graph, x: graph(ua.astype(x, ua.float32), x), ShapeError, "input x of the graph is float64"),
        (
            lambda graph, x: ua.compile(lambda y: graph(x, y))(ua.ones(3)),
            TraceError,
            "a variable of a graph meets an array of a function that is traced",
        ),
        (
            lambda graph, x: ua.graph.trace(lambda v: v.__setitem__(0, 1.0), ua.ones(3))(x),
            TypeError,
            "the graph writes to its input v, but a variable is a value, which nothing writes to",
        ),
    ],
)
def test_what_a_graph_refuses_of_variables(use: Callable[..., Any], error: type[Exception], says: str) -> None:
    x, y = (Variable(array_type(3, "float64"), name) for name in "xy")
    with ua.use_backend("numpy"), pytest.raises(error, match=says):
        use(FunctionGraph([x, y], [x + y]), x)
