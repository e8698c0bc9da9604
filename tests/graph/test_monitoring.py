"""Functions that see each operation of a compiled function: the values, the line, and the loops around."""

from __future__ import annotations

import inspect
import pickle
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import NotFiniteError
from unifyarr.graph import NanGuard, NodeValues

from ..natives import skip_without_derivatives


def of(*values: float, dtype: Any = None) -> Array:
    return ua.asarray(np.array(values), copy=True, dtype=dtype)


def line_in(function: Any, text: str) -> int:
    """Return the number of the line of a function that has a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if text in line)


def loop(x: Array) -> Array:
    def step(c: Array, row: Array) -> tuple[Array, Array]:
        c = c - row
        return c, ua.sqrt(c)

    rows = ua.scan(step, 4.0, x)[1]
    return ua.sum(rows)


def branching(x: Array) -> Array:
    def body(c: Array) -> Array:
        return ua.cond(ua.sum(c) > 20, lambda c: 1 / (c - c), lambda c: c * 2, c)

    return ua.while_loop(lambda c: ua.sum(c) < 100, body, x)


def test_the_hook_sees_each_operation_in_its_order(backend: str) -> None:
    seen: list[NodeValues] = []
    run = ua.compile(loop, monitor=seen.append)
    x = of(1.0, 2.0)
    for _ in range(2):
        seen.clear()
        assert float(run(x)) == float(loop(x))
        in_steps = [each for each in seen if each.path]
        assert [(each.name, each.path) for each in in_steps] == [
            (name, (f"step {number} of scan",)) for number in (0, 1) for name in ("subtract", "sqrt")
        ]
        assert [each.outputs[0].tolist() for each in in_steps] == [3.0, np.sqrt(3.0), 1.0, 1.0]
        assert [each.inputs[0].tolist() for each in in_steps if each.name == "sqrt"] == [3.0, 1.0]
        assert in_steps[0].line == f"{__file__}, line {line_in(loop, 'c - row')}"
        assert seen[-1].name == "sum"
        assert seen[-1].line.endswith(f"line {line_in(loop, 'ua.sum(rows)')}")
        assert "step 0 of scan" in repr(in_steps[0])


def test_what_is_passed_is_written_as_ever(backend: str) -> None:
    def f(x: Array, y: Array) -> Array:
        x += y
        y[...] = x * 2
        return x[1:]

    x, y = of(1.0, 2.0), of(3.0, 4.0)
    names: list[str] = []
    found = ua.compile(f, monitor=lambda values: names.append(values.name))(x, y)
    assert (x.tolist(), y.tolist(), found.tolist()) == ([4.0, 6.0], [8.0, 12.0], [6.0])
    assert {"add", "multiply"} <= {*names}
    assert "store" not in names


@pytest.mark.parametrize(
    ("function", "values", "told"),
    [
        (
            lambda x: ua.sum(x * ua.log(x)),
            (1.0, 0.0),
            r"log\(x\) made an infinity at .*: x is float64 \(2,\) \[",
        ),
        (loop, (3.0, 2.0), r"sqrt\(.*\) made a NaN at .*, in step 1 of scan: .* is -1.; it gives nan"),
        (branching, (1.0, 2.0), r"divide\(.*\) made an infinity at .*, in branch 1 of switch, in step 3 of while_loop"),
        (lambda x: ua.sum(1 / ua.astype(x, ua.bfloat16)), (1.0, 0.0), "divide.* made an infinity"),
        (lambda x: ua.sum(ua.log(ua.astype(x, ua.complex128))), (1.0, 0.0), "log.* made an infinity"),
    ],
    ids=["plain", "loop", "branch", "bfloat16", "complex"],
)
def test_the_guard_stops_where_a_value_is_made(backend: str, function: Any, values: Any, told: str) -> None:
    guarded = ua.compile(function, monitor=NanGuard())
    for _ in range(2):
        with np.errstate(all="ignore"), pytest.raises(NotFiniteError, match=told):
            guarded(of(*values))


@pytest.mark.parametrize("function", [lambda x: ua.sum(ua.sqrt(x)), loop], ids=["plain", "loop"])
def test_a_derivative_has_the_line_of_what_is_derived(backend: str, function: Any) -> None:
    skip_without_derivatives(backend)
    x = of(4.0, 0.0)
    with np.errstate(all="ignore"), pytest.raises(NotFiniteError) as error:
        ua.compile(ua.grad(function), monitor=NanGuard())(x)
    assert f"line {line_in(function, 'ua.sqrt(')}" in str(error.value)


def test_what_was_there_before_is_no_fault(backend: str) -> None:
    guarded = ua.compile(lambda x: ua.sum(ua.where(x > 0, x, -ua.inf) + x), monitor=NanGuard())
    guarded(of(1.0, -1.0))
    guarded(of(np.nan, np.inf))
    ua.compile(lambda x: 1 / x, monitor=NanGuard(inf=False))(of(1.0, 2.0))
    with np.errstate(all="ignore"):
        ua.compile(lambda x: ua.sqrt(x), monitor=NanGuard(nan=False))(of(-1.0))
        ua.compile(lambda x: 1 / x, monitor=NanGuard(inf=False))(of(0.0))
    assert repr(NanGuard(inf=False)) == "NanGuard(nan=True, inf=False)"


def test_an_error_leaves_arguments_as_they_were(backend: str) -> None:
    @ua.compile(monitor=NanGuard())
    def f(x: Array, y: Array) -> None:
        x += 1
        y[0] = ua.log(x[1])

    x, y = of(1.0, -1.0), of(1.0)
    with np.errstate(all="ignore"), pytest.raises(NotFiniteError):
        f(x, y)
    assert (x.tolist(), y.tolist()) == ([1.0, -1.0], [1.0])


def test_a_stable_formula_makes_no_infinity(backend: str) -> None:
    def softplus(x: Array) -> Array:
        return ua.log(1 + ua.exp(x))

    x = of(1000.0)
    assert ua.compile(softplus, monitor=NanGuard(), include="stabilize")(x).tolist() == [1000.0]
    with np.errstate(all="ignore"), pytest.raises(NotFiniteError, match=r"exp\(x\)"):
        ua.compile(softplus, monitor=NanGuard())(x)


def test_places_are_no_part_of_pickles(backend: str) -> None:
    graph = ua.graph.trace(loop, of(1.0))
    assert all(node.place is not None for node in graph.copy().apply_nodes)
    assert all(node.place is None for node in pickle.loads(pickle.dumps(graph)).apply_nodes)


def test_wrong_options_are_errors() -> None:
    with pytest.raises(TypeError, match="monitor is a function of each node"):
        ua.compile(loop, monitor=3)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="monitor is a function of each node"):
        ua.compile(loop, monitor=NanGuard)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="leave out fuse, and mode"):
        ua.compile(loop, monitor=NanGuard(), mode="debug")


def test_a_profile_is_drawn_with_the_share_of_each_operation(backend: str) -> None:
    report = ua.compile(lambda x: ua.sum(ua.exp(x) @ x)).profile(ua.asarray(np.ones((8, 8))))
    drawn = ElementTree.fromstring(report.svg())
    texts = [each.text or "" for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    shares = [float(text.split()[-2]) for text in texts if text.endswith(" %")]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert report.svg() in report._repr_html_()
