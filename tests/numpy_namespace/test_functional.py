"""Functions of functions against NumPy's."""

from __future__ import annotations

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ..natives import skip_without_derivatives
from ..oracle import as_numpy, assert_same
from .calls import DATA, check_call

CALLS = """
apply_along_axis(np.sort, 0, A) | apply_along_axis(lambda x: x[-1] - x[0], 1, A)
apply_along_axis(lambda x: x[:2], 0, stack) | apply_along_axis(np.diag, -1, A) | apply_along_axis(np.sum, 2, A)
apply_along_axis(np.sum, 0, np.zeros((2, 0)))
apply_along_axis(lambda x, n, by=1: x * n + by, 0, A, 2, by=3) | apply_over_axes(np.sum, stack, [0, 2])
apply_over_axes(np.max, A, 1) | apply_over_axes(np.sum, A, 3)
piecewise(v, [v < 0, v >= 0], [-1, 1]) | piecewise(v, [v < 0], [lambda x: -x])
piecewise(v, [v < 0], [lambda x: -x, lambda x: 10 * x]) | piecewise(v, [v < 0, v > 2], [1, 2, 3])
piecewise(A, A > 1, [lambda x, by: x * by], 3)
piecewise(2.5, [True], [7]) | piecewise(v, [v < 0], [1, 2, 3]) | piecewise(k, [k > 1], [2.7])
piecewise(v, [[True, False, True, False]], [lambda x: x + 1, 0])
piecewise(np.array(3), np.array(3) > 1, [2, 0])
vectorize(lambda a, b: a if a > b else b)(k, 1) | vectorize(lambda a: a + 0.5)(I)
vectorize(lambda a: a, otypes="f")(k) | vectorize(lambda a: (a, a * 2))(k)
vectorize(lambda a: a, otypes=[complex, int])([]) | vectorize(lambda a: a)([])
vectorize(lambda a: a, otypes=[float])([]) | vectorize(lambda a, b: a * b)(A, v)
vectorize(lambda x, y: np.sum(x * y), signature="(n),(n)->()")(A, v)
vectorize(lambda x: x[::-1] * 2, signature="(n)->(n)")(A) | vectorize(np.outer, signature="(m),(n)->(m,n)")(v, k)
vectorize(lambda x, y: x, signature="(n),(n)->()")(A, v[:3]) | vectorize(lambda x: x, signature="(n)->")(A)
vectorize(lambda x: (x, x[0]), signature="(n)->(n),()")(A) | vectorize(lambda x: x, signature="(n)->(n)")(3)
vectorize(lambda x, n: x + n, excluded=[1])(v, 2)
vectorize(lambda x, n=1: x + n, excluded={"n"})(v, n=5) | vectorize(lambda x, n=1: x + n)(v, n=k) | vectorize(3)
vectorize(lambda x: x, otypes=3) | vectorize(otypes=[float])(lambda x: x)(k) | vectorize(lambda x: x > 1)(A)
packbits([1, 0, 1]) | packbits(B) | packbits(B, 1) | packbits(B, axis=0, bitorder="little") | packbits(A)
packbits(U, -1) | packbits([]  + [0]) | unpackbits(U[0]) | unpackbits(U, 1) | unpackbits(U, axis=0, count=5)
unpackbits(U, count=-3) | unpackbits(U[0], bitorder="little") | unpackbits(U, 1, 12) | unpackbits(I)
packbits(B, bitorder="no") | unpackbits(U, 0, -99)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


def squares_of_parts(x: ua.Array) -> ua.Array:
    """Return the results of several compositions of an array, as one vector."""
    y = np.copy(x)
    np.put(y, [0, 5], x[0, :2])
    np.place(y, y > 2.25, x[1])
    np.copyto(y, x[2], where=x > 2.25)
    np.fill_diagonal(y, x[0, 0])
    bent = np.piecewise(x, [x < 0.1], [lambda v: -v, lambda v: v * v])
    joined = np.hstack([y, bent, np.insert(x, 1, x[:, 0], axis=1), np.delete(x, [0, 2], axis=1)])
    padded = np.pad(joined, 1, "reflect", reflect_type="odd")
    chosen = np.select([padded > 3.1, padded < -0.1], [padded * 2, padded * padded], 0.0)
    return np.r_[np.ravel(chosen), np.ravel(np.linspace(x[0], x[1], 3)), np.resize(x, 5)]


def test_compositions_are_compiled(backend: str) -> None:
    x = np.asarray(DATA["A"])
    compiled = ua.compile(squares_of_parts)
    assert_same(compiled(x), as_numpy(squares_of_parts(x)))
    assert_same(compiled(x * 2), as_numpy(squares_of_parts(x * 2)))


def test_compositions_are_differentiated(backend: str) -> None:
    skip_without_derivatives(backend)
    x = DATA["A"]
    found = ua.grad(lambda x: ua.sum(squares_of_parts(x)))(np.asarray(x))
    wanted = numpy.zeros_like(x)
    for place in numpy.ndindex(x.shape):
        for step in (1e-6, -1e-6):
            moved = x.copy()
            moved[place] += step
            wanted[place] += float(np.asarray(squares_of_parts(ua.asarray(moved)).sum())) / (2 * step)
    assert_same(found, wanted, rtol=1e-5, atol=1e-5)
