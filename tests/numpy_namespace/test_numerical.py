"""Functions of values against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..oracle import assert_same
from .calls import check_call

CALLS = """
round(A, 1) | round(v) | round(10 * A, -1) | round(I, -1) | round(I, 2) | round(C, 1) | round(A, 0, zeros((3, 4)))
around(F, 1) | round(B) | round(1.25, 1) | fix(A) | fix(I) | fix(A, zeros((3, 4))) | clip(A, 0, 2) | clip(A, None, 1)
clip(U, -1, 300) | clip(U, -7, 5) | clip(U, 4, 999) | clip(U, 300, 400) | clip(I, -(2**63), 2**64) | clip(U, -1, v)
clip(I, 2, 2.5) | clip(A, v, w) | clip(A, min=0) | clip(A, max=1, min=0) | clip(A) | clip(A, 0) | clip(A, 0, 1, min=0)
clip(A, 0, 1, zeros((3, 4))) | clip(I, 0, 5, dtype="float32") | clip(A, 0, 1, out=zeros((3, 4)), where=B)
clip(U, 2, 9, casting="unsafe", dtype="int8") | clip(A, 0, 1, casting="no") | clip(A, 1, None, dtype=float) | real(C)
real(A) | imag(C) | imag(A) | real([1j, 2]) | imag([1j, 2]) | angle(C) | angle(A) | angle(C, True)
angle(1j, deg=True) | real_if_close(C) | real_if_close(C.real + 1e-15j) | real_if_close(A)
real_if_close(C.real + 1e-5j, tol=1e-3) | nan_to_num(N) | nan_to_num(N, nan=7.5) | nan_to_num(A / 0)
nan_to_num(F / 0, posinf=3, neginf=-3) | nan_to_num(N, nan=[9, 8, 7, 6]) | nan_to_num(I) | nan_to_num(N, False)
nan_to_num(3.5) | sinc(A) | sinc(k) | i0(A) | i0(k) | i0(C) | diff(A) | diff(A, 2) | diff(A, 1, 0) | diff(I, axis=0)
diff(B) | diff(A, 0) | diff(A, -1) | diff(A, prepend=0) | diff(3) | diff(A, append=w[:3, None])
diff(I, prepend=1, append=2) | diff(A, 2, 0, prepend=A[:1], append=1) | diff(v, 9) | ediff1d(A) | ediff1d(v, 9)
ediff1d(v, [7, 8], 5) | ediff1d(k, to_begin=3) | ediff1d(k, to_end=0.5) | ediff1d(U) | gradient(v) | gradient(A)
gradient(A, axis=1) | gradient(v, 2) | gradient(v, k) | gradient(A, 2, 3) | gradient(A, edge_order=2, axis=1)
gradient(I, axis=0) | gradient(v, edge_order=3) | gradient(v[:1]) | gradient(A, 1, 2, 3) | trapezoid(v)
trapezoid(v, [0, 1, 3, 4]) | trapezoid(A, dx=0.5, axis=0) | trapezoid(I) | trapezoid(A, w) | unwrap(10 * v)
unwrap(10 * A, axis=0) | unwrap(k, period=4) | unwrap(v, 1.0) | interp(v, [0, 1, 2], w[:3])
interp(A, [0, 1, 3], [1, 3, 2], 7, 8) | interp(1.5, [0, 2], [1, 2]) | interp(v, [0, 1], C[0, :2])
interp(v, [3, 0.5, 1], [1, 2, 3], period=2) | interp(F, [0, 1], [1.0, 2.0]) | interp(v, [0, 1], [1, 2, 3])
interp(v, [], []) | interp(C, [0, 1], [1, 2]) | interp(v, [0, 1], [1, 2], period=0) | polyval(v, A)
polyval([1, 2, 3], 2) | polyval(k, C) | polyadd([1, 2], [9, 5, 4]) | polysub([1, 2], v) | polymul(v, w)
polymul([0, 1], [2, 3]) | polymul(2, v) | polydiv([3.0, 5, 2], [2, 1]) | polydiv([1, 2], [1, 2, 3]) | polydiv(v, 2)
polydiv(C[0], C[1, :2]) | polyder(v) | polyder(v, 2) | polyder(k, 0) | polyder(v, 5) | polyder(v, -1) | polyint(v)
polyint(v, 2) | polyint(k, 2, [6, 5]) | polyint(v, 3, 6) | polyint(v, 2, [1]) | poly([1, 2, 3]) | poly(v)
poly([1j, -1j]) | poly(C[0]) | poly(A[:, :3]) | poly([]) | poly(A) | poly(np.roots([1.0, -3, 2]))
poly(np.roots([1, 2, 5])) | poly(np.roots([0, 0, 1, 4, 3, 0, 0])) | roots([]) | roots([3]) | roots(A) | polyfit(v, w, 1)
polyfit([0, 1, 2, 3], w, 2) | polyfit(v, A.T, 1) | polyfit(v, w, 1, full=True)[:2] | polyfit(v, w, 1, cov=True)
polyfit(v, w, 1, w=[1, 2, 1, 1], cov="unscaled") | polyfit(v, w[:3], 1) | polyfit(A, w, 1) | polyfit(v, w, -1)
polyfit(v, A.T, 1, w=w, cov=True) | polyfit(v, w, 3, cov=True)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)


def test_parts_of_natives(backend: str) -> None:
    x, z = ua.asarray([1.0, -2.0]), ua.asarray([1 + 2j, -3j])
    for given in (x, x.native):
        assert_same(unp.real(given), np.array([1.0, -2.0]))
        assert_same(unp.imag(given), np.zeros(2))
    assert_same(unp.imag(z.native), np.array([2.0, -3.0]))
    assert (unp.real(2.5), unp.imag(2 + 3j)) == (2.5, 3.0)
