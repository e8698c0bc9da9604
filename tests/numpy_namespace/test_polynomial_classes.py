"""NumPy's classes of polynomials against NumPy's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ..gradients import assert_gradients
from ..oracle import as_numpy, assert_same

CLASSES = ["Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"]
# With polynomials p and q, arrays x and y, and the class.
CALLS = """
p(x) | p(2.0) | p([1, 2]) | p(x[0]) | p(x + 1j) | p * q | p + 1 | 2 * p | p // q | p % q | divmod(p, q) | p**2 | -p
p.deriv() | p.integ(2, k=[1, 2]) | p.roots() | p.coef | p.degree() | p(q) | p.convert(domain=[0, 4]) | p.linspace(3)
p.linspace(2, [0, 3]) | p == p.copy() | p.trim() | p.cutdeg(1) | p.mapparms() | str(p) | repr(p) | P.fit(x, y, 2)
P.fit(x, y, 1, domain=[]) | P.fromroots([1, 2]) | P.basis(2) | P.identity() | P([1.0, 2.0], domain=[0, 1])(x)
p * x | x * p | P(x) | pickle.loads(pickle.dumps(p)) == p | P.cast(q) | p(x.astype("float32")) | p(x[:0]) | p + [1, 2]
"""


def outcome(namespace: Any, kind: Any, call: str) -> Any:
    x = namespace.asarray([0.0, 0.5, 1.25, 3.0])
    given = {"P": kind, "p": kind([1.0, 2.0, 3.0]), "q": kind([2.0, 1.0]), "x": x, "y": x**2, "pickle": pickle}
    return eval(call, given)


def assert_equal(found: Any, wanted: Any, what: str) -> None:
    if isinstance(wanted, tuple):
        for mine, each in zip(found, wanted, strict=True):
            assert_equal(mine, each, what)
    elif isinstance(wanted, (str, bool)):
        assert found == wanted, what
    elif isinstance(wanted, (numpy.poly1d, numpy.polynomial.Polynomial.__base__)):
        assert isinstance(found, type(wanted)), what
        numpy.testing.assert_allclose(as_numpy(ua.asarray(found.coef)), wanted.coef, rtol=1e-12, err_msg=what)
    else:
        assert_same(ua.asarray(found), numpy.asarray(wanted), rtol=1e-12, atol=1e-13, what=what)


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_polynomials(backend: str, name: str) -> None:
    mine, theirs = getattr(np.polynomial, name), getattr(numpy.polynomial, name)
    assert mine.__name__ == name
    assert issubclass(mine, theirs)
    for call in CALLS.strip().replace("\n", " | ").split(" | "):
        found = outcome(np, mine, call)
        assert_equal(found, outcome(numpy, theirs, call), call)
        assert type(found) is not theirs, call
    assert isinstance(mine([1, 2])(2.0), ua.Array)


@pytest.mark.parametrize("name", CLASSES)
def test_values_of_polynomials_have_derivatives(backend: str, name: str) -> None:
    p = getattr(np.polynomial, name)([1.0, 2.0, -0.5], domain=[0, 2])
    assert_gradients(backend, lambda x: p(x), numpy.array([0.3, 1.7]))


@pytest.mark.parametrize("given", ["numbers", "arrays"])
def test_poly1d(backend: str, given: str) -> None:
    coefficients = [1.0, 2.0, 3.0] if given == "numbers" else np.asarray([1.0, 2.0, 3.0])
    theirs, p = numpy.poly1d([1.0, 2.0, 3.0]), np.poly1d(coefficients)
    x, other = numpy.linspace(0, 1, 3), numpy.poly1d([2.0, 1.0])
    assert isinstance(p(np.asarray(x)), ua.Array)
    assert str(p) == str(theirs)
    for call in (
        *("p(x)", "p * q", "p + 1", "2 * p", "p**2", "p.deriv()", "p.integ()", "p(q)", "p.c", "p.order", "p[1]", "-p"),
        *("p / q", "np.polyval(p, x)", "np.polyadd(p, q)", "np.polymul(p, [1, 2])", "np.polyder(p)", "p.r"),
    ):
        found = eval(call, {"p": p, "q": other, "x": np.asarray(x), "np": np})
        assert_equal(found, eval(call, {"p": theirs, "q": other, "x": x, "np": numpy}), call)


def test_fits_make_polynomials(backend: str) -> None:
    x = np.linspace(0, 2, 9)
    assert np.allclose(np.poly1d(np.polyfit(x, x**2 - x, 2))(x), x**2 - x)
