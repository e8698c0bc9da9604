"""Shifts, offsets, steps, counts and indices of any size: NumPy's result, or a clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..oracle import as_numpy, assert_raises, assert_same, few

VALUES = np.arange(6.0).reshape(2, 3)
HUGE = [2**31 - 1, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**64), 10**30]
huge = st.one_of(st.sampled_from(HUGE), st.integers(-(2**70), 2**70))


@few
@given(shift=huge, axis=st.sampled_from([None, 0, 1, -1, (0, 1), (1, 1)]))
def test_shifts(backend: str, shift: int, axis: Any) -> None:
    assert_same(ua.roll(ua.asarray(VALUES), shift, axis=axis), np.roll(VALUES, shift, axis))


def test_a_shift_may_be_a_0d_array(backend: str) -> None:
    x = ua.asarray(VALUES)
    for shift in (np.asarray(2), ua.asarray(2), np.int64(2)):
        assert_same(ua.roll(x, shift), np.roll(VALUES, 2))
        assert_same(ua.roll(x, shift, axis=1), np.roll(VALUES, 2, 1))
    assert_same(ua.roll(x[:, :0], 5, axis=1), VALUES[:, :0])


@few
@given(offset=huge)
def test_offsets(backend: str, offset: int) -> None:
    # NumPy itself takes no offset of more than 32 or 64 bits.
    x, beyond = ua.asarray(VALUES), 5 if offset > 0 else -5
    assert_same(ua.tril(x, k=offset), np.tril(VALUES, beyond))
    assert_same(ua.triu(x, k=offset), np.triu(VALUES, beyond))
    assert_same(ua.linalg.diagonal(x, offset=offset), np.diagonal(VALUES, beyond))
    assert_same(ua.linalg.trace(x, offset=offset), np.trace(VALUES, beyond))
    assert_same(ua.eye(2, 3, k=offset), np.eye(2, 3, beyond))
    assert_same(ua.eye(3, k=offset), np.eye(3, k=beyond))


@few
@given(start=st.none() | huge, stop=st.none() | huge, step=huge.filter(bool), along=st.booleans())
def test_slices(backend: str, start: int | None, stop: int | None, step: int, along: bool) -> None:
    key: Any = slice(start, stop, step)
    key = (slice(None), key) if along else key
    x, values = ua.asarray(VALUES), VALUES.copy()
    assert_same(x[key], VALUES[key])
    x[key] = 9
    values[key] = 9
    assert_same(x, values)
    x[key] += ua.asarray(1.0)
    values[key] += 1
    assert_same(x, values)
    x[key] = ua.zeros_like(x[key])
    values[key] = 0
    assert_same(x, values)


@pytest.mark.parametrize("index", HUGE)
def test_indices_out_of_bounds(backend: str, index: int) -> None:
    x = ua.asarray(VALUES)
    arrays: list[Any] = [[index], ([0], [index])] if index < 2**64 and index > -(2**64) else []
    for key in (index, (0, index), (index, ...), *arrays):
        assert_raises(IndexError, lambda x, key=key: x[key], x)
        assert_raises(IndexError, lambda x, key=key: x.__setitem__(key, 1), x)
        assert_raises(IndexError, lambda x, key=key: x.__setitem__(key, ua.asarray(1.0)), x)
    if arrays:
        assert_raises(IndexError, lambda x: ua.take(x, [index], axis=0), x)
    for function in (ua.sum, ua.flip, ua.expand_dims, ua.cumulative_sum, ua.unstack):
        assert_raises(ua.errors.AxisError, lambda x, function=function: function(x, axis=index), x)


def test_a_count_of_differences(backend: str) -> None:
    for n in (3, 4, 2**62, 2**70):
        assert_same(ua.diff(ua.asarray(VALUES), n=n), VALUES[:, :0])


TOO_LARGE: dict[str, Callable[[Any], Any]] = {
    "broadcast_to": lambda x: ua.broadcast_to(x, (2**62, 2, 3)),
    "broadcast_to without elements": lambda x: ua.broadcast_to(x[:0], (2**62, 0, 3)),
    "tile": lambda x: ua.tile(x, (2**62,)),
    "tile without elements": lambda x: ua.tile(x[:0], (2**62, 2**62)),
    "pad": lambda x: ua.pad(x, 2**62),
    "pad of a mode": lambda x: ua.pad(x, ((0, 2**61), (0, 0)), "wrap"),
    "repeat": lambda x: ua.repeat(x, 2**62),
    "repeat without elements": lambda x: ua.repeat(x[:0], 2**70, axis=0),
    "fft": lambda x: ua.fft.fft(x, n=2**62),
    "irfft": lambda x: ua.fft.irfft(x, n=2**60),
    "fftn": lambda x: ua.fft.fftn(x, s=(2**31, 2**31)),
    "one_hot": lambda x: ua.nn.one_hot(ua.asarray([1, 2]), 2**62),
    "bincount": lambda x: ua.bincount(ua.asarray([1, 2]), minlength=2**62),
    "segment_sum": lambda x: ua.segment_sum(x, ua.asarray([0, 1]), num_segments=2**62),
}


@pytest.mark.parametrize("call", TOO_LARGE.values(), ids=TOO_LARGE)
def test_what_no_engine_can_address(backend: str, call: Callable[[Any], Any]) -> None:
    x = ua.asarray(VALUES)
    # JAX would end the process.
    assert_raises(MemoryError, call, x)
    assert_same(x, VALUES)
    assert as_numpy(x).shape == (2, 3)
