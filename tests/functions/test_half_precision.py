"""Sums and products of half precision: computed in float32 and rounded once, on every backend and along every axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import HALVES, as_numpy, assert_values, few

# Numbers that overflow in half precision on the way, and numbers that lose digits. The range of bfloat16 is that of
# float32, so it only loses digits.
LEAVES = {"float16": [60000.0, 60000.0, -60000.0, -60000.0], "bfloat16": [256.0, 1.0, 1.0, 1.0]}
FACTORS = {"float16": [1.0, 2.0, 60000.0, 1e-7], "bfloat16": [1.0078125] * 4}
SPREAD = [300.0, -300.0, 0.0, 0.0]
Reduction = tuple[Callable[..., Any], Callable[..., Any]]

SUMS: dict[str, Reduction] = {
    "sum": (ua.sum, np.sum),
    "nansum": (ua.nansum, np.nansum),
    "cumulative_sum": (ua.cumulative_sum, np.cumulative_sum),
    "mean": (ua.mean, np.mean),
    "vecdot": (lambda x, axis: ua.vecdot(x, ua.ones_like(x), axis=axis), np.sum),
    "einsum of one": (lambda x, axis: ua.einsum("ij->j" if axis == 0 else "ij->i", x), np.sum),
    "einsum of two": (
        lambda x, axis: ua.einsum("ij,ij->j" if axis == 0 else "ij,ij->i", x, ua.ones_like(x)),
        np.sum,
    ),
    "matmul": (lambda x, axis: (x.T if axis == 0 else x) @ ua.ones(x.shape[axis], dtype=x.dtype), np.sum),
}
PRODUCTS: dict[str, Reduction] = {
    "prod": (ua.prod, np.prod),
    "nanprod": (ua.nanprod, np.nanprod),
    "cumulative_prod": (ua.cumulative_prod, np.cumulative_prod),
}
SPREADS: dict[str, Reduction] = {
    "var": (ua.var, np.var),
    "std": (ua.std, np.std),
    "nanvar": (ua.nanvar, np.nanvar),
    "nanstd": (ua.nanstd, np.nanstd),
}
CASES = [
    pytest.param(reduction, values, id=name)
    for cases, values in ((SUMS, LEAVES), (PRODUCTS, FACTORS), (SPREADS, dict.fromkeys(HALVES, SPREAD)))
    for name, reduction in cases.items()
]


def check(reduction: Reduction, values: np.ndarray, axis: int) -> None:
    """Compare with NumPy in float32, to one rounding."""
    function, oracle = reduction
    with np.errstate(all="ignore"):
        expected = np.asarray(oracle(values.astype("f4"), axis=axis)).astype(values.dtype)
    actual = function(ua.asarray(values), axis=axis)
    assert actual.dtype == values.dtype
    rounding = 2.0**-7 if values.dtype == ua.bfloat16 else 2.0**-10
    assert_values(as_numpy(actual), expected, rtol=rounding, signed_zeros=False)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("reduction", "values"), CASES)
def test_reductions_of_halves_round_once(
    backend: str, reduction: Reduction, values: dict[str, list[float]], axis: int, dtype: str
) -> None:
    line = np.asarray(values[dtype]).astype(ua.asarray(0, dtype=dtype).dtype.dtype)
    check(reduction, np.stack([line, line], 1 - axis), axis)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", [*SUMS, *PRODUCTS])
@few
@given(seed=st.integers(0, 2**32 - 1), axis=st.sampled_from([0, 1]))
def test_reductions_of_many_halves(backend: str, name: str, dtype: str, seed: int, axis: int) -> None:
    random = np.random.default_rng(seed)
    values = random.choice([1.0, 1.5, 2.0] if name in SUMS else [0.5, 1.0, 2.0], (600, 2))
    # Sums without cancellation have few digits of their own.
    halves = (values if axis == 0 else values.T).astype(ua.asarray(0, dtype=dtype).dtype.dtype)
    check((SUMS | PRODUCTS)[name], halves, axis)


def test_a_dtype_that_is_asked_for_is_that_of_the_elements_too(backend: str) -> None:
    # 70000 is infinite in float16 before anything is added.
    x = ua.asarray([70000.0, -70000.0])
    assert np.isnan(as_numpy(ua.sum(x, dtype="float16")))
    assert as_numpy(ua.sum(ua.asarray([1, 2]), dtype="float16")) == 3
    target = ua.zeros((), dtype="float32")
    assert ua.sum(ua.asarray([60000.0, 60000.0], dtype="float16"), out=target) is target
    assert np.isinf(as_numpy(target))
