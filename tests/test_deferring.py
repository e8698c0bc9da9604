"""Other libraries beside our arrays: NumPy's functions and Python's operators dispatch to them.

Small classes stand for those that units of measurement and sparse arrays are made of. The libraries themselves are
tried where they are installed.
"""

from __future__ import annotations

import importlib
import operator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp
from unifyarr.errors import LostDerivativeError
from unifyarr.testing import needs

from .oracle import as_numpy, assert_same
from .test_operators import ARITHMETIC


def values(x: Any) -> Any:
    return x.magnitude if isinstance(x, Quantity) else x


class Quantity:
    """Values with a unit, which may be arrays of any library: results are computed by NumPy's functions."""

    def __init__(self, magnitude: Any) -> None:
        self.magnitude = magnitude

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return Quantity(getattr(ufunc, method)(*map(values, inputs), **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        first, *others = args
        several = isinstance(first, (list, tuple))
        given = [values(each) for each in first] if several else values(first)
        return Quantity(function(given, *map(values, others), **kwargs))

    def __rmul__(self, other: Any) -> Any:
        return Quantity(other * self.magnitude)

    def __mul__(self, other: Any) -> Any:
        return Quantity(self.magnitude * other)

    def __gt__(self, other: Any) -> Any:
        return Quantity(self.magnitude > other)

    def __eq__(self, other: Any) -> Any:
        return Quantity(self.magnitude == other)

    __hash__ = None  # type: ignore[assignment]


class Subclass(np.ndarray):
    """An array of NumPy's with a unit, which computes with the bare values of anything."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        bare = [np.asarray(each).view(np.ndarray) for each in inputs]
        return np.asarray(getattr(ufunc, method)(*bare, **options)).view(Subclass)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        (first, *others) = args
        return np.asarray(function([np.asarray(each).view(np.ndarray) for each in first], *others)).view(Subclass)


class Declining:
    """Knows no array but its own, as sparse arrays do."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented

    def __array_function__(self, *_: Any) -> Any:
        return NotImplemented


class Watched(Declining):
    """Records attribute access."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        self.asked.append(f"{ufunc.__name__}.{method}")
        return self

    def __array_function__(self, function: Any, *_: Any) -> Any:
        self.asked.append(function.__name__)
        return self


UFUNCS = {
    "a call": (lambda x, q: np.multiply(x, q), "multiply.__call__"),
    "the other way round": (lambda x, q: np.multiply(q, x), "multiply.__call__"),
    "out": (lambda x, q: np.multiply(x, x, out=q), "multiply.__call__"),
    "outer": (lambda x, q: np.multiply.outer(x, q), "multiply.outer"),
    "at": (lambda x, q: np.add.at(x, [0], q), "add.at"),
    "without a counterpart": (lambda x, q: np.arctan2(x, q), "arctan2.__call__"),
    "rows": (lambda x, q: np.matmul(x, q), "matmul.__call__"),
}
FUNCTIONS = {
    "concatenate": lambda x, q: np.concatenate([x, q]),
    "where": lambda x, q: np.where(x > 1, x, q),
    "dot": lambda x, q: np.dot(x, q),
    "block": lambda x, q: np.block([[x, q]]),
    "interp": lambda x, q: np.interp(x, x, q),
    "copyto": lambda x, q: np.copyto(x, q),
    "histogram": lambda x, q: np.histogram(x, weights=q),
}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_ask_the_other_library(backend: str, name: str) -> None:
    x, q = ua.asarray([1.0, 2.0, 3.0]), Watched()
    call, asked = UFUNCS[name]
    call(x, q)
    assert q.asked == [asked]
    assert_same(x, [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="Declining"):
        call(x, Declining())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_ask_the_other_library(backend: str, name: str) -> None:
    x, q = ua.asarray([1.0, 2.0, 3.0]), Watched()
    FUNCTIONS[name](x, q)
    assert q.asked == [name]
    assert_same(x, [1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="no implementation found"):
        FUNCTIONS[name](x, Declining())


def test_quantities_of_our_arrays(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    for q in (Quantity(ua.asarray([2.0, 3.0, 4.0])), Quantity(np.array([2.0, 3.0, 4.0]))):
        results = (x * q, q * x, np.multiply(x, q), np.multiply(q, x), x[0] * q * [1.0, 2.0, 3.0])
        for result in results:
            assert isinstance(result, Quantity)
            assert result.magnitude.backend == backend
        assert_same(results[2].magnitude, [2.0, 6.0, 12.0])
        assert_same((x < q).magnitude, [True, True, True])
        assert_same((x == q).magnitude, [False, False, False])
        joined = np.concatenate([x, q])
        assert_same(joined.magnitude, [1.0, 2.0, 3.0, 2.0, 3.0, 4.0])
        assert joined.magnitude.backend == backend
    y = x
    y *= Quantity(2.0)
    assert_same(y.magnitude, [2.0, 4.0, 6.0])
    assert_same(x, [1.0, 2.0, 3.0])


def test_subclasses_that_compute_with_bare_values(backend: str) -> None:
    x, q = ua.asarray([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0]).view(Subclass)
    for result in (x * q, q * x, np.multiply(x, q), np.multiply(q, x)):
        assert type(result) is Subclass
        np.testing.assert_array_equal(result.view(np.ndarray), [2.0, 6.0, 12.0])
    assert type(np.concatenate([x, q])) is Subclass
    assert type(x == q) is Subclass


@pytest.mark.parametrize("name", ARITHMETIC)
def test_operators_leave_the_other_library_its_turn(backend: str, name: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    method = getattr(ua.Array, f"__{name}__")
    assert method(x, Declining()) is NotImplemented
    assert method(x, Quantity(2.0)) is NotImplemented
    assert method(x, np.ones(3).view(Subclass)) is NotImplemented
    with pytest.raises(TypeError, match="unsupported operand"):
        getattr(operator, name)(x, Declining())


def test_what_declines_is_not_compared_by_identity(backend: str) -> None:
    class Odd(np.ndarray):
        def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
            return NotImplemented

        def __eq__(self, other: Any) -> Any:
            return False

        __hash__ = None  # type: ignore[assignment]

    x = ua.asarray([1.0, 2.0, 3.0])
    for call in (lambda: x == np.ones(3).view(Odd), lambda: x != np.ones(3).view(Odd)):
        with pytest.raises(TypeError, match="Odd"):
            call()


def test_our_own_functions_refuse_and_say_what_to_do(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    for call in (ua.multiply, unp.multiply, lambda x, q: ua.concat([x, q]), lambda x, q: unp.average(x, weights=q)):
        with pytest.raises(TypeError, match=r"another library.*np\.asarray\(x\).*call NumPy's function"):
            call(x, Quantity(2.0))
        with pytest.raises(TypeError, match=r"means something else.*np\.asarray\(x\)"):
            call(x, np.ones(3).view(Subclass))


@needs("values", why="derivatives and traces compute")
def test_no_derivative_and_no_trace_is_lost(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    bare, q = np.array([2.0, 3.0, 4.0]).view(Subclass), Quantity(np.array([2.0, 3.0, 4.0]))
    for call in (lambda x: np.multiply(x, bare), lambda x: x * bare, lambda x: np.concatenate([x, bare])):
        with pytest.raises(LostDerivativeError):
            ua.grad(lambda x: ua.sum(ua.asarray(np.asarray(call(x)))))(x)
        with pytest.raises(ua.errors.TraceError):
            ua.compile(lambda x: np.asarray(call(x)))(x)
    # A library that computes by our functions loses nothing.
    for call in (lambda x: np.multiply(x, q).magnitude, lambda x: (x * q).magnitude):
        assert_same(ua.grad(lambda x: ua.sum(call(x)))(x), [2.0, 3.0, 4.0])
        assert_same(ua.compile(call)(x), [2.0, 6.0, 12.0])


# -- the libraries themselves -----------------------------------------------------------------------------------------


def test_pint(backend: str) -> None:
    units = pytest.importorskip("pint").UnitRegistry()
    x = ua.asarray([1.0, 2.0, 3.0])
    for q in (units.Quantity(x, "m"), np.array([1.0, 2.0, 3.0]) * units.m):
        for result in (x * q, q * x, np.multiply(x, q), np.multiply(q, x)):
            assert str(result.units) == "meter"
            assert result.magnitude.backend == backend
            assert_same(result.magnitude, [1.0, 4.0, 9.0])
        joined = np.concatenate([q, np.multiply(x, q)])
        assert_same(joined.magnitude, [1.0, 2.0, 3.0, 1.0, 4.0, 9.0])
        assert float(np.dot(x, q).magnitude) == 14.0
        with pytest.raises(TypeError, match="Cannot convert"):
            np.add(x, q)


@pytest.mark.parametrize("library", ["astropy", "unyt", "sparse"])
def test_libraries_that_take_no_arrays_but_numpys(backend: str, library: str) -> None:
    pytest.importorskip(library)
    host = np.array([1.0, 2.0, 3.0])
    if library == "astropy":
        q: Any = host * importlib.import_module("astropy.units").m
    elif library == "unyt":
        q = importlib.import_module("unyt").unyt_array(host, "m")
    else:
        q = importlib.import_module("sparse").COO(host)
    x = ua.asarray(host)
    for call in (lambda: x * q, lambda: q * x, lambda: np.multiply(x, q), lambda: np.multiply(q, x), lambda: x == q):
        with pytest.raises(TypeError, match=r"returned NotImplemented|unsupported operand"):
            call()
    assert type(np.asarray(x) * q) is type(q)
    np.testing.assert_array_equal(as_numpy(x), host)
