"""Triangular systems and the factors of matrices against SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import unifyarr as ua
from unifyarr._core.calling.invoke import declined
from unifyarr.testing import needs

from ..gradients import assert_gradients
from ..natives import skip_unless
from ..oracle import COMPLEX, FLOATS, HALVES, assert_raises, assert_same

linalg = ua.linalg
KERNELS = frozenset({"solve_triangular", "lu", "lu_factor", "lu_permutation"})
LOOSE = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-11, "complex128": 1e-11, "float16": 2e-2, "bfloat16": 1e-1}


def drawn(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype not in LOOSE:
        return random.integers(0, 5, shape).astype(dtype)
    values = random.uniform(-1, 1, shape)
    if dtype in COMPLEX:
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def steep(dtype: str, *shape: int) -> np.ndarray:
    # Matrices whose triangles are well-conditioned.
    return (drawn(dtype, *shape) + 4 * np.eye(*shape[-2:])).astype(drawn(dtype).dtype)


def double(x: np.ndarray) -> np.ndarray:
    return x.astype("c16" if x.dtype.kind == "c" else "f8")


def turned(x: np.ndarray, trans: Any) -> np.ndarray:
    turned = np.swapaxes(x, -1, -2)
    return {0: x, 1: turned, 2: np.conj(turned)}["NTC".index(trans) if isinstance(trans, str) else trans]


def triangle(x: np.ndarray, *, lower: bool, unit_diagonal: bool) -> np.ndarray:
    part = np.tril(double(x)) if lower else np.triu(double(x))
    eye = np.eye(x.shape[-1])
    return part * (1 - eye) + eye if unit_diagonal else part


def tolerance(x: np.ndarray) -> dict[str, Any]:
    loose = LOOSE.get(x.dtype.name, 1e-11)
    return {"rtol": loose, "atol": loose, "signed_zeros": False}


def as_wanted(expected: np.ndarray, *arrays: np.ndarray) -> np.ndarray:
    dtype = np.result_type(*arrays) if all(x.dtype.kind in "fcV" for x in arrays) else expected.dtype
    return expected.astype(dtype)


# -- solve_triangular -------------------------------------------------------------------------------------------------


def check_triangle(a: np.ndarray, b: np.ndarray, trans: Any = 0, **options: bool) -> None:
    matrix = turned(
        triangle(a, lower=options.get("lower", False), unit_diagonal=options.get("unit_diagonal", False)), trans
    )
    expected = np.linalg.solve(matrix, double(b))
    found = linalg.solve_triangular(ua.asarray(a), ua.asarray(b), trans=trans, **options)
    assert_same(found, as_wanted(expected, a, b), **tolerance(a), what=(a.shape, b.shape, trans, options))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *HALVES, "int32"])
def test_solve_triangular(backend: str, dtype: str) -> None:
    a, b = steep(dtype, 3, 3), drawn(dtype, 3, seed=1)
    for lower in (False, True):
        for unit_diagonal in (False, True):
            for trans in (0, 1, 2) if dtype in COMPLEX else (0, "T"):
                check_triangle(a, b, trans, lower=lower, unit_diagonal=unit_diagonal)
    check_triangle(a, drawn(dtype, 3, 2, seed=1), "C")


def test_stacks_of_triangles(backend: str) -> None:
    a = steep("float64", 2, 3, 3)
    for shape in ((3,), (3, 2), (2, 3, 2), (4, 1, 3, 1), (3, 0)):
        check_triangle(a, drawn("float64", *shape), lower=True)
    check_triangle(a[0], drawn("float64", 2, 3, 1))
    check_triangle(drawn("float64", 0, 0), drawn("float64", 0))
    check_triangle(a[:, ::-1, ::-1].swapaxes(-1, -2), drawn("float64", 3))


def test_scipy_agrees(backend: str) -> None:
    a, b = steep("complex128", 3, 3), drawn("complex128", 3, 2)
    for trans in (0, 1, 2):
        expected = scipy.linalg.solve_triangular(a, b, trans=trans, lower=True)
        assert_same(
            linalg.solve_triangular(ua.asarray(a), ua.asarray(b), trans=trans, lower=True), expected, rtol=1e-12
        )


def test_the_rest_is_not_read(backend: str) -> None:
    a, b = steep("float64", 3, 3), drawn("float64", 3)
    a[np.tril_indices(3, -1)] = np.nan
    check = linalg.solve_triangular(ua.asarray(a), ua.asarray(b))
    assert_same(check, np.linalg.solve(np.triu(np.nan_to_num(a)), b), rtol=1e-12)
    a[np.diag_indices(3)] = 0
    expected = np.linalg.solve(np.triu(np.nan_to_num(a), 1) + np.eye(3), b)
    assert_same(linalg.solve_triangular(ua.asarray(a), ua.asarray(b), unit_diagonal=True), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_large_ones_by_halves(backend: str, dtype: str) -> None:
    skip_unless(backend, "numpy", "torch", why="the composition, with few shapes to compile")
    token = declined.set(KERNELS)
    try:
        a = steep(dtype, 2, 70, 70) / 8
        for lower in (False, True):
            check_triangle(a, drawn(dtype, 70, 2), lower=lower)
            check_triangle(a[0], drawn(dtype, 2, 70, 1), trans=1, lower=lower, unit_diagonal=True)
    finally:
        declined.reset(token)


# -- lu ---------------------------------------------------------------------------------------------------------------

SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 3), (2, 0), (0, 0)]


def check_lu(x: np.ndarray) -> None:
    p, left, right = (np.asarray(each, double(x).dtype) for each in linalg.lu(ua.asarray(x)))
    count = min(x.shape[-2:])
    assert (left.shape[-1], right.shape[-2]) == (count, count)
    # Pivots are the greatest by the sum of both parts, where numbers are complex.
    assert (np.abs(np.tril(left, -1)) <= (1.5 if x.dtype.kind == "c" else 1.001)).all()
    np.testing.assert_array_equal(left, np.tril(left, -1) + np.eye(x.shape[-2], count))
    np.testing.assert_array_equal(right, np.triu(right))
    loose = LOOSE.get(x.dtype.name, 1e-11)
    np.testing.assert_allclose(p @ left @ right, double(x), rtol=loose, atol=loose)
    indices = linalg.lu(ua.asarray(x), p_indices=True)
    assert (indices.P.dtype, indices.P.shape) == (ua.int64, x.shape[:-1])
    rows = np.take_along_axis(left, np.asarray(indices.P)[..., None], -2) if x.size else left
    np.testing.assert_array_equal(rows, p @ left)


@pytest.mark.parametrize("composed", [False, True])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, *HALVES, "int32"])
def test_lu(backend: str, dtype: str, composed: bool) -> None:
    token = declined.set(KERNELS if composed else frozenset())
    try:
        for shape in SHAPES if dtype in FLOATS or backend in ("numpy", "torch") else SHAPES[:2]:
            check_lu(drawn(dtype, *shape))
    finally:
        declined.reset(token)


@pytest.mark.parametrize("composed", [False, True])
@pytest.mark.parametrize("shape", SHAPES[:4], ids=str)
def test_lu_is_that_of_scipy(backend: str, shape: tuple[int, ...], composed: bool) -> None:
    x = drawn("float64", *shape)
    token = declined.set(KERNELS if composed else frozenset())
    try:
        names, result = ("P", "L", "U"), linalg.lu(ua.asarray(x))
        assert result._fields == names
        for name, mine, expected in zip(names, result, scipy.linalg.lu(x), strict=True):
            assert_same(mine, expected, **tolerance(x), what=name)
        compact, pivots = linalg.lu_factor(ua.asarray(x))
        expected = scipy.linalg.lu_factor(x)
        assert_same(compact, expected[0], **tolerance(x))
        assert_same(pivots, expected[1].astype("int64"))
    finally:
        declined.reset(token)


def test_without_scipy(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "numpy", why="LAPACK's routines come from SciPy there")
    from unifyarr.backends.numpy import linalg_solvers

    monkeypatch.setattr(linalg_solvers, "_lapack", lambda name, char: None)
    for dtype in (*FLOATS, *COMPLEX):
        for shape in SHAPES:
            check_lu(drawn(dtype, *shape))
        check_triangle(steep(dtype, 3, 3), drawn(dtype, 3, 2), lower=True)
    for x in (np.zeros((2, 2)), np.ones((3, 3)), drawn("complex128", 4, 3)):
        compact, pivots, _ = getattr(scipy.linalg.lapack, "zgetrf" if x.dtype.kind == "c" else "dgetrf")(x)
        found = linalg.lu_factor(ua.asarray(x))
        assert_same(found.lu, compact, rtol=1e-12, atol=1e-12, signed_zeros=False)
        assert_same(found.piv, pivots.astype("int64"))


def test_singular_matrices_have_factors(backend: str) -> None:
    for x in (np.zeros((2, 2)), np.ones((3, 3)), np.array([[0.0, 1.0], [0.0, 2.0]])):
        check_lu(x)
        expected, _, _ = scipy.linalg.lapack.dgetrf(x)
        assert_same(linalg.lu_factor(ua.asarray(x)).lu, expected, signed_zeros=False)


# -- lu_solve ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
def test_lu_solve(backend: str, dtype: str) -> None:
    a = drawn(dtype, 2, 3, 3) + 2 * np.eye(3, dtype=dtype)[::-1]
    factors = linalg.lu_factor(ua.asarray(a))
    for shape in ((3,), (3, 2), (2, 3, 2)):
        b = drawn(dtype, *shape, seed=1)
        for trans in (0, 1, 2):
            expected = np.linalg.solve(turned(double(a), trans), double(b)).astype(dtype)
            assert_same(linalg.lu_solve(factors, ua.asarray(b), trans=trans), expected, **tolerance(a))


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX])
@pytest.mark.parametrize("lower", [True, False])
def test_cho_solve(backend: str, dtype: str, lower: bool) -> None:
    root = drawn(dtype, 2, 3, 3) + 3 * np.eye(3, dtype=dtype)
    a = root @ np.conj(root.swapaxes(-1, -2))
    factor = np.linalg.cholesky(a, upper=not lower)
    # The other triangle isn't read.
    rest = np.full((3, 3), 7, dtype)
    factor += np.triu(rest, 1) if lower else np.tril(rest, -1)
    for shape in ((3,), (3, 2), (2, 3, 2), (3, 0)):
        b = drawn(dtype, *shape, seed=1)
        expected = np.linalg.solve(double(a), double(b)).astype(dtype)
        assert_same(linalg.cho_solve(ua.asarray(factor), ua.asarray(b), upper=not lower), expected, **tolerance(a))


@needs("writes", "values", why="an engine that looks whether indices are in bounds")
@pytest.mark.parametrize("pivots", [[0, 2], [-1, 1], [7, 1]])
def test_pivots_are_rows(backend: str, pivots: list[int]) -> None:
    factors = ua.asarray([[4.0, 1.0], [0.5, 2.5]])

    def solve(b: ua.Array, pivots: ua.Array) -> ua.Array:
        return linalg.lu_solve((factors, pivots), b)  # type: ignore[no-any-return]

    for function in (solve, ua.compile(solve), lambda b, pivots: ua.grad(lambda b: ua.sum(solve(b, pivots)))(b)):
        with pytest.raises(IndexError, match="pivots of 2 rows are from 0 to 1"):
            function(ua.ones(2), ua.asarray(pivots))


@pytest.mark.parametrize("case", ["solve_triangular", "lu_solve"])
def test_singular_systems(backend: str, case: str) -> None:
    singular, right = ua.asarray([[1.0, 1.0], [0.0, 0.0]]), ua.ones(2)
    if case == "lu_solve":
        assert_raises(np.linalg.LinAlgError, linalg.lu_solve, linalg.lu_factor(singular), right)
    else:
        assert_raises(np.linalg.LinAlgError, linalg.solve_triangular, singular, right)


ERRORS = {
    "a vector": lambda: linalg.lu(ua.ones(2)),
    "a vector to factor": lambda: linalg.lu_factor(ua.ones(2)),
    "no square": lambda: linalg.solve_triangular(ua.ones((2, 3)), ua.ones(2)),
    "lengths": lambda: linalg.solve_triangular(ua.ones((2, 2)), ua.ones(3)),
    "stacks": lambda: linalg.solve_triangular(ua.ones((2, 2, 2)), ua.ones((3, 2, 1))),
    "trans": lambda: linalg.solve_triangular(ua.ones((2, 2)), ua.ones(2), trans=3),
    "trans of factors": lambda: linalg.lu_solve((ua.ones((2, 2)), ua.asarray([0, 1])), ua.ones(2), trans="H"),
    "no square factor": lambda: linalg.cho_solve(ua.ones((2, 3)), ua.ones(2)),
    "pivots": lambda: linalg.lu_solve((ua.ones((2, 2)), ua.asarray([0, 1, 2])), ua.ones(2)),
    "pivots of numbers": lambda: linalg.lu_solve((ua.ones((2, 2)), ua.ones(2)), ua.ones(2)),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    assert_raises((ValueError, TypeError), ERRORS[case])


def test_gradients(backend: str) -> None:
    a, b = steep("float64", 3, 3), drawn("float64", 3, 2, seed=1)
    assert_gradients(backend, lambda a, b: linalg.solve_triangular(a, b, lower=True, trans=1), a, b)
    assert_gradients(backend, lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b), a, b)
    assert_gradients(backend, lambda a, b: linalg.cho_solve(a, b), a, b)
    assert_gradients(backend, lambda a: linalg.lu(a).L, a)
    assert_gradients(backend, lambda a: linalg.lu(a).U, drawn("float64", 3, 2))
