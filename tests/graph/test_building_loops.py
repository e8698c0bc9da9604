"""Variables in loops and branches, and variables of which lengths aren't known."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import UnknownShapeError
from unifyarr.graph import FunctionGraph, Variable, array_type, pattern_rewriter, register, unregister
from unifyarr.testing import has, needs

from ..oracle import as_numpy, assert_same

LOOPS: dict[str, Callable[[Any, Any], Any]] = {
    "scan": lambda c, x: ua.scan(lambda s, row: (s + row * c, ua.sum(s)), c, x),
    "a scan that writes": lambda c, x: ua.scan(_written, (c, c * 2), x)[0],
    "while_loop": lambda c, x: ua.while_loop(lambda s: ua.sum(s * s) < ua.sum(x), lambda s: s * 1.5 + x[0], c),
    "fori_loop": lambda c, x: ua.fori_loop(0, ua.astype(c[2], ua.int64), lambda i, s: s * c + x[i % 4], c),
    "cond": lambda c, x: ua.cond(ua.sum(c) > 0, lambda: c, lambda: -c),
    "cond of operands": lambda c, x: ua.cond(ua.sum(c) > 10, lambda s: s + x[1], lambda s: -s, c),
    "switch": lambda c, x: ua.switch(ua.astype(c[0], ua.int64), [lambda s: s, lambda s: s * 2, lambda s: x[2]], c),
    "map": lambda c, x: ua.map(lambda row: row * c, x),
    "associative_scan": lambda c, x: ua.associative_scan(lambda a, b: a * b + 1, x),
    "a loop in a loop": lambda c, x: ua.scan(lambda s, row: (_powers(s, c * row), None), c, x)[0],
    "a nest": lambda c, x: ua.scan(lambda s, row: ({"a": s["a"] + row}, s["a"]), {"a": c}, x)[0]["a"],
}


def _written(state: Any, row: Any) -> Any:
    first, second = state
    first += row
    second[0] = first[1]
    return (first, second), None


def _powers(start: Any, factor: Any) -> Any:
    return ua.fori_loop(0, 3, lambda i, s: s * factor, start)


def _results(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("name", LOOPS)
def test_loops_of_variables(backend: str, name: str) -> None:
    program = LOOPS[name]
    c, x = Variable(array_type(3, "float64"), "c"), Variable(array_type((4, 3), "float64"), "x")
    outputs = _results(program(c, x))
    assert all(isinstance(each, Variable) for each in outputs)
    fgraph = FunctionGraph([c, x], outputs)
    given = [ua.asarray([1.0, -2.0, 3.0]), ua.asarray(np.arange(12.0).reshape(4, 3) / 8)]
    expected = _results(program(*given))
    for run in (fgraph, ua.compile(fgraph)):
        for each, wanted in zip(_results(run(*given)), expected, strict=True):
            assert_same(each, as_numpy(wanted))


def test_a_variable_that_only_a_step_meets() -> None:
    c = Variable(array_type(3, "float64"), "c")
    with pytest.raises(TypeError, match=r"is a variable of a graph .*: pass it as an operand"):
        ua.scan(lambda s, row: (s + c, None), ua.ones(3), ua.ones((2, 3)))


def _unknown(*shape: int | None, name: str = "x") -> Variable:
    return Variable(array_type(shape, "float64"), name)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_lengths_that_are_not_known(backend: str, length: int) -> None:
    x = _unknown(3, None)
    outputs = [ua.sum(x * 2 + 1, axis=1), ua.exp(x) * x, ua.matrix_transpose(x) + 0, x @ ua.matrix_transpose(x)]
    assert [tuple(each.type.shape) for each in outputs] == [(3,), (3, None), (None, 3), (3, 3)]
    values = np.arange(3.0 * length).reshape(3, length) / 4
    expected = [np.sum(values * 2 + 1, axis=1), np.exp(values) * values, values.T + 0, values @ values.T]
    fgraph = FunctionGraph([x], outputs)
    for run in (fgraph, ua.compile(fgraph)):
        for order in ("C", "F"):
            found = run(ua.asarray(np.array(values, order=order)))
            for each, wanted in zip(found, expected, strict=True):
                assert_same(each, wanted)


def test_two_unknown_lengths_are_compared_when_it_runs(backend: str) -> None:
    x, y = _unknown(None), _unknown(None, name="y")
    fgraph = FunctionGraph([x, y], [ua.exp(x + y) - x])
    for run in (fgraph, ua.compile(fgraph)):
        for lengths in ((4, 4), (4, 1), (0, 1)):
            first, second = np.full(lengths[0], 0.5), np.ones(lengths[1])
            assert_same(run(ua.asarray(first), ua.asarray(second)), np.exp(first + second) - first)
        with pytest.raises((ValueError, RuntimeError)):
            run(ua.ones(4), ua.ones(3))
    with pytest.raises(ValueError, match=r"input x of the graph is float64 \(\?,\)"):
        fgraph(ua.ones((2, 2)), ua.ones(2))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x[1:],
        lambda x: x[0],
        lambda x: ua.median(x),
        lambda x: ua.reshape(x, (2, -1)),
        lambda x: x + ua.ones(3),
        lambda x: ua.scan(lambda s, row: (s + row, None), 0.0, x),
    ],
)
def test_functions_that_need_the_length(backend: str, use: Callable[[Any], Any]) -> None:
    with pytest.raises(UnknownShapeError, match=r"test_building_loops.py, line \d+ needs the lengths of a variable"):
        use(_unknown(None))


# -- loops and branches of compiled functions --------------------------------------------------------------------------

TWICE = pattern_rewriter((ua.multiply, "x", 2.0), (ua.add, "x", "x"), name="twice")
DOUBLING: dict[str, Callable[[Any], Any]] = {
    "scan": lambda x: ua.scan(lambda s, row: (s * 2.0 + row, s), x[0], x)[1],
    "while_loop": lambda x: ua.while_loop(lambda s: ua.sum(s * 2.0) < 40.0, lambda s: s * 2.0, x),
    "fori_loop": lambda x: ua.fori_loop(0, 3, lambda i, s: s * 2.0, x),
    "cond": lambda x: ua.cond(ua.sum(x) > 0, lambda s: s * 2.0, lambda s: s * 2.0 + 1, x),
    "switch": lambda x: ua.switch(1, [lambda s: s, lambda s: s * 2.0], x),
    "map": lambda x: ua.map(lambda row: row * 2.0, x),
    "nested": lambda x: ua.fori_loop(
        0,
        2,
        lambda i, s: ua.scan(lambda t, row: (ua.cond(ua.sum(t) > 0, lambda: t * 2.0, lambda: t), row), s, s[1:])[0],
        x,
    ),
}


def _inside(fgraph: FunctionGraph) -> list[FunctionGraph]:
    """Return all graphs of loops and branches in a graph."""
    found = [body for node in fgraph.apply_nodes for body in getattr(node.op, "bodies", ())]
    return [each for body in found for each in (body.rewritten, *_inside(body.rewritten))]


def _names(fgraph: FunctionGraph) -> list[str]:
    return [node.op.name for node in fgraph.apply_nodes]


def _start() -> Array:
    return ua.asarray([[1.0, 2.0], [3.0, 0.5], [1.0, 1.0]])


@pytest.mark.parametrize("name", DOUBLING)
def test_rewrites_reach_loops_and_branches(backend: str, name: str) -> None:
    program = DOUBLING[name]
    expected = program(_start()).to_numpy()
    ways: dict[str, dict[str, Any]] = {
        "passed": {"rewrites": [TWICE]},
        "checked": {"rewrites": [TWICE], "mode": "debug"},
        "alone": {"rewrites": [TWICE], "mode": "pure"},
        "included": {"include": "registered"},
        "included alone": {"include": "registered", "mode": "pure"},
    }
    register(TWICE, "registered", default=False)
    try:
        plain = ua.compile(program, exclude="fuse")
        plain(_start())
        assert any("multiply" in _names(each) for each in _inside(plain.graph(_start())))
        for way, options in ways.items():
            if way not in ("passed", "included") and not has(backend, "writes"):
                # They take as long to compile.
                continue
            run = ua.compile(program, exclude=() if options.get("mode") == "pure" else "fuse", **options)
            assert_same(run(_start()), expected)
            graphs = _inside(run.graph(_start()))
            assert graphs
            assert not any("multiply" in _names(each) for each in graphs), way
            assert_same(run.profile(_start()).result, expected)
    finally:
        unregister("registered")


@needs("writes")
@pytest.mark.parametrize("name", DOUBLING)
def test_rewrites_that_are_left_out_are_left_out_of_loops(backend: str, name: str) -> None:
    program = DOUBLING[name]
    expected = program(_start()).to_numpy()
    for options in ({"exclude": ["fuse", "inplace"]}, {"mode": "pure"}):
        run = ua.compile(program, **options)
        assert_same(run(_start()), expected)
        for fgraph in _inside(run.graph(_start())):
            assert not any(node.op.victims(node) for node in fgraph.apply_nodes if node.op.name != "store")


def test_rewrites_reach_the_functions_that_engines_run(backend: str) -> None:
    """Derivatives and batches of loops run the pure functions."""
    unstable = pattern_rewriter((ua.log, (ua.add, 1.0, (ua.exp, "x"))), (ua.logaddexp, "x", 0.0))

    def program(x: Array) -> Array:
        return ua.fori_loop(0, 2, lambda i, s: ua.log(1.0 + ua.exp(s)), x)

    run = ua.compile(lambda x: ua.vmap(program)(x), rewrites=[unstable])
    assert_same(run(ua.asarray([1000.0, 2000.0])), np.array([1000.0, 2000.0]))


@pytest.mark.parametrize("name", [*LOOPS, *DOUBLING])
def test_graphs_with_loops_are_equal_to_the_same_made_again(backend: str, name: str) -> None:
    given = [ua.asarray([1.0, -2.0, 3.0]), ua.asarray(np.arange(12.0).reshape(4, 3) / 8)]

    def made(rewrites: Any = ()) -> list[FunctionGraph]:
        if name in LOOPS:
            c, x = Variable(array_type(3, "float64"), "c"), Variable(array_type((4, 3), "float64"), "x")
            built = [FunctionGraph([c, x], _results(LOOPS[name](c, x)))]
            program, arrays = LOOPS[name], given
        else:
            built, program, arrays = [], lambda x: DOUBLING[name](x), [_start()]
        run = ua.compile(program, rewrites=rewrites)
        return [*built, ua.graph.trace(program, *arrays), run.graph(*arrays)]

    for rewrites in ((), (TWICE,)):
        for first, second in zip(made(rewrites), made(rewrites), strict=True):
            for other in (second, copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
                assert first == other
                assert hash(first) == hash(other)
    # Other functions inside, and the same ones rewritten otherwise, are another graph.
    if name in DOUBLING:
        run = ua.compile(lambda x: DOUBLING[name](x), rewrites=[TWICE])
        assert run.graph(_start()) != made()[-1]
        assert made()[0] != ua.graph.trace(lambda x: DOUBLING[name](x) * 2.0, _start())


def test_loops_that_differ_inside_are_different() -> None:
    def looping(factor: float, count: int = 3) -> FunctionGraph:
        return ua.graph.trace(lambda x: ua.fori_loop(0, count, lambda i, s: s * factor, x), _start())

    with ua.use_backend("numpy"):
        assert looping(2.0) == looping(2.0)
        assert looping(2.0) != looping(3.0)
        assert looping(2.0) != looping(2.0, 4)
        # Two equal loops of one value are one.
        run = ua.compile(lambda x: DOUBLING["scan"](x) + DOUBLING["scan"](x))
        assert _names(run.graph(_start())).count("scan") == 1
