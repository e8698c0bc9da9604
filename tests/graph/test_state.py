"""State outside of a compiled function: the rows of docs/guides/compiled-state.md."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.graph import random_nests
from unifyarr.errors import LostStateError, ShapeError, StaleStateError, TraceError
from unifyarr.modes.trace import survivors

from ..natives import skip_without_derivatives
from ..oracle import assert_same

ONES = np.ones(2)


class Model:
    """An object with an array, a number and nests of arrays."""

    def __init__(self) -> None:
        self.weight, self.scale, self.parts, self.items = ua.ones(2), 1, {"a": ua.ones(2)}, [ua.ones(2)]


class Point:
    """An object that is no nest."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Slotted:
    """The same with slots."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


# -- read from outside ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["deeper attribute", "item of a dict", "item of a list", "container"])
def test_elements_are_read_anew_and_names_are_remembered(backend: str, name: str) -> None:
    model, container, outer = Model(), ua.Container(a=ua.ones(2)), [Model()]

    def rebind() -> None:
        outer[0].weight = model.parts["a"] = model.items[0] = container["a"] = ua.zeros(2)

    reads: dict[str, Callable[[], Any]] = {
        "deeper attribute": lambda: outer[0].weight,
        "item of a dict": lambda: model.parts["a"],
        "item of a list": lambda: model.items[0],
        "container": lambda: container.a,
    }
    read = reads[name]
    function, checked = (ua.compile(lambda x: x * read(), mode=mode) for mode in ("fast", "debug"))
    x = ua.ones(2)
    for _ in range(3):
        assert_same(function(x), ONES)
        assert_same(checked(x), ONES)
    read()[...] = 3.0
    for _ in range(3):
        assert_same(function(x), 3 * ONES)
        assert_same(checked(x), 3 * ONES)
    rebind()
    assert_same(function(x), 3 * ONES)
    with pytest.raises(StaleStateError, match=r"test_state\.py, line \d+, is another array than before"):
        checked(x)
    function.clear()
    assert_same(function(x), 0 * ONES)


def test_numbers_outside_are_remembered(backend: str) -> None:
    model, numbers = Model(), [2]

    def scaled(x: Any) -> Any:
        return x * numbers[0] + (1 if "a" in model.parts else 0)

    function, checked = ua.compile(scaled), ua.compile(scaled, mode="debug")
    x = ua.ones(2)
    for change in (
        lambda: numbers.insert(0, 7),
        lambda: model.parts.pop("a"),
    ):
        function(x), checked(x)
        before = scaled(x)
        change()
        assert_same(function(x), before)
        with pytest.raises(StaleStateError, match="now"):
            checked(x)
        function.clear(), checked.clear()


def test_a_static_argument_is_a_key_by_itself(backend: str) -> None:
    function = ua.compile(lambda self, x: x * self.scale)
    one, other = Model(), Model()
    other.scale = 4
    for _ in range(3):
        assert_same(function(one, ua.ones(2)), ONES)
        assert_same(function(other, ua.ones(2)), 4 * ONES)
    one.scale = 3
    assert_same(function(one, ua.ones(2)), 3 * ONES)
    known = weakref.ref(one)
    del one
    gc.collect()
    assert known() is not None
    function.clear()
    gc.collect()
    assert known() is None


def test_defaults(backend: str) -> None:
    weight = ua.ones(2)

    @ua.compile
    def function(x: Any, weight: Any = weight, scale: float = 2.0) -> Any:
        return x * weight * scale

    for _ in range(3):
        assert_same(function(ua.ones(2)), 2 * ONES)
    weight[...] = 3.0
    assert_same(function(ua.ones(2)), 6 * ONES)
    assert_same(function(ua.ones(2), scale=0.5), 1.5 * ONES)
    assert_same(function(ua.ones(2)), 6 * ONES)


def test_arrays_of_numpy_are_constants(backend: str) -> None:
    outside, wrapped = np.ones(2), ua.ones(2)
    function = ua.compile(lambda x: x * outside + wrapped)
    assert_same(function(ua.ones(2)), 2 * ONES)
    outside[...] = 5
    wrapped[...] = 5
    assert_same(function(ua.ones(2)), 6 * ONES)


def test_the_current_backend(backend: str) -> None:
    made = ua.compile(lambda: ua.zeros(2))
    beside = ua.compile(lambda x: (x, ua.zeros(2)))
    x = ua.ones(2)
    assert beside(x)[1].backend == made().backend == backend
    other = "torch" if backend == "numpy" else "numpy"
    if other in ua.available_backends():
        with ua.use_backend(other):
            assert made().backend == other
            assert beside(x)[1].backend == backend


def test_errstate_is_read_anew() -> None:
    function = ua.compile(lambda x: 1 / x)
    x = ua.zeros(2, backend="numpy")
    with np.errstate(all="ignore"):
        for _ in range(3):
            function(x)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        function(x)


# -- written outside --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_what_keeps_an_array_is_named(backend: str, seed: int) -> None:
    random_nests.compare_kept(backend, seed)


# Ways to run a function of an array as the body of a loop or a branch, which may run or not.
BODIES: dict[str, Callable[[Callable[[Any], Any], Any], Any]] = {
    "cond": lambda keep, x: ua.cond(ua.sum(x) < 0, lambda: ua.sum(keep(x)), lambda: ua.sum(x)),
    "operand of cond": lambda keep, x: ua.cond(ua.sum(x) < 0, lambda x: ua.sum(keep(x)), ua.sum, x),
    "switch": lambda keep, x: ua.switch(ua.argmin(x), [ua.sum, lambda x: ua.sum(keep(x))], x),
    "scan": lambda keep, x: ua.scan(lambda carry, row: (keep(carry + x), row), x, ua.stack([x, x])),
    "row of scan": lambda keep, x: ua.scan(lambda carry, row: (carry, keep(row)), x, ua.stack([x, x])),
    "while_loop": lambda keep, x: ua.while_loop(lambda y: ua.sum(y) < 0, keep, x),
    "condition of while_loop": lambda keep, x: ua.while_loop(lambda y: ua.sum(keep(x)) < 0, ua.negative, x),
    "fori_loop": lambda keep, x: ua.fori_loop(0, 3, lambda i, y: keep(y), x),
    "fori_loop to an array": lambda keep, x: ua.fori_loop(0, ua.argmin(x), lambda i, y: keep(x), x),
    "map": lambda keep, x: ua.map(lambda row: keep(row), x),
    "branch of a loop": lambda keep, x: ua.map(lambda y: ua.cond(y < 0, lambda: keep(x), lambda: x + y), x),
    "gradient of cond": lambda keep, x: ua.grad(lambda y: BODIES["cond"](lambda _: keep(x), y))(x),
}


@pytest.mark.parametrize("which", ["its own", "of the function around", "from outside"])
@pytest.mark.parametrize("body", BODIES)
def test_bodies_assign_no_arrays(backend: str, body: str, which: str) -> None:
    if "gradient" in body:
        skip_without_derivatives(backend)
    outside = ua.ones(2)
    for name in ("global", "closure", "attribute", "list", "container"):
        keep, take_back, called = random_nests.keepers()[name]
        take_back()
        if which == "from outside" and name not in ("global", "closure"):
            # An object that isn't of the trace is put there at the first call, as a number is.
            continue

        def function(x: Any) -> Any:
            def kept(y: Any) -> Any:
                keep({"its own": y, "of the function around": x, "from outside": outside}[which])
                return y

            return BODIES[body](kept, x)

        try:
            with pytest.raises(LostStateError, match=re.escape(called)) as raised:
                ua.compile(function)(ua.ones(2))
            assert __file__ in str(raised.value) or "argument" in str(raised.value)
        finally:
            take_back()


def test_bodies_assign_no_arrays_to_attributes_that_are_there(backend: str) -> None:
    outside = Model()

    def function(model: Model, x: Any) -> Any:
        def body(carry: Any, row: Any) -> Any:
            model.weight = outside.weight
            return carry, row

        return ua.scan(body, x, x)

    model = Model()
    before = model.weight
    with pytest.raises(LostStateError, match=r"test_state\.py, line \d+ assigns an array to Model\.weight"):
        ua.compile(function)(model, ua.ones(2))
    assert model.weight is before


@pytest.mark.parametrize("body", BODIES)
def test_bodies_assign_nothing_to_variables_of_the_function_around(backend: str, body: str) -> None:
    def function(x: Any) -> Any:
        count = 0

        def counted(y: Any) -> Any:
            nonlocal count
            count += 1
            return y

        return BODIES[body](counted, x), x + count

    with pytest.raises(LostStateError, match=r"assigns a value to count, a variable of the closure of .*counted"):
        ua.compile(function)(ua.ones(2))


def test_bodies_may_take_back_what_they_assign(backend: str) -> None:
    model = Model()

    def function(model: Model, x: Any) -> Any:
        def branch(x: Any) -> Any:
            before, model.weight = model.weight, x
            result = model.weight * 2
            model.weight = before
            return result

        return ua.cond(ua.sum(x) > 0, branch, lambda x: x, x) * model.weight

    for _ in range(3):
        assert_same(ua.compile(function)(model, ua.ones(2)), 2 * ONES)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda x: Point(x, x + 1), r"\.y of its result, a Point"),
        (lambda x: [Slotted(x * 2)], r"\.x of its result, a Slotted"),
        (lambda x: lambda: x * 2, "its result, a function"),
        (lambda x: {"a": {Point(x, 1).x.shape: Point(1, [x * 2])}}, r"\.y\[0\] of its result, a Point"),
    ],
)
def test_results_that_are_no_nests(backend: str, function: Callable[[Any], Any], named: str) -> None:
    with pytest.raises(LostStateError, match=named):
        ua.compile(function)(ua.ones(2))


def test_a_float_in_a_result_that_is_no_nest(backend: str) -> None:
    with pytest.raises(LostStateError, match=r"a float.*of its result, a Point"):
        ua.compile(lambda x, rate: Point(1, rate * 2))(ua.ones(2), 0.5)


def test_a_result_without_arrays_is_one_object(backend: str) -> None:
    function = ua.compile(lambda x: (x + 1, Point(1, "a")))
    assert function(ua.ones(2))[1] is function(ua.ones(2))[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.update(a=tree["a"] * 2),
        lambda tree: tree.update(c=1),
        lambda tree: tree.pop("a"),
        lambda tree: tree.update(a=tree.pop("a")),
        lambda tree: tree["b"].append(tree["a"]),
        lambda tree: tree["b"].clear(),
    ],
)
def test_a_nest_that_was_passed_stays_as_it_is(backend: str, change: Callable[[Any], Any]) -> None:
    def function(tree: Any) -> Any:
        change(tree)

    tree = {"a": ua.ones(2), "b": [ua.ones(2)], "z": 1}
    with pytest.raises(LostStateError, match="changes a list, dict, container or structure that it was passed"):
        ua.compile(function)(tree)
    assert list(tree) == ["a", "b", "z"]
    assert len(tree["b"]) == 1


def test_a_container_that_was_passed_stays_as_it_is(backend: str) -> None:
    def rebound(tree: Any) -> None:
        tree.a = tree.a * 2

    def written(tree: Any) -> None:
        tree.a *= 2
        tree += 1

    tree = ua.Container(a=ua.ones(2))
    with pytest.raises(LostStateError, match=r"at tree\['a'\]"):
        ua.compile(rebound)(tree)
    ua.compile(written)(tree)
    assert_same(tree.a, 3 * ONES)


def test_keywords_may_be_taken_out(backend: str) -> None:
    def function(x: Any, **options: Any) -> Any:
        return x * options.pop("scale", 1)

    assert_same(ua.compile(function)(ua.ones(2), scale=2), 2 * ONES)


def test_after_the_error_the_array_has_no_value(backend: str) -> None:
    models = [Model()]
    model = models[0]

    def step(x: Any) -> None:
        models[0].weight = models[0].weight - x

    for _ in range(2):
        with pytest.raises(LostStateError, match=r"test_state\.py, line \d+, is kept by Model\.weight"):
            ua.compile(step)(ua.ones(2))
        assert model.weight.shape == (2,)
        assert "traced" in repr(model.weight)
        for use in (
            lambda: model.weight + 1,
            ua.compile(lambda x: x + models[0].weight),
            lambda: ua.ones(2) + model.weight,
        ):
            with pytest.raises(TypeError, match=r"outlived|outside"):
                use(ua.ones(2)) if isinstance(use, ua.graph.Compiled) else use()
        model.weight = ua.ones(2)


# -- what is no error -------------------------------------------------------------------------------------------------


def test_tracebacks_and_cycles_keep_nothing(backend: str) -> None:
    errors = []

    def function(x: Any) -> Any:
        with suppress(ShapeError):
            ua.reshape(x * 2, (7,))
        try:
            ua.reshape(x * 3, (7,))
        except ShapeError as error:
            errors.append(error)
        cycle: list[Any] = [x * 4]
        cycle.append(cycle)
        rows = (x * n for n in range(3))
        return next(rows) + next(rows)

    assert_same(ua.compile(function)(ua.ones(2)), ONES)


def test_ordinary_traces_collect_no_garbage(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without_derivatives(backend)
    collected: list[int] = []
    outside = ua.ones(2)

    def loss(tree: Any, rate: float) -> Any:
        carry, rows = ua.scan(lambda c, a: (c * rate + a, c), tree["a"], ua.stack([outside, tree["b"]]))
        return ua.sum(carry * ua.cond(ua.sum(carry) > 0, lambda: rows[0], lambda: outside))

    def step(tree: Any, rate: float) -> Any:
        tree["a"][0] += 1
        gradient = ua.grad(loss)(tree, rate)
        batch = ua.vmap(lambda x: ua.sum(x[x > 0]))(ua.stack([tree["a"], gradient["b"]]))
        return ua.Container(gradient) * rate, batch, tree["b"][::-1]

    monkeypatch.setattr(survivors.gc, "collect", lambda generation=2: collected.append(generation))
    ua.compile(step)({"a": ua.ones(2), "b": ua.ones(2)}, 0.5)
    assert not collected


def test_debug_traces_again_without_a_difference(backend: str) -> None:
    skip_without_derivatives(backend)
    weight = ua.ones(2)

    @ua.compile(mode="debug")
    def function(x: Any, rate: float) -> Any:
        carry, rows = ua.scan(lambda c, a: (c * rate + a * weight, c), x, ua.stack([x, x]))
        gradient = ua.grad(lambda x: ua.sum(x * weight))(x)
        return carry, rows, gradient, ua.vmap(lambda a: a * weight)(rows), {"n": 1, "s": frozenset([1])}

    for rate in (0.5, 0.25, 0.5):
        function(ua.ones(2), rate)


def test_debug_names_what_differs_in_a_loop(backend: str) -> None:
    factors = [2.0]

    @ua.compile(mode="debug")
    def function(x: Any) -> Any:
        return ua.fori_loop(0, 3, lambda i, c: c * factors[0], x)

    function(ua.ones(2))
    factors[0] = 3.0
    with pytest.raises(StaleStateError, match=r"in scan, .* in multiply.* now"):
        function(ua.ones(2))


def test_loops_that_run_at_once_may_keep_arrays(backend: str) -> None:
    kept = []

    def step(carry: Any, row: Any) -> Any:
        kept.append(carry)
        return carry + row, carry

    x = ua.ones((3, 2))
    with suppress(TraceError):
        ua.scan(step, ua.zeros(2), x)
        assert len(kept) == 3
