"""Overlapping arrays: exactly those for which NumPy says that they share memory."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import unifyarr as ua
from unifyarr._core.arrays.overlap import overlap, overlapping
from unifyarr.testing import lacks

from ..natives import has_variables, skip_unless, skip_without_derivatives, values_of, variable
from ..oracle import assert_same


class Pair(NamedTuple):
    """An array of NumPy's, and its twin of ours."""

    values: np.ndarray
    x: Any


SHAPES = [(6,), (2, 3), (3, 1, 2), (), (0, 3)]
SLICES = [slice(start, stop, step) for start in (None, 1, -1) for stop in (None, 2, 0) for step in (None, 2, -1, -2)]
BROADCASTS: dict[str, Callable[[Any, Any], Any]] = {
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "diagonal": lambda xp, x: xp.linalg.diagonal(x) if x.ndim > 1 else x,
}
VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "T": lambda xp, x: xp.permute_dims(x, tuple(reversed(range(x.ndim)))),
    "flip": lambda xp, x: x[(slice(None, None, -1),) * x.ndim],
    "new axis": lambda xp, x: x[..., None],
    "real": lambda xp, x: x.real,
    "imag": lambda xp, x: x.imag if x.dtype.kind == "c" else x,
    **BROADCASTS,
}


@st.composite
def memories(draw: Any) -> tuple[np.ndarray, bool]:
    """Draw an array, and whether a variable holds it."""
    shape, dtype = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(["float64", "complex128"]))
    size = int(np.prod(shape))
    return np.arange(size).reshape(shape).astype(dtype), draw(st.booleans())


@st.composite
def steps(draw: Any) -> list[Any]:
    """Draw the steps from an array to a view of it: names of views, and keys that fit any shape."""
    key = st.lists(st.sampled_from(SLICES), max_size=3).map(tuple)
    return draw(st.lists(st.one_of(st.sampled_from(sorted(VIEWS)), key, st.integers(-1, 1)), max_size=3))  # type: ignore[no-any-return]


def viewed(xp: Any, x: Any, taken: list[Any]) -> Any:
    """Return the views of an array by steps, as far as they fit."""
    for step in taken:
        if isinstance(step, str):
            x = VIEWS[step](xp, x)
        elif isinstance(step, tuple):
            x = x[step[: x.ndim]]
        elif x.ndim and x.shape[0]:
            # An integer takes the first axis away.
            x = x[min(step, x.shape[0] - 1), ...]
    return x


def made(values: np.ndarray, in_variable: bool) -> Pair:
    return Pair(values.copy(), ua.variable(values) if in_variable else ua.asarray(values, copy=True))


@given(
    memory=memories(),
    other=memories(),
    views=st.lists(st.tuples(st.booleans(), steps()), min_size=2, max_size=3),
)
@settings(max_examples=150)
@example((np.arange(6.0), False), (np.ones(1), False), [(True, [np.s_[::2,], np.s_[::-1,]]), (True, [np.s_[1::2,]])])
@example((np.arange(6.0), False), (np.ones(1), False), [(True, [np.s_[::-2,]]), (True, [np.s_[::2,]])])
@example((np.arange(6.0) + 1j, False), (np.ones(1), False), [(True, [np.s_[::-1,], "real"]), (True, ["imag"])])
@example((np.arange(6.0), False), (np.ones(1), False), [(True, [np.s_[::-1,], np.s_[:0,]]), (True, [np.s_[1:,]])])
@example((np.ones((0, 3)), False), (np.ones(1), False), [(True, []), (True, [])])
def test_arrays_overlap_where_numpys_share_memory(
    backend: str,
    memory: tuple[np.ndarray, bool],
    other: tuple[np.ndarray, bool],
    views: list[tuple[bool, list[Any]]],
) -> None:
    bases = {
        first: made(values, in_variable and has_variables(backend))
        for first, (values, in_variable) in ((True, memory), (False, other))
    }
    pairs = [Pair(viewed(np, bases[first].values, taken), viewed(ua, bases[first].x, taken)) for first, taken in views]
    arrays = [pair.x for pair in pairs]
    expected = [
        (first, second)
        for first, second in itertools.combinations(range(len(pairs)), 2)
        if np.shares_memory(pairs[first].values, pairs[second].values)
    ]
    assert sorted(overlapping(arrays)) == expected
    for first, second in itertools.combinations(range(len(pairs)), 2):
        assert overlap(arrays[first], arrays[second]) is ((first, second) in expected)
        assert overlap(arrays[second], arrays[first]) is ((first, second) in expected)


