"""Writes whose target overlaps the inputs: as if the inputs had been copied first."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import variable
from ..oracle import assert_same
from .writes import pair, setitem

WINDOWS = [np.s_[0:4], np.s_[1:5], np.s_[2:6], np.s_[3::-1], np.s_[5:1:-1], np.s_[4:0:-1], np.s_[::2], np.s_[::-2]]


@given(data=st.data())
def test_inputs_may_overlap_out(backend: str, data: st.DataObject) -> None:
    values, x = pair((6,))
    pool = st.sampled_from([window for window in WINDOWS if window.step not in (2, -2)])
    first, second, out = data.draw(pool), data.draw(pool), data.draw(pool)
    np.subtract(values[first], values[second], out=values[out])
    ua.subtract(x[first], x[second], out=x[out])
    assert_same(x, values, what=(first, "-", second, "into", out))


@pytest.mark.parametrize("second", WINDOWS, ids=repr)
@pytest.mark.parametrize("first", WINDOWS, ids=repr)
def test_assignments_may_overlap(backend: str, first: slice, second: slice) -> None:
    values, x = pair((6,))
    if values[first].shape != values[second].shape:
        first = np.s_[:3] if first.step in (None, -1) else first
        second = np.s_[2:5] if second.step in (None, -1) else second
    for array in (values, x):
        array[first] = array[second]
        array[first] += array[second]
    assert_same(x, values)


# The same program for NumPy's functions and ours; where NumPy would read elements after writing them, it reads a copy.
OVERLAPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "add(x[1:], x[:-1], out=x[1:])": (
        lambda x: ua.add(x[1:], x[:-1], out=x[1:]),
        lambda x: np.add(x[1:], x[:-1], out=x[1:]),
    ),
    "add(x[1:], x[:-1], out=x[:-1])": (
        lambda x: ua.add(x[1:], x[:-1], out=x[:-1]),
        lambda x: np.add(x[1:], x[:-1], out=x[:-1]),
    ),
    "add(x, x.T, out=x)": (lambda x: ua.add(x, x.T, out=x), lambda x: np.add(x, x.T, out=x)),
    "add(x, x.T, out=x.T)": (lambda x: ua.add(x, x.T, out=x.T), lambda x: np.add(x, x.T, out=x.T)),
    "x += x.T": (lambda x: operator.iadd(x, x.T), lambda x: operator.iadd(x, x.T)),
    "x += x[::-1]": (lambda x: operator.iadd(x, x[::-1]), lambda x: operator.iadd(x, x[::-1])),
    "x -= x[0]": (lambda x: operator.isub(x, x[0]), lambda x: operator.isub(x, x[0])),
    "x *= x[1, 1]": (lambda x: operator.imul(x, x[1, 1, ...]), lambda x: operator.imul(x, x[1, 1, ...])),
    "negative(x, out=x[::-1])": (lambda x: ua.negative(x, out=x[::-1]), lambda x: np.negative(x, out=x[::-1])),
    "negative(x.T, out=x)": (lambda x: ua.negative(x.T, out=x), lambda x: np.negative(x.T, out=x)),
    "x[...] = x.T": (lambda x: setitem(x, x.T), lambda x: setitem(x, x.T)),
    "x[...] = x[::-1]": (lambda x: setitem(x, x[::-1]), lambda x: setitem(x, x[::-1])),
    "x[1] = x": (lambda x: x.__setitem__(1, x[0]), lambda x: x.__setitem__(1, x[0])),
    "matmul(x, x, out=x)": (lambda x: ua.matmul(x, x, out=x), lambda x: np.matmul(x, x, out=x)),
    "matmul(x, x.T, out=x.T)": (lambda x: ua.matmul(x, x.T, out=x.T), lambda x: setitem(x.T, x @ x.T)),
    "sum(x, axis=0, out=x[1])": (lambda x: ua.sum(x, axis=0, out=x[1]), lambda x: setitem(x[1], x.sum(0))),
    "sum(x, axis=1, out=x[:, 0])": (lambda x: ua.sum(x, axis=1, out=x[:, 0]), lambda x: setitem(x[:, 0], x.sum(1))),
    "cumulative_sum(out=x)": (
        lambda x: ua.cumulative_sum(x, axis=0, out=x),
        lambda x: setitem(x, np.cumulative_sum(x, axis=0)),
    ),
    "cumulative_sum(out=x[::-1])": (
        lambda x: ua.cumulative_sum(x, axis=0, out=x[::-1]),
        lambda x: setitem(x[::-1], np.cumulative_sum(x, axis=0)),
    ),
    "sort(x, out=x[:, ::-1])": (
        lambda x: ua.sort(x, out=x[:, ::-1]),
        lambda x: setitem(x[:, ::-1], np.sort(x)),
    ),
    "roll(x, out=x)": (lambda x: ua.roll(x, 1, out=x), lambda x: setitem(x, np.roll(x, 1))),
    "flip(x, out=x)": (lambda x: ua.flip(x, out=x), lambda x: setitem(x, np.flip(x))),
    "permute_dims(x, out=x)": (
        lambda x: ua.permute_dims(x, (1, 0), out=x),
        lambda x: setitem(x, x.T),
    ),
    "take(x, out=x)": (
        lambda x: ua.take(x, ua.asarray([2, 0, 1]), axis=0, out=x),
        lambda x: setitem(x, x[[2, 0, 1]]),
    ),
    "where(out=x)": (
        lambda x: ua.where(x > 3, x[::-1], x.T, out=x),
        lambda x: setitem(x, np.where(x > 3, x[::-1], x.T)),
    ),
    "concat(out=x)": (
        lambda x: ua.concat([x[1:], x[:1]], out=x),
        lambda x: setitem(x, np.concat([x[1:], x[:1]])),
    ),
    "stack(out=x)": (
        lambda x: ua.stack([x[2], x[0], x[1]], out=x),
        lambda x: setitem(x, np.stack([x[2], x[0], x[1]])),
    ),
    "tril(x.T, out=x)": (lambda x: ua.tril(x.T, out=x), lambda x: setitem(x, np.tril(x.T))),
    "clip(x, min, out=x[::-1])": (
        lambda x: ua.clip(x, x.T, out=x[::-1]),
        lambda x: setitem(x[::-1], np.clip(x, x.T, None)),
    ),
    "diff(x, out=x[:, 1:])": (
        lambda x: ua.diff(x, out=x[:, 1:]),
        lambda x: setitem(x[:, 1:], np.diff(x)),
    ),
    "x[[2, 0]] = x[:2]": (
        lambda x: x.__setitem__([2, 0], x[:2]),
        lambda x: x.__setitem__([2, 0], x[:2].copy()),
    ),
    "inplace_increment(x, x.T)": (lambda x: ua.inplace_increment(x, x.T), lambda x: operator.iadd(x, x.T)),
    "broadcast_to(x[0], out=x)": (
        lambda x: ua.broadcast_to(x[0], (3, 3), out=x),
        lambda x: setitem(x, np.broadcast_to(x[0], (3, 3))),
    ),
}


@pytest.mark.parametrize("on", ["array", "variable"])
@pytest.mark.parametrize(("program", "expected"), OVERLAPS.values(), ids=OVERLAPS.keys())
def test_overlapping_writes_are_as_if_inputs_were_copied_first(
    backend: str, program: Callable[[Any], Any], expected: Callable[[Any], Any], on: str
) -> None:
    values = np.arange(9.0).reshape(3, 3) ** 2 % 7
    x = ua.asarray(values, copy=True) if on == "array" else ua.asarray(variable(backend, values))
    program(x)
    expected(values)
    assert_same(x, values)
