"""``unifyarr.numpy.linalg`` beside NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..natives import skip_without_derivatives
from ..oracle import as_numpy, assert_same, assert_values
from .tables import assert_agrees

A = np.array([[4.0, 1.0, 2.0], [1.0, 3.0, 0.5], [2.0, 0.5, 5.0]])
B = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
C = A + 1j * np.array([[0.0, 1.0, 2.0], [-1.0, 0.0, 1.0], [-2.0, -1.0, 0.0]])
STACK = np.stack([A, A @ A])
LOW = np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0])
TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0], [0.0, 1.0]])
V = np.array([3.0, -4.0, 0.0])

CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("solve", (A, V), {}),
    ("solve", (STACK, B), {}),
    ("solve", (A, B[:2]), {}),
    ("solve", ([[2, 0], [0, 4]], [1, 2]), {}),
    ("tensorsolve", (np.eye(6).reshape(2, 3, 6) * 2, B.reshape(2, 3)), {}),
    ("tensorsolve", (np.eye(6).reshape(2, 6, 3) * 2, B.reshape(2, 3)), {"axes": (1,)}),
    ("tensorsolve", (np.ones((2, 3, 6)), np.ones(2)), {}),
    ("tensorinv", (np.eye(6).reshape(2, 3, 6) * 4,), {}),
    ("tensorinv", (np.eye(6).reshape(6, 2, 3) * 4, 1), {}),
    ("tensorinv", (A, 0), {}),
    ("inv", (STACK,), {}),
    ("inv", (B,), {}),
    ("pinv", (B,), {}),
    ("pinv", (LOW, 1e-10), {}),
    ("pinv", (A, None, True), {}),
    ("pinv", (STACK,), {"rcond": [1e-15, 0.5], "hermitian": True}),
    ("pinv", (A,), {"rtol": None}),
    ("pinv", (A, 1e-3), {"rtol": 1e-3}),
    ("lstsq", (TALL, np.array([1.0, 2.0, 3.0, 5.0])), {}),
    ("lstsq", (TALL, np.ones((3,))), {}),
    ("cholesky", (STACK,), {}),
    ("cholesky", (A,), {"upper": True}),
    ("cholesky", (V,), {}),
    ("qr", (A, "r"), {}),
    ("qr", (A, "none"), {}),
    ("svd", (TALL,), {"compute_uv": False}),
    ("svd", (-STACK, True, False, True), {}),
    ("svd", (V,), {}),
    ("svdvals", (B,), {}),
    ("eigvalsh", (C,), {}),
    ("eigvalsh", (np.triu(A), "U"), {}),
    ("eigvalsh", (np.tril(C), "l"), {}),
    ("eigvalsh", (A, "x"), {}),
    ("det", (STACK,), {}),
    ("det", ([[1, 2], [3, 4]],), {}),
    ("slogdet", (-STACK,), {}),
    ("matrix_rank", (LOW,), {}),
    ("matrix_rank", (np.stack([A, LOW]),), {}),
    ("matrix_rank", (A,), {"tol": 4.0}),
    ("matrix_rank", (A, None, True), {"rtol": 0.5}),
    ("matrix_rank", (A, 1.0), {"rtol": 1.0}),
    *[("cond", (np.stack([A, LOW, A * np.nan]), p), {}) for p in (1, np.inf, "fro")],
    *[("cond", (A, p), {}) for p in (None, 2, -2, -1, 7)],
    ("cond", (np.zeros((2, 2)),), {}),
    ("cond", (np.empty((0, 0)),), {}),
    *[("norm", (V, order), {}) for order in (None, 2, 1, 0, 3, -1, np.inf, -np.inf, "fro")],
    *[("norm", (B, order), {}) for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, 3)],
    ("norm", (C,), {}),
    ("norm", (STACK,), {}),
    ("norm", (STACK, 2), {}),
    ("norm", (STACK, None, 1), {}),
    ("norm", (STACK, np.inf, (0, 2), True), {}),
    ("norm", (STACK, "nuc", (2, 0)), {}),
    ("norm", (STACK,), {"axis": (0, 1, 2)}),
    ("norm", (STACK,), {"axis": (1, -2)}),
    ("norm", (STACK,), {"axis": 5}),
    ("norm", ([3, 4],), {}),
    ("norm", (np.float32(2) * V.astype("float32"), None, None, True), {}),
    ("matrix_norm", (STACK,), {"keepdims": True}),
    *[("matrix_norm", (np.zeros((2, 0, 3)),), {"ord": order}) for order in (1, 2, np.inf, "nuc", -1, -2)],
    *[("vector_norm", (np.zeros((2, 0)),), {"axis": 1, "ord": order}) for order in (1, 2, np.inf, -np.inf)],
    ("matrix_rank", (np.zeros((2, 0, 3)),), {}),
    ("vector_norm", (STACK,), {"axis": (0, 1), "ord": 1}),
    ("matrix_power", (A, 3), {}),
    ("matrix_power", (A, -2), {}),
    ("matrix_power", (np.array([[0.0, 1.0], [1.0, 0.0]]), 2**65 + 1), {}),
    ("svd", (A.astype("float32"), True, False, True), {"tolerance": {"rtol": 1e-5}}),
    ("matrix_power", (B, 2), {}),
    ("multi_dot", ([A, B, B.T, A],), {}),
    ("multi_dot", ([V, A, V],), {}),
    ("multi_dot", ([V, A],), {}),
    ("multi_dot", ([A, V],), {}),
    ("multi_dot", ([A],), {}),
    ("multi_dot", ([A, STACK, A],), {}),
    ("cross", (A, V), {}),
    ("cross", (B, B), {}),
    ("outer", (V, [1, 2]), {}),
    ("tensordot", (STACK, A), {"axes": ([1], [0])}),
    ("matmul", (A, B), {}),
    ("vecdot", (C, A), {"axis": 0}),
    ("matrix_transpose", (STACK,), {}),
    ("matrix_transpose", (V,), {}),
    ("diagonal", (STACK,), {"offset": 1}),
    ("trace", (A.astype("int32"),), {"dtype": "float32"}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(CASES)])
def test_a_call(backend: str, name: str, args: Any, kwargs: Any) -> None:
    tolerance = {"atol": 1e-11, "signed_zeros": False, **kwargs.get("tolerance", {})}
    kwargs = {key: each for key, each in kwargs.items() if key != "tolerance"}
    assert_agrees(getattr(np.linalg, name), getattr(unp.linalg, name), *args, tolerance=tolerance, **kwargs)


@pytest.mark.parametrize("half", ["L", "U"])
def test_eigh_reads_one_triangle(backend: str, half: str) -> None:
    triangle = np.tril(C) if half == "L" else np.triu(C)
    result = unp.linalg.eigh(ua.asarray(triangle), half)
    assert result._fields == ("eigenvalues", "eigenvectors")
    assert_same(result.eigenvalues, np.linalg.eigh(triangle, half).eigenvalues)
    values, vectors = map(as_numpy, result)
    assert_values(C @ vectors, vectors * values, atol=1e-11, signed_zeros=False)


@pytest.mark.parametrize("x", [np.triu(A), np.array([[0.0, 1.0], [-1.0, 0.0]]), A.astype("float32")])
def test_eig_is_complex_whatever_its_values(backend: str, x: np.ndarray) -> None:
    # As with NumPy 2.5; earlier versions return real arrays where the values are.
    wanted = "complex64" if x.dtype == "float32" else "complex128"
    values, vectors = unp.linalg.eig(ua.asarray(x))
    assert {each.dtype.name for each in (values, vectors, unp.linalg.eigvals(ua.asarray(x)))} == {wanted}
    expected = np.sort_complex(np.linalg.eigvals(x))
    rtol = 1e-4 if wanted == "complex64" else 1e-10
    for found in (values, unp.linalg.eigvals(ua.asarray(x))):
        np.testing.assert_allclose(np.sort_complex(as_numpy(found)), expected, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(as_numpy(ua.asarray(x) @ vectors), as_numpy(vectors * values), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("hermitian", [True, False])
def test_svd_gives_the_matrix_back(backend: str, full: bool, hermitian: bool) -> None:
    values = -C if hermitian else TALL
    u, s, vh = result = unp.linalg.svd(ua.asarray(values), full, True, hermitian)
    assert [each.shape for each in result] == [each.shape for each in np.linalg.svd(values, full, True, hermitian)]
    assert_same(s, np.linalg.svd(values, compute_uv=False))
    count = len(s)
    assert_same(u[:, :count] * s @ vh[:count], values, atol=1e-11, signed_zeros=False)
    if hermitian:
        _, s, vh = unp.linalg.svd(ua.asarray(np.diag([-2.0, 0.0])), full, True, True)
        assert_same(abs(vh), np.eye(2))
        assert {each.dtype.name for each in unp.linalg.svd(ua.eye(2, dtype="float32"), hermitian=True)} == {"float32"}


@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr_gives_the_matrix_back(backend: str, mode: str) -> None:
    q, r = result = unp.linalg.qr(ua.asarray(TALL), mode)
    assert [each.shape for each in result] == [each.shape for each in np.linalg.qr(TALL, mode)]
    assert_same(q @ r, TALL, atol=1e-11, signed_zeros=False)
    for one, other in zip(unp.linalg.qr(ua.asarray(TALL), mode="raw"), np.linalg.qr(TALL, "raw"), strict=True):
        assert_same(one, other)


def test_multi_dot_writes_out(backend: str) -> None:
    out = ua.zeros((3, 2))
    assert unp.linalg.multi_dot([ua.asarray(A), ua.asarray(A), ua.asarray(B)], out=out) is out
    assert_same(out, A @ A @ B)


def test_singular_matrices_raise_numpys_error() -> None:
    with ua.use_backend("numpy"), pytest.raises(unp.linalg.LinAlgError):
        unp.linalg.inv([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(unp.linalg.LinAlgError, match=r"shape \(3,\)"):
        unp.linalg.inv([1.0, 2.0, 3.0])


def test_norm_is_differentiated(backend: str) -> None:
    skip_without_derivatives(backend)
    found = ua.grad(lambda x: unp.linalg.norm(x, "fro") + unp.linalg.cond(x, 1) * 0)(ua.asarray(A))
    assert_same(found, A / np.linalg.norm(A), atol=1e-11, signed_zeros=False)


def test_the_rank_of_a_vector_is_an_array(backend: str) -> None:
    assert_same(unp.linalg.matrix_rank(V), np.asarray(1))
    assert_same(unp.linalg.matrix_rank(0 * V), np.asarray(0))


def test_half_precision_is_refused_as_in_numpy(backend: str) -> None:
    x = unp.asarray(A, "float16")
    for function in (unp.linalg.inv, unp.linalg.cholesky, unp.linalg.det, unp.linalg.svd):
        with pytest.raises(TypeError, match=r"astype\('float32'\)"):
            function(x)
    assert_same(unp.linalg.matrix_power(x, 2), np.linalg.matrix_power(A.astype(np.float16), 2))
    with pytest.raises(TypeError):
        unp.linalg.matrix_power(x, -1)
