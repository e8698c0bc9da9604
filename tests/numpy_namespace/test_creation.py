"""Creation against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
array([[1, 2], [3, 4]], np.float32) | array(3) | array([1, 2], ndmin=3) | array(A) | array(I, "uint8") | array([])
array([[1], [2, 3]])
array([1, 2], dtype="complex64", copy=None) | array([1, 2], ndmax=1) | array([[1]], ndmax=1) | array([1], ndmin=70)
array([1, 2], copy="always") | array([1, 2], order="X") | array([v, w]) | array([True, 2, 2.5]) | array([v[0], 2])
asarray([1, 2], float) | asarray(A, order="F") | asanyarray(I) | asanyarray([1.5], dtype=int)
ascontiguousarray(A.T)
ascontiguousarray(3) | asfortranarray(A, dtype="float32") | asfortranarray(2) | asarray_chkfinite(A)
asarray_chkfinite(N)
require(A, "float32", ["C", "W"]) | require([1, 2], requirements="F") | require(A, None, ["Q"])
require(A, None, ["C", "F"]) | copy(A) | copy([1, 2])
zeros((2, 3)) | zeros(3, int) | zeros((2, 2), "bool", "F") | zeros([1, 2], dtype=np.uint8) | zeros(()) | zeros(-1)
zeros(2.5) | zeros(k[0])
ones((2, 0)) | ones(4, "int8") | ones((1,), complex) | empty((2, 3)).shape | empty(2, np.int16).dtype.name
full((2, 2), 7) | full(2, 1.5, int) | full((2, 4), v) | full(3, True) | full((2,), np.inf, "float32")
full((2, 3), v) | full((), 2j)
zeros_like(A) | zeros_like(I, float) | zeros_like([1, 2]) | zeros_like(A, shape=(2, 1)) | ones_like(C)
ones_like(B, dtype="int8", order="F")
empty_like(A, shape=3).shape | full_like(I, 2.7) | full_like(A, v) | full_like(B, 5)
full_like([1, 2], 3, "complex64") | full_like(U, 300)
full_like(A, 1, shape=(2, 2)) | eye(3) | eye(2, 3, 1) | eye(3, k=-1, dtype=int) | eye(2, dtype="bool") | identity(2)
identity(3, "int8")
arange(5) | arange(1, 5) | arange(1, 9, 2, np.float32) | arange(stop=3) | arange(2, stop=5) | arange(5, 0, -2)
arange(0, 1, 0.25)
arange(3, dtype="uint8") | arange(start=1, stop=3, step=1) | arange(0, 5, 0) | arange() | arange(step=2)
arange(3, dtype=bool) | arange(2, dtype=bool)
arange(0, np.inf) | arange(k[0]) | arange(1, 2, start=3) | arange(3.0) | arange(None)
linspace(0, 1, 5) | linspace(0, 1, 5, False) | linspace(0, 10, 3, dtype=int) | linspace(0, 1, 3, retstep=True)
linspace(v, w, 3)
linspace(0, v, 4, axis=1) | linspace(v, 1, 4, axis=-1, endpoint=False) | linspace(1, 2j, 3) | linspace(0, 1, 0)
linspace(0, 1, 1, retstep=True)
linspace(0, 1, -1) | linspace(0, 1, 2.5) | linspace(k, 9, 3, dtype="int32") | linspace(2, 2, 3)
linspace(F[0], 1, 2) | linspace(0, 5, 3, True, True)
logspace(0, 2, 3) | logspace(0, v, 3) | logspace(0, 2, 3, base=2, dtype=int) | logspace(1, 2, 3, endpoint=False)
logspace(0, 1, 3, base=w, axis=-1)
geomspace(1, 1000, 4) | geomspace(-1, -8, 4) | geomspace(1, w, 3) | geomspace(1, 256, 9, dtype="float32")
geomspace(0, 1, 3) | geomspace(1j, 16j, 5)
geomspace(2, 3, 1) | geomspace(1, 2, 0) | geomspace(w, 4, 3, axis=1) | geomspace(1, 16, 4, endpoint=False)
diag(v) | diag(A) | diag(A, 1) | diag(k, -2) | diag(A, -5) | diag(3) | diag(stack) | diagflat(A[:2, :2])
diagflat(v, 1) | diagflat(2)
tri(3) | tri(2, 4, 1) | tri(3, dtype=int) | tri(3, 3, -1, bool) | tril(A) | tril(A, 1) | tril(v) | triu(I, -1)
triu([[1, 2], [3, 4]], 1)
triu(stack, k=1) | triu(B) | vander(v) | vander(k, 3) | vander(k, increasing=True) | vander(v, 0) | vander(A)
vander(U[0], 2)
meshgrid(v, k) | meshgrid(v, k, indexing="ij") | meshgrid(v, k, w, sparse=True) | meshgrid(v) | meshgrid()
meshgrid(v, k, indexing="no")
meshgrid(v, 3, copy=False) | fromfunction(lambda i, j: i + 10 * j, (2, 3))
fromfunction(lambda i: i, (3,), dtype=int)
fromfunction(lambda i, j, s: s, (2, 2), s=3) | fromiter((n * n for n in range(4)), int)
fromiter([1, 2, 3], float, 2) | fromiter([1], int, 2)
fromiter([], float) | frombuffer(b"\\x01\\x02\\x03", "uint8") | frombuffer(b"12345678", np.int16, 2, 4)
frombuffer(b"123", float)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
