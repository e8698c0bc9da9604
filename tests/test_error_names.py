"""Errors begin with the name of the public function that was called, whatever is wrong with its arguments."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.function import Function
from unifyarr._core.values.called import Called
from unifyarr._native import core

from .hostile.calls import Make, good_calls

SPACES = ["", "fft", "graph", "linalg", "nn", "optim", "random", "signal", "special"]
NUMPYS = ["numpy", *(f"numpy.{name}" for name in ("fft", "lib.stride_tricks", "linalg", "polynomial", "random"))]
# A graph calls their methods, and users only make them.
CALLED_BY_GRAPHS = {"graph.DestroyHandler", "graph.Feature", "graph.Supervisor"}
# Errors whose message is no sentence: a key, and the operating system's message.
WORDLESS = (KeyError, OSError)
WRONG: dict[str, Callable[[], Any]] = {
    "an object": object,
    "text": lambda: "text",
    "another shape": lambda: ua.ones((7, 5, 3)),
    "another dtype": lambda: ua.ones((2, 3)) * 1j,
    "no elements": lambda: ua.ones((0, 3)),
    "a negative number": lambda: -3,
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Functions that write files take a text for a path.
    monkeypatch.chdir(tmp_path)


def published(spaces: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the package's own callable objects of public namespaces, and their names."""
    for space in spaces:
        module = import_module(f"unifyarr.{space}".rstrip("."))
        for name in module.__all__:
            value = getattr(module, name)
            is_error = isinstance(value, type) and issubclass(value, BaseException)
            if callable(value) and not is_error and str(value.__module__).startswith("unifyarr"):
                yield f"{space}.{name}".lstrip("."), value


def unmarked(value: Any) -> list[str]:
    """Return the functions of a public object from which errors leave as they came: itself, or methods."""
    if not isinstance(value, type):
        value = getattr(value, "__func__", value)
        return [] if any(isinstance(each, (Function, Called)) for each in (value, value.__call__)) else [""]
    own = [vars(cls) for cls in value.__mro__ if cls.__module__.startswith("unifyarr")]
    functions = {name: each for members in own for name, each in members.items() if isinstance(each, FunctionType)}
    return [name for name in functions if not name.startswith("_")]


@pytest.mark.skipif(core is None, reason="without the compiled core functions of Python stand for themselves")
def test_errors_leave_every_public_function_by_one_way() -> None:
    found = {name: each for name, value in published([*SPACES, *NUMPYS]) if (each := unmarked(value))}
    assert found.keys() == CALLED_BY_GRAPHS, "decorate these by @boundary, and classes by @make_boundaries"


def begins(error: Exception, names: set[str]) -> bool:
    """Return whether the message of an error begins with one of some names, of a namespace or a class maybe."""
    found = re.match(r"([\w.]+)\(\)", str(error))
    return isinstance(error, WORDLESS) or (found is not None and found[1].rpartition(".")[2] in names)


