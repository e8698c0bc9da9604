"""The operators of an array: with arrays, data, scalars and strangers on either side, and in place."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .arrays import pair
from .natives import native
from .oracle import STANDARD, assert_same, repeated

ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
UNARY = ["neg", "pos", "abs", "invert"]
OPERATORS = ARITHMETIC + BITWISE + COMPARISONS


def numpys(name: str, *operands: Any) -> Any:
    """Return NumPy's function for an operator, ``None`` if there is none."""
    # NumPy's ** takes a short cut for a scalar 2, whose dtype for bool isn't that of its function.
    function = np.pow if name == "pow" else getattr(operator, name)
    try:
        with np.errstate(all="ignore"):
            return function(*operands)
    except TypeError:
        return None


def assert_operator(name: str, expected: Any, *operands: Any) -> None:
    if expected is None:
        with pytest.raises(TypeError):
            getattr(operator, name)(*operands)
    else:
        assert_same(getattr(operator, name)(*operands), expected, what=(name, operands))


# One dtype of each kind: with the others operands have one shape.
BROADCAST = {"bool", "int64", "uint8", "float64", "complex128"}


@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("name", OPERATORS)
def test_binary_operators(backend: str, name: str, dtype: str) -> None:
    one = np.array([[3, 1, 2], [1, 0, 1]]).astype(dtype)
    other = np.array([2, 1, 3]).astype(dtype)
    if dtype not in BROADCAST:
        one, other = repeated(backend, one.ravel()), repeated(backend, np.tile(other, 2))
    assert_operator(name, numpys(name, one, other), ua.asarray(one, copy=True), ua.asarray(other, copy=True))


@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("name", UNARY)
def test_unary_operators(backend: str, name: str, dtype: str) -> None:
    values, x = pair(dtype=dtype)
    assert_operator(name, numpys(name, values), x)


@pytest.mark.parametrize("scalar", [True, 2, 1.5, 1j], ids=repr)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", OPERATORS)
def test_operators_with_python_scalars_on_either_side(backend: str, name: str, dtype: str, scalar: Any) -> None:
    values = repeated(backend, pair((3,), dtype)[0])
    x = ua.asarray(values, copy=True)
    assert_operator(name, numpys(name, values, scalar), x, scalar)
    assert_operator(name, numpys(name, scalar, values), scalar, x)


@pytest.mark.parametrize("number", [127, 128, 2**24, 2**24 + 1, -(2**24) - 1, 2**53 + 1, 2**62 + 1], ids=repr)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", *COMPARISONS])
def test_integers_beside_floats_that_may_not_hold_them(backend: str, name: str, dtype: str, number: int) -> None:
    values = repeated(backend, np.array([number, number - 1.0, 0.0, -np.inf]).astype(dtype))
    x = ua.asarray(values, copy=True)
    assert_operator(name, numpys(name, values, number), x, number)
    assert_operator(name, numpys(name, number, values), number, x)


