"""Graphs of unknown lengths: compiled once for all of them, where the engine runs step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import values_of
from unifyarr import Array, nn
from unifyarr.graph import FunctionGraph, Variable, array_type
from unifyarr.graph.run.any_lengths import SELDOM
from unifyarr.testing import has, lacks, needs


def rows(name: str, width: int = 3, dtype: str = "float64") -> Variable:
    return Variable(array_type((None, width), dtype), name)


def made() -> FunctionGraph:
    x, y, w = rows("x"), rows("y"), Variable(array_type((3, 2), "float64"), "w")
    outputs = [
        ua.sum(ua.sin(x) * y + 1, axis=1),
        ua.mean(x, axis=0),
        ua.exp(-x) @ w,
        nn.softmax(x, axis=1),
        x[:, 0],
        x[:, ::-1],
        ua.concat([x, y]),
        ua.sort(x, axis=0),
        ua.cumulative_sum(y, axis=0),
        ua.where(x > 0, x, y),
        ua.sum(ua.zeros_like(x)),
        ua.astype(y, "float32"),
    ]
    return FunctionGraph([x, y, w], outputs)


def arrays(length: int) -> list[Array]:
    rng = np.random.default_rng(length)
    return [ua.asarray(rng.normal(size=shape)) for shape in ((length, 3), (length, 3), (3, 2))]


def check(f: Any, fgraph: FunctionGraph, given: list[Array], exact: bool) -> None:
    for found, wanted in zip(f(*given), fgraph(*given), strict=True):
        assert found.dtype == wanted.dtype
        compare = np.testing.assert_array_equal if exact else np.testing.assert_allclose
        compare(values_of(found), values_of(wanted), **({} if exact else {"rtol": 1e-12}))


@needs("writes")
@pytest.mark.parametrize("mode", ["fast", "pure"])
def test_one_program_serves_all_lengths(backend: str, mode: Any) -> None:
    fgraph = made()
    f = ua.compile(fgraph, mode=mode)
    for length in (5, 1, 2, 0, 7, 100, 3):
        if length:
            check(f, fgraph, arrays(length), exact=True)
        else:
            assert [each.shape[0] for each in f(*arrays(0))[2:5]] == [0, 0, 0]
    (program,) = f.memory().programs
    assert program.arguments == ("x: float64 (?, 3)", "y: float64 (?, 3)", "w: float64 (3, 2)")
    assert "float64 (?, 3)" in str(f.memory())
    assert "(?, 3)" in str(f.graph(*arrays(4)))


@lacks("writes")
def test_engines_that_compile_have_a_program_for_each_length(backend: str) -> None:
    x, y = rows("x"), rows("y")
    fgraph = FunctionGraph([x, y], [ua.sum(x * y, axis=0), x[:, 1:]])
    f = ua.compile(fgraph)
    for length in (2, 4):
        check(f, fgraph, arrays(length)[:2], exact=False)
    assert len(f.memory().programs) == 2


@needs("writes")
def test_a_length_that_comes_often_gets_its_own_program(backend: str) -> None:
    fgraph = made()
    f = ua.compile(fgraph)
    given = arrays(6)
    for _ in range(SELDOM):
        f(*given)
    assert len(f.memory().programs) == 1
    for _ in range(3):
        check(f, fgraph, given, exact=True)
        check(f, fgraph, arrays(9), exact=True)
    assert sorted(each.arguments[0] for each in f.memory().programs) == ["x: float64 (6, 3)", "x: float64 (?, 3)"]
    f.clear()
    check(f, fgraph, given, exact=True)
    assert len(f.memory().programs) == 1


@needs("writes")
def test_arrays_that_lie_otherwise_have_programs_of_their_own(backend: str) -> None:
    fgraph = made()
    f = ua.compile(fgraph)
    x, y, w = arrays(8)
    for other in (x[::2], ua.asarray(values_of(x).T.copy()).T):
        given = [other, y[: other.shape[0]], w]
        check(f, fgraph, given, exact=True)
    check(f, fgraph, [x, y, w], exact=True)
    assert len(f.memory().programs) == 3


def test_what_does_not_fit_is_an_error_as_without_compiling(backend: str) -> None:
    fgraph = made()
    f = ua.compile(fgraph)
    x, y, w = arrays(4)
    for given in ([x, y[:2].copy(), w], [ua.ones((4, 2)), y, w], [ua.astype(x, "float32"), y, w], [x, w]):
        for call in (fgraph, f):
            with pytest.raises((ua.errors.ShapeError, TypeError)):
                call(*given)
    check(f, fgraph, [x, y, w], exact=has(backend, "writes"))


@needs("writes")
def test_results_are_independent_of_arguments_and_of_each_other(backend: str) -> None:
    x = rows("x")
    f = ua.compile(FunctionGraph([x], [x, x[:, 0], x + 0, x + 0]))
    for length in (3, 5):
        given = ua.asarray(np.ones((length, 3)))
        results = f(given)
        for number, each in enumerate(results):
            each += float(number + 1)
        assert [float(each[(0,) * each.ndim]) for each in results] == [2.0, 3.0, 4.0, 5.0]
        np.testing.assert_array_equal(values_of(given), np.ones((length, 3)))
    assert len(f.memory().programs) == 1


@needs("writes")
def test_written_inputs_have_a_program_for_each_length(backend: str) -> None:
    def doubled(x: Array) -> None:
        x *= 2.0

    traced = ua.graph.trace(doubled, ua.ones((2, 3)))
    f = ua.compile(traced)
    x = ua.ones((2, 3))
    f(x)
    assert float(x[0, 0]) == 2.0


def test_gradients_of_a_graph_of_unknown_lengths(backend: str) -> None:
    x, w = rows("x"), Variable(array_type(3, "float64"), "w")
    loss = FunctionGraph([x, w], [ua.mean((x @ w) ** 2)])
    slope = ua.compile(ua.grad(loss, argnums=1))
    for length in (2, 5):
        given, weights = arrays(length)[0], ua.ones(3)
        wanted = 2 * values_of(given).T @ values_of(given).sum(axis=1) / length
        np.testing.assert_allclose(values_of(slope(given, weights)), wanted, rtol=1e-12)
