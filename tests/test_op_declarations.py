"""Declarations of a user's operation are checked, and its name is only a name."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import BadViewMap
from unifyarr.testing import has, needs

from .oracle import assert_same
from .user_ops import address, array

# -- names ------------------------------------------------------------------------------------------------------------

NAMES = [
    "<lambda>",
    "class",
    "None",
    "",
    "a b",
    "x'); raise SystemExit('run') #",
    "f(x): pass\nraise SystemExit('run')\ndef g",
    "\N{LATIN SMALL LIGATURE FI}",
    "a\0b",
    "\ud800",
    "_general",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_source(backend: str, name: str) -> None:
    def body(x: Array, /, scale: float = 2.0) -> Array:
        return x * scale

    body.__name__ = body.__qualname__ = name
    op = ua.op(body)
    assert op.__name__ == op.__qualname__ == name
    assert_same(op(array(1, 2)), np.array([2.0, 4.0]))
    assert_same(compile(op)(array(1, 2), scale=3.0), np.array([3.0, 6.0]))
    with pytest.raises(TypeError, match="scal"):
        op(array(1, 2), scal=3.0)  # type: ignore[call-arg]


def test_parameters_may_be_called_like_what_the_source_uses(backend: str) -> None:
    @ua.op
    def step(_general: Array, __parameters: float, _Call: float = 1.0, *, _bound: float = 1.0) -> Array:  # noqa: N803
        return _general * __parameters * _Call * _bound

    assert_same(step(array(1, 2), 2.0, 3.0, _bound=4.0), np.array([24.0, 48.0]))


def scaled(x: Array, scale: float = 1.0) -> Array:
    """Return a multiple."""
    return x * scale


class Scaled:
    """Returns a multiple."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: Array) -> Array:
        return x * self.scale

    def method(self, x: Array) -> Array:
        return x * self.scale


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (functools.partial(scaled, scale=3.0), "scaled"),
        (functools.partial(functools.partial(Scaled(3.0))), "Scaled"),
        (Scaled(3.0), "Scaled"),
        (Scaled(3.0).method, "method"),
    ],
)
def test_whatever_can_be_called_is_a_body(backend: str, body: Any, name: str) -> None:
    op = ua.op(body)
    assert op.__name__ == name
    assert name in repr(op)
    for _ in range(2):
        assert_same(op(array(1, 2)), np.array([3.0, 6.0]))
    op.kernel(backend)(lambda x, **static: x * 5.0)
    assert_same(op(array(1, 2)), np.array([5.0, 10.0]))


@pytest.mark.parametrize("body", [3, "f", max, [scaled], np.add])
def test_what_is_no_body_is_refused(body: Any) -> None:
    with pytest.raises(TypeError, match=r"op\(\) takes a function|no signature|takes no arrays"):
        ua.op(body)


# -- copies and pickles -----------------------------------------------------------------------------------------------


@ua.op
def tripled(x: Array, /) -> Array:
    """Return thrice an array."""
    return x * 3


def test_an_op_is_copied_and_pickled_as_a_function_is() -> None:
    for other in (copy.copy(tripled), copy.deepcopy(tripled), pickle.loads(pickle.dumps(tripled))):
        assert other is tripled
    assert copy.deepcopy({"op": [tripled]})["op"][0] is tripled

    @ua.op
    def local(x: Array, /) -> Array:
        return x

    assert copy.deepcopy(local) is local
    with pytest.raises(pickle.PicklingError, match="define it at the top of a module"):
        pickle.dumps(local)


def test_an_op_in_a_class_is_a_method(backend: str) -> None:
    class Model:
        @ua.op
        def scaled(self: Any, x: Array, /) -> Array:
            return x * 2

    assert_same(Model().scaled(array(1, 2)), np.array([2.0, 4.0]))


