"""Graphs are called on arrays, compiled, differentiated, and used inside other functions."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import BackendFeatureError, CycleError, ShapeError
from unifyarr.graph import Constant, DestroyHandler, FunctionGraph, Op, Variable, array_type, inplace

from ..natives import skip_without_derivatives
from ..oracle import assert_same

# TensorFlow warns that it doesn't compile unknown operations.
pytestmark = pytest.mark.filterwarnings("ignore::unifyarr.errors.CompileWarning")

X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 4.0])


def inputs() -> list[Variable]:
    return [Variable(array_type(3, "float64"), name) for name in "xy"]


def array(values: np.ndarray) -> Array:
    """Return an array in memory of its own."""
    return ua.asarray(values, copy=True)


def add_into(node: Any, values: Sequence[Any]) -> Any:
    first, second = values
    first += second
    return first


ADD_INTO = Op("add!", infer=lambda x, y: x, perform=add_into, destroy_map={0: [0]})
ADD = Op("add", infer=lambda x, y: x, perform=lambda node, values: values[0] + values[1], inplace=[ADD_INTO])
REVERSED = Op(
    "reversed",
    infer=lambda x: x,
    perform=lambda node, values: ua.asarray(values[0])[::-1].copy().native,
    grad=lambda values, results, cotangents: [cotangents[0][::-1]],
)
WINDOW = Op("window", perform=lambda node, values: values[0][1:], view_map={0: [0]})
BOTH = Op("both", nout=2, perform=lambda node, values: (values[0] + values[1], values[0] * values[1]))


def a_pure_graph() -> FunctionGraph:
    x, y = inputs()
    first, second = BOTH(ADD(ua.exp(x), y), y)
    return FunctionGraph([x, y], [REVERSED(first), second])


def a_graph_with_views() -> FunctionGraph:
    x, y = inputs()
    return FunctionGraph([x, y], [x, WINDOW(x), WINDOW(y), WINDOW(ADD(x, y)), y])


def a_graph_that_destroys() -> FunctionGraph:
    x, y = inputs()
    return FunctionGraph([x, y], [ADD_INTO(x, y), ADD(x, x)])


def a_graph_of_what_is_destroyed() -> FunctionGraph:
    x, y = inputs()
    twice = x * 2
    return FunctionGraph([x, y], [twice, WINDOW(twice), ADD_INTO(twice, y), twice])


def a_rewritten_graph() -> FunctionGraph:
    x, y = inputs()
    fgraph = FunctionGraph([x, y], [ADD(ADD(x, y), ADD(x, y) * 2)], [DestroyHandler()])
    assert inplace(fgraph) >= 1
    return fgraph


EXPECTED: list[tuple[Callable[[], FunctionGraph], list[np.ndarray]]] = [
    (a_pure_graph, [(np.exp(X) + 2 * Y)[::-1], (np.exp(X) + Y) * Y]),
    (a_graph_with_views, [X, X[1:], Y[1:], (X + Y)[1:], Y]),
    (a_graph_that_destroys, [X + Y, 2 * X]),
    (a_graph_of_what_is_destroyed, [2 * X, 2 * X[1:], 2 * X + Y, 2 * X]),
    (a_rewritten_graph, [3 * (X + Y)]),
]
WAYS: dict[str, Callable[[FunctionGraph], Callable[..., Any]]] = {
    "eager": lambda fgraph: fgraph,
    "compiled": ua.compile,
    "pure": lambda fgraph: ua.compile(fgraph, mode="pure"),
    "checked": lambda fgraph: ua.compile(fgraph, mode="debug"),
    "inside a compiled function": lambda fgraph: ua.compile(lambda *arrays: fgraph(*arrays)),
    "a copy": lambda fgraph: ua.compile(copy.deepcopy(fgraph)),
}


@pytest.mark.parametrize(("make", "expected"), EXPECTED, ids=lambda each: getattr(each, "__name__", ""))
@pytest.mark.parametrize("way", WAYS)
def test_a_graph_gives_its_values_and_leaves_arguments_alone(
    backend: str, make: Callable[[], FunctionGraph], expected: list[np.ndarray], way: str
) -> None:
    fgraph = make()
    run = WAYS[way](fgraph)
    for _ in range(2):
        x, y = array(X), array(Y)
        found = run(x, y)
        results = found if len(expected) > 1 else (found,)
        for result, values in zip(results, expected, strict=True):
            assert_same(result, values)
        assert_same(x, X)
        assert_same(y, Y)
        # Results have memory of their own.
        for number, result in enumerate(results):
            result[...] = 100.0 + number
        assert_same(x, X)
        assert_same(y, Y)
        assert [float(result[0]) for result in results] == [100.0 + number for number in range(len(results))]


@pytest.mark.parametrize("way", WAYS)
def test_a_graph_of_a_compiled_function_runs_as_any_other(backend: str, way: str) -> None:
    def step(x: Array, y: Array) -> tuple[Array, Array]:
        x[1:] = ua.sin(x[1:]) * 2 + y[1:]
        z = ua.exp(x) + y
        z[::2] *= 3
        return z, ua.cumulative_sum(z) * 2

    x, y = array(X), array(Y)
    expected = step(array(X), array(Y))
    # It overwrites, where the engine can.
    found = WAYS[way](ua.compile(step).graph(x, y))(x, y)
    for result, wanted in zip(found[-2:], expected, strict=True):
        np.testing.assert_allclose(result.to_numpy(), wanted.to_numpy(), rtol=1e-14)
    assert_same(x, X)


def test_an_update_is_written_to_its_argument(backend: str) -> None:
    def step(x: Array, y: Array) -> Array:
        x[1:] += y[1:]
        return x * 2

    fgraph = ua.graph.trace(step, array(X), array(Y))
    expected = np.concatenate([X[:1], (X + Y)[1:]])
    for run in (fgraph, ua.compile(fgraph), ua.compile(lambda x, y: fgraph(x, y))):
        for _ in range(2):
            x = array(X)
            view = x[1:]
            assert_same(run(x, array(Y)), 2 * expected)
            assert_same(x, expected)
            assert_same(view, expected[1:])
    only = ua.graph.trace(lambda x: x.__setitem__(0, 5.0), array(X))
    x = array(X)
    assert only(x) == ()
    assert float(x[0]) == 5.0


def test_a_graph_of_another_backend(backend: str) -> None:
    for built in ("numpy", "torch"):
        if built not in ua.available_backends():
            continue
        with ua.use_backend(built):
            x, y = inputs()
            fgraph = FunctionGraph([x, y], [ua.exp(x)[1:] * ua.asarray([1.0, 2.0]) + ua.sum(y)], [DestroyHandler()])
            inplace(fgraph)
        for run in (fgraph, ua.compile(fgraph)):
            found = run(array(X), array(Y))
            assert found.backend == backend
            assert_same(found, np.exp(X)[1:] * np.array([1.0, 2.0]) + Y.sum())


def test_a_graph_takes_data_and_arrays_of_any_type(backend: str) -> None:
    x, y = (Variable(name=name) for name in "xy")
    fgraph = FunctionGraph([x, y], [BOTH(x, y)[1]])
    assert_same(fgraph(array(X), Y), X * Y)
    assert_same(fgraph(ua.asarray([2]), [3]), np.array([6]))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((X,), TypeError, "the graph has 2 inputs, x, y, but was called on 1"),
        ((X, Y[:2]), ShapeError, r"input y of the graph is float64 \(3,\), but was given float64 \(2,\)"),
        ((X, Y.astype(np.float32)), ShapeError, r"is float64 \(3,\), but was given float32"),
    ],
)
def test_arguments_that_do_not_fit(
    backend: str, arguments: tuple[np.ndarray, ...], error: type[Exception], says: str
) -> None:
    fgraph = a_pure_graph()
    for run in (fgraph, ua.compile(fgraph)):
        with pytest.raises(error, match=says):
            run(*(array(each) for each in arguments))


def test_a_graph_that_can_not_be_ordered(backend: str) -> None:
    x, y = inputs()
    fgraph = FunctionGraph([x, y], [ADD(ADD_INTO(x, y), x)])
    with pytest.raises(CycleError):
        fgraph(array(X), array(Y))


@pytest.mark.parametrize(
    ("perform", "says"),
    [
        (None, "can't be computed: define perform"),
        (lambda node, values: None, "perform of f returned None"),
        (lambda node, values: [1, 2], "perform of f returned list"),
        (lambda node, values: "text", "perform of f returned str"),
    ],
)
def test_results_that_are_none(backend: str, perform: Any, says: str) -> None:
    x, _ = inputs()
    fgraph = FunctionGraph([x], [Op("f", infer=lambda x: x, perform=perform)(x)])
    for run in (fgraph, ua.compile(fgraph)):
        with pytest.raises((TypeError, NotImplementedError), match=says):
            run(array(X))
    two = FunctionGraph([x], Op("g", nout=2, perform=lambda node, values: (values[0],))(x))
    with pytest.raises(TypeError, match="perform of g returned 1 results, but"):
        two(array(X))


def test_scalars_of_numpy_are_arrays(backend: str) -> None:
    """Functions of NumPy's give them for 0-d arrays."""
    x = Variable(array_type((), "float64"), "x")
    op = Op("half", infer=lambda x: x, perform=lambda node, values: values[0] / 2)
    fgraph = FunctionGraph([x], [op(x)])
    run, four = ua.compile(fgraph), ua.asarray(4.0)
    for result in (run(four), run(4.0), run.profile(four).result, fgraph(4.0)):
        assert isinstance(result, Array)
        assert_same(result, np.asarray(2.0))
    assert_same(ua.compile(FunctionGraph([x], [op(x)]), mode="debug")(ua.asarray(4.0)), np.asarray(2.0))


