"""``shares_memory``: whether a write to one array is seen in the other, the same answer on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr.testing import has

from ..natives import on_host, skip_unless, variable
from ..oracle import as_numpy

SHAPE = (4, 5)
Step = Callable[[Any], Any]


@st.composite
def views(draw: st.DrawFn) -> Callable[[Any], Any]:
    """Draw a view of an array of two axes: slices of any step, axes swapped, reversed and reshaped."""
    keys = [
        slice(*draw(st.tuples(*[st.none() | st.integers(-5, 5)] * 2)), draw(st.sampled_from([1, 2, 3, -1, -2])))
        for _ in SHAPE
    ]
    swapped, flat = draw(st.booleans()), draw(st.booleans())

    def view(x: Any) -> Any:
        x = x.reshape((-1,))[keys[0]] if flat else x[tuple(keys)]
        return x.T if swapped else x

    return view


def base(backend: str, kind: str) -> ua.Array:
    values = np.arange(20.0).reshape(SHAPE)
    return ua.asarray(variable(backend, values)) if kind == "variable" else ua.asarray(values, copy=True)


@pytest.mark.parametrize("kind", ["array", "variable"])
@given(one=views(), other=views())
def test_views_of_one_array(backend: str, kind: str, one: Step, other: Step) -> None:
    values, x = np.arange(20.0).reshape(SHAPE), base(backend, kind)
    first, second = one(x), other(x)
    note(f"{one(values)}, {other(values)}")
    expected = np.shares_memory(one(values), other(values))
    assert ua.shares_memory(first, second) is expected
    assert np.shares_memory(first, second) is expected
    if first.ndim and second.ndim:
        wide = np.may_share_memory(one(values), other(values))
        assert ua.may_share_memory(first, second) is np.may_share_memory(first, second) is wide
    # A write shows, as it must.
    before = as_numpy(second)
    first += 100
    assert (not np.array_equal(as_numpy(second), before)) == expected


def test_parts_repeats_and_diagonals(backend: str) -> None:
    z = ua.asarray(np.arange(9).reshape(3, 3) + 1j)
    assert ua.shares_memory(z, z.real)
    assert not ua.shares_memory(z.real, z.imag)
    assert not ua.shares_memory(z[::-1].real, z.imag)
    assert ua.shares_memory(ua.broadcast_to(z[0], (4, 3)), z[0, 2:])
    assert not ua.shares_memory(ua.broadcast_to(z[0], (4, 3)), z[1:])
    assert ua.shares_memory(ua.linalg.diagonal(z), z[1, 1:])
    assert not ua.shares_memory(ua.linalg.diagonal(z), z[1, 2:])


def test_what_shares_nothing(backend: str) -> None:
    x = ua.ones(3)
    for other in (x.copy(), x + 0, ua.asarray(x, copy=True), ua.array(x), x[[0, 1]], x[0], x.flatten(), x[:0]):
        assert not ua.shares_memory(x, other)
        assert not np.shares_memory(x, other)
    assert not ua.shares_memory(x, [1, 2])
    assert not ua.shares_memory(x, 1.0)
    assert not ua.shares_memory(np.ones(3), x)


def test_arrays_over_one_native(backend: str) -> None:
    x = ua.ones(4)
    native = x.native
    # A write to an array over an immutable native isn't seen in another one.
    expected = has(backend, "writes")
    assert ua.shares_memory(x, ua.asarray(native, backend=backend)) is expected
    assert ua.shares_memory(native, x[1:]) is expected
    held = variable(backend, np.ones(4))
    one, other = ua.asarray(held), ua.asarray(held)
    assert ua.shares_memory(one, other)
    assert ua.shares_memory(one[1:], other[::-2])
    assert not ua.shares_memory(one[1:2], other[2:])
    assert ua.shares_memory(held, one)


@on_host("NumPy shares it")
def test_torch_and_numpy_share_memory(backend: str) -> None:
    skip_unless(backend, "torch", why="memory of two engines")
    import torch

    tensor = torch.arange(6.0)
    x, y = ua.asarray(tensor), ua.asarray(tensor.numpy(), backend="numpy")
    assert ua.shares_memory(x[2:], y[::-1])
    assert not ua.shares_memory(x[2:], y[:2])
    assert ua.shares_memory(x[::-1], y[:1])
    assert ua.shares_memory(tensor, tensor.numpy())


def test_containers_share_what_their_leaves_share(backend: str) -> None:
    x = ua.zeros((2, 3))
    c = ua.Container(a=x[0], b=ua.zeros(3))
    assert ua.shares_memory(c, x)
    assert ua.shares_memory(ua.Container(q=x), c)
    assert not ua.shares_memory(c, x[1])
    assert not ua.shares_memory(c.copy(), c)


def test_inside_a_compiled_function(backend: str) -> None:
    answers = []

    def f(x: Any) -> Any:
        answers.append((ua.shares_memory(x, x[1:]), ua.shares_memory(x[:1], x[1:]), ua.shares_memory(x, x + 1)))
        return x + 1

    ua.compile(f)(ua.zeros(3))
    assert set(answers) == {(True, False, False)}