COPIES: dict[str, Callable[[Any], Any]] = {
    "copy()": lambda x: x.copy(),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "astype": lambda x: x.astype(x.dtype),
    "asarray(copy=True)": lambda x: ua.asarray(x, copy=True),
    "Container.copy": lambda x: ua.Container(x=x).copy().x,
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES.keys())
def test_an_array_and_its_copy_are_written_together(backend: str, make: Callable[[Any], Any]) -> None:
    x = ua.asarray([1.0, 2.0, 3.0, 4.0])
    y = make(x)
    container = ua.Container(x=x, y=y)
    container += 1
    assert_same(x, np.array([2.0, 3.0, 4.0, 5.0]))
    assert_same(y, np.array([2.0, 3.0, 4.0, 5.0]))
    ua.unstack(ua.asarray([[10.0, 20.0], [30.0, 40.0]]), out=(x[:2], y[:2]))
    assert_same(x, np.array([10.0, 20.0, 4.0, 5.0]))
    assert_same(y, np.array([30.0, 40.0, 4.0, 5.0]))


def test_an_array_and_its_copy_are_passed_to_a_function_that_is_transformed(backend: str) -> None:
    skip_without_derivatives(backend)
    x = ua.asarray([1.0, 2.0, 3.0])
    y = x.copy()

    def function(x: Any, y: Any) -> Any:
        x += 1
        return ua.sum(x * y)

    assert_same(ua.grad(function)(x[:2], y[:2]), np.array([1.0, 2.0]))
    assert_same(x, np.array([2.0, 3.0, 3.0]))
    assert_same(y, np.array([1.0, 2.0, 3.0]))


@lacks("writes", why="natives that can't be written")
def test_arrays_over_one_immutable_native_are_written_apart(backend: str) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    y = ua.asarray(x.native)
    container = ua.Container(x=x, y=y[::-1])
    container += ua.Container(x=ua.asarray(1), y=ua.asarray([10, 20, 30]))
    assert_same(x, np.array([2.0, 3.0, 4.0]))
    assert_same(y, np.array([31.0, 22.0, 13.0]))

    @ua.compile
    def function(x: Any, y: Any) -> None:
        x += 1
        y[0] = x[1]

    z = ua.asarray(x.native)
    function(x, z)
    assert_same(x, np.array([3.0, 4.0, 5.0]))
    assert_same(z, np.array([4.0, 3.0, 4.0]))


def test_arrays_over_one_variable_are_one(backend: str) -> None:
    native = variable(backend, np.arange(4.0))
    x, y = ua.asarray(native), ua.asarray(native)
    assert overlap(x, y)
    assert overlap(x[1:], y[:2])
    assert not overlap(x[::2], y[::-2])
    container = ua.Container(x=x[1:], y=y[:2])
    with pytest.raises(ValueError, match="overlap"):
        container += 1
    assert_same(x, np.arange(4.0))


def test_memory_is_found_across_backends(backend: str) -> None:
    skip_unless(backend, "torch", why="an engine that writes NumPy's memory")
    import torch

    values = np.arange(4.0)
    x, y = ua.asarray(values, backend="numpy"), ua.asarray(torch.from_numpy(values))
    container = ua.Container(x=x[1:], y=y[::-1])
    with pytest.raises(ValueError, match="overlap"):
        container += 1
    container = ua.Container(x=x[::2], y=y[::-1][::2])
    container += 1
    np.testing.assert_array_equal(values, [1.0, 2.0, 3.0, 4.0])


def test_views_overlap_inside_a_transformation_of_the_users(backend: str) -> None:
    skip_unless(backend, "torch", why="an engine whose transformations see writes")
    import torch

    def function(native: Any) -> Any:
        x, y = ua.asarray(native), ua.asarray(native * 2)
        container = ua.Container(x=x[:-1], y=x[1:])
        with pytest.raises(ValueError, match="overlap"):
            container += 1
        container = ua.Container(x=x, y=y)
        container += 1
        return (x + y).native

    values = torch.arange(6.0).reshape(2, 3)
    found = torch.func.vmap(function)(values.clone())
    np.testing.assert_array_equal(values_of(found), values_of(3 * values + 2))


def test_tensors_without_memory_overlap_where_one_is_a_view(backend: str) -> None:
    skip_unless(backend, "torch", why="torch's meta device")
    import torch

    x, y = (ua.asarray(torch.ones(3, device="meta")) for _ in range(2))
    assert not list(overlapping([x, y]))
    assert not overlap(x, y)
    assert overlap(x, x[:2])
    container = ua.Container(x=x, y=y)
    container += 1


def test_running_statistics_may_be_copies_of_each_other(backend: str) -> None:
    mean = ua.zeros(2)
    variance = mean.copy()
    ua.nn.batch_norm(ua.asarray([[1.0, 2.0], [3.0, 6.0]]), running_mean=mean, running_var=variance, training=True)
    assert_same(mean, np.array([0.2, 0.4]))
    assert_same(variance, np.array([0.2, 0.8]))
    with pytest.raises(ValueError, match="overlap"):
        ua.nn.batch_norm(ua.ones((2, 2)), running_mean=mean, running_var=mean[::-1], training=True)
