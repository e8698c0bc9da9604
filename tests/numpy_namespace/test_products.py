"""Products of arrays against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
dot(A, v) | dot(v, w) | dot(A, A.T) | dot(A, 2) | dot(3, v) | dot(A, I) | dot(B, B.T) | dot(A, A.T, zeros((3, 3)))
dot(C, C.T) | dot(A, stack) | dot(v, stack) | dot(U, k) | vdot(A, A) | vdot(C, C) | vdot(C, A) | vdot(v, A)
inner(A, w) | inner(A, I) | inner(2, A) | inner(A, v[:3]) | outer(v, w) | outer(A, k) | outer(v, w, zeros((4, 4)))
tensordot(A, I, 2) | tensordot(A, I, ([0], [0])) | tensordot(A, I, (1, 1)) | tensordot(A, v, 0)
tensordot(A, I, ((0, 1), (0, 1))) | tensordot(A, I, 1) | kron(A, v) | kron(v, w) | kron(I, B) | kron(2, A)
cross(A[:, :3], I[:, :3]) | cross(A[:, 0], I[:, 0]) | cross(A, I, axis=0) | cross(A[:, :3], A.T[:3, :3], axisb=0)
cross(A, I, axisa=0, axisb=0, axisc=0) | cross(A, I) | trace(A) | trace(I, 1) | trace(stack) | trace(stack, 0, 1, 2)
trace(I, 0, 1, 0, "float32") | trace(A, out=zeros(())) | trace(v) | trace(A, 0, 1, 1) | trace(U, -1) | convolve(v, w)
convolve(v, k, "same") | convolve(v[:2], w, "valid") | convolve([], v) | convolve(v, 2) | convolve(A, v)
correlate(v, w) | correlate(v, w, "full") | correlate(v, w[:2], "same") | correlate(w[:2], v, "same")
correlate(w[:3], v, "full") | correlate(C[0], C[1], "full") | correlate(C[0], C[1, :2], "same") | correlate(v, w[:3])
correlate(k, I[0], "full") | correlate(C[0, :2], C[1], "valid") | einsum("ij,j", A, v) | einsum("ij->ji", A)
einsum("ii", A[:, :3]) | einsum("ii->i", A[:, :3]) | einsum("ij,kj->ik", A, I) | einsum(A, [0, 1], v, [1])
einsum(A, [0, 1], I, [2, 1], [2, 0]) | einsum(A, [Ellipsis, 1], v, [1], [Ellipsis]) | einsum("...j,j", stack, v)
einsum("ij,jk,kl->il", A, A.T, I, optimize=True) | einsum("ij,ij", A, I, dtype="float32", casting="same_kind")
einsum("ij,ij", A, I, dtype="float32") | einsum("ij->i", I, out=zeros(3)) | einsum("ij->i", A, out=zeros(3, int))
einsum("ij,j", A, k, optimize="greedy") | einsum("ij", v) | einsum("i,i", v, w, nothing=1) | einsum("ij->", B)
einsum("i,j->ij", C[0], v) | einsum() | einsum("b", I[0], order="C") | einsum_path("ij,jk,kl->il", A, A.T, I)
einsum_path("ij,jk", A, A.T, optimize="optimal") | einsum_path(A, [0, 1], v, [1])
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
