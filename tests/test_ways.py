"""First attempts: other libraries' names, positional arguments, text, formats; errors name the right call."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._core.values.elsewhere import KEYWORDS, WAYS
from unifyarr._core.values.missing import names_elsewhere

from .functions.calls import CALLS, find


@pytest.mark.parametrize("name", WAYS)
def test_an_attribute_of_another_library_says_the_way(backend: str, name: str) -> None:
    x = ua.ones((2, 3))
    for each in (x, x[::-1]):
        with pytest.raises(AttributeError, match=rf"'{name}': write ") as caught:
            getattr(each, name)
        assert caught.value.name == name
        assert not hasattr(each, name)
        assert getattr(each, name, 7) == 7
        assert name not in dir(each)
    assert not hasattr(ua.Array, name)


def test_the_ways_lead_somewhere(backend: str) -> None:
    x = ua.ones((2, 3))
    for way in WAYS.values():
        for name in re.findall(r"\bx\.(\w+)", way):
            assert name == "native" or hasattr(x, name), way
        for path in re.findall(r"\bua\.([\w.]+)", way):
            assert callable(find(path)), way


def test_other_names_are_as_python_says_them(backend: str) -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        ua.ones(3).no_such_name  # type: ignore[attr-defined]


def by_name_only(name: str) -> list[str]:
    """Return the parameters of a function that are passed by name, beside ``out`` and ``backend``."""
    parameters = inspect.signature(DECLARATIONS[name].body).parameters.values()
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return []
    return [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name not in ("out", "backend")]


@pytest.mark.parametrize("name", [name for name in CALLS if name in DECLARATIONS and by_name_only(name)])
def test_what_has_to_be_named_is_named_by_the_error(backend: str, name: str) -> None:
    positional, keywords = CALLS[name]
    parameters = inspect.signature(DECLARATIONS[name].body).parameters.values()
    places = [each for each in parameters if each.kind is not each.KEYWORD_ONLY]
    # Defaults fill in arguments that the case leaves out.
    filled = [*positional, *(each.default for each in places[len(positional) :])]
    with pytest.raises(TypeError, match=rf"pass .*by name, as in ({'|'.join(by_name_only(name))})=0") as caught:
        find(name)(*filled, 0, **keywords)
    assert str(caught.value).startswith(f"{name}() takes ")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda x: ua.sum(x, dim=0),
            r"^sum\(\) got .* argument 'dim': write axis=.* x, axis, dtype",
        ),
        (lambda x: ua.sum(x, keepdim=True), "write keepdims="),
        (lambda x: ua.nn.softmax(x, dim=0), r"nn\.softmax\(\).*write axis="),
        (lambda x: ua.sum(x, axes=0), "write axis="),
        (lambda x: ua.linalg.cholesky(x, lower=True), "write upper="),
        (lambda x: ua.var(x, unbiased=True), "write correction="),
        (lambda x: ua.zeros(3, dtyp="int8"), "write dtype="),
        (lambda x: ua.roll(x, 1, nonsense=1), "'nonsense': its arguments are x, shift, axis, out"),
        (lambda x: x.sum(dim=0), r"^Array\.sum\(\)"),
        (lambda x: ua.random.Generator(0).normal(low=0), r"^Generator\.normal\(\)"),
    ],
)
def test_a_keyword_of_another_library_is_named_by_the_error(backend: str, call: Any, words: str) -> None:
    x = ua.ones((2, 2))
    for _ in range(3):
        with pytest.raises(TypeError, match=words):
            call(x)
        # Calls that were served before are still checked.
        ua.sum(x, axis=0), ua.nn.softmax(x, axis=0)


@pytest.mark.parametrize("name", KEYWORDS)
def test_each_keyword_leads_to_a_parameter(name: str) -> None:
    taken = {each for declared in DECLARATIONS.values() for each in inspect.signature(declared.body).parameters}
    assert {*KEYWORDS[name]} <= taken


def test_numpys_second_argument_comes_first_in_the_error(backend: str) -> None:
    x = ua.ones(4)
    with pytest.raises(TypeError, match=r"1 positional argument \(x\) but 2 were given: .* as in n=2$"):
        ua.diff(x, 2)  # type: ignore[misc]
    with pytest.raises(TypeError, match=r"but 2 were given: .* as in axis=-1$"):
        ua.sum(x, -1, out=ua.zeros(()))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("concatenate", r"write ua\.concat or unifyarr\.numpy\.concatenate"),
        ("jit", r"write ua\.compile"),
        ("load", r"write ua\.Container or unifyarr\.numpy\.load"),
        ("softmax", r"write ua\.nn\.softmax"),
        ("random.normal", r"write ua\.random\.Generator\(seed\)\.normal"),
        ("nn.Linear", "no attribute 'Linear'$"),
        ("linalg.concatenate", r"write ua\.concat$"),
        ("special.lgamma", r"write ua\.special\.gammaln"),
    ],
)
def test_a_name_that_is_missing_says_where_to_look(path: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words) as caught:
        find(path)
    assert caught.value.name == path.rpartition(".")[2]


def test_the_names_elsewhere_lead_somewhere() -> None:
    for ours in names_elsewhere().values():
        for way in ours:
            prefix, _, path = way.replace("(seed)", "").partition(".")
            assert callable(find(path)) if prefix == "ua" else hasattr(ua.Array, path.partition(".")[0]), way


@pytest.mark.parametrize("other", ["a", b"a", bytearray(b"a")])
def test_text_is_no_operand(backend: str, other: Any) -> None:
    x = ua.asarray([1, 2])
    for call in (lambda: x * other, lambda: other * x):
        with pytest.raises(TypeError, match="operators take arrays, numbers and nests of lists"):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        x - other
    x = ua.asarray(2)
    with pytest.raises(TypeError, match="operators take arrays"):
        x * other


def test_formats(backend: str) -> None:
    x = ua.asarray([1.0, 2.5])
    assert f"{x}" == str(np.array([1.0, 2.5]))
    assert f"{x!s:>12}" == f"{np.array([1.0, 2.5])!s:>12}"
    assert f"{x[1]:.2f}" == "2.50"
    for specification in (".2f", ">12"):
        with pytest.raises(TypeError, match=r"x\.tolist\(\)"):
            format(x, specification)
        with pytest.raises(TypeError):
            format(np.array([1.0, 2.5]), specification)
    with np.printoptions(precision=1):
        assert str(ua.asarray([1.25])) == str(np.array([1.25]))
