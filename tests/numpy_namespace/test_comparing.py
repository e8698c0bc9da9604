"""Comparisons and windows against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
isclose(A, A + 1e-9) | isclose(N, N) | isclose(N, N, equal_nan=True) | isclose(v, w, 0.5) | isclose(k, 2, atol=1)
isclose(A / 0, A / 0) | allclose(A, A + 1e-9) | allclose(N, N) | allclose(N, N, equal_nan=True)
allclose(v, w, 10, 10) | array_equal(A, A) | array_equal(A, v) | array_equal(N, N, True) | array_equal(N, N)
array_equal(I, I + 0.0) | array_equiv(v, [v, v]) | array_equiv(A, v) | array_equal([1, 2], [1, 2]) | isposinf(A / 0)
isclose(F, 1.5 - 1e-16, 0, 0) | isclose(F * 0, F[0] * 0, 0, 1 - 1e-16) | isclose(F, 2, (1 - 1e-16) / 2, 0)
isclose(U, 5) | isclose(N, np.inf) | isclose(N, np.nan, equal_nan=True)
isclose(A / 0, np.inf) | isclose(C, 2) | isclose(C, 0.5j) | isclose(I, 3, 0, v)
isneginf(A / 0) | isposinf(k) | isposinf(C) | isneginf(A, zeros((3, 4), bool)) | iscomplex(C) | isreal(C)
iscomplex(A) | isreal(A) | iscomplexobj(C) | iscomplexobj(A) | isrealobj(C) | isrealobj([1]) | isscalar(3)
isscalar(A) | isscalar([1]) | isscalar("a") | bartlett(5) | blackman(6) | hamming(7) | hanning(8) | kaiser(5, 14)
hanning(1) | bartlett(0) | kaiser(4, 8.5)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
