"""Reductions against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
sum(A) | sum(A, 0) | sum(I, (0, 1)) | sum(B, -1, float) | sum(U, 1) | sum(F, 0, "float64") | sum(C, 1, keepdims=True)
sum(A, 1, initial=10) | sum(A, 1, where=B) | sum(A, where=B[0], initial=2.5) | sum(A, 5) | sum([[1, 2], [3, 4]], 1)
sum(A, 0, None, zeros(4)) | sum(A, 0, None, zeros(3)) | sum(I, 0, out=zeros(4)) | sum(U, dtype="uint8") | prod(A)
prod(A, 0) | prod(I, 1, dtype="float32") | prod(A, 1, keepdims=True, where=B) | prod(A, 0, initial=2) | max(A)
max(A, 0) | max(I, 1, keepdims=True) | max(A, 1, initial=2.5) | max(A, 1, where=B, initial=-10) | max(A, where=B)
max(A[:0]) | max(A[:0], initial=1.0) | max(N, 0) | amax(A, 1, zeros(3)) | amin(A, 0) | min(F) | min(A, 0, None, True)
min(U, 1, initial=4, where=B) | all(A, 0) | all(I > 0, 1) | all(B, 1, keepdims=True) | all(B, where=B) | any(B, 0)
any(B, 1, zeros(3, bool)) | any(A > 3, axis=(0, 1)) | any(B, 1, where=A > 0) | argmax(A) | argmax(A, 1) | argmin(I, 0)
argmax(A, 1, keepdims=True) | argmin(A, 1, zeros(3, int)) | argmax(N, 1) | argmax(A, 3) | argmin(A[:0]) | mean(A)
mean(I, 0) | mean(F, 1) | mean(A, 1, "float32") | mean(C, 0) | mean(A, 1, where=B) | mean(A, 0, out=zeros(4))
mean(I, 1, dtype="int64") | mean(B) | mean(A, (0, 1), keepdims=True) | var(A) | var(A, 0) | var(I, 1, ddof=1)
var(A, 1, correction=1) | var(A, 1, ddof=1, correction=1) | var(C, 0) | var(A, 1, where=B)
var(F, 1, dtype="float64") | var(A, 1, mean=np.mean(A, 1, keepdims=True))
std(A, 1, mean=np.mean(A, 1, keepdims=True), ddof=1) | std(A) | std(I, 0) | std(A, 0, None, zeros(4))
std(A, 1, where=B, keepdims=True) | std(C, 1) | std(A, 0, ddof=3) | cumsum(A) | cumsum(A, 1) | cumsum(I, 0, "float32")
cumsum(U, 1) | cumsum(A, 0, out=zeros((3, 4))) | cumsum(3) | cumprod(A) | cumprod(I, 1)
cumprod(A, 0, None, zeros((3, 4))) | cumulative_sum(A) | cumulative_sum(A, axis=1)
cumulative_sum(v, include_initial=True) | cumulative_prod(I, axis=0, dtype=float) | cumulative_prod(v)
count_nonzero(B) | count_nonzero(I, 0) | count_nonzero(A, axis=(0, 1), keepdims=True) | ptp(A) | ptp(I, 1)
ptp(A, 0, None, True) | ptp(A, 1, zeros(3)) | nansum(N) | nansum(N, 0) | nansum(I, 1)
nansum(N, 1, keepdims=True, where=B) | nansum(N, 1, float) | nansum(N, 0, out=zeros(4), initial=3) | nanprod(N, 1)
nanprod(N, 0, "float32") | nanmax(N, 0) | nanmax(N) | nanmax(N, 1, initial=2) | nanmin(N, 1)
nanmin(N, 0, where=B, initial=9) | nanmin(N, 0, zeros(4)) | nanmean(N) | nanmean(N, 0) | nanmean(N, 1, "float32")
nanmean(N, 1, where=B) | nanmean(I, 1) | nanmean(N, 1, int) | nanmean(N, 0, None, zeros(4)) | nanvar(N)
nanvar(N, 0, ddof=1) | nanvar(N, 1, where=B) | nanvar(N, 1, "float32") | nanvar(I, 0) | nanstd(N, 1)
nanstd(N, 0, ddof=2) | nanstd(N, 1, where=B, keepdims=True) | nanstd(N, 1, correction=1) | nanstd(N, 0, out=zeros(4))
nanargmax(N) | nanargmax(N, 1) | nanargmin(N, 0) | nanargmin(N, 1, keepdims=True) | nancumsum(N, 0) | nancumsum(N)
nancumsum(N, 1, out=zeros((3, 4))) | nancumprod(N, 1) | nancumprod(I, 0)
max(3, axis=0) | min(v[0], -1) | sum(3, 0) | prod(2.5, (0,)) | any(3, -1) | all(3, 1) | argmax(3, 0) | argmin(3, 1)
argmax([[1, 2], [4, 3]], 1) | ptp(3, 0) | max(A, 2) | sum(3, 1)
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
