"""The operators of arrays come from a table: every one that Python has is there, and is the function it names."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import pytest

import unifyarr as ua
from unifyarr._core.arrays.operators import OPERATORS, Operators
from unifyarr._core.declaring.declare import DECLARATIONS
from unifyarr._native import core

UNARY = {"neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert"}
ARITHMETIC = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
NAMES = {
    *(f"__{name}__" for name in (*UNARY, *ARITHMETIC, *COMPARISONS)),
    *(f"__{form}{name}__" for name in ARITHMETIC for form in "ri"),
}


def test_every_operator_is_there() -> None:
    methods = {name for name, value in vars(Operators).items() if inspect.isfunction(value)}
    assert methods == NAMES
    assert set(OPERATORS) == {*UNARY.values(), *ARITHMETIC.values(), *COMPARISONS.values()} <= set(DECLARATIONS)


# Those of arrays and containers are Python's own wrappers, where they are the compiled core's.
@pytest.mark.parametrize("cls", [Operators, ua.Container] if core is None else [Operators])
@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_operator_says_what_it_is(cls: type, name: str) -> None:
    method = getattr(cls, name)
    assert method.__name__ == name
    parameters = list(inspect.signature(method).parameters.values())
    assert [each.name for each in parameters] == (["self"] if name.strip("_") in UNARY else ["self", "other"])
    assert all(each.kind is each.POSITIONAL_ONLY for each in parameters)
    function = {**UNARY, **ARITHMETIC, **COMPARISONS}[_plain(name)]
    assert f"see the function ``{function}``" in method.__doc__
    assert callable(getattr(ua, function))


def _plain(name: str) -> str:
    word = name.strip("_")
    return word if word in {**UNARY, **ARITHMETIC, **COMPARISONS} else word[1:]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("__add__", "self + other"),
        ("__radd__", "other + self"),
        ("__iadd__", "self += other"),
        ("__neg__", "-self"),
        ("__abs__", "abs(self)"),
        ("__le__", "self <= other"),
        ("__rpow__", "other ** self"),
        ("__imatmul__", "self @= other"),
    ],
)
def test_help_shows_the_expression(name: str, text: str) -> None:
    assert f"``{text}``" in getattr(Operators, name).__doc__


@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_operator_of_arrays_is_a_method(name: str) -> None:
    # Those of the compiled core are described by Python.
    method = getattr(ua.Array, name)
    assert method.__name__ == name
    parameters = list(inspect.signature(method).parameters.values())
    # Python describes a power with a modulus, which arrays refuse.
    most = 3 if name in ("__pow__", "__rpow__") else 2
    assert len(parameters) == 1 if name.strip("_") in UNARY else 2 <= len(parameters) <= most
    assert all(each.kind is each.POSITIONAL_ONLY for each in parameters)


@pytest.mark.parametrize("name", sorted(ARITHMETIC.keys() - {"matmul"}))
def test_the_three_forms_agree(backend: str, name: str) -> None:
    whole = name in ("and", "or", "xor", "lshift", "rshift")
    one: Any = [6, 5, 4] if whole else [6.0, 5.0, 4.0]
    two: Any = [1, 2, 3] if whole else [1.0, 2.0, 3.0]
    x, y = ua.asarray(one, backend=backend), ua.asarray(two, backend=backend)
    apply = getattr(operator, f"__{name}__")
    wanted = apply(x, y).tolist()
    assert apply(x, two).tolist() == wanted
    assert apply(one, y).tolist() == wanted
    same = x
    x = getattr(operator, f"__i{name}__")(x, y)
    assert x is same
    assert x.tolist() == wanted