def test_a_compiled_graph_keeps_its_graph(backend: str) -> None:
    x, y = inputs()
    fgraph = FunctionGraph([x, y], [x + y])
    run = ua.compile(fgraph, mutable="x")
    fgraph.replace(fgraph.outputs[0], fgraph.inputs[0])
    assert_same(run(array(X), array(Y)), X + Y)
    assert [str(each) for each in run.graph(array(X), array(Y)).inputs] == ["x", "y"]
    again = pickle.loads(pickle.dumps(ua.compile(FunctionGraph([x, y], [x * y]))))
    assert_same(again(array(X), array(Y)), X * Y)


def test_twins_of_users_operations_are_used(backend: str) -> None:
    x, y = inputs()
    run = ua.compile(FunctionGraph([x, y], [ADD(ADD(x, y), y)]))
    names = [str(node.op) for node in run.graph(array(X), array(Y)).toposort()]
    assert names == (["add", "add!"] if backend in ("numpy", "torch") else ["add", "add"])
    assert_same(run(array(X), array(Y)), X + 2 * Y)


# -- derivatives -------------------------------------------------------------------------------------------------------

CUBE = Op(
    "cube",
    infer=lambda x: x,
    perform=lambda node, values: values[0] * values[0] * values[0],
    # Not the derivative of a cube: the declaration counts.
    grad=lambda values, results, cotangents: [7.0 * values[0] * cotangents[0]],
)
EXP = Op(
    "exp",
    infer=lambda x: x,
    perform=lambda node, values: ua.exp(ua.asarray(values[0])).native,
    grad=lambda values, results, cotangents: [results[0] * cotangents[0]],
)
SQUARE = Op("square", infer=lambda x: x, perform=lambda node, values: values[0] * values[0])


