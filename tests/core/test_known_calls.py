"""Known calls in the compiled core: their cache keys, and errors of a failing call."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling.refusing import values_of
from unifyarr._core.calling.shortcuts import Shortcuts
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.engines.registry import load
from unifyarr._native import core

from ..oracle import as_numpy, assert_same

# Equal to others here, and of another meaning; more than the core keeps.
VALUES = [1, True, 1.0, 1 + 0j, 0, False, 0.0, -0.0, 0j, complex(0, -0.0), 2, 2.0, 3, 2**40]


def test_arguments_that_are_equal_make_other_arrays(backend: str) -> None:
    for _ in range(4):
        for value in VALUES:
            assert_same(ua.full((2,), value), np.full((2,), value), signed_zeros=True)
        for shape in ((2,), (1, 2), (2, 1), 2, (0,), ()):
            assert as_numpy(ua.zeros(shape)).shape == np.zeros(shape).shape
        with pytest.raises(TypeError, match="an integer"):
            ua.zeros((True, 2))


def test_numbers_beside_an_array_are_told_apart(backend: str) -> None:
    values = np.array([1.0, -0.0, np.nan])
    x, where = ua.asarray(values), ua.asarray([True, False, True])
    for _ in range(4):
        for value in (0, False, 0.0, -0.0, 1, True, 1.0, np.inf, -np.inf, np.nan, 2.5, 7):
            expected = np.where([True, False, True], values, value)
            assert_same(ua.where(where, x, value), expected, signed_zeros=True)


@pytest.mark.parametrize("name", ["remainder", "floor_divide", "atan2", "pow", "copysign", "hypot", "maximum"])
def test_a_number_is_told_in_either_place(backend: str, name: str) -> None:
    x, function = np.array([3.0, -4.0, 0.5]), getattr(ua, name)
    ours, expected = ua.asarray(x, copy=True), getattr(np, name)
    with np.errstate(all="ignore"):
        for _ in range(4):
            assert_same(function(ours, 2.0), expected(x, 2.0))
            assert_same(function(2.0, ours), expected(2.0, x))


def test_arrays_and_numbers_of_a_choice_are_told_in_order(backend: str) -> None:
    mask, x = np.array([True, False, True]), np.array([3.0, -4.0, 0.5])
    ours = ua.asarray(mask, copy=True), ua.asarray(x, copy=True)
    for _ in range(4):
        assert_same(ua.where(ours[0], ours[1], 2.0), np.where(mask, x, 2.0))
        assert_same(ua.where(ours[0], 2.0, ours[1]), np.where(mask, 2.0, x))
        assert_same(ua.clip(ours[1], 0.0, ours[1]), np.clip(x, 0.0, x))
        assert_same(ua.clip(ours[1], ours[1], 0.0), np.clip(x, x, 0.0))


def test_lengths_of_sequences_are_told_apart(backend: str) -> None:
    parts = [np.ones((2, 2)), np.zeros((2, 2)), np.ones((2, 2))]
    for _ in range(4):
        for count in (1, 2, 3):
            for kind in (list, tuple):
                given = kind(map(ua.asarray, parts[:count]))
                assert_same(ua.concat(given, axis=1), np.concatenate(parts[:count], 1))
        assert_same(ua.concat([*map(ua.asarray, parts[:2])], axis=0), np.concatenate(parts[:2]))


def test_data_beside_an_array_isnt_taken_for_one(backend: str) -> None:
    values, weights = np.array([1.0, 3.0]), np.array([1.0, 2.0])
    x, y = ua.asarray(values), ua.asarray(weights)
    for _ in range(4):
        # A function whose programs take arrays, which would give both calls the same key.
        for each in (y, weights, y.native):
            assert_same(ua.average(x, weights=each), np.average(values, weights=weights))


class Mine(ArithmeticError):
    """An error that a program raises itself while an engine works, as a signal handler does."""


class MineToo(ValueError):
    """The same, of a class by which engines refuse calls."""


def sorting(backend: str, x: ua.Array, program: Callable[..., Any]) -> Shortcuts:
    """Put a program in the place of the one that sorts arrays like ``x``; return all of them."""
    shortcuts: Shortcuts = DECLARATIONS["sort"].public.dispatcher.shortcuts  # type: ignore[attr-defined]
    shortcuts.clear()
    ua.sort(x)
    ua.sort(x)
    (key,) = (key for key in shortcuts if key[0] is load(backend))  # type: ignore[index]
    shortcuts.clear()
    shortcuts[key] = program
    return shortcuts


@pytest.mark.parametrize("error", [Mine, MineToo, MemoryError, KeyboardInterrupt, FloatingPointError, OSError])
def test_what_comes_while_a_known_call_works_comes_once(backend: str, error: type[BaseException]) -> None:
    x, calls = ua.asarray([3.0, 1.0]), []

    def fails(*natives: Any) -> Any:
        calls.append(natives)
        raise error("mine")

    shortcuts = sorting(backend, x, fails)
    for count in (1, 2):
        with pytest.raises(error, match="mine"):
            ua.sort(x)
        assert len(calls) == count
    shortcuts.clear()
    assert_same(ua.sort(x), np.array([1.0, 3.0]))


def test_what_an_engine_refuses_goes_another_way(backend: str) -> None:
    x, calls = ua.asarray([3.0, 1.0]), []

    def refuses(*natives: Any) -> Any:
        calls.append(natives)
        raise ValueError("not this")

    # As a function of the engine's own.
    code, closure = refuses.__code__, refuses.__closure__
    shortcuts = sorting(backend, x, FunctionType(code, {**vars(builtins), "__name__": "numpy"}, closure=closure))
    for count in (1, 2, 3):
        assert_same(ua.sort(x), np.array([1.0, 3.0]))
        assert len(calls) == count
    shortcuts.clear()


def test_a_call_into_a_view_says_nothing_of_calls_without_out(backend: str) -> None:
    x, calls = ua.asarray([3.0, 1.0]), []

    def program(native: Any) -> Any:
        calls.append(native)
        return native

    shortcuts = sorting(backend, x, program)
    # A write to a view, or to part of an array, isn't a known call.
    ua.sort(x, out=ua.zeros((2, 2))[::-1, 1])
    before = len(calls)
    ua.sort(x)
    assert len(calls) == before + 1
    shortcuts.clear()


class _Taking:
    qualified_name, names = "f", ("x", "y", "rest", "axis", "out")
    positional, only_positional, variadic = 2, 1, -1

    def __init__(self, *defaults: Any) -> None:
        self.defaults = defaults


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "nothing": (lambda: ua.add(), r"^add\(\) is missing the arguments 'x1' and 'x2'$"),  # type: ignore[call-arg]
    "one": (lambda: ua.add(1), r"^add\(\) is missing the argument 'x2'$"),  # type: ignore[call-arg]
    "by name": (lambda: ua.add(x1=1, x2=2), r"^add\(\) takes x1 by place and not by name"),  # type: ignore[call-arg]
    "too many": (lambda: ua.add(1, 2, 3), r"^add\(\) takes 2 positional arguments \(x1, x2\) but 3"),  # type: ignore
    "unknown": (lambda: ua.add(1, 2, foo=3), r"^add\(\) got an unexpected keyword argument 'foo'"),  # type: ignore
    "NumPy's": (lambda: ua.sum(ua.ones(2), axes=0), r"^sum\(\) got an .* 'axes': write axis="),  # type: ignore[call-arg]
    "twice": (
        lambda: ua.reshape(ua.ones(2), (2,), shape=(2,)),  # type: ignore[misc]
        r"^reshape\(\) got multiple values for argument 'shape'",
    ),
    "of a namespace": (lambda: ua.linalg.inv(), r"^linalg.inv\(\) is missing the argument 'x'$"),  # type: ignore
}


@pytest.mark.parametrize("case", REFUSED)
def test_arguments_that_are_wrong(case: str) -> None:
    call, message = REFUSED[case]
    for _ in range(3):
        with pytest.raises(TypeError, match=message):
            call()


def test_functions_are_what_tools_expect() -> None:
    assert (ua.add.__name__, ua.linalg.inv.__qualname__) == ("add", "inv")
    assert inspect.isroutine(ua.add)
    assert [*inspect.signature(ua.add).parameters] == ["x1", "x2", "out"]
    assert inspect.getdoc(ua.sort) == inspect.getdoc(DECLARATIONS["sort"].body)
    assert pickle.loads(pickle.dumps(ua.linalg.inv)) is ua.linalg.inv
    assert copy.deepcopy(ua.add) is ua.add
    assert repr(ua.sort).startswith("<function sort at ")


def test_a_function_in_a_class_is_a_method(backend: str) -> None:
    class Holder:
        total = ua.sum

    class Other(ua.Array):
        total = ua.sum

    assert Holder.total is ua.sum
    assert inspect.ismethod(Holder().total)


def test_values_are_found_for_each_parameter() -> None:
    parameters = DECLARATIONS["sum"].parameters
    taking = _Taking(..., 5, None, 0, None)
    assert values_of(taking, parameters, (1,), {}) == (1, 5, None, 0, None)
    assert values_of(taking, parameters, (1, ...), {"out": ...}) == (1, ..., None, 0, ...)
    taking.variadic = 2
    assert values_of(taking, parameters, (1, 2, 3, 4), {"axis": 1}) == (1, 2, (3, 4), 1, None)


@pytest.mark.skipif(core is None, reason="about the compiled core")
def test_known_calls_are_kept_or_not(backend: str) -> None:
    x, found = ua.asarray([3.0, 1.0]), DECLARATIONS["sort"].public.dispatcher  # type: ignore[attr-defined]
    for _ in range(4):
        ua.sort(x)
    asked: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(found), "find", lambda self, *values: asked.append(values))
        ua.sort(x)
    # The core has its own reference to the method, and knows the call.
    assert not asked


def test_dtypes_and_shapes_are_told_apart(backend: str) -> None:
    shapes = [(), (0,), (1,), (2, 3), (3, 2), (6,), (1, 6), (6, 1)]
    for _ in range(3):
        for shape in shapes:
            for dtype in ("bool", "uint8", "int8", "int32", "int64", "float32", "float64", "complex64", "complex128"):
                values = np.ones(shape, dtype)
                x = ua.asarray(values)
                assert_same(ua.cumulative_prod(ua.reshape(x, (-1,))), np.cumulative_prod(values.reshape(-1)))
                assert_same(ua.sum(x), np.sum(values))
                assert_same(ua.concat([x, x], axis=None), np.concat([values, values], axis=None))


def test_tensors_without_an_address_are_told_too() -> None:
    torch = pytest.importorskip("torch")
    values = torch.arange(6.0).reshape(2, 3)
    for _ in range(3):
        for _ in range(3):
            found = torch.func.vmap(lambda x: ua.sum(ua.flip(ua.asarray(x))).native)(values)
            assert found.tolist() == [3.0, 12.0]
        meta = ua.sum(ua.asarray(values.to("meta")))
        assert meta.native.is_meta
        assert float(ua.sum(ua.asarray(values))) == 15.0