def attempts(make: Make) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield calls with one wrong argument each, and its description."""
    good = make()
    unused = [each for each in good.unused() if each not in good.options]

    def changed(place: Any, value: Callable[[], Any]) -> Any:
        call = make()
        arguments, options = list(call.arguments), dict(call.options)
        target: Any = arguments if isinstance(place, int) else options
        target[place] = value()
        return call.function(*arguments, **options)

    for place in [*range(len(good.arguments)), *good.options, *unused]:
        for kind, value in WRONG.items():
            yield f"{place}: {kind}", lambda place=place, value=value: changed(place, value)
    if "axis" in unused:
        yield "an axis that isn't there", lambda: changed("axis", lambda: 9)
    yield "an unknown keyword", lambda: changed("nonsense", lambda: 1)
    yield "too many arguments", lambda: good.function(*make().arguments, *[1] * 9)
    yield "no arguments", lambda: good.function()


def unnamed(calls: Iterator[tuple[str, Callable[[], Any]]], names: set[str]) -> list[str]:
    """Make calls, and return the messages of errors that begin otherwise."""
    found = []
    for what, call in calls:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                call()
            except Exception as error:
                if not begins(error, names):
                    found.append(f"{what}: {type(error).__name__}: {error}")
    return found


# An operator isn't called by name, and names that differ here aren't public.
OURS = [name for name in good_calls() if not name.startswith(("API", "x[")) and "__" not in name]


@pytest.mark.parametrize("checks", [False, True], ids=["plain", "general"])
@pytest.mark.parametrize("name", OURS)
def test_messages_begin_with_the_name(backend: str, name: str, checks: bool) -> None:
    if checks and backend != "numpy":
        pytest.skip("the general way is the same on all backends")
    make, names = good_calls()[name], {name.rpartition(".")[2]}
    if checks:
        with ua.debug():
            assert not unnamed(attempts(make), names)
    else:
        assert not unnamed(attempts(make), names)


# Users make no ufunc, and the rest of these is NumPy's own.
CONSTRUCTORS = {"ufunc", "flatiter", "ndarray", *np.polynomial.__all__}
NUMPY_FUNCTIONS = dict(published(NUMPYS))


def wrong_calls(function: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    count = max(1, sum(each.kind in kinds and each.default is each.empty for each in parameters))
    for kind, value in {**WRONG, "arrays": lambda: ua.ones((2, 3))}.items():
        yield kind, lambda value=value: function(*[value() for _ in range(count)])
        yield f"{kind}, and a keyword", lambda value=value: function(*[value() for _ in range(count)], nonsense=1)
    if "axis" in (each.name for each in parameters):
        yield "an axis that isn't there", lambda: function(*[ua.ones((2, 3)) for _ in range(count)], axis=9)


@pytest.mark.parametrize("name", [name for name in NUMPY_FUNCTIONS if name.rpartition(".")[2] not in CONSTRUCTORS])
def test_messages_of_numpys_functions_begin_with_the_name(backend: str, name: str) -> None:
    function = NUMPY_FUNCTIONS[name]
    assert not unnamed(wrong_calls(function), {name.rpartition(".")[2], function.__name__})


# -- what comes as it is ----------------------------------------------------------------------------------------------


def test_what_the_users_code_raised_comes_as_it_is(backend: str) -> None:
    def fails(*_: Any) -> Any:
        raise ValueError("mine")

    c = ua.Container(a=ua.ones(2))
    x = ua.ones(3)
    for call in (lambda: c.map(fails), lambda: ua.compile(fails)(x), lambda: ua.scan(fails, x, x)):
        with pytest.raises(ValueError, match="mine") as caught:
            call()
        assert str(caught.value) == "mine"


def test_the_innermost_function_that_the_user_called_is_named(backend: str) -> None:
    def inner(x: Any, *_: Any) -> Any:
        return ua.sum(x, axis=5)

    x = ua.ones(3)
    for call in (lambda: ua.Container(a=x).map(inner), lambda: ua.compile(inner)(x), lambda: ua.scan(inner, x, x)):
        with pytest.raises(np.exceptions.AxisError, match=r"^sum\(\): axis 5"):
            call()


def test_a_composition_has_one_name(backend: str) -> None:
    for _ in range(3):
        with pytest.raises(np.exceptions.AxisError, match=r"^std\(\): axis 5 is out of bounds") as caught:
            ua.std(ua.ones(3), axis=5)
    assert caught.value.args == (str(caught.value),)


def test_the_name_in_a_message_goes_before_it(backend: str) -> None:
    with pytest.raises(TypeError, match=r"^where\(\): the condition is bool, not "):
        ua.where(ua.ones(3), 1.0, 2.0)
    with pytest.raises(TypeError, match=r"^nn\.softmax\(\) got an unexpected"):
        ua.nn.softmax(ua.ones(3), nonsense=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^finfo\(\) got an unexpected"):
        ua.finfo("float32", nonsense=1)  # type: ignore[call-arg]


def test_an_error_keeps_what_it_has_beside_the_message(backend: str) -> None:
    with pytest.raises(ua.errors.BackendNotFoundError, match=r"^set_backend\(\): there is no backend 'none'"):
        ua.set_backend("none")
