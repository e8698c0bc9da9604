"""Operations whose ``perform`` takes NumPy's arrays run on every backend, and where an engine compiles them."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import CompileWarning, InvalidValueError
from unifyarr.graph import FunctionGraph, Op, Variable, array_type

from ..natives import skip_without_derivatives
from ..oracle import as_numpy, assert_same

X = np.array([0.5, -2.0, 3.0])
# Engines that compile the graph as a whole: there an error on the host is one of the engine's.
WHOLE = ("jax", "tensorflow")


class Backwards(Op):
    """The sines, the last one first: not elementwise."""

    natives = "numpy"

    def infer(self, x: Any) -> Any:
        return x

    def perform(self, node: Any, inputs: Any, out: Any = None) -> Any:
        (x,) = inputs
        assert type(x) is np.ndarray
        return np.sin(x[::-1])

    def grad(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [ua.flip(cotangents[0]) * ua.cos(inputs[0])]


def graph(op: Op, *values: np.ndarray) -> FunctionGraph:
    """Return the graph of one call, for arrays of the types of some."""
    inputs = [Variable(array_type(x.shape, str(x.dtype)), f"x{k}") for k, x in enumerate(values)]
    found = op(*inputs)
    return FunctionGraph(inputs, list(found) if isinstance(found, list) else [found])


def given(*values: np.ndarray) -> list[Array]:
    return [ua.asarray(x) for x in values]


@pytest.fixture(autouse=True)
def _by_steps() -> Any:
    with warnings.catch_warnings():
        # TensorFlow runs such a graph without XLA, and says so.
        warnings.simplefilter("ignore", CompileWarning)
        yield


def results(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)


def spread(x: Any, y: Any) -> Any:
    return [array_type((), "float64"), array_type((*x.shape, 2), "int64"), array_type(x.shape, "bool")]


OPERATIONS: dict[str, tuple[Callable[[], Op], tuple[np.ndarray, ...]]] = {
    "one result": (Backwards, (X,)),
    "three results": (
        lambda: Op(
            "spread",
            nout=3,
            natives="numpy",
            infer=spread,
            perform=lambda node, v: (v[0].sum() + v[1].sum(), np.stack([v[0], v[0]], -1).astype("int64"), v[0] > 0),
        ),
        (X, np.arange(4.0)),
    ),
    "a scalar of NumPy's": (
        lambda: Op("norm", natives="numpy", infer=lambda x: array_type((), "float64"), perform=lambda n, v: v[0].max()),
        (X,),
    ),
    "a view": (
        lambda: Op("flip", natives="numpy", view_map={0: [0]}, infer=lambda x: x, perform=lambda n, v: v[0][::-1]),
        (X,),
    ),
    "the argument": (
        lambda: Op("same", natives="numpy", view_map={0: [0]}, infer=lambda x: x, perform=lambda n, v: v[0]),
        (X,),
    ),
    "float32": (Backwards, (X.astype("float32"),)),
    "complex128": (Backwards, (X * 1j,)),
    "nothing": (Backwards, (np.zeros(0),)),
    "NaN and infinities": (
        lambda: Op("less", natives="numpy", infer=lambda x: x, perform=lambda n, v: -v[0]),
        (np.array([np.nan, np.inf, -0.0]),),
    ),
    "int8": (
        lambda: Op("twice", natives="numpy", infer=lambda x: x, perform=lambda n, v: v[0] * np.int8(2)),
        (np.array([[100, -3]], np.int8),),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_graph_gives_the_values_of_numpy(backend: str, name: str) -> None:
    make, values = OPERATIONS[name]
    op = make()
    node = op.make_node(*[Variable(array_type(x.shape, str(x.dtype))) for x in values])
    expected = results(op.perform(node, values))
    fgraph = graph(op, *values)
    ways = {
        "called": fgraph,
        "compiled": compile(fgraph),
        "debug": compile(fgraph, mode="debug"),
        "inside": compile(lambda *x: fgraph(*x)),
        "pickled": compile(pickle.loads(pickle.dumps(fgraph))) if make is Backwards else fgraph,
    }
    for way, run in ways.items():
        arrays = given(*values)
        for _ in range(2):
            found = results(run(*arrays))
            for one, wanted in zip(found, expected, strict=True):
                assert one.device == arrays[0].device, way
                assert_same(one, np.asarray(wanted))
        for x, value in zip(arrays, values, strict=True):
            assert_same(x, value)


def test_in_a_longer_graph(backend: str) -> None:
    fgraph = graph(Backwards(), X)
    run = compile(lambda x: ua.sum(fgraph(x * 2) + fgraph(x) * x))
    assert_same(run(*given(X)), np.asarray((np.sin(2 * X[::-1]) + np.sin(X[::-1]) * X).sum()))


def test_without_infer(backend: str) -> None:
    op = Op("sine", natives="numpy", perform=lambda node, values: np.sin(values[0]))
    x = Variable(array_type(3, "float64"))
    fgraph = FunctionGraph([x], [op(x)])
    for run in (fgraph, compile(lambda x: fgraph(x) + 0)):
        assert_same(run(*given(X)), np.sin(X))
    # The second call's type is that of the first call's result for the example.
    assert_same(compile(lambda x: fgraph(fgraph(x)) + 0)(*given(X)), np.sin(np.sin(X)))


def test_in_loops_and_branches(backend: str) -> None:
    fgraph = graph(Backwards(), X)

    def looped(x: Array) -> Array:
        return ua.fori_loop(0, 3, lambda k, x: fgraph(x) + k, x)

    def scanned(x: Array) -> Any:
        return ua.scan(lambda x, y: (fgraph(x) * y, ua.sum(x)), x, x)

    def chosen(x: Array) -> Array:
        return ua.cond(ua.sum(x) > 0, fgraph, lambda x: x, x)

    for program in (looped, scanned, chosen):
        expected, found = results(program(*given(X))), results(compile(program)(*given(X)))
        for one, other in zip(found, expected, strict=True):
            assert_same(one, as_numpy(other))


def test_derivatives(backend: str) -> None:
    skip_without_derivatives(backend)
    fgraph = graph(Backwards(), X)

    def loss(x: Array) -> Array:
        return ua.sum(fgraph(x) * ua.asarray([1.0, 2.0, 3.0]))

    expected = np.cos(X) * [3.0, 2.0, 1.0]
    for run in (ua.grad(loss), compile(ua.grad(loss)), ua.grad(compile(loss)), compile(ua.grad(compile(loss)))):
        assert_same(run(*given(X)), expected)
    second = ua.grad(lambda x: ua.sum(ua.grad(loss)(x)))
    assert_same(compile(second)(*given(X)), -np.sin(X) * [3.0, 2.0, 1.0])


def test_batches(backend: str) -> None:
    skip_without_derivatives(backend)
    fgraph = graph(Backwards(), X)
    rows = np.stack([X, 2 * X])
    for run in (ua.vmap(fgraph), compile(ua.vmap(fgraph)), ua.vmap(compile(fgraph))):
        assert_same(run(*given(rows)), np.sin(rows[:, ::-1]))
    slopes = ua.vmap(ua.grad(lambda x: ua.sum(fgraph(x))))
    for run in (slopes, compile(slopes)):
        assert_same(run(*given(rows)), np.cos(rows))


@pytest.mark.parametrize(
    ("perform", "says"),
    [
        (lambda node, values: values[0][1:], r"perform of f returned shape \(2,\) and dtype float64, but infer says"),
        (lambda node, values: values[0] > 0, r"perform of f returned shape \(3,\) and dtype bool, but infer says"),
        (lambda node, values: None, "perform of f returned None"),
        (lambda node, values: [1.0], "perform of f returned list"),
    ],
)
def test_results_that_contradict_infer(backend: str, perform: Any, says: str) -> None:
    fgraph = graph(Op("f", natives="numpy", infer=lambda x: x, perform=perform), X)
    with pytest.raises((InvalidValueError, TypeError), match=says):
        fgraph(*given(X))
    # Engines that compile wrap an exception of the host in an error of their own.
    wanted = Exception if backend in WHOLE else (InvalidValueError, TypeError)
    with pytest.raises(wanted, match=says):
        compile(fgraph)(*given(X)).to_numpy()


def test_what_can_not_be_declared_beside_it() -> None:
    with pytest.raises(ValueError, match=r"natives of f is 'numpy', or None .*, not 'torch'"):
        Op("f", natives="torch")
    for what in (
        {"destroy_map": {0: [0]}},
        {"scratch": [0]},
        {"out": [0], "perform": lambda node, inputs, out=None: out},
    ):
        with pytest.raises(TypeError, match=r"perform of f takes copies .* leave out destroy_map, scratch and out"):
            Op("f", natives="numpy", **what)  # type: ignore[arg-type]
    one, other = (Op("f", natives=natives) for natives in ("numpy", None))
    assert one != other
