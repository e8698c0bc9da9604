"""Loop-invariant operations of a compiled loop run once, before it, with the bits of an eager loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.testing import has

from ..natives import skip_without_derivatives
from ..oracle import assert_same
from .looped_programs import compare

W, ROWS = np.linspace(-1.0, 2.0, 7), np.array([1.0, 0.5, -2.0])


def step_names(compiled: Any, *args: Any) -> set[str]:
    """Return the names of the operations in the bodies of all loops of a compiled function."""
    graph = compiled.graph(*args)
    return {part.name for node in graph.apply_nodes for inner in node.op.nodes() or () for part in inner.op.parts()}


def assert_alike(found: Any, expected: Any, *, exact: bool = True) -> None:
    """Compare bits, but for engines that compile whole graphs."""
    how: dict[str, float] = (
        {"rtol": 0.0} if exact and has(ua.current_backend(), "writes") else {"rtol": 1e-9, "atol": 1e-12}
    )
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), **how)  # type: ignore[arg-type]


def same_twice(function: Callable[..., Any], *values: Any, exact: bool = True) -> set[str]:
    """Compare a compiled function with an eager call, and return the names of the operations in its loops' steps."""
    compiled = ua.compile(function)
    for _ in range(2):
        expected = flatten(function(*map(ua.asarray, values)))[0]
        found = flatten(compiled(*map(ua.asarray, values)))[0]
        for one, other in zip(found, expected, strict=True):
            assert_alike(one, other, exact=exact)
    return step_names(compiled, *map(ua.asarray, values))


def test_a_sum_leaves_a_scan(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        return ua.scan(lambda c, t: (c + t * ua.sum(ua.exp(w)), c), 0.0, rows)

    names = same_twice(function, W, ROWS)
    assert "multiply" in names
    assert not {"exp", "sum"} & names


def test_from_nested_loops(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        def outer(carry: Any, t: Any) -> Any:
            def inner(i: Any, c: Any) -> Any:
                # One is the same in both loops, and the other one in the inner loop.
                return c * ua.cos(w) + ua.exp(t * w)

            return ua.fori_loop(0, 3, inner, carry), None

        return ua.scan(outer, w, rows)[0]

    compiled = ua.compile(function)
    args = ua.asarray(W), ua.asarray(ROWS)
    assert_alike(compiled(*args), function(*args))
    (loop,) = [node for node in compiled.graph(*args).apply_nodes if node.op.nodes() is not None]
    inside = {part.name for node in loop.op.nodes() if node.op.nodes() is None for part in node.op.parts()}
    inner = {part.name for node in loop.op.nodes() if node.op.nodes() is not None for part in node.op.parts()}
    assert "exp" in inside
    assert not {"exp", "cos"} & inner
    assert "cos" not in inside


def test_from_the_loops_of_gradients(backend: str) -> None:
    skip_without_derivatives(backend)

    def function(w: Any, rows: Any) -> Any:
        def loss(w: Any) -> Any:
            return ua.sum(ua.scan(lambda c, t: (ua.tanh(c + t * ua.exp(w)), None), w, rows)[0])

        return ua.grad(loss)(w)

    # Eager calls add cotangents up in another order.
    assert "exp" not in same_twice(function, W, ROWS, exact=False)


def test_what_is_carried_on_unchanged(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        (c, w, k), _ = ua.scan(lambda c, t: ((c[0] * t + ua.sin(c[1]), c[1], c[2] + 1), None), (w, w * 2, 0), rows)
        return c, w, k

    assert "sin" not in same_twice(function, W, ROWS)


def test_rows_that_are_the_same_of_an_earlier_loop(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        _, stacked = ua.scan(lambda c, t: (c + t, ua.exp(w)), 0.0, rows)
        return ua.scan(lambda c, x: (c + ua.sin(x), None), w, stacked)[0]

    compiled = ua.compile(function)
    args = ua.asarray(W), ua.asarray(ROWS)
    assert_alike(compiled(*args), function(*args))
    # The first loop isn't needed any more.
    assert sum(node.op.name == "scan" for node in compiled.graph(*args).apply_nodes) == 1
    assert "sin" not in step_names(compiled, *args)


def test_from_the_condition_of_a_while_loop(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        return ua.while_loop(lambda c: c < ua.sum(ua.exp(w)), lambda c: c * 2.0, ua.sum(rows) + 2.0)

    assert "exp" not in same_twice(function, W, ROWS)


def test_what_may_fail_stays_in_a_body_that_may_not_run(backend: str) -> None:
    def function(a: Any, limit: Any) -> Any:
        return ua.while_loop(lambda c: ua.sum(c) < limit, lambda c: c + ua.linalg.inv(a), a)

    compiled = ua.compile(function)
    singular = ua.ones((2, 2))
    assert_same(compiled(singular, ua.asarray(-1.0)), np.ones((2, 2)))
    assert "inv" in step_names(compiled, singular, ua.asarray(-1.0))


def test_errors_and_warnings_of_a_loop_without_steps(backend: str) -> None:
    def function(a: Any) -> Any:
        return ua.scan(lambda c, _: (c + ua.linalg.inv(a) / ua.zeros(()), None), a, None, length=0)[0]

    assert_same(ua.compile(function)(ua.ones((2, 2))), np.ones((2, 2)))


def test_a_warning_comes_if_there_is_a_step(backend: str) -> None:
    if backend != "numpy":
        pytest.skip("only NumPy warns")

    def function(w: Any, limit: Any) -> Any:
        return ua.while_loop(lambda c: c < limit, lambda c: c + ua.sum(ua.log(w)), ua.asarray(1.0))

    compiled = ua.compile(function)
    for _ in range(2):
        assert_same(compiled(ua.asarray([-1.0]), ua.asarray(0.0)), np.float64(1.0))
        with np.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="invalid value"):
            compiled(ua.asarray([-1.0]), ua.asarray(2.0))


def test_a_large_result_of_small_arrays_stays(backend: str) -> None:
    def function(x: Any, rows: Any) -> Any:
        return ua.scan(lambda c, t: (c + ua.sum(ua.exp(x[:, None] * x) * t), None), 0.0, rows)[0]

    # Outside it would need memory of its own: a quadratic amount.
    large = ua.asarray(np.linspace(0.0, 1.0, 400))
    assert "exp" in step_names(ua.compile(function), large, ua.asarray(ROWS))
    assert "exp" not in step_names(ua.compile(function), ua.asarray(W), ua.asarray(ROWS))


def test_arrays_that_are_written_do_not_stand_still(backend: str) -> None:
    def function(w: Any, rows: Any) -> Any:
        seen = ua.asarray(w, copy=True)

        def step(c: Any, t: Any) -> Any:
            seen[1:] = seen[1:] * t
            return c + ua.exp(seen), ua.sum(seen)

        return ua.scan(step, w, rows), seen

    assert "exp" in same_twice(function, W, ROWS)


@pytest.mark.parametrize("seed", range(24))
def test_random_loops(backend: str, seed: int) -> None:
    if backend not in ("numpy", "torch"):
        pytest.skip("others compile whole graphs, with other last bits")
    compare(seed)
