"""The lines of elementwise functions, reductions, statistics and numerical functions."""

from __future__ import annotations

import numpy as np

from .table import COLUMN, IDENTITY, INDEX, ROW, SCALAR, TRUTH, A, B, J, K, N, V, Z, case, copying, line, several

# -- elementwise, beside those whose arrays follow from their ufunc ----------------------------------------------------

line("acosh log log10 log1p log2 sqrt", case(np.abs(B) + 1))
line("bitwise_left_shift bitwise_right_shift", case(K, J))
line("pow", case(np.abs(A), B))
line("remainder", case(A, B), case(K, K + 20), case(A, B, modulus=False), case(K, 100))
line("round", case(A), case(K), case(TRUTH), case(Z), case(J.astype("uint8")))
line(
    *("clip", case(A, -0.5, 0.5), case(A), case(A, -100.0, 100.0), case(A, 2.0), case(K, None, 100)),
    *(case(A, A), case(A, A - 1, A + 1)),
)
line("conj", case(Z))
line("real", case(Z), case(A), case(K))
line("imag", case(Z), copying(A), copying(K))
line("erf erfc", case(A))
line("stop_gradient", case(A))

# -- reductions --------------------------------------------------------------------------------------------------------

EACH_AXIS = (case(A, axis=0), case(ROW, axis=0), case(ROW, axis=0, keepdims=True), case(A, axis=()))
TOTALS = (*EACH_AXIS, case(K, axis=()), case(K, axis=(), dtype="int64"), case(Z, axis=()))
PLACES = (case(K, axis=1), case(np.array([0]), axis=0), case(np.array([[0]]), axis=0, keepdims=True))

line("sum prod", case(A), *TOTALS)
line("nansum nanprod", case(N), *TOTALS)
line("max min", case(A), *EACH_AXIS, case(K, axis=()), case(SCALAR), case(np.array([2]), axis=0))
line("mean", case(A), *EACH_AXIS, case(Z, axis=()))
line("std var median", case(A), *EACH_AXIS)
line("nanmax nanmin nanmean nanstd nanvar nanmedian", case(N), *EACH_AXIS)
line("all any", case(A), *EACH_AXIS, case(TRUTH, axis=()), case(TRUTH[:1], axis=0))
line("count_nonzero", case(A), case(K, axis=()), case(TRUTH, axis=()))
line("argmax argmin", case(A), *PLACES)
line("nanargmax nanargmin", case(N), *PLACES)

# -- statistics and numerical functions --------------------------------------------------------------------------------

QUANTILES = (case(V, 0.5), case(ROW, 0.5, axis=0), case(V, np.array([0.0, 1.0])))

line("quantile", case(A, np.array([0.25, 0.5, 0.1]), axis=1), *QUANTILES)
line("percentile", case(A, np.array([25.0, 50.0]), axis=1), case(A, 30.0), case(A, 75, method="higher"))
line("nanquantile", case(N, np.array([0.25, 0.5, 0.1]), axis=1), *QUANTILES)
line("bincount", case(np.array([2, 0, 5, 2])), case(INDEX), case(INDEX, weights=V[:2]))
several("histogram", case(A, 3), case(V, 3), case(V, np.array([0.0, 2.0, 5.0])))
line("corrcoef", case(A), case(A, B))
line("cov", case(A), case(ROW), case(A, B))
line("convolve", case(V, V[:2].copy(), "same"), case(V, V[:1]), case(V, np.ones(1)), case(V, np.ones(1), mode="same"))
line("cumulative_max", case(A, axis=1), case(V), case(ROW, axis=0), case(K[:1], axis=0))
line("cumulative_min", case(A, axis=0), case(V), case(TRUTH, axis=0))
line("cumulative_prod", case(A, axis=1, include_initial=True), case(V), case(ROW, axis=0), case(K[:1], axis=0))
line("cumulative_sum", case(A, axis=0), case(V), case(ROW, axis=0), case(K[:1], axis=0), case(V, include_initial=True))
line("diff", case(A), case(A, n=0), case(TRUTH, axis=0), case(V, n=2))
line("gradient", case(A, 0.5, axis=1), case(V), case(A, axis=0), case(V, np.array([3.0, 4.0, 8.0])))
line("interp", case(A, np.sort(V), V), case(V, np.arange(3.0), V), case(np.arange(3.0), np.arange(3.0), V))
line("trapezoid", case(A, V, axis=1), case(V), case(A, axis=0))
line("kron", case(A, V), case(A, np.ones((1, 1))), case(np.array(1.0), A), case(IDENTITY, IDENTITY))

