"""Convolution and the Kronecker product against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.functions import products

from ..gradients import assert_gradients
from ..oracle import (
    ALL,
    COMPLEX,
    FLOATS,
    HALVES,
    TOLERANCE,
    assert_raises,
    assert_same,
    few,
    in_layout,
    layouts,
    reference,
    seeded,
)

LENGTHS = [(4, 2), (2, 5), (3, 3), (1, 4), (5, 4), (1, 1)]
MODES: list[Any] = ["full", "same", "valid"]


def plain(dtype: str) -> dict[str, Any]:
    """Return a range of values whose products the halves still hold."""
    return {"special": False, "low": -4, "high": 4} if dtype in HALVES + FLOATS + COMPLEX else {}


def rounding(dtype: str) -> float:
    return TOLERANCE.get(dtype, 0.0) * 16 * 16


def numpys(*values: np.ndarray, mode: Any = "full") -> np.ndarray:
    return np.convolve(*values, mode)


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_convolve(backend: str, dtype: str, data: st.DataObject) -> None:
    lengths = data.draw(st.sampled_from(LENGTHS if dtype == "float64" else LENGTHS[:2]))
    values = [data.draw(seeded(dtype, length, **plain(dtype))) for length in lengths]
    inputs = [in_layout(x, data.draw(layouts(dtype))) for x in values]
    for mode in MODES:
        expected = reference(numpys, *values, mode=mode)
        assert_same(ua.convolve(*inputs, mode), expected, atol=rounding(dtype), signed_zeros=False)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int16", "bool", "complex64"])
def test_convolve_in_blocks(backend: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "BLOCK", 40)
    random = np.random.default_rng(0)
    x1, x2 = (random.integers(0, 3, length).astype(dtype) for length in (12, 7))
    assert_same(ua.convolve(ua.asarray(x1), ua.asarray(x2)), numpys(x1, x2), signed_zeros=False)


def test_what_is_not_finite_meets_elements_only(backend: str) -> None:
    # Zeros beyond the ends would make NaN of it.
    x1, x2 = np.array([1.0, 2.0, 3.0, 4.0]), np.array([np.inf, 1.0, -np.inf])
    for values in ((x1, x2), (x2, x1), (x2, x2), (x1, x2 * np.nan)):
        assert_same(ua.convolve(*map(ua.asarray, values)), numpys(*values))


def test_convolve_of_two_dtypes(backend: str) -> None:
    x1, x2 = np.array([1, 2, 3], "f4"), np.array([1, 2], "i8")
    assert_same(ua.convolve(ua.asarray(x1), ua.asarray(x2)), numpys(x1, x2))


KRON: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2, 3), (3, 2)),
    ((), (2,)),
    ((2, 1), (3,)),
    ((2,), (2, 1, 3)),
    ((0, 2), (3, 1)),
    ((), ()),
]


@pytest.mark.parametrize("dtype", ALL)
@few
@given(data=st.data())
def test_kron(backend: str, dtype: str, data: st.DataObject) -> None:
    shapes = data.draw(st.sampled_from(KRON if dtype == "float64" else KRON[:2]))
    values = [data.draw(seeded(dtype, shape, **plain(dtype))) for shape in shapes]
    inputs = [in_layout(x, data.draw(layouts(dtype))) for x in values]
    expected = reference(np.kron, *values).astype(values[0].dtype)
    assert_same(ua.kron(*inputs), expected, atol=rounding(dtype))
    out = ua.flip(ua.full(expected.shape, True, dtype=dtype))
    assert ua.kron(*inputs, out=out) is out
    assert_same(out, expected, atol=rounding(dtype))


def test_gradients(backend: str) -> None:
    random = np.random.default_rng(0)
    x1, x2 = random.uniform(-1, 1, 4), random.uniform(-1, 1, 3)
    for mode in MODES:
        assert_gradients(backend, lambda a, b, mode=mode: ua.convolve(a, b, mode), x1, x2)
    assert_gradients(backend, ua.kron, x1.reshape(2, 2), x2)


V = np.arange(3.0)
ERRORS: dict[str, tuple[tuple[Any, ...], type[BaseException]]] = {
    "a matrix": ((np.ones((2, 2)), V), ua.errors.ShapeError),
    "a number": ((V, np.asarray(1.0)), ua.errors.ShapeError),
    "nothing": ((V, V[:0]), ua.errors.ShapeError),
    "an unknown mode": ((V, V, "half"), ValueError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    arguments, error = ERRORS[case]
    given = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments]
    assert_raises(error, ua.convolve, *given)
