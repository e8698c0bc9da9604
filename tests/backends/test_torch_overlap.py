"""Memory overlap of tensors, and writes between windows of one array on torch, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

torch = pytest.importorskip("torch")
overlap = pytest.importorskip("unifyarr.backends.torch._overlap")


@st.composite
def windows(draw: st.DrawFn) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw two windows of one array, by slices or by any strides."""
    if draw(st.booleans()):
        shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
        base = torch.zeros(shape)
        item = st.one_of(st.builds(slice, st.integers(0, 3), st.integers(1, 6), st.integers(1, 3)), st.just(0))
        keys = st.tuples(*[item for _ in shape])
        first, second = base[draw(keys)], base[draw(keys)]
        return (first.T if first.dim() == 2 and draw(st.booleans()) else first), second
    ndim = draw(st.integers(0, 3))
    lengths = st.lists(st.integers(0, 4), min_size=ndim, max_size=ndim)
    steps = draw(st.lists(st.integers(0, 9), min_size=ndim, max_size=ndim))
    base, place = torch.zeros(200), st.integers(0, 40)
    first, second = (base.as_strided(draw(lengths), steps, draw(place)) for _ in range(2))
    return first, second


@given(pair=windows())
def test_what_shares_memory_is_told_exactly(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    first, second = pair
    expected = np.shares_memory(overlap.layout(first), overlap.layout(second))
    assert overlap.may_share_memory(first, second) == (expected or first is second)


def test_bytes_of_other_dtypes_are_told_too() -> None:
    x = torch.zeros(8, dtype=torch.int32)
    assert overlap.may_share_memory(x[1:3], x.view(torch.int64)[1:2])
    assert not overlap.may_share_memory(x[::2], x[1::2])
    assert not overlap.may_share_memory(x[2:4], x.view(torch.int64)[2:3])


def add_shifted(xp: Any, x: Any) -> None:
    view = x[1:]
    view += x[:-1]


WRITES: dict[str, Callable[[Any, Any], object]] = {
    "rows": lambda xp, x: x.__setitem__(0, x[1]),
    "shifted up": lambda xp, x: x.__setitem__(slice(1, None), x[:-1]),
    "shifted down": lambda xp, x: x.__setitem__(slice(None, -1), x[1:]),
    "columns": lambda xp, x: x.__setitem__((slice(None), 0), x[:, 1]),
    "even rows": lambda xp, x: x.__setitem__(slice(None, None, 2), x[1::2]),
    "transposed": lambda xp, x: x.__setitem__(..., x.T),
    "one row to all": lambda xp, x: x.__setitem__(..., x[0]),
    "added": add_shifted,
    "equal window": lambda xp, x: xp.add(x[1:], 1, out=x[1:]),
    "equal window beside another": lambda xp, x: xp.multiply(x[1:], x[:-1], out=x[1:]),
    "second operand": lambda xp, x: xp.subtract(x[:-1], x[1:], out=x[1:]),
    "out transposed": lambda xp, x: xp.add(x.T, x, out=x),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "complex128"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_between_windows(name: str, dtype: str) -> None:
    values = np.arange(36).reshape(6, 6).astype(dtype)
    expected = values.copy()
    x = ua.asarray(values, backend="torch", copy=True)

    WRITES[name](np, expected)
    WRITES[name](ua, x)
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_a_conjugate_of_itself_is_written() -> None:
    native = torch.tensor([1 + 2j, 3 - 4j])
    x, conjugate = ua.asarray(native), ua.asarray(native.conj())
    x[:] = conjugate
    assert x.tolist() == [1 - 2j, 3 + 4j]