# -- sorting, searching, sets ------------------------------------------------------------------------------------------

ORDERS = (case(np.array([0, 1, 2])), case(ROW, axis=0), case(K, descending=True), case(K[:1] * 0, axis=0))

line("sort argsort", case(A), *ORDERS)
line("partition argpartition", case(A, 1), case(ROW, 0, axis=0), case(A, (0, 2)), case(A, 3, axis=None))
several("top_k", case(A, 2), case(ROW, 1, axis=0), case(V[:1], 1))
line("lexsort", case([V, V]), case([K[0], V]), case([A], axis=0))
line("digitize", case(A, np.sort(V)), case(A, np.sort(V)[::-1].copy(), right=True))
line("union1d intersect1d setdiff1d setxor1d", case(K, J), case(V, V[::2].copy()))
line("argwhere flatnonzero", case(A > 0), case(V))
several("unravel_index", case(np.array([5, 2]), (2, 3)), case(INDEX, 2))
line("ravel_multi_index", case([INDEX, INDEX], (2, 3)), case([INDEX], (2,)), case([INDEX + 3], (2,), mode="wrap"))
line("average", case(A), case(A, weights=B + 2), case(A, axis=1, weights=V + 3), case(ROW, axis=0), case(V[:1]))
line("ptp", case(A), case(A, axis=0), case(ROW, axis=1), case(SCALAR))
line("inner outer", case(A, B), case(V, V), case(np.array([[2.0]]), np.array([[1.0]])))
line("ediff1d", case(A), case(V, to_begin=None), case(V[:2]))
line("searchsorted", case(np.sort(V), A), case(np.sort(V), A, sorter=None))
line("isin", case(A, B), case(K, INDEX), case(TRUTH, np.array([True])))
several("nonzero", case(A > 0), case(A), case(np.array([1])))
several("unique_all unique_counts unique_inverse", case(K), case(V), case(np.array([0, 1, 2])), case(np.array([0])))
line("unique_values", case(A), case(V), case(np.array([1, 2, 3])), case(np.array([1])))
line(
    *("where", case(A > 0, A, B), case(np.ones((2, 3), bool), A, B), case(np.zeros((2, 3), bool), A, B)),
    *(case(np.array(True), A, B), case(TRUTH, TRUTH, TRUTH)),
)
line(
    "segment_sum segment_prod segment_max segment_min segment_mean",
    *(case(A, np.array([2, 0])), case(A, INDEX), case(A, np.array([0, 1])), case(COLUMN[:1, 0], INDEX[1:])),
)

# -- comparing, angles -------------------------------------------------------------------------------------------------

line("isclose", case(A, B), case(A, A + 1e-9, equal_nan=True), case(A, 0.25, atol=0.5))
line("allclose array_equal array_equiv", case(A, B), case(A, A), case(TRUTH, TRUTH))
line("angle", case(A), case(Z), case(A, deg=True))
line("nan_to_num", case(N), case(A), case(K), case(Z))
line("sinc", case(A))
line("unwrap", case(A), case(V * 3), case(K, period=4), case(V[:1]))
several("divmod", case(A, B), case(K, J))
several("frexp modf", case(A), case(ROW))
line("ldexp", case(A, K), case(A, 3))
line("float_power", case(np.abs(A), B), case(np.abs(A), 2.5))
line("spacing", case(A))
line("gcd lcm", case(K, J))
