"""Prints and checks: in the order in which they're written, wherever the function runs, on every backend."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import BackendFeatureError, CheckError, InplaceUpdateError

from ..natives import skip_without_derivatives

pytestmark = pytest.mark.filterwarnings("ignore:tensorflow runs this operation by operation:UserWarning")
EAGER_AND_COMPILED = [lambda f: f, ua.compile]
WAYS = pytest.mark.parametrize("way", EAGER_AND_COMPILED, ids=["eager", "compiled"])
Way = Callable[[Callable[..., Any]], Callable[..., Any]]


def of(*values: float) -> Array:
    return ua.asarray(np.array(values), copy=True)


def printed(capsys: Any) -> list[str]:
    return capsys.readouterr().out.splitlines()  # type: ignore[no-any-return]


@WAYS
def test_prints_come_in_order_at_each_call(backend: str, way: Way, capsys: Any) -> None:
    def f(x: Array) -> Array:
        ua.debug_print("begin")
        x *= 2
        ua.debug_print("{} {n}", x, n=3)
        x += 1
        ua.debug_print("{:.2f}", ua.sum(x))
        return x * 2

    run = way(f)
    for first in (1.0, 2.0, 5.0):
        run(of(first, 4.0))
        twice = np.array([2 * first, 8.0])
        assert printed(capsys) == ["begin", f"{twice} 3", f"{twice.sum() + 2:.2f}"]


@WAYS
def test_each_step_prints_and_the_branch_that_is_taken(backend: str, way: Way, capsys: Any) -> None:
    def step(c: Array, x: Array) -> tuple[Array, None]:
        ua.debug_print("step {} {}", c, x)

        def odd(c: Array) -> Array:
            ua.debug_print("odd {}", c)
            return c

        return ua.cond(x % 2 == 1, odd, lambda c: c * 2, c + x), None

    def f(xs: Array) -> Array:
        c, _ = ua.scan(step, 0.0, xs)
        ua.debug_print("after")

        def body(c: Array) -> Array:
            ua.debug_print("while {}", c)
            return c * 2

        return ua.while_loop(lambda c: c < 20, body, c)

    run = way(f)
    for _ in range(3):
        assert float(run(of(1.0, 2.0, 3.0))) == 36.0
        lines = ["step 0.0 1.0", "odd 1.0", "step 1.0 2.0", "step 6.0 3.0", "odd 9.0", "after", "while 9.0"]
        assert printed(capsys) == [*lines, "while 18.0"]


@WAYS
def test_a_derivative_prints_once_and_a_batch_for_each_element(backend: str, way: Way, capsys: Any) -> None:
    skip_without_derivatives(backend)

    def loop(x: Array) -> Array:
        def step(c: Array, row: Array) -> tuple[Array, Array]:
            ua.debug_print("{} {}", c, row)
            return c + row * row, c

        return ua.scan(step, 0.0, x)[0]

    x = of(1.0, 3.0)
    for transformed in (ua.grad(loop), ua.grad(ua.checkpoint(loop)), lambda x: ua.jvp(loop, (x,), (x,))):
        way(transformed)(x)
        assert printed(capsys) == ["0.0 1.0", "1.0 3.0"]
    way(ua.vmap(loop))(ua.stack([x, 2 * x]))
    assert printed(capsys) == ["0.0 1.0", "0.0 2.0", "1.0 3.0", "4.0 6.0"]
    way(ua.vmap(lambda c: ua.vmap(lambda x: (ua.debug_print("{} {}", c, x), x * c)[1])(x)))(x)
    assert printed(capsys) == ["1.0 1.0", "1.0 3.0", "3.0 1.0", "3.0 3.0"]


@WAYS
def test_a_check_that_fails_leaves_arguments_as_they_were(backend: str, way: Way) -> None:
    def f(x: Array) -> Array:
        total = ua.sum(x)
        ua.check(x > 0, "{} of {total:.1f}", x, total=total)
        x *= 2
        return total

    run = way(f)
    for _ in range(3):
        x = of(1.0, 2.0)
        run(x)
        assert x.tolist() == [2.0, 4.0]
        x = of(1.0, -2.0)
        with pytest.raises(CheckError, match=r"\[ 1. -2.\] of -1.0 \(checked at .*test_effects.py, line \d+\)"):
            run(x)
        assert x.tolist() == [1.0, -2.0]


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_of_several_checks_the_first_that_fails_raises(backend: str, mode: Any, capsys: Any) -> None:
    @ua.compile(mode=mode)
    def f(x: Array) -> Array:
        def step(i: Array, c: Array) -> Array:
            ua.debug_print("{}", i)
            ua.check(c < 3, "{} at {}", c, i)
            return c + x

        c = ua.fori_loop(0, 5, step, x)
        ua.check(c < 0, "never")
        return c

    for _ in range(2):
        with pytest.raises(CheckError, match=r"3.0 at 2 "):
            f(of(1.0)[0])
        assert printed(capsys) == ["0", "1", "2"]


def test_what_is_known_is_checked_and_printed_too(backend: str, capsys: Any) -> None:
    ua.check(True, "never")
    with pytest.raises(CheckError, match="3 of"):
        ua.check(np.False_, "{} of", 3)
    with pytest.raises(CheckError, match="2 rows"):
        ua.compile(lambda x: (ua.check(x.shape[0] == 3, "{} rows", x.shape[0]), x)[1])(of(1.0, 2.0))
    f = ua.compile(lambda x, rate: (ua.debug_print("{} {} {}", rate, {"x": (x, None)}, "text"), x * rate)[1])
    f(of(1.0), 0.5)
    f(of(1.0), 0.25)
    assert [each.split()[0] for each in printed(capsys)] == ["0.5", "0.25"]


def test_of_a_selection_the_elements_are_printed(backend: str, capsys: Any) -> None:
    f = ua.compile(lambda x: (ua.debug_print("{}", x[x > 1]), ua.sum(x[x > 1]))[1])
    f(of(1.0, 2.0, 3.0))
    f(of(5.0, 1.0, 1.0))
    assert printed(capsys) == ["[2. 3.]", "[5.]"]


def test_reports_and_graphs_print_nothing_more(backend: str, capsys: Any) -> None:
    def f(x: Array) -> Array:
        ua.debug_print("{}", x)
        return x + 1

    compiled = ua.compile(f)
    compiled.graph(of(1.0)), compiled.memory(of(1.0)), ua.graph.trace(f, of(1.0))
    assert printed(capsys) == []
    assert compiled.profile(of(1.0)).result.tolist() == [2.0]
    assert printed(capsys) == ["[1.]"]
    graph = compiled.graph(of(1.0))
    assert pickle.loads(pickle.dumps(graph)) is not None


def test_errors_say_what_to_do(backend: str) -> None:
    with pytest.raises(TypeError, match=r"debug_print\(\): the text is a format string, not 3"):
        ua.debug_print(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="of dtype bool, not array"):
        ua.check(of(1.0), "text")
    with pytest.raises(IndexError):
        ua.compile(lambda x: (ua.debug_print("{} {}", x), x)[1])(of(1.0))

    def condition(x: Array) -> Array:
        ua.debug_print("{}", x)
        return x < 3

    with pytest.raises(InplaceUpdateError, match="prints or checks"):
        ua.compile(lambda x: ua.while_loop(condition, lambda x: x + 1, x))(of(1.0)[0])


def test_an_engines_own_transformation_prints_or_refuses(backend: str, capsys: Any) -> None:
    if backend not in ("torch", "jax", "tensorflow"):
        pytest.skip("it has no transformations of its own")

    def f(x: Array) -> Array:
        ua.debug_print("{}", x)
        return ua.sum(x * x)

    ua.grad(f, backend=backend)(of(1.0, 2.0))
    assert printed(capsys) == ["[1. 2.]"]
    if backend == "jax":
        ua.vmap(f, backend=backend)(of(1.0, 2.0))
        assert printed(capsys) == ["1.0", "2.0"]
    else:
        with pytest.raises(BackendFeatureError):
            ua.vmap(f, backend=backend)(of(1.0, 2.0))
