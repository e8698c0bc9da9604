"""Compiled functions: how they're called, arrays that they update, and memory that nothing shares."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import ShapeError
from unifyarr.testing import has

from ...oracle import as_numpy, assert_same

MODES = ["fast", "pure", "debug"]


def array(*values: float) -> Array:
    return ua.asarray(np.array(values, dtype=float), copy=True)


def shares(first: Array, second: Array) -> bool:
    """Return whether a write to one array shows in the other."""
    before = as_numpy(second).copy()
    kept = as_numpy(first).copy()
    first[...] = kept + 100
    seen = not np.array_equal(as_numpy(second), before)
    first[...] = kept
    return seen


# Calls


def test_a_compiled_function_has_the_name_of_the_function(backend: str) -> None:
    def doubled(x: Array) -> Array:
        """Return twice x."""
        return x * 2

    compiled = ua.compile(doubled)
    assert (compiled.__name__, compiled.__doc__) == ("doubled", "Return twice x.")
    assert "doubled" in str(compiled.memory(array(1, 2)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "returned",
    [
        pytest.param(lambda x: None, id="nothing"),
        pytest.param(lambda x: [], id="an empty list"),
        pytest.param(lambda x: (), id="an empty tuple"),
        pytest.param(lambda x: x * 3, id="an array"),
        pytest.param(lambda x: [x * 3], id="a list of one"),
        pytest.param(lambda x: [x * 3, x * 2, x * 4, x], id="a list"),
        pytest.param(lambda x: {"a": (x, None), "b": 7}, id="a nest"),
    ],
)
def test_what_is_returned(backend: str, mode: str, returned: Callable[[Array], Any]) -> None:
    def plain(tree: Any) -> Any:
        if isinstance(tree, dict):
            return {key: plain(each) for key, each in tree.items()}
        if isinstance(tree, (list, tuple)):
            return type(tree)(map(plain, tree))
        return as_numpy(tree).tolist() if isinstance(tree, Array) else tree

    compiled = ua.compile(returned, mode=mode)
    for _ in range(2):
        assert plain(compiled(array(5, 6))) == plain(returned(array(5, 6)))


def test_arguments_by_position_and_by_name(backend: str) -> None:
    divided = ua.compile(lambda x, s: x / s)
    for _ in range(2):
        assert float(divided(array(1), array(2))[0]) == 0.5
        assert float(divided(s=array(2), x=array(1))[0]) == 0.5
        assert float(divided(array(2), s=array(1))[0]) == 2.0
    for args, kwargs, words in (
        ((array(2),), {"x": array(2)}, "multiple values"),
        ((), {"x": array(1)}, "missing"),
        ((array(1), array(2), array(3)), {}, "positional"),
        ((array(1),), {"q": array(2)}, "q"),
        ((), {}, "missing"),
    ):
        with pytest.raises(TypeError, match=words):
            divided(*args, **kwargs)


def test_arguments_without_a_name(backend: str) -> None:
    def divided(unused: Any, a: Array, /, s: Array) -> Array:
        return a / s

    compiled = ua.compile(divided)
    assert float(compiled(9, array(1), array(2))[0]) == 0.5
    assert float(compiled(9, array(2), s=array(1))[0]) == 2.0
    with pytest.raises(TypeError):
        compiled(unused=9, a=array(2), s=array(1))
    with pytest.raises(TypeError):
        compiled(array(5), s=array(9))


# Arrays from outside, which PyTensor has as shared variables with updates


@pytest.mark.parametrize("mode", MODES)
def test_a_counter_counts(backend: str, mode: str) -> None:
    count = ua.asarray(0.0)

    @ua.compile(mode=mode)
    def counted() -> Array:
        old = count.copy()
        count[...] += 1
        return old

    assert [float(counted()) for _ in range(3)] == [0.0, 1.0, 2.0]
    count[...] = 10.0
    assert float(counted()) == 10.0


def test_functions_share_what_they_capture(backend: str) -> None:
    w = array(1, 2, 3)
    added, multiplied = ua.compile(lambda x: w + x), ua.compile(lambda x: w * x)

    @ua.compile
    def lowered(x: Array) -> Array:
        result = w + x
        w[...] = w - 1
        return result

    x = array(10, 20, 30)
    assert as_numpy(added(x)).tolist() == [11, 22, 33]
    assert as_numpy(multiplied(x)).tolist() == [10, 40, 90]
    assert as_numpy(lowered(x)).tolist() == [11, 22, 33]
    assert as_numpy(added(x)).tolist() == [10, 21, 32]
    # From outside, too.
    w[...] = w * 10
    assert as_numpy(added(x)).tolist() == [10, 30, 50]
    assert as_numpy(multiplied(x)).tolist() == [0, 200, 600]


@pytest.mark.parametrize("is_updated_by", [("first", "second"), ("first",)])
def test_two_functions_with_one_state(backend: str, is_updated_by: tuple[str, ...]) -> None:
    state = ua.asarray(0.0)

    def step(sign: float, updates: bool) -> Any:
        @ua.compile
        def run(x: Array, a: Array) -> Array:
            result = state + sign * a * x
            if updates:
                state[...] = result
            return result

        return run

    first, second = step(1.0, "first" in is_updated_by), step(-1.0, "second" in is_updated_by)
    one, two = ua.asarray(1.0), ua.asarray(2.0)
    assert float(first(one, two)) == float(state) == 2.0
    assert float(second(one, two)) == 0.0
    assert float(state) == (0.0 if "second" in is_updated_by else 2.0)


def updates_in_turn(x: Array, y: Array, z: Array) -> None:
    """Each gets its new value from the old ones of all."""
    old = x.copy(), y.copy(), z.copy()
    x[...] = old[0] - old[1]
    y[...] = old[2]
    z[...] = old[2] - 1


def updates_of_powers(x: Array, y: Array, z: Array) -> None:
    total = x * 5 + y
    z[...] = total**z
    y[...] = total
    x *= 5


def updates_to_constants(x: Array, y: Array, z: Array) -> None:
    x[...] = 3
    y += 1
    z += y


def updates_to_themselves(x: Array, y: Array, z: Array) -> None:
    x[...] = x
    y[...] = 2 * y - y
    z[...] = 2 * z


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("function", [updates_in_turn, updates_of_powers, updates_to_constants, updates_to_themselves])
def test_updates(backend: str, mode: str, function: Callable[..., None]) -> None:
    ours = array(2, 4, 1), array(1, 4, -1), array(2, 2, 1)
    right = [each.copy() for each in ours]
    compiled = ua.compile(lambda: function(*ours), mode=mode)
    for _ in range(3):
        compiled()
        function(*right)
        for mine, wanted in zip(ours, right, strict=True):
            assert_same(mine, as_numpy(wanted))
            assert mine.shape == (3,)
        assert not any(shares(mine, other) for mine in ours for other in ours if other is not mine)


def test_an_update_that_does_not_fit(backend: str) -> None:
    number, other = ua.asarray(1.0), array(1, 2)

    @ua.compile
    def wrong() -> None:
        other[...] += 1
        number[...] = other

    with pytest.raises((ShapeError, ValueError), match=re.escape("(2,)")):
        wrong()
    assert (float(number), as_numpy(other).tolist()) == (1.0, [1.0, 2.0])


# Memory


A, B, C = ((lambda a, b, c: a), (lambda a, b, c: b), (lambda a, b, c: c))
# The new A, the new B, and the result, each of A, B and an argument.
UPDATES: dict[str, tuple[Any, Any, Any]] = {
    "A becomes B": (B, None, None),
    "A becomes B, and B the argument": (B, C, None),
    "A and B are exchanged": (B, A, None),
    "exchanged through views": (lambda a, b, c: b[:, ::-1], lambda a, b, c: a.T, None),
    "both become the argument": (C, C, None),
    "a view of the argument, and the argument": (lambda a, b, c: c[:], C, None),
    "a result, and a view of the argument": (lambda a, b, c: c + 5, lambda a, b, c: c[:], None),
    "a result, and the argument": (lambda a, b, c: c + 5, C, None),
    "a row of a result, and the result": (lambda a, b, c: (c + 5)[:1], lambda a, b, c: c + 5, lambda a, b, c: c + 5),
    "a row, and twice that row": (
        lambda a, b, c: (c + 5)[:1],
        lambda a, b, c: (c + 5)[:1] * 2,
        lambda a, b, c: c + 5,
    ),
    "equal rows": (lambda a, b, c: (c + 5)[:1] * 3, lambda a, b, c: (c + 5)[:1] * 3, lambda a, b, c: (c + 5) * 4),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", UPDATES)
def test_updates_share_nothing(backend: str, mode: str, case: str) -> None:
    of_a, of_b, of_result = UPDATES[case]
    a, b = ua.full((2, 2), 0.5), ua.asarray(np.arange(4.0).reshape(2, 2), copy=True)

    @ua.compile(mode=mode)
    def function(c: Array) -> Array | None:
        old = a.copy(), b.copy(), c
        result = None if of_result is None else of_result(*old)
        if of_b is not None:
            b[...] = of_b(*old)
        a[...] = of_a(*old)
        return result

    for turn in range(2):
        c = ua.asarray(np.arange(4.0).reshape(2, 2) * 7 + turn, copy=True)
        old = as_numpy(a).copy(), as_numpy(b).copy(), as_numpy(c).copy()
        found = function(c)
        for made, how, before in ((a, of_a, old[0]), (b, of_b, old[1])):
            wanted = before if how is None else np.broadcast_to(how(*old), (2, 2))
            assert_same(made, wanted)
        assert_same(c, old[2])
        arrays = [a, b, c]
        if of_result is not None:
            assert_same(found, of_result(*old))
            arrays.append(found)
        assert not any(shares(first, second) for first in arrays for second in arrays if first is not second)


@pytest.mark.parametrize("mode", MODES)
def test_results_are_nobodys_but_the_callers(backend: str, mode: str) -> None:
    x = ua.asarray(np.arange(9.0).reshape(3, 3), copy=True)
    for function in (lambda x: x + 1, lambda x: x * 4, lambda x: ua.concat([x, x])):
        compiled = ua.compile(function, mode=mode)
        first = compiled(x)
        kept = as_numpy(first).copy()
        assert not shares(first, x)
        second = compiled(x + 0.1)
        assert_same(first, kept)
        assert not shares(first, second)
        assert_same(first, as_numpy(function(x)))
    # A row of the argument is a view of it, as in the function itself.
    row = ua.compile(lambda x: x[0, :], mode=mode)(x)
    assert shares(row, x) == shares(x[0, :], x)


@pytest.mark.parametrize("borrow", [False, True])
def test_a_constant_that_is_returned(backend: str, borrow: bool) -> None:
    compiled = ua.compile(lambda: ua.full((1,), 4.0), borrow=borrow)
    first = compiled()
    assert as_numpy(first).tolist() == [4.0]
    first[0] = 3.0
    if not borrow:
        assert as_numpy(compiled()).tolist() == [4.0]
        assert as_numpy(first).tolist() == [3.0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("overlap", ["the same", "in part", "in a chain", "nothing"])
def test_mutable_arguments_that_overlap(backend: str, mode: str, overlap: str) -> None:
    def function(x: Array, y: Array, z: Array, m: Array, n: Array) -> Array:
        return (x * 2) @ m + (y * 3) @ n + (z * 4) @ m

    compiled = ua.compile(function, mode=mode, mutable=("x", "y", "z", "m", "n"))
    values, matrix = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([[1.0, 2.0], [0.0, 1.0]])
    places = {"the same": (0, 0, 0), "in part": (0, 1, 0), "in a chain": (0, 1, 2), "nothing": (0, 0, 0)}[overlap]
    bases = [ua.asarray(values, copy=True) for _ in range(1 if overlap != "nothing" else 3)]
    vectors = [bases[place % len(bases)][start : start + 2] for place, start in enumerate(places)]
    m = ua.asarray(matrix, copy=True)
    n = m if overlap != "nothing" else ua.asarray(matrix, copy=True)
    parts = [values[start : start + 2] for start in places]
    right = (parts[0] * 2) @ matrix + (parts[1] * 3) @ matrix + (parts[2] * 4) @ matrix
    assert_same(compiled(*vectors, m, n), right)


def test_what_is_mutable_is_used(backend: str) -> None:
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have memory to use again: not {backend}")
    x = array(1, 2, 3)
    assert_same(ua.compile(lambda x: x * 2, mutable="x")(x), np.array([2.0, 4.0, 6.0]))
    assert_same(x, np.array([2.0, 4.0, 6.0]))
