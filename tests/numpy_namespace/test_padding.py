"""Padding against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
pad(v, 2) | pad(A, (1, 2)) | pad(I, ((1, 0), (0, 2)), constant_values=9) | pad(k, 1, constant_values=2.7)
pad(A, 1, constant_values=((1, 2), (3, 4))) | pad(v, (2, 3), "edge") | pad(A, {0: 1}) | pad(A, {-1: (0, 2)}, "edge")
pad(v, 3, "reflect") | pad(v, 9, "reflect") | pad(A, (1, 2), "symmetric") | pad(v, 5, "wrap")
pad(v, (2, 3), "reflect", reflect_type="odd") | pad(v, 8, "reflect", reflect_type="odd")
pad(A, 2, "symmetric", reflect_type="odd")
pad(I, (1, 6), "symmetric", reflect_type="odd") | pad([5], 3, "reflect", reflect_type="odd")
pad(v, 2, "linear_ramp") | pad(A, (2, 1), "linear_ramp", end_values=(5, -4))
pad(I, 3, "linear_ramp", end_values=2) | pad(A, ((1, 2), (0, 1)), "linear_ramp", end_values=((1, 2), (3, 4)))
pad(v, 2, "maximum") | pad(A, (1, 2), "maximum", stat_length=2) | pad(A, 1, "minimum", stat_length=((1, 2), (3, 1)))
pad(v, (2, 1), "mean") | pad(I, 1, "mean") | pad(A, 2, "mean", stat_length=3) | pad(v, 2, "median")
pad(I, (1, 2), "median", stat_length=2)
pad(C, 1, "mean") | pad(U, 1, "mean") | pad(B, 2, "mean") | pad(B, 1, "median", stat_length=2)
pad(N, 1, "maximum") | pad(B, 2, "reflect", reflect_type="odd") | pad(v, 1, "mean", stat_length=0)
pad(v, 1, "maximum", stat_length=0) | pad(v, 1, "mean", stat_length=-1) | pad(v, 2, "empty")[2:-2]
pad(stack, 1, "edge") | pad(B, 1, "edge") | pad(3, 0)
pad(v, -1) | pad(v, 1.5) | pad(v, (1, 2, 3)) | pad(v, 1, "no") | pad(v, 1, "edge", constant_values=1)
pad([], 1, "edge") | pad([], 2, constant_values=3) | pad(A, 0, "mean")
pad(np.zeros((3, 0)), ((1, 1), (0, 0)), "wrap")
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
