"""Variables in loops and branches, and variables of which lengths aren't known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.errors import UnknownShapeError
from unifyarr.graph import FunctionGraph, Variable, array_type

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