def sum_of(op: Op) -> FunctionGraph:
    x, _ = inputs()
    return FunctionGraph([x], [ua.sum(op(x))])


def test_derivatives_are_the_declared_ones(backend: str) -> None:
    skip_without_derivatives(backend)
    x = array(X)
    cube = sum_of(CUBE)
    ways: list[Callable[..., Any]] = [
        ua.grad(cube),
        ua.compile(ua.grad(cube)),
        ua.grad(ua.compile(cube)),
        lambda x: ua.vjp(cube, x)[1](ua.asarray(1.0))[0],
    ]
    for way in ways:
        assert_same(way(x), 7 * X)
    assert_same(ua.grad(lambda x: ua.sum(ua.grad(cube)(x) * x))(x), 14 * X)


def test_derivatives_of_derivatives_by_results(backend: str) -> None:
    skip_without_derivatives(backend)
    x, fgraph = array(X), sum_of(EXP)
    assert_same(ua.grad(fgraph)(x), np.exp(X))
    assert_same(ua.grad(lambda x: ua.sum(ua.grad(fgraph)(x)))(x), np.exp(X))


def test_graphs_of_our_functions_have_derivatives(backend: str) -> None:
    skip_without_derivatives(backend)
    x, y = inputs()
    fgraph = FunctionGraph([x, y], [ua.sum(ua.exp(x)[1:] * REVERSED(y)[1:])])
    expected = np.concatenate([[0.0], (np.exp(X) * Y[::-1])[1:]])
    assert_same(ua.grad(fgraph)(array(X), array(Y)), expected)
    by_y = np.concatenate([np.exp(X)[1:][::-1], [0.0]])
    assert_same(ua.grad(fgraph, argnums=1)(array(X), array(Y)), by_y)


