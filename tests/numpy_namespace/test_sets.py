"""Sets against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
unique(I) | unique(N) | unique(I, True) | unique(I, return_inverse=True) | unique(I, return_counts=True)
unique(I, True, True, True) | unique(N, True, True, True) | unique(N, equal_nan=False)
unique([np.nan, 1, np.nan], return_counts=True, equal_nan=False) | unique(B) | unique(C) | unique([])
unique(3, True, True, True) | unique([[1, 2], [0, 1], [1, 2]], axis=0)
unique([[1, 2], [0, 1], [1, 2]], True, True, True, 0) | unique(I, axis=1) | unique(I % 2, True, True, True, axis=1)
unique(B, axis=0, return_inverse=True) | unique(N, axis=0) | unique(v, axis=0) | unique(I, axis=2)
unique([np.nan, np.nan, 1], axis=0) | unique(np.zeros((2, 0)), axis=0)
unique(np.zeros((0, 2)), True, True, True, axis=0) | unique(stack % 1, axis=2)
unique_all(I) | unique_counts(U) | unique_inverse(I) | unique_values(N) | unique_all([np.nan, np.nan])
union1d(v, w) | union1d(k, U) | union1d([np.nan, 1], [np.nan]) | union1d([], [1])
intersect1d(v, w) | intersect1d(I, k) | intersect1d(I, k, return_indices=True) | intersect1d([1, 3], [3, 2], True)
intersect1d([3, 1], [1, 3], True, True) | intersect1d([np.nan], [np.nan])
intersect1d([1], [2], return_indices=True)
setdiff1d(I, k) | setdiff1d([3, 1, 2], [1], assume_unique=True) | setdiff1d([np.nan, np.nan, 1], [1])
setdiff1d([], [1]) | setxor1d(I, k) | setxor1d([1, 2], [2, 3], True) | setxor1d([], [])
setxor1d([np.nan], [np.nan, 1])
isin(I, k) | isin(A, [0.5, 2], invert=True) | isin(3, [1, 3]) | isin(k, []) | isin([np.nan], [np.nan])
isin(I, k, kind="table") | isin(A, v, kind="table") | isin(I, k, kind="no") | isin(k, [1, 2], True)
isin(U, [300, 1])
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