# -- attributes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["view_map", "destroy_map", "scratch", "tolerate_same", "tolerate_aliased", "kernel", "inplace", "perform", "nout"],
)
def test_a_declaration_is_not_assigned(name: str) -> None:
    @ua.op(view_map={0: [0]})
    def same(x: Array, /) -> Array:
        return x

    with pytest.raises(AttributeError, match=rf"{name} of same\(\)"):
        setattr(same, name, {0: (0,)})
    assert same.view_map == {0: (0,)}
    with pytest.raises(TypeError, match="assign a whole one"):
        same.view_map[0] = (1,)  # type: ignore[index]
    # As on any function.
    same.note = "mine"  # type: ignore[attr-defined]
    same.__doc__ = "Return an array."


# -- maps -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view_map", "error", "words"),
    [
        ({1: (0,)}, ValueError, r"names output 1, but it has one output"),
        ({0: (2,)}, ValueError, r"names input 2, but its arrays are x, y"),
        ({-1: (0,)}, ValueError, "counts inputs and outputs from 0"),
        ({0: (-1,)}, ValueError, "counts inputs and outputs from 0"),
        ({True: (0,)}, TypeError, "not True"),
        ({0: (False,)}, TypeError, "not False"),
        ({"0": (0,)}, TypeError, "not '0'"),
        ({0: ("x",)}, TypeError, "not 'x'"),
        ({0: "0"}, TypeError, "a tuple of inputs"),
        ({0: 1}, TypeError, "a tuple of inputs"),
        ({0: None}, TypeError, "inputs"),
        ({0: (0.0,)}, TypeError, r"not 0\.0"),
        ([(0, (0,))], TypeError, "for each output"),
        ("0", TypeError, "for each output"),
    ],
)
def test_wrong_maps_are_refused_at_once(view_map: Any, error: type[Exception], words: str) -> None:
    def both(x: Array, y: Array, /) -> Array: ...

    with pytest.raises(error, match=words):
        ua.op(view_map=view_map)(both)
    op = ua.op(both)
    op.kernel("numpy")(lambda x, y: x)
    with pytest.raises(error, match=words):
        op.inplace("numpy", destroy_map=view_map)


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"scratch": (2,)}, ValueError),
        ({"scratch": 1}, TypeError),
        ({"scratch": "0"}, TypeError),
        ({"scratch": (True,)}, TypeError),
        ({"tolerate_same": [(0, 2)]}, ValueError),
        ({"tolerate_same": [(0,)]}, ValueError),
        ({"tolerate_same": (0, 1)}, TypeError),
        ({"tolerate_aliased": [(0, 1, 1)]}, ValueError),
        ({"tolerate_aliased": 3}, TypeError),
        ({"tolerate_aliased": {0: 1}}, TypeError),
    ],
)
def test_wrong_options_of_a_twin_are_refused_at_once(option: dict[str, Any], error: type[Exception]) -> None:
    @ua.op
    def both(x: Array, y: Array, /) -> Array: ...

    both.kernel("numpy")(lambda x, y: x)
    with pytest.raises(error, match=next(iter(option))):
        both.inplace("numpy", destroy_map={0: (0,)}, **option)


def swapping(backend: str, keep: Callable[[Any], int]) -> tuple[Any, list[int]]:
    """Return a sum whose twin keeps it in either of its arguments, and where it has."""
    written: list[int] = []

    @ua.op
    def total(x: Array, y: Array, /) -> Array:
        return x + y

    @total.kernel(backend)
    def _(x: Any, y: Any) -> Any:
        return x + y

    @total.inplace(backend, destroy_map={0: [0, 1]})
    def _(x: Any, y: Any) -> Any:
        target, other = (x, y) if keep(x) else (y, x)
        target += other
        other *= 0
        written.append(address(target))
        return target

    return total, written


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_an_output_is_kept_in_one_of_several_inputs(backend: str, first: bool, mode: str) -> None:
    total, written = swapping(backend, lambda x: first)
    x, y = array(1, 2), array(10, 20)

    def both_are_dead(x: Array, y: Array) -> Array:
        return total(x * 2, y * 3) + 1

    def one_is_read(x: Array, y: Array) -> tuple[Array, Array]:
        t = x * 2
        return total(t, y * 3), t

    def one_is_an_argument(x: Array, y: Array) -> Array:
        return total(x, y * 3)

    for function in (both_are_dead, one_is_read, one_is_an_argument):
        written.clear()
        compiled: Any = compile(function, mode=mode)
        for _ in range(2):
            found, expected = compiled(x, y), function(x, y)
            for one, other in zip(found if isinstance(found, tuple) else [found],
                                  expected if isinstance(expected, tuple) else [expected], strict=True):  # fmt: skip
                assert_same(one, np.asarray(other.tolist()))
        assert bool(written) == (function is both_are_dead and has(backend, "writes"))
    assert_same(x, np.array([1.0, 2.0]))
    assert_same(y, np.array([10.0, 20.0]))
    # Called as it is, its caller has both.
    for _ in range(2):
        assert total(x, y, out=y) is y
    assert_same(x, np.array([1.0, 2.0]))
    assert_same(y, np.array([12.0, 24.0]))


