"""Quantiles, averages and histograms against NumPy's."""

from __future__ import annotations

import pytest

from .calls import check_call

CALLS = """
median(A) | median(A, 0) | median(I, 1, keepdims=True) | median(N, 1) | median(A, 1, zeros(3)) | median(A, (0, 1))
nanmedian(N, 1) | nanmedian(N, 0, zeros(4)) | quantile(A, 0.3) | quantile(A, [0.1, 0.5, 1], 1) | quantile(I, 0.75, 0)
quantile(A, 0.4, 1, None, False, "hazen") | quantile(A, 0.4, axis=1, method="inverted_cdf", keepdims=True)
quantile(A, [[0.2], [0.9]], 0, method="nearest") | quantile(A, 1.5) | quantile(C, 0.5)
quantile(A, 0.5, method="none") | quantile(A, 0.5, 1, zeros(3)) | percentile(A, 30) | percentile(A, [5, 50], 1)
percentile(I, [25.0, 75.0]) | percentile(A, 101) | percentile(A, 40, method="weibull") | nanquantile(N, 0.3, 1)
nanquantile(N, [0.3, 0.5], 0, keepdims=True) | nanpercentile(N, 30, 0) | nanpercentile(N, [20, 60])
quantile(v, 0.5, weights=w, method="inverted_cdf") | quantile(A, [0.2, 0.7], 1, weights=w, method="inverted_cdf")
quantile(A, 0.5, weights=w) | percentile(I, 30, 0, weights=[1, 2, 1], method="inverted_cdf")
quantile(A, 0.5, 0, weights=abs(A), method="inverted_cdf", keepdims=True)
quantile(N, 0.6, 1, weights=w, method="inverted_cdf")
average(A) | average(A, 0)
average(A, 1, w) | average(A, weights=abs(A)) | average(I, 0, [1, 2, 3], True) | average(A, 1, returned=True)
average(A, 1, w, keepdims=True) | average(A, weights=w) | average(A, 1, [1, 2]) | average(C, 1, w)
average(A, 1, [1, -1, 0, 0]) | average(A, (0, 1), weights=I, returned=True) | average(A, (1, 0), weights=I.T)
average(F, 1, [1, 2, 3, 4]) | bincount(k) | bincount(k, w) | bincount(k, None, 6) | bincount([], minlength=2)
bincount([1, -1]) | bincount(v) | bincount(U[0] // 2) | cov(A) | cov(A, rowvar=False) | cov(A, bias=True)
cov(A, ddof=2) | cov(v, w) | cov(A, fweights=[1, 2, 1, 3]) | cov(A, aweights=[0.1, 0.2, 0.5, 1]) | cov(F)
cov(F, dtype="float32") | cov(I) | cov(C) | cov(A, ddof=0.5) | cov(A[None]) | corrcoef(A) | corrcoef(v, w)
corrcoef(I, rowvar=False) | corrcoef(C) | corrcoef(A, dtype="float32") | digitize(v, [0, 1, 2])
digitize(A, [2, 1, 0]) | digitize(I, [0, 3, 5], True) | digitize(I, [5, 3, 0], right=True) | digitize(v, [0, 2, 1])
digitize(C, [1, 2]) | histogram(A) | histogram(A, 4, (0, 2)) | histogram(I, [0, 2, 5, 8])
histogram(A, 5, weights=abs(A)) | histogram(A, 5, density=True) | histogram(A, "auto") | histogram(I, "sturges")
histogram(A, 0) | histogram(A, [3, 1]) | histogram(A, 3, (2, 1)) | histogram(v, 3, weights=C[0]) | histogram(B, 2)
percentile(stack[0], [70.0, 33, 80], 0, method="inverted_cdf", weights=stack[0] * 0 + 1)
percentile(np.arange(101.0), [70, 7, 29], method="inverted_cdf") | percentile(A, [10.0, 70], 0, method="lower")
histogram(1 + v[:2] * 1e-16) | histogram(v, 2**4, (1, 1 + 1e-15)) | histogram(F, 7)
histogram(v[:0]) | histogram(A, [0, 1, 3], None, True) | histogram(A, "fd", (0, 3)) | histogram_bin_edges(A, 5)
histogram_bin_edges(I, "scott") | histogram_bin_edges(A, [0, 1]) | histogram2d(v, w)
histogram2d(v, w, 3, [[0, 1], [0, 2]]) | histogram2d(v, w, [2, 3], density=True) | histogram2d(v, w, [0, 1, 2])
histogram2d(v, w, [[0, 1, 3], [0, 2, 3]], weights=k) | histogram2d(v, A[0, :3]) | histogramdd(A, 2)
histogramdd(A, [2, 3, 2, 1]) | histogramdd([v, w], 3, weights=w)
histogramdd(A[:, :2], [[-4, 0, 2], 2], density=True) | histogramdd(A, [2, 2])
histogramdd(A[:, :2], 2, [(0, 1), None])
"""


@pytest.mark.parametrize("line", CALLS.strip().splitlines(), ids=lambda line: line.split("(")[0])
def test_calls(backend: str, line: str) -> None:
    for call in line.split(" | "):
        check_call(call)