def test_no_derivative_is_an_error_that_names_the_operation(backend: str) -> None:
    skip_without_derivatives(backend)
    x = array(X)
    square = sum_of(SQUARE)
    assert_same(square(x), (X**2).sum())
    for way in (ua.grad(square), ua.compile(ua.grad(square)), ua.grad(ua.compile(square))):
        with pytest.raises(BackendFeatureError, match="square has no derivative, and one is taken through it: declare"):
            way(x)
    assert_same(ua.grad(lambda x: ua.stop_gradient(square(x)) + ua.sum(x))(x), np.ones(3))


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (lambda x: x, "grad of f returns a list of 1, one for each input, not"),
        (lambda x: [x, x], "grad of f returns a list of 1, one for each input, not 2"),
        (lambda x: [x[1:]], r"grad of f returned shape \(2,\) for an input of shape \(3,\)"),
    ],
)
def test_gradients_that_can_not_be_right(backend: str, found: Callable[[Any], Any], says: str) -> None:
    skip_without_derivatives(backend)
    op = Op("f", infer=lambda x: x, perform=lambda node, v: v[0] + 0, grad=lambda v, results, c: found(c[0]))
    with pytest.raises(TypeError, match=says):
        ua.grad(sum_of(op))(array(X))


def test_zero_derivatives_and_integers(backend: str) -> None:
    skip_without_derivatives(backend)
    x, y = inputs()
    count = Variable(array_type(3, "int64"), "count")
    op = Op(
        "weighted",
        nout=2,
        infer=lambda x, y, n: [x, n],
        perform=lambda node, v: (v[0] * v[1], v[2] + v[2]),
        grad=lambda v, results, c: [c[0] * v[1], None, None],
    )
    product, twice = op(x, y, count)
    fgraph = FunctionGraph([x, y, count], [ua.sum(product) + ua.sum(ua.astype(twice, ua.float64))])
    given = [array(X), array(Y), ua.asarray([1, 2, 3])]
    assert_same(ua.grad(fgraph)(*given), Y)
    assert_same(ua.grad(fgraph, argnums=1)(*given), np.zeros(3))


def test_gradients_of_operations_that_overwrite(backend: str) -> None:
    skip_without_derivatives(backend)
    x, y = inputs()
    op = Op(
        "add!",
        infer=lambda x, y: x,
        perform=add_into,
        destroy_map={0: [0]},
        grad=lambda v, results, c: [2 * c[0], 3 * c[0]],
    )
    fgraph = FunctionGraph([x, y], [ua.sum(op(x, y))])
    given = array(X), array(Y)
    for way in (ua.grad(fgraph, argnums=(0, 1)), ua.compile(ua.grad(fgraph, argnums=(0, 1)))):
        first, second = way(*given)
        assert_same(first, np.full(3, 2.0))
        assert_same(second, np.full(3, 3.0))
        assert_same(given[0], X)


def test_batches(backend: str) -> None:
    skip_without_derivatives(backend)
    if backend == "tensorflow":
        pytest.skip("TensorFlow has no batches of functions that it doesn't look into")
    x, y = inputs()
    fgraph = FunctionGraph([x, y], [CUBE(x) * 2, ua.sum(REVERSED(y))])
    first, second = ua.vmap(fgraph)(array(np.stack([X, Y])), array(np.stack([Y, X])))
    assert_same(first, 2 * np.stack([X, Y]) ** 3)
    assert_same(second, np.array([Y.sum(), X.sum()]))


def test_gradients_that_torch_records() -> None:
    torch = pytest.importorskip("torch")
    if "torch" not in ua.available_backends():
        pytest.skip("torch isn't under test")
    with ua.use_backend("torch"):
        native = torch.tensor(X, requires_grad=True)
        sum_of(CUBE)(ua.asarray(native)).native.backward()
        assert_same(ua.asarray(native.grad), 7 * X)


def test_complex_cotangents(backend: str) -> None:
    skip_without_derivatives(backend)
    z = Variable(array_type(2, "complex128"), "z")
    values = np.array([1 + 2j, 3 - 1j])
    ours = Op(
        "times",
        infer=lambda z: z,
        perform=lambda node, v: v[0] * (2 + 1j),
        grad=lambda v, results, c: [c[0] * (2 + 1j)],
    )
    found = [
        ua.grad(FunctionGraph([z], [ua.sum(ua.real(f(z) * f(z)))]))(array(values))
        for f in (ours, lambda z: z * (2 + 1j))
    ]
    assert_same(found[0], found[1].to_numpy())


def test_constants_have_no_derivative(backend: str) -> None:
    skip_without_derivatives(backend)
    x, _ = inputs()
    fgraph = FunctionGraph([x], [ua.sum(ADD(*(Constant(each, x.type) for each in (X, Y))) + x)])
    assert_same(ua.grad(fgraph)(array(X)), np.ones(3))
