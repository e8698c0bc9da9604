"""Operations dropped from a graph because the kernel that reads them does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import as_numpy

ROWS = np.linspace(-2.0, 3.0, 12).reshape(3, 4)
BROADCASTS: dict[str, tuple[Callable[[ua.Array, ua.Array], ua.Array], tuple[int, ...], int]] = {
    "a row": (lambda x, y: ua.multiply(x, ua.broadcast_to(y, (3, 4))), (4,), 0),
    "a column": (lambda x, y: ua.divide(ua.broadcast_to(y, (3, 4)), x), (3, 1), 0),
    "both sides": (lambda x, y: ua.add(ua.broadcast_to(x[0], (3, 4)), ua.broadcast_to(y, (3, 4))), (3, 1), 0),
    "nothing else has the shape": (lambda x, y: ua.sin(ua.broadcast_to(y, (3, 4))), (4,), 1),
    "one element": (lambda x, y: ua.pow(ua.exp(x), ua.broadcast_to(y, (3, 4))), (), 1),
    "no elementwise function": (lambda x, y: ua.stack([x, ua.broadcast_to(y, (3, 4))]), (4,), 1),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasts_that_elementwise_functions_do(backend: str, name: str) -> None:
    function, shape, left = BROADCASTS[name]
    values = np.resize(ROWS + 0.5, shape)
    x, y = ua.asarray(ROWS), ua.asarray(values)
    compiled = ua.compile(function, exclude=["fuse"])
    expected = as_numpy(function(x, y))
    if backend in ("numpy", "torch"):
        np.testing.assert_array_equal(as_numpy(compiled(x, y)), expected)
    else:
        np.testing.assert_allclose(as_numpy(compiled(x, y)), expected, rtol=1e-15)
    assert [each.op.name for each in compiled.graph(x, y).toposort()].count("broadcast_to") == left


@pytest.mark.parametrize("shape", [(3, 4), (0, 4)])
def test_shifts_of_shifts_are_one(backend: str, shape: tuple[int, ...]) -> None:
    def function(x: ua.Array) -> ua.Array:
        return ua.roll(ua.roll(ua.roll(x, 2, axis=1), (-1, 3), axis=(0, 1)), 1)

    x = ua.asarray(np.resize(ROWS, shape))
    compiled = ua.compile(function)
    assert compiled(x).tolist() == function(x).tolist()
    # The last one is of the flat array.
    assert [each.op.name for each in compiled.graph(x).toposort()].count("roll") == 2
    used = ua.compile(lambda x: (ua.roll(y := ua.roll(x, 1, axis=0), 1, axis=0), y))(x)
    assert [each.tolist() for each in used] == [ua.roll(x, places, axis=0).tolist() for places in (2, 1)]


FACTORS: dict[str, tuple[Callable[[ua.Array], ua.Array], int]] = {
    "a number": (lambda x: ua.sin(x * 1.0), 0),
    "an array": (lambda x: ua.sin(ua.asarray([[1.0]] * 3) * x), 0),
    "a large one": (lambda x: ua.sin(x * ua.broadcast_to(ua.asarray(1.0), (3, 4))), 0),
    "a power": (lambda x: ua.sin(ua.pow(x, 1)), 0),
    "a wider result": (lambda x: ua.sin(ua.asarray([[[1.0]]] * 2) * x), 1),
    "another dtype": (lambda x: ua.sin(ua.astype(x, "float32") * ua.asarray([1.0] * 4)), 0),
    "not one": (lambda x: ua.sin(x * ua.asarray([1.0, 1.0, 1.0, 2.0])), 1),
    "complex numbers": (lambda x: ua.sin(ua.sqrt(ua.astype(x, "complex128")) * 1.0), 1),
    "backwards": (lambda x: ua.sin(x[::-1, ::-1] * 1.0), 1),
}


@pytest.mark.parametrize("name", FACTORS)
@needs("writes")
def test_factors_of_one(backend: str, name: str) -> None:
    function, left = FACTORS[name]
    x = ua.asarray(ROWS)
    compiled = ua.compile(function, exclude=["fuse"])
    np.testing.assert_array_equal(as_numpy(compiled(x)), as_numpy(function(x)))
    names = [each.op.name for each in compiled.graph(x).toposort()]
    # The compilers of other engines drop powers by themselves.
    assert names.count("multiply") + names.count("pow") == (1 if name == "a power" and backend != "numpy" else left)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64", "int8", "uint64", "bool", "bfloat16"])
@pytest.mark.parametrize("value", [0, -0.0, 1, 200.5, float("nan"), float("inf")])
def test_a_number_for_all_elements(backend: str, value: float, dtype: str) -> None:
    """Arrays are filled, but for a NaN, whose bits a Python number may not keep, and for reversed ones."""

    def fill(x: ua.Array) -> ua.Array:
        with np.errstate(all="ignore"):
            x[...] = ua.astype(ua.asarray(value), dtype)
        x[1:, :1] = x[:-1, 1:2]
        return x[:, 1:] == x[:, :-1]

    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1]):
        mine, theirs = (view(ua.astype(ua.asarray(ROWS, copy=True), dtype)) for _ in range(2))
        compiled = ua.compile(fill)
        np.testing.assert_array_equal(as_numpy(compiled(mine)), as_numpy(fill(theirs)))
        assert as_numpy(mine).tobytes() == as_numpy(theirs).tobytes()


@needs("writes")
def test_a_number_for_all_elements_takes_no_copy(backend: str) -> None:
    def fill(x: ua.Array) -> None:
        x[...] = 0.0
        x[1:] = 2.0

    def names(x: ua.Array) -> list[str]:
        return [each.op.name for each in ua.compile(fill, exclude=["fuse"]).graph(x).toposort()]

    x = ua.zeros((100, 100))
    assert "laid_out" not in names(x)
    assert "zeros" in names(x)
    assert "laid_out" in names(x.T)


@needs("writes")
def test_each_write_has_zeros_of_its_own(backend: str) -> None:
    def parts(x: ua.Array) -> tuple[ua.Array, ua.Array, ua.Array]:
        first, second, third = ua.zeros_like(x), ua.zeros_like(x), ua.zeros_like(x)
        first[1:] = x[1:]
        second[:-1] = x[1:] * x[:-1]
        return first, second, third + x

    x = ua.asarray(np.linspace(0.0, 1.0, 10_000).reshape(100, 100))
    compiled = ua.compile(parts, exclude=["fuse"])
    for found, wanted in zip(compiled(x), parts(x), strict=True):
        np.testing.assert_array_equal(as_numpy(found), as_numpy(wanted))
    nodes = compiled.graph(x).toposort()
    assert [each.op.name for each in nodes].count("zeros") == 3
    # None works on a copy.
    assert all(each.op.destroy_map for each in nodes if each.op.name.startswith("set_window"))


@pytest.mark.parametrize("make", [ua.zeros_like, ua.ones_like, lambda x: ua.full_like(x, 2.5)])
def test_what_is_filled_is_made_anew_by_each_call(backend: str, make: Callable[[ua.Array], ua.Array]) -> None:
    """Large arrays may lie in memory that was used before, though not while anybody sees it."""

    def shifted(x: ua.Array) -> tuple[ua.Array, ua.Array]:
        y = make(x)
        y[1:] = x[:-1]
        return y, make(x)

    values = np.linspace(0.0, 1.0, 40_000).reshape(200, 200)
    compiled, kept, wanted = ua.compile(shifted), [], []
    for number in range(6):
        x = ua.asarray(values + number, copy=True)
        found = compiled(x)
        # Half of the results are dropped.
        kept += found if number % 2 else ()
        wanted += [as_numpy(each).copy() for each in shifted(x)] if number % 2 else []
    for one, other in zip(kept, wanted, strict=True):
        np.testing.assert_array_equal(as_numpy(one), other)


def column(x: ua.Array, w: ua.Array) -> None:
    square = ua.reshape(x, (4, 4))
    square[:, 1] = square[0] * w


def halves(x: ua.Array, w: ua.Array) -> None:
    ua.reshape(x, (8, 2)).T[1] = x[:8] * w[0]


def pairs(x: ua.Array, w: ua.Array) -> None:
    ua.reshape(x, (2, 8))[1:] = ua.reshape(x, (8, 2)).T[:1] * w[0]


def copied(x: ua.Array, w: ua.Array) -> None:
    y = ua.reshape(x + 1, (4, 4)).copy()
    y[:, 1] = y[0] * w
    x[...] = ua.reshape(y, x.shape)


@pytest.mark.parametrize("in_branch", [False, True])
@pytest.mark.parametrize("function", [column, halves, pairs, copied])
def test_windows_of_what_is_reshaped(
    backend: str, function: Callable[[ua.Array, ua.Array], None], in_branch: bool
) -> None:
    # XLA on the CPU (jaxlib 0.10) writes to the memory that the value still reads.
    def step(x: ua.Array, w: ua.Array) -> ua.Array:
        y = x.copy()

        def written() -> ua.Array:
            z = y.copy()
            function(z, w)
            z[1:3] = w[:2] * 0.5
            return z

        return ua.cond(ua.sum(w) < 100, written, lambda: y) if in_branch else written()

    x, w = ua.asarray(np.sin(np.arange(16.0))), ua.asarray([1.5, -0.5, 2.0, 0.25])
    np.testing.assert_allclose(as_numpy(ua.compile(step)(x, w)), as_numpy(step(x, w)), rtol=1e-14)


def inverses(first: object, second: object) -> Callable[[ua.Array], ua.Array]:
    return lambda x: ua.linalg.inv(x + first) @ ua.linalg.inv(x + second)


EQUALS = {
    "numbers": (inverses(2.0, 2.0), 1),
    "lists": (inverses([1.0, 2.0], [1.0, 2.0]), 1),
    "of other values": (inverses(2.0, 2.5), 2),
    "of other signs": (inverses(0.0, -0.0), 2),
}


@pytest.mark.filterwarnings("ignore::unifyarr.errors.CompileWarning")
@pytest.mark.parametrize("case", EQUALS)
def test_equal_operations_of_numbers_run_once(backend: str, case: str) -> None:
    function, count = EQUALS[case]
    x = ua.asarray([[3.0, 1.0], [0.5, 2.0]])
    compiled = ua.compile(function)
    np.testing.assert_allclose(as_numpy(compiled(x)), as_numpy(function(x)), rtol=1e-14)
    assert [each.op.name for each in compiled.graph(x).toposort()].count("inv") == count


def named(function: Callable[..., ua.Array], *arrays: ua.Array) -> list[str]:
    return [each.op.name for each in ua.compile(function, exclude="fuse").graph(*arrays).toposort()]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32", "complex128"])
def test_two_signs_are_none(backend: str, dtype: str) -> None:
    x = ua.asarray(np.array([-128, 0, 5]).astype(dtype))
    assert named(lambda x: -(-x) + x, x) == ["add"]
    np.testing.assert_array_equal(as_numpy(ua.compile(lambda x: -(-x))(x)), as_numpy(x))


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
def test_one_absolute_value_is_enough(backend: str, dtype: str) -> None:
    x = ua.asarray(np.array([-128, 0, 5]).astype(dtype))
    assert named(lambda x: abs(abs(x)), x) == ["abs"]
    np.testing.assert_array_equal(as_numpy(ua.compile(lambda x: abs(abs(x)))(x)), as_numpy(abs(abs(x))))


SIGNED = st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]), min_size=1, max_size=80)


@given(SIGNED, st.sampled_from([ua.max, ua.min]), st.sampled_from([1, 2]))
def test_the_least_of_all_has_the_same_zero(values: list[float], function: Callable[..., ua.Array], rows: int) -> None:
    """``-max(-x)`` is ``min(x)``, the sign of a zero included."""
    for backend in set(ua.available_backends()) & {"numpy", "torch"}:
        with ua.use_backend(backend):
            x = ua.asarray([values] * rows)
            for axis in (0, 1, None):
                found = as_numpy(ua.compile(lambda x, axis=axis: -function(-x, axis=axis))(x))
                wanted = as_numpy(-function(-x, axis=axis))
                np.testing.assert_array_equal(found, wanted)
                numbers = ~np.isnan(wanted)
                np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


def test_the_least_integer_has_no_opposite(backend: str) -> None:
    x = ua.asarray(np.array([-128, 5], np.int8))
    assert int(ua.compile(lambda x: -ua.max(-x))(x)) == int(-ua.max(-x)) == 5
    x = ua.asarray(np.array([0, 5], np.uint8))
    assert int(ua.compile(lambda x: -ua.max(-x))(x)) == int(-ua.max(-x))


@pytest.mark.parametrize("name", ["add", "multiply", "equal", "logical_xor"])
def test_operands_in_the_other_order_are_computed_once(backend: str, name: str) -> None:
    function = getattr(ua, name)
    x, y = ua.asarray(np.arange(6.0).reshape(2, 3)), ua.asarray(np.ones((2, 3)))
    both = lambda x, y: ua.stack([function(x, y), function(y, x)])  # noqa: E731
    assert named(both, x, y).count(name) == 1
    np.testing.assert_array_equal(as_numpy(ua.compile(both)(x, y)), as_numpy(both(x, y)))


def test_products_of_complex_numbers_keep_their_order(backend: str) -> None:
    x = ua.asarray([1 + 2j, 3j])
    assert named(lambda x, y: (x * y) - (y * x), x, x + 1).count("multiply") == 2


@needs("writes", why="an engine whose arrays have strides")
def test_results_that_lie_otherwise_stay_apart(backend: str) -> None:
    x, y = ua.asarray(np.ones((2, 3))), ua.asarray(np.ones((3, 2))).T
    both = lambda x, y: (x + y, y + x)  # noqa: E731
    assert [each.strides for each in ua.compile(both)(x, y)] == [each.strides for each in both(x, y)]


def test_branches_with_one_condition_are_one(backend: str) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        is_large = ua.sum(x) > 1
        first = ua.cond(is_large, lambda: x * 2, lambda: x - 1)
        second = ua.cond(is_large, lambda: y / 2, lambda: ua.exp(y))
        third = ua.cond(is_large, lambda: first + 1, lambda: first)
        return ua.stack([first, second, third])

    x, y = ua.asarray([0.5, 1.5]), ua.asarray([3.0, 4.0])
    # The third one reads the result of the first.
    assert named(function, x, y).count("switch") == 2
    compiled = ua.compile(function)
    for each in (x, -x):
        np.testing.assert_allclose(as_numpy(compiled(each, y)), as_numpy(function(each, y)), rtol=1e-15)


def test_branches_that_write_to_one_array_stay_in_order(backend: str) -> None:
    def function(x: ua.Array, z: ua.Array) -> None:
        def doubled() -> None:
            z[0] = z[0] * 2

        def raised() -> None:
            z[0] = z[0] + 1

        is_large = ua.sum(x) > 1
        ua.cond(is_large, doubled, lambda: None)
        ua.cond(is_large, raised, lambda: None)

    x, z, w = ua.asarray([0.5, 1.5]), ua.asarray([3.0, 4.0]), ua.asarray([3.0, 4.0])
    ua.compile(function)(x, z)
    function(x, w)
    np.testing.assert_array_equal(as_numpy(z), as_numpy(w))
    assert float(z[0]) == 7.0


def _inside(f: Any, *arrays: Any) -> int:
    """Return how many branches stand inside of loops and branches."""
    waiting, count = list(f.graph(*arrays).apply_nodes), 0
    while waiting:
        inner = [each for body in getattr(waiting.pop().op, "bodies", ()) for each in body.fgraph.apply_nodes]
        count += sum(each.op.name == "switch" for each in inner)
        waiting += inner
    return count


def _nested(x: ua.Array, y: ua.Array) -> ua.Array:
    is_large = ua.sum(x) > 1
    return ua.cond(is_large, lambda: x * 2, lambda: ua.cond(is_large, lambda: ua.exp(y), lambda: y - 1))


def _computed_again(x: ua.Array, y: ua.Array) -> ua.Array:
    return ua.cond(ua.sum(x) > 1, lambda: ua.cond(ua.sum(x) > 1, lambda: x * 2, lambda: y / 2), lambda: y - 1)


def _two_below(x: ua.Array, y: ua.Array) -> ua.Array:
    one, other = ua.sum(x) > 1, ua.sum(y) > 5

    def again() -> ua.Array:
        return ua.cond(one, lambda: x + y, lambda: ua.cond(other, lambda: x - y, lambda: y * 3))

    return ua.cond(one, lambda: ua.cond(other, again, lambda: -y), lambda: ua.cond(other, again, lambda: x))


def _in_a_loop(x: ua.Array, y: ua.Array) -> ua.Array:
    is_large = ua.sum(x) > 1

    def step(i: Any, s: ua.Array) -> ua.Array:
        return ua.cond(is_large, lambda: s * 2, lambda: s + y)

    return ua.cond(is_large, lambda: ua.fori_loop(0, 3, step, y), lambda: ua.fori_loop(0, 2, step, x))


def _chosen_by_number(x: ua.Array, y: ua.Array) -> ua.Array:
    number = ua.astype(ua.sum(x), "int64")
    inner = lambda: ua.switch(number, [lambda: x, lambda: y, lambda: x + y])  # noqa: E731
    return ua.switch(number, [lambda: inner() * 2, lambda: inner() - 1, inner])


def _writing(x: ua.Array, y: ua.Array) -> ua.Array:
    is_large = ua.sum(x) > 1

    def outer() -> None:
        x[0] = -5.0
        ua.cond(ua.sum(x) > 1, lambda: _write(y, 1.0), lambda: _write(y, 2.0))
        ua.cond(is_large, lambda: _write(x, 3.0), lambda: _write(y, 4.0))

    ua.cond(is_large, outer, lambda: None)
    return x + y


def _write(x: ua.Array, value: float) -> None:
    x[1] = value


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (_nested, 0),
        (_computed_again, 0),
        # One condition of each branch is another one.
        (_two_below, 2),
        (_in_a_loop, 0),
        (_chosen_by_number, 0),
        # The sum is another one once the array was written.
        (_writing, 1),
    ],
)
@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_a_branch_in_a_branch_of_the_same_condition_is_known(backend: str, function: Any, left: int, mode: Any) -> None:
    compiled = ua.compile(function, mode=mode)
    for values in ([0.5, 1.5], [0.5, -1.5], [0.25, 0.5]):
        for other in ([3.0, 4.0], [0.5, 1.0]):
            x, y = (ua.asarray(each) for each in (values, other))
            z, w = x.copy(), y.copy()
            np.testing.assert_allclose(as_numpy(compiled(x, y)), as_numpy(function(z, w)), rtol=1e-15)
            np.testing.assert_array_equal(as_numpy(x), as_numpy(z))
            np.testing.assert_array_equal(as_numpy(y), as_numpy(w))
    assert _inside(compiled, x, y) == left


def test_what_only_a_branch_that_never_runs_reads_is_not_computed(backend: str) -> None:
    def function(x: ua.Array) -> ua.Array:
        is_large, other = ua.sum(x) > 1, ua.cos(x)
        return ua.cond(is_large, lambda: ua.cond(is_large, lambda: x * 2, lambda: other), lambda: x)

    assert "cos" not in named(function, ua.asarray([0.5, 1.5]))


def test_gradients_of_nested_branches(backend: str) -> None:
    slope = ua.grad(lambda x: ua.sum(_nested(x, x * x)))
    for values in ([0.5, 1.5], [0.5, -1.5]):
        x = ua.asarray(values)
        np.testing.assert_allclose(as_numpy(ua.compile(slope)(x)), as_numpy(slope(x)), rtol=1e-15)
