"""Loops and branches: eager and compiled results equal those of Python loops on NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Container
from unifyarr.errors import DtypeError, InplaceUpdateError, ShapeError, StructureError, TraceError

from ..natives import skip_without_derivatives
from ..oracle import as_numpy, assert_same

Function = Callable[..., Any]
WAYS = {
    "eager": lambda function: function,
    "compiled": ua.compile,
    "pure": lambda function: ua.compile(function, mode="pure"),
    "debug": lambda function: ua.compile(function, mode="debug"),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Function:
    found: Function = WAYS[request.param]
    return found


def test_scan(backend: str, way: Function) -> None:
    def step(carry: Any, x: Any) -> Any:
        carry = carry * 0.5 + x
        return carry, {"before": carry * 2, "row": x}

    run = way(lambda carry, xs: ua.scan(step, carry, xs))
    start, rows = np.array([1.0, 2.0, 3.0]), np.arange(12.0).reshape(4, 3)
    for _ in range(2):
        carry, results = run(ua.asarray(start), ua.asarray(rows))
        expected, stacked = start, []
        for row in rows:
            expected = expected * 0.5 + row
            stacked.append(expected * 2)
        assert_same(carry, expected)
        assert_same(results["before"], stacked)
        assert_same(results["row"], rows)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"])
def test_scan_keeps_dtypes(backend: str, way: Function, dtype: str) -> None:
    start, rows = np.array([1, 0]).astype(dtype), np.array([[1, 1], [0, 1], [1, 0]]).astype(dtype)
    combine = ua.logical_xor if dtype == "bool" else ua.subtract
    run = way(lambda carry, xs: ua.scan(lambda c, x: (combine(c, x), combine(x, c)), carry, xs))
    carry, results = run(ua.asarray(start), ua.asarray(rows))
    numpy, stacked = (np.logical_xor if dtype == "bool" else np.subtract), []
    for row in rows:
        start, result = numpy(start, row), numpy(row, start)
        stacked.append(result)
    assert_same(carry, start)
    assert_same(results, stacked)


def test_scan_from_the_end(backend: str, way: Function) -> None:
    run = way(lambda xs: ua.scan(lambda c, x: (c + x, c), 0, xs, reverse=True))
    carry, results = run(ua.asarray([1, 2, 4]))
    assert_same(carry, 7)
    assert_same(results, [6, 4, 0])


def test_scan_of_no_steps(backend: str, way: Function) -> None:
    written = ua.zeros(2)

    def step(carry: Any, x: Any) -> Any:
        written[0] = 1
        return carry + 1, (x, carry * 2)

    start = ua.ones(3)
    carry, (rows, results) = way(lambda xs: ua.scan(step, start, xs))(ua.zeros((0, 2)))
    assert_same(carry, np.ones(3))
    assert_same(rows, np.zeros((0, 2)))
    assert_same(results, np.zeros((0, 3)))
    assert_same(written, np.zeros(2))


def test_scan_without_arrays_to_loop_over(backend: str, way: Function) -> None:
    carry, results = way(lambda x: ua.scan(lambda c, _: (c * 2, None), x, length=5))(ua.asarray([1, 3]))
    assert_same(carry, [32, 96])
    assert results is None
    carry, results = way(lambda xs: ua.scan(lambda _, x: (None, x * x), None, xs))(ua.asarray([1, 3]))
    assert carry is None
    assert_same(results, [1, 9])


def test_a_step_owns_what_it_is_passed(backend: str, way: Function) -> None:
    def step(carry: Any, x: Any) -> Any:
        carry[0], other = carry[1], carry[0].copy()
        carry[1] = other + x[0]
        x[0] = 100
        return carry, (carry, x)

    start, rows = ua.asarray([1.0, 2.0]), ua.asarray([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    carry, (results, seen) = way(lambda c, xs: ua.scan(step, c, xs))(start, rows)
    assert_same(start, [1.0, 2.0])
    assert_same(rows, [[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
    assert_same(results, [[2.0, 2.0], [2.0, 4.0], [4.0, 5.0]])
    assert_same(carry, [4.0, 5.0])
    assert_same(seen, [[100.0, 5.0], [100.0, 6.0], [100.0, 7.0]])


def test_what_is_carried_shares_no_memory(backend: str, way: Function) -> None:
    outside = ua.asarray([1.0, 2.0])

    def step(carry: Any, x: Any) -> Any:
        first, second = carry
        first += x
        return (second, second), outside

    run = way(lambda: ua.scan(step, (outside, outside[::-1]), ua.asarray([1.0, 10.0, 100.0])))
    (first, second), results = run()
    assert_same(first, [2.0, 1.0])
    assert_same(second, [2.0, 1.0])
    assert_same(results, [[1.0, 2.0]] * 3)
    first += 1
    results[0, 0] = 9
    assert_same(second, [2.0, 1.0])
    assert_same(outside, [1.0, 2.0])


def test_two_arrays_change_places(backend: str, way: Function) -> None:
    def step(carry: Any, _: Any) -> Any:
        old, new = carry
        old[1:-1] = 2 * new[1:-1] - old[1:-1] + 0.25 * (new[2:] - 2 * new[1:-1] + new[:-2])
        return (new, old), None

    start = np.exp(-(np.linspace(-3, 3, 16) ** 2))
    (old, new), _ = way(lambda x: ua.scan(step, (x, x), length=7))(ua.asarray(start))
    expected = [start.copy(), start.copy()]
    for _ in range(7):
        a, b = expected
        a[1:-1] = 2 * b[1:-1] - a[1:-1] + 0.25 * (b[2:] - 2 * b[1:-1] + b[:-2])
        expected = [b, a]
    assert_same(old, expected[0])
    assert_same(new, expected[1])


def test_arrays_from_outside_are_written(backend: str, way: Function) -> None:
    def run(x: Any, count: Any) -> Any:
        view, turned = x[1:], x[::-1]

        def body(i: Any, total: Any) -> Any:
            view[i] += total
            return total + turned[0]

        return ua.fori_loop(0, 3, body, count)

    for each in (run, way(run)):
        x = ua.zeros(4)
        seen = x[:]
        assert_same(each(x, ua.asarray(1.0)), 2.0)
        assert_same(seen, [0.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_are_those_that_earlier_steps_wrote(backend: str, way: Function, *, reverse: bool) -> None:
    def run(x: Any, others: Any) -> Any:
        view = x[1:]

        def body(total: Any, rows: Any) -> Any:
            row, other = rows
            x[2] += other
            x[0] += 1
            return total + row, row

        return ua.scan(body, ua.zeros(2), (view, others), reverse=reverse)

    rows = np.arange(8.0).reshape(4, 2)
    expected, total, seen = rows.copy(), np.zeros(2), []
    for place in range(3)[:: -1 if reverse else 1]:
        row = expected[1 + place].copy()
        expected[2] += 10.0**place
        expected[0] += 1
        total, seen = total + row, [*seen, row]
    for each in (run, way(run)):
        x = ua.asarray(rows.copy())
        found, results = each(x, ua.asarray([1.0, 10.0, 100.0]))
        assert_same(found, total)
        assert_same(results, seen[:: -1 if reverse else 1])
        assert_same(x, expected)


def test_containers_are_carried(backend: str, way: Function) -> None:
    def step(state: Any, x: Any) -> Any:
        state.position += state.speed * 0.5
        state.speed -= x
        return state, state.position

    start = Container(position=ua.zeros(2), speed=ua.ones(2))
    state, track = way(lambda s, xs: ua.scan(step, s, xs))(start, ua.asarray([0.0, 1.0, 2.0]))
    assert isinstance(state, Container)
    assert_same(state.position, [1.0, 1.0])
    assert_same(state.speed, [-2.0, -2.0])
    assert_same(track, [[0.5, 0.5], [1.0, 1.0], [1.0, 1.0]])
    assert_same(start.position, [0.0, 0.0])


def test_while_loop(backend: str, way: Function) -> None:
    def root(x: Any) -> Any:
        def body(state: Any) -> Any:
            guess, steps = state
            return (guess + x / guess) / 2, steps + 1

        return ua.while_loop(lambda state: ua.any(ua.abs(state[0] ** 2 - x) > 1e-9), body, (ua.ones(3), 0))

    guess, steps = way(root)(ua.asarray([2.0, 3.0, 5.0]))
    assert_same(guess, np.sqrt([2.0, 3.0, 5.0]), rtol=1e-9)
    assert int(steps) in (5, 6)
    # Not one step.
    assert_same(way(root)(ua.asarray([1.0, 1.0, 1.0]))[1], 0)


def test_a_condition_sees_what_the_body_writes(backend: str, way: Function) -> None:
    def run(x: Any) -> Any:
        def body(steps: Any) -> Any:
            x[...] = x + x
            return steps + 1

        return ua.while_loop(lambda steps: ua.sum(x) < 100, body, 0)

    x = ua.asarray([1.0, 2.0])
    assert_same(way(run)(x), 6)
    assert_same(x, [64.0, 128.0])


@pytest.mark.parametrize("bounds", [(0, 5), (2, 2), (3, 1), (-2, 2)])
def test_fori_loop(backend: str, way: Function, bounds: tuple[int, int]) -> None:
    expected = 10
    for i in range(*bounds):
        expected = expected * 2 + i
    run = way(lambda start, stop: ua.fori_loop(start, stop, lambda i, c: c * 2 + i, 10))
    assert_same(run(*bounds), expected)
    # Bounds that a trace doesn't know.
    assert_same(run(*map(ua.asarray, bounds)), expected)


def test_map(backend: str, way: Function) -> None:
    run = way(lambda xs: ua.map(lambda row: (ua.sum(row), row[::-1]), xs))
    totals, turned = run(ua.asarray([[1, 2], [3, 4]]))
    assert_same(totals, [3, 7])
    assert_same(turned, [[2, 1], [4, 3]])


def test_cond(backend: str, way: Function) -> None:
    written = ua.zeros(2)

    def true(x: Any) -> Any:
        written[0] += 1
        x *= 2
        return x, 1.5

    def false(x: Any) -> Any:
        written[1] += 10
        return x + 1, ua.asarray(0.5)

    run = way(lambda x, limit: ua.cond(ua.sum(x) > limit, true, false, x))
    x = ua.asarray([1.0, 2.0])
    result, number = run(x, 1.0)
    assert_same(result, [2.0, 4.0])
    assert_same(number, 1.5)
    # An operand is written as any other array from outside, and the result is new.
    assert_same(x, [2.0, 4.0])
    result += 1
    assert_same(x, [2.0, 4.0])
    result, number = run(x, 100.0)
    assert_same(result, [3.0, 5.0])
    assert_same(number, 0.5)
    assert_same(x, [2.0, 4.0])
    assert_same(written, [1.0, 10.0])
    assert_same(way(lambda x: ua.cond(True, ua.sin, ua.cos, x))(x), np.sin([2.0, 4.0]))


@pytest.mark.parametrize("index", [-5, 0, 1, 2, 7])
def test_switch(backend: str, way: Function, index: int) -> None:
    branches = [lambda x: x + 1, lambda x: x * 10, lambda x: x - x]
    expected = [[2, 3], [10, 20], [0, 0]][min(max(index, 0), 2)]
    run = way(lambda index, x: ua.switch(index, branches, x))
    assert_same(run(ua.asarray(index), ua.asarray([1, 2])), expected)
    assert_same(run(index, ua.asarray([1, 2])), expected)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 13])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan(backend: str, length: int, reverse: bool) -> None:
    def combine(first: Any, second: Any) -> Any:
        # Two affine functions, one after the other.
        return {"a": second["a"] * first["a"], "b": second["a"] * first["b"] + second["b"]}

    rng = np.random.default_rng(length)
    a, b = rng.integers(-2, 3, (2, 2, length))
    found = ua.associative_scan(combine, {"a": ua.asarray(a), "b": ua.asarray(b)}, reverse=reverse, axis=1)
    total, expected = {"a": np.ones(2, int), "b": np.zeros(2, int)}, np.zeros((2, 2, length), int)
    for place in range(length)[:: -1 if reverse else 1]:
        total = combine(total, {"a": a[:, place], "b": b[:, place]})
        expected[:, :, place] = total["a"], total["b"]
    assert_same(found["a"], expected[0])
    assert_same(found["b"], expected[1])


def nested(x: Any) -> Any:
    total = ua.zeros(())

    def outer(i: Any, carry: Any) -> Any:
        def inner(carry: Any, a: Any) -> Any:
            total[...] += a
            return carry + a * i, a

        carry, _ = ua.scan(inner, carry, x)
        return ua.cond(carry > 10, lambda: carry - 1, lambda: carry + 0.5)

    return ua.fori_loop(0, 4, outer, 0.0), total


def test_loops_in_loops(backend: str, way: Function) -> None:
    result, total = way(nested)(ua.asarray([1.0, 2.0, 3.0]))
    assert_same(result, 35.0)
    assert_same(total, 24.0)


def losses() -> dict[str, Function]:
    def scanned(x: Any) -> Any:
        carry, results = ua.scan(lambda c, a: (c * a + 1, c), 1.0, x)
        return carry + ua.sum(results)

    def counted(x: Any) -> Any:
        return ua.sum(ua.fori_loop(0, 3, lambda i, c: c * x + i, ua.ones(3)))

    def chosen(x: Any) -> Any:
        return ua.cond(ua.sum(x) > 5, lambda: ua.sum(x * x), lambda: ua.sum(x))

    def combined(x: Any) -> Any:
        return ua.sum(ua.associative_scan(ua.multiply, x))

    return {
        "scan": scanned,
        "fori_loop": counted,
        "cond": chosen,
        "associative": combined,
        "nested": lambda x: nested(x)[0],
    }


GRADIENTS = {
    "scan": [9.0, 8.0, 5.0],
    "fori_loop": [4.0, 13.0, 28.0],
    "cond": [2.0, 4.0, 6.0],
    "associative": [9.0, 4.0, 2.0],
    "nested": [6.0, 6.0, 6.0],
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("compiles", [False, True])
def test_gradients(backend: str, name: str, compiles: bool) -> None:
    skip_without_derivatives(backend)
    gradient = ua.grad(losses()[name])
    gradient = ua.compile(gradient) if compiles else gradient
    assert_same(gradient(ua.asarray([1.0, 2.0, 3.0])), GRADIENTS[name], rtol=1e-12)


@pytest.mark.parametrize("name", ["scan", "fori_loop", "cond"])
@pytest.mark.parametrize("compiles", [False, True])
@pytest.mark.filterwarnings("ignore:tensorflow runs this operation by operation")
def test_batches(backend: str, name: str, compiles: bool) -> None:
    skip_without_derivatives(backend)
    loss = losses()[name]
    batched = ua.compile(ua.vmap(loss)) if compiles else ua.vmap(loss)
    x = ua.asarray([[1.0, 2.0, 3.0], [0.0, 1.0, 0.5]])
    assert_same(batched(x), [float(loss(row)) for row in x], rtol=1e-12)


WRONG: dict[str, tuple[Function, type[Exception], str]] = {
    "shape": (lambda: ua.scan(lambda c, x: (ua.concat([c, c]), c), ua.ones(2), ua.ones(3)), ShapeError, r"\(4,\)"),
    "dtype": (lambda: ua.scan(lambda c, x: (c > 0, c), ua.ones(2), ua.ones(3)), DtypeError, "bool"),
    "nest": (lambda: ua.scan(lambda c, x: ((c, c), c), ua.ones(2), ua.ones(3)), StructureError, "structure"),
    "pair": (lambda: ua.scan(lambda c, x: c, ua.ones(2), ua.ones(3)), TypeError, "pair"),
    "lengths": (lambda: ua.scan(lambda c, x: (c, c), 1.0, ua.ones(3), length=2), ShapeError, r"\[2, 3\]"),
    "negative": (lambda: ua.scan(lambda c, x: (c, c), 1.0, length=-1), ValueError, "at least 0"),
    "no length": (lambda: ua.scan(lambda c, x: (c, c), 1.0), TypeError, "length="),
    "text": (lambda: ua.scan(lambda c, x: (c, c), "a", ua.ones(3)), TypeError, "'a'"),
    "number": (lambda: ua.scan(lambda c, x: (c, c), 1.0, 2.0), ShapeError, "0-d"),
    "no function": (lambda: ua.scan(1, 1.0, ua.ones(3)), TypeError, "function"),  # type: ignore[arg-type]
    "several": (lambda: ua.cond(ua.ones(2) > 0, ua.sin, ua.cos, 1.0), TypeError, r"ua\.any"),
    "no bool": (lambda: ua.while_loop(lambda c: c, lambda c: c, 1.0), TypeError, "float64"),
    "index": (lambda: ua.switch(1.5, [ua.sin], 1.0), TypeError, "1.5"),
    "no branches": (lambda: ua.switch(1, []), TypeError, "at least one"),
    "bound": (lambda: ua.fori_loop(0, 2.5, lambda i, c: c, 1.0), TypeError, "2.5"),
    "step": (lambda: ua.fori_loop(0, 2, lambda i, c: c > 0, 1.0), DtypeError, "fori_loop"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_loops(backend: str, what: str) -> None:
    function, error, match = WRONG[what]
    for each in (function, ua.compile(function)):
        with pytest.raises(error, match=match):
            each()


def test_branches_of_other_types_are_refused_in_traces(backend: str) -> None:
    run = ua.compile(lambda p: ua.cond(p, lambda: ua.ones(2), lambda: ua.ones(3)))
    with pytest.raises(ShapeError, match=r"^cond\(\): .* first function .* \(2,\).*second function .* \(3,\)"):
        run(ua.asarray(True))


def test_a_condition_writes_nothing(backend: str) -> None:
    x = ua.zeros(1)

    def condition(steps: Any) -> Any:
        x[0] += 1
        return steps < 3

    with pytest.raises(InplaceUpdateError, match="condition"):
        ua.compile(lambda: ua.while_loop(condition, lambda steps: steps + 1, 0))()
    assert_same(x, [0.0])


def test_a_step_that_raises_leaves_arrays_as_they_were(backend: str) -> None:
    x = ua.zeros(3)

    def step(carry: Any, index: Any) -> Any:
        x[index] = 1.0
        return carry, None

    if backend in ("numpy", "torch"):
        with pytest.raises(IndexError):
            ua.compile(lambda places: ua.scan(step, 0, places))(ua.asarray([0, 1, 5]))
        assert_same(x, [0.0, 0.0, 0.0])


def test_errors_of_traces_name_loops_and_branches(backend: str) -> None:
    def looped(x: Any) -> Any:
        while ua.max(x) < 10:
            x = x * 2
        return x

    with pytest.raises(TraceError, match=r"ua\.while_loop"):
        ua.compile(looped)(ua.ones(2))


@pytest.mark.chunks(8)
def test_sums_have_the_bits_of_eager_calls_in_any_layout(backend: str) -> None:
    values = np.random.default_rng(0).normal(size=(4, 37, 23))
    layouts = [values, values.transpose(2, 1, 0).copy().transpose(2, 1, 0), np.repeat(values, 2, axis=2)[:, :, ::2]]

    def run(xs: Any, start: Any, outside: Any) -> Any:
        def step(carry: Any, x: Any) -> Any:
            outside[...] += x[0]
            carry = ua.sin(carry) + x
            return carry, (ua.sum(carry), ua.sum(x, axis=0), ua.sum(outside))

        return ua.scan(step, start, xs)[1]

    for rows in layouts:
        for first in layouts:
            found = [
                each(ua.asarray(rows), ua.asarray(first)[0], ua.asarray(first, copy=True)[0])
                for each in (run, ua.compile(run))
            ]
            for eager, compiled in zip(*found, strict=True):
                assert_same(compiled, np.asarray(eager), rtol=0 if backend in ("numpy", "torch") else None)


def test_floats_of_arguments_may_change_without_a_new_trace(backend: str) -> None:
    traced = []

    @ua.compile
    def run(start: float, rate: float, xs: Any) -> Any:
        traced.append(1)
        carry, results = ua.scan(lambda c, x: (c * rate + x, c), start, xs)
        return ua.cond(carry > 3, lambda: carry * rate, lambda: carry + start), results

    for start, rate in ((1.0, 0.5), (2.0, 0.25), (8.0, 2.0)):
        result, results = run(start, rate, ua.asarray([1.0, 2.0]))
        carry = (start * rate + 1) * rate + 2
        assert_same(results, [start, start * rate + 1])
        assert_same(result, carry * rate if carry > 3 else carry + start)
    assert len(traced) == 1


def test_another_engine_loops_for_numpys_arrays(backend: str) -> None:
    written = ua.asarray(np.zeros(2), backend="numpy")

    def run(x: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            written[0] += row[0]
            carry += row
            return carry, carry

        return ua.scan(step, ua.zeros_like(x[0]), x)

    x = ua.asarray(np.arange(6.0).reshape(3, 2), backend="numpy")
    carry, results = ua.compile(run, backend=backend)(x)
    assert carry.backend == results.backend == "numpy"
    assert_same(carry, [6.0, 9.0])
    assert_same(results, [[0.0, 1.0], [2.0, 4.0], [6.0, 9.0]])
    assert_same(written, [6.0, 0.0])


def test_loops_and_branches_that_give_nothing(backend: str, way: Function) -> None:
    written = ua.zeros(2)

    def write(_: Any) -> None:
        written[0] += 1

    def run(p: Any) -> Any:
        nothing = ua.scan(lambda c, x: (None, None), None, ua.ones(2)), ua.cond(p, lambda: None, lambda: None)
        ua.fori_loop(0, 3, lambda i, c: write(c), None)
        ua.cond(p, write, lambda _: None, 0)
        return nothing

    assert way(run)(ua.asarray(True)) == ((None, None), None)
    assert_same(written, [4.0, 0.0])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, 3, 9, True, False])
def test_steps_that_are_written_out_give_the_same(backend: str, unroll: int | bool, reverse: bool) -> None:
    total = ua.zeros(2)

    def step(c: Any, x: Any) -> Any:
        c *= 0.5
        c += x
        total[...] += c
        return c, {"twice": c * 2, "x": x}

    def loop(xs: Any) -> Any:
        return ua.scan(step, ua.zeros(2), xs, reverse=reverse, unroll=unroll)

    for length in (0, 1, 4, 5) if backend in ("numpy", "torch") else (5,):
        xs = ua.asarray(np.arange(2.0 * length).reshape(length, 2))
        total[...] = 0
        wanted = loop(xs)
        sums = as_numpy(total).copy()
        total[...] = 0
        found = ua.compile(loop)(xs)
        assert_same(found[0], as_numpy(wanted[0]))
        for name in ("twice", "x"):
            assert_same(found[1][name], as_numpy(wanted[1][name]))
        assert_same(total, sums)


def test_unroll_is_a_number_of_steps() -> None:
    for wrong, error in ((0, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match=r"scan\(\): unroll"):
            ua.scan(lambda c, x: (c, x), 0.0, ua.ones(2), unroll=wrong)  # type: ignore[call-overload]