OTHERS: dict[str, Callable[[str], Any]] = {
    "NumPy array": lambda backend: np.array([[2.0, 1.0, 3.0]]),
    "NumPy scalar": lambda backend: np.float64(2.5),
    "0-d NumPy array": lambda backend: np.array(2.0),
    "integer NumPy scalar": lambda backend: np.int32(2),
    "list": lambda backend: [2.0, 1.0, 3.0],
    "tuple": lambda backend: (2, 1, 3),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
@pytest.mark.parametrize("name", ARITHMETIC + COMPARISONS)
def test_operators_take_data_on_either_side(backend: str, name: str, other: Callable[[str], Any]) -> None:
    values, x = pair()
    data = other(backend)
    for operands in ((x, data), (data, x)):
        result = getattr(operator, name)(*operands)
        assert isinstance(result, ua.Array)
        assert result.backend == backend
        assert_same(result, getattr(operator, name)(*(values if each is x else np.asarray(each) for each in operands)))


def test_operators_take_the_engines_own_arrays(backend: str) -> None:
    values, x = pair()
    own = native(backend, values + 1)
    for name in ("add", "sub", "mul", "lt", "eq"):
        assert_same(getattr(operator, name)(x, own), getattr(operator, name)(values, values + 1))
    assert_same(x @ native(backend, values.T), values @ values.T)


def test_matmul_operators(backend: str) -> None:
    values, x = pair((2, 3))
    square, y = pair((2, 2))
    assert_same(x @ x.T, values @ values.T)
    assert_same(square @ x, square @ values)
    assert_same(x @ np.ones(3), values @ np.ones(3))
    kept = y
    y @= y
    assert y is kept
    assert_same(y, square @ square)
    with pytest.raises(ValueError, match="matmul"):
        x @ x
    with pytest.raises((TypeError, ValueError)):
        x @ 2


def updated(name: str, x: ua.Array, y: Any, values: np.ndarray, beside: Any) -> Any:
    """Return the result of an operator in place; the array itself if NumPy refuses, as ours has to then."""
    in_place = getattr(operator, name)
    try:
        with np.errstate(all="ignore"):
            in_place(values, beside)
    except TypeError:
        with pytest.raises(TypeError):
            in_place(x, y)
        return x
    return in_place(x, y)


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float32", "complex128"])
@pytest.mark.parametrize("name", [f"i{name}" for name in (*ARITHMETIC, "and", "or", "xor", "lshift", "rshift")])
@pytest.mark.parametrize("scalar", [True, 2, 1.5], ids=repr)
def test_in_place_operators_keep_the_object_and_the_dtype(backend: str, name: str, dtype: str, scalar: Any) -> None:
    values, x = pair((3,), dtype)
    kept, view = x, x[::-1]
    assert updated(name, x, scalar, values, scalar) is kept
    assert_same(x, values)
    assert_same(view, values[::-1])


def test_in_place_operators_broadcast_the_operand_not_the_target(backend: str) -> None:
    values, x = pair((2, 3))
    x += ua.asarray([1.0, 2.0, 3.0])
    values += [1.0, 2.0, 3.0]
    assert_same(x, values)
    row = x[0]
    with pytest.raises(ValueError, match="shape"):
        row += x
    assert_same(x, values)


@pytest.mark.parametrize("other", ["bool", "int32", "int64", "float32"])
@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", [f"i{name}" for name in ARITHMETIC])
def test_in_place_operators_take_arrays_of_other_dtypes(backend: str, name: str, dtype: str, other: str) -> None:
    for shape in ((2, 3), (3,), ()):
        values, x = pair((2, 3), dtype)
        beside, y = pair(shape, other)
        updated(name, x, y, values, beside)
        assert_same(x, values)


class Stranger:
    """Knows what to do with an array, which an array doesn't know of it."""

    def __radd__(self, other: Any) -> str:
        return f"radd {type(other).__name__}"

    def __lt__(self, other: Any) -> str:
        return "lt"


def test_operators_leave_strangers_to_themselves(backend: str) -> None:
    x = ua.zeros(2)
    assert x + Stranger() == "radd Array"
    assert (x > Stranger()) == "lt"
    for stranger in ("text", None, object(), {1: 2}):
        for name in ("add", "mul", "lt", "iadd", "matmul", "and_"):
            with pytest.raises(TypeError):
                getattr(operator, name)(x, stranger)
            if name != "iadd":
                with pytest.raises(TypeError):
                    getattr(operator, name)(stranger, x)
        assert (x == stranger) is False
        assert (x != stranger) is True


def test_python_integers_beyond_the_dtype(backend: str) -> None:
    x = ua.asarray([1, 2], dtype="uint8")
    with pytest.raises(OverflowError):
        x + 256
    assert_same(x < 256, np.array([True, True]))
    assert_same(x == -1, np.array([False, False]))