@needs("writes", why="elsewhere no twin is asked")
def test_an_output_that_is_kept_in_none_of_several_inputs(backend: str) -> None:

    @ua.op
    def total(x: Array, y: Array, /) -> Array: ...

    total.kernel(backend)(lambda x, y: x + y)
    total.inplace(backend, destroy_map={0: (0, 1)})(lambda x, y: x + y)
    with pytest.raises(TypeError, match="than its argument 0 or 1"):
        compile(lambda x, y: total(x * 2, y * 2))(array(1, 2), array(3, 4))


# -- results that share memory ----------------------------------------------------------------------------------------


def pairs(backend: str, kernel: bool) -> list[Any]:
    """Return operations whose two results are in one memory, as their bodies or kernels make them."""
    makes: list[Callable[[Any], Any]] = [lambda y: (y, y), lambda y: (y, y[1:]), lambda y: (y[:2], y[1:])]
    ops = []
    for make in makes:

        @ua.op
        def pair(x: Array, /, make: Any = make) -> tuple[Array, Array]:
            return make(x * 2)  # type: ignore[no-any-return]

        if kernel:
            pair.kernel(backend)(lambda x, make: make(x * 2))
        ops.append(pair)
    return ops


@pytest.mark.parametrize("kernel", [True, False])
def test_results_are_independent_of_each_other(backend: str, kernel: bool) -> None:
    for op in pairs(backend, kernel):

        def changed(x: Array, op: Any = op) -> tuple[Array, Array]:
            first, second = op(x)
            first[1] = 100.0
            return first, second

        def outputs(x: Array, op: Any = op) -> tuple[Array, Array]:
            return op(x)  # type: ignore[no-any-return]

        expected = [x.tolist() for x in op(array(1, 2, 3))]
        for function in (op, outputs, compile(outputs), compile(outputs, mode="pure"), compile(outputs, borrow=True)):
            first, second = function(array(1, 2, 3))
            assert [first.tolist(), second.tolist()] == expected
            first += 100.0
            assert second.tolist() == expected[1]
        for function in (changed, compile(changed), compile(changed, mode="pure")):
            assert function(array(1, 2, 3))[1].tolist() == expected[1]


@needs("writes", why="memory that can be written is shared on mutable engines alone")
def test_debug_finds_results_that_share_memory(backend: str) -> None:
    for op in pairs(backend, kernel=True):
        with ua.debug(), pytest.raises(BadViewMap, match=r"pair\(\) on backend .* outputs 0 and 1"):
            op(array(1, 2, 3))
        for function in (op, lambda x, op=op: ua.sum(op(x)[0])):
            with pytest.raises(BadViewMap, match=r"pair\(\) on backend .* outputs 0 and 1"):
                compile(function, mode="debug")(array(1, 2, 3))
    for op in pairs(backend, kernel=False):
        with ua.debug():
            op(array(1, 2, 3))


@needs("writes", why="memory that can be written is shared on mutable engines alone")
def test_parts_of_one_memory_are_independent_as_they_are(backend: str) -> None:

    @ua.op
    def interleaved(x: Array, /) -> tuple[Array, Array]: ...

    @interleaved.kernel(backend)
    def _(x: Any) -> Any:
        y = x * 2
        return y[::2], y[1::2]

    with ua.debug():
        first, second = interleaved(array(1, 2, 3, 4))
    first += 100
    assert_same(second, np.array([4.0, 8.0]))
