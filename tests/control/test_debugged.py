"""Mode ``debug`` inside loops and branches: errors of a step are found, and reported with their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import BadDestroyMap, BadInplace, BadThunkOutput, BadViewMap, DebugModeError
from unifyarr.testing import has

from ..oracle import as_numpy, assert_same

LOOPS: dict[str, tuple[Callable[..., Any], str]] = {
    "scan": (lambda op, x, y: ua.scan(lambda c, row: (op(c, row), c * 2), x, ua.stack([y, y])), r"step 0 of scan\("),
    "fori_loop": (lambda op, x, y: ua.fori_loop(0, 3, lambda i, c: op(c, y), x), r"step 0 of scan\("),
    "while_loop": (
        lambda op, x, y: ua.while_loop(lambda c: ua.sum(c) < 50, lambda c: op(c, y), x),
        r"step 0 of while_loop\(",
    ),
    "a condition": (
        lambda op, x, y: ua.while_loop(lambda c: ua.sum(op(c, y)) < 50, lambda c: c + 9, x),
        r"the condition at step 0 of while_loop\(",
    ),
    "cond": (lambda op, x, y: ua.cond(ua.sum(x) > 0, lambda: op(x, y), lambda: x * 2), r"branch 1 of switch\("),
    "a loop in a loop": (
        lambda op, x, y: ua.fori_loop(
            0, 2, lambda i, c: ua.while_loop(lambda c: ua.sum(c) < 50, lambda c: op(c, y), c), x
        ),
        r"step 0 of scan\(.*: in step 0 of while_loop\(",
    ),
}


def added(backend: str, kernel: Callable[..., Any]) -> Any:
    """Return an operation that adds, by its body, with a kernel that may do something else."""

    @ua.op
    def plus(x: Array, y: Array, /) -> Array:
        """Add."""
        return x + y

    plus.kernel(backend)(kernel)
    return plus


def arrays() -> tuple[Array, Array]:
    return tuple(ua.asarray(np.array(each), copy=True) for each in ([1.0, 2.0], [3.0, 4.0]))  # type: ignore[return-value]


def written(x: Any, y: Any) -> Any:
    x += y
    return x * 1


@pytest.mark.parametrize("loop", LOOPS)
def test_a_step_that_computes_something_else(backend: str, loop: str) -> None:
    function, where = LOOPS[loop]
    op = added(backend, lambda x, y: x + y + 1)
    x, y = arrays()
    with pytest.raises(BadThunkOutput, match=rf"in {where}.*plus\("):
        ua.compile(lambda x, y: function(op, x, y), mode="debug")(x, y)
    assert_same(x, np.array([1.0, 2.0]))


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize(
    ("kernel", "error"),
    [
        pytest.param(written, BadDestroyMap, id="writes its argument"),
        pytest.param(lambda x, y: y if float(x[0]) < 0 else x[...], BadViewMap, id="returns a view of it"),
    ],
)
def test_a_step_that_does_not_do_what_it_declares(
    backend: str, loop: str, kernel: Callable[..., Any], error: type[DebugModeError]
) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have memory to share: not {backend}")
    function, where = LOOPS[loop]
    # The body says the same as the kernel, so that only the declarations are wrong.
    op = added(backend, kernel)
    x, y = arrays()
    with pytest.raises((error, BadThunkOutput), match=rf"in {where}.*plus\("):
        ua.compile(lambda x, y: function(op, x, y), mode="debug")(x, y)
    for each, kept in ((x, [1.0, 2.0]), (y, [3.0, 4.0])):
        assert as_numpy(each).tolist() == kept


def test_a_twin_that_is_wrong_in_a_loop_alone(backend: str) -> None:
    """Only there its argument is dead, so that it's used."""
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have twins: not {backend}")
    op = added(backend, lambda x, y: x + y)

    @op.inplace(backend, destroy_map={0: (0,)})
    def _(x: Any, y: Any) -> Any:
        x -= y
        return x

    x, y = arrays()
    assert_same(ua.compile(lambda x, y: op(x, y), mode="debug")(x, y), np.array([4.0, 6.0]))
    with pytest.raises(BadInplace, match=r"in step 0 of scan\(.*plus\("):
        ua.compile(lambda x, y: ua.fori_loop(0, 3, lambda i, c: op(c, y), x), mode="debug")(x, y)


@pytest.mark.parametrize(("first", "found"), [(3, 4), (5, 8), (9, 9)])
def test_which_steps_are_checked(backend: str, first: int, found: int) -> None:
    """Steps 0, 1, 2, 4, 8 and the last one: an error from one step on is found at the next of them."""
    op = added(backend, lambda x, y: x + y + (0 if float(x[0]) < first else 0.5))
    x, y = ua.asarray(np.zeros(1), copy=True), ua.asarray(np.ones(1), copy=True)
    with pytest.raises(BadThunkOutput, match=rf"in step {found} of scan\("):
        ua.compile(lambda x, y: ua.fori_loop(0, 10, lambda i, c: op(c, y), x), mode="debug")(x, y)


@pytest.mark.parametrize("loop", LOOPS)
def test_what_is_right_is_let_be(backend: str, loop: str) -> None:
    function, _ = LOOPS[loop]
    op = added(backend, lambda x, y: x + y)
    x, y = arrays()
    found = ua.compile(lambda x, y: function(op, x, y), mode="debug")(x, y)
    wanted = function(op, x, y)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for mine, each in pairs:
        assert_same(mine, as_numpy(each))


def test_a_profile_has_the_operations_of_the_steps(backend: str) -> None:
    def program(x: Array) -> Array:
        x = ua.fori_loop(0, 5, lambda i, c: ua.cond(ua.sum(c) > 1e9, lambda: c, lambda: ua.cumulative_sum(c)), x)
        return ua.while_loop(lambda c: ua.sum(c) < 1e4, lambda c: c * 2, x)

    x = ua.asarray(np.array([1.0, 2.0, 3.0]), copy=True)
    report = ua.compile(program).profile(x)
    assert_same(report.result, as_numpy(program(x)))
    tops = {op.name: op for op in report.ops}
    assert (tops["scan"].calls, tops["while_loop"].calls) == (1, 1)
    (branch,) = [op for op in tops["scan"].inside if op.name == "switch"]
    assert branch.calls == 5
    assert [op.calls for op in branch.inside if op.name == "cumulative_sum"] == [5]
    steps = {op.name: op.calls for op in tops["while_loop"].inside}
    assert steps["multiply"] + 1 == max(steps.values())
    assert sum(op.seconds for op in tops["scan"].inside) <= tops["scan"].seconds
    lines = str(report).splitlines()
    (place,) = [number for number, line in enumerate(lines) if line.strip().startswith("cumulative_sum")]
    assert lines[place].startswith("      cumulative_sum")


def test_a_report_of_memory_has_what_the_steps_hold(backend: str) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"{backend} plans its memory itself")
    size = 1000 * 8

    def program(x: Array) -> Array:
        return ua.fori_loop(0, 5, lambda i, c: ua.cumulative_sum(c[::-1]) - ua.cumulative_sum(c), x)

    compiled = ua.compile(program)
    (report,) = compiled.memory(ua.zeros(1000, dtype=ua.float64)).programs
    (body,) = report.bodies
    assert (body.name, report.steps) == ("scan", 1)
    held = [each for each in body.buffers if each.kind == "temporary" and each.bytes == size]
    assert held
    assert size <= body.peak <= 3 * size
    # The carry, with the number of the step, and the memory of a step.
    assert report.peak_after == report.results + 8 + body.peak
    lines = str(report).splitlines()
    assert any(line.lstrip().startswith("in 0 scan") for line in lines)
    assert any("cumulative_sum" in line and line.startswith("      ") for line in lines)


def test_a_graph_prints_the_graphs_inside(backend: str) -> None:
    def program(x: Array) -> Array:
        return ua.fori_loop(0, 5, lambda i, c: ua.cond(ua.sum(c) > 1e9, lambda: c, lambda: ua.cumulative_sum(c) + i), x)

    x = ua.zeros(3)
    for graph in (ua.compile(program).graph(x), ua.graph.trace(program, x)):
        lines = str(graph).splitlines()
        (loop,) = [number for number, line in enumerate(lines) if line.startswith("body of scan [A]")]
        branches = [number for number, line in enumerate(lines) if line.startswith("  branch ")]
        assert len(branches) == 2
        assert loop < branches[0]
        (inner,) = [number for number, line in enumerate(lines) if "cumulative_sum" in line]
        assert branches[1] > inner > branches[0] or inner > branches[1]
        assert lines[inner].startswith("    ")
