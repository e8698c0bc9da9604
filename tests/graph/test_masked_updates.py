"""Updates of masked selections, ``x[mask] += value``: compiled as eager, or a helpful error."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import TraceError, UnknownShapeError

from ..oracle import assert_same, assert_values

# Engines that compile the graph as a whole have no arrays of unknown length.
WHOLE = ("jax", "tensorflow", "dask")
OPERATORS = (operator.iadd, operator.isub, operator.imul, operator.itruediv)
# The value, of the mask, another one that selects as many, and an array of x's shape.
VALUES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "scalar": lambda m, w, v: 2.0,
    "row": lambda m, w, v: v[(0,) * m.ndim],
    "one row": lambda m, w, v: v[(0,) * m.ndim][None],
    "selected": lambda m, w, v: v[m],
    "computed": lambda m, w, v: v[m] * 2 + v[m],
    "selected and a row": lambda m, w, v: v[m] * v[(0,) * m.ndim],
    "sum": lambda m, w, v: v[m].sum(axis=0),
    "another mask": lambda m, w, v: v[w],
}
SHAPES = [((4,), 1), ((4, 3), 1), ((4, 3), 2), ((4, 3, 2), 1), ((4, 3, 2), 2), ((4, 3, 2), 3)]


def example(shape: tuple[int, ...], rank: int) -> tuple[np.ndarray, ...]:
    """Return x, a mask, another one that selects as many, and values."""
    rng = np.random.default_rng(sum(shape) + rank)
    x, v = rng.normal(size=(2, *shape)) + 3
    mask = np.arange(np.prod(shape[:rank])).reshape(shape[:rank]) % 2 == 0
    return x, mask, np.flip(mask), v


def update(x: Any, mask: Any, value: Any, change: Callable[[Any, Any], Any]) -> None:
    x[mask] = change(x[mask], value)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(("shape", "rank"), SHAPES)
def test_every_form(backend: str, shape: tuple[int, ...], rank: int, value: str) -> None:
    for change in OPERATORS:

        def program(x: Any, m: Any, w: Any, v: Any, change: Any = change) -> None:
            update(x, m, VALUES[value](m, w, v), change)

        arrays, expected = [ua.asarray(x) for x in example(shape, rank)], example(shape, rank)
        program(*expected)
        if backend in WHOLE and value == "another mask":
            with pytest.raises(TraceError, match=r"combines elements that two masks select, and .* use one mask"):
                compile(program)(*arrays)
            # Nothing was written.
            assert_same(arrays[0], example(shape, rank)[0])
            continue
        compile(program)(*arrays)
        assert_values(arrays[0].to_numpy(), expected[0])


def statement(x: Any, m: Any, v: Any) -> None:
    x[m] += v[m]
    x[m] *= v[m][:, :1]


def of_columns(x: Any, m: Any, v: Any) -> None:
    x[:, m[:3]] += v[:, m[:3]]
    x[m, 1] -= v[m, 0]
    x[m] /= v[m].mean(axis=-1, keepdims=True)


def of_a_view(x: Any, m: Any, v: Any) -> None:
    y = x[::-1]
    y[m] += v[m]
    x.T[:, m] *= v.T[:, m]


def of_itself(x: Any, m: Any, v: Any) -> None:
    x[m] += x[m]
    x[m] -= x[m] * v[m]
    x[~m] += v[~m]


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
@pytest.mark.parametrize("program", [statement, of_columns, of_a_view, of_itself], ids=lambda each: each.__name__)
def test_programs(backend: str, program: Callable[..., None], mode: str) -> None:
    compiled = compile(program, mode=mode)
    for mask in ([True, False, True, True], [False] * 4, [True] * 4):
        x, _, _, v = example((4, 3), 1)
        arrays = [ua.asarray(x), ua.asarray(mask), ua.asarray(v)]
        with np.errstate(invalid="ignore"):
            program(x, np.asarray(mask), v)
            compiled(*arrays)
        assert_values(arrays[0].to_numpy(), x)


def test_values_of_other_dtypes(backend: str) -> None:
    for dtype, other in (("float32", "float64"), ("int64", "int8"), ("complex128", "float32"), ("float64", "bool")):
        x, mask, _, v = example((4, 3), 1)
        x, v = (x * 4).astype(dtype), (v * 4).astype(other)
        arrays = [ua.asarray(each) for each in (x, mask, v)]

        def program(x: Any, m: Any, v: Any) -> None:
            x[m] += v[m]

        program(x, mask, v)
        compile(program)(*arrays)
        assert_values(arrays[0].to_numpy(), x)


@pytest.mark.parametrize("shape", [(2, 3), (2, 1)])
def test_a_value_of_a_known_length_is_refused(backend: str, shape: tuple[int, ...]) -> None:
    """Nobody can say in a trace whether the mask selects as many."""

    def program(x: Array, m: Array, v: Array) -> None:
        x[m] += v

    x, mask, _, _ = example((4, 3), 1)
    arrays = [ua.asarray(each) for each in (x, mask, np.ones(shape))]
    with pytest.raises(UnknownShapeError, match=r"needs the lengths of an array of shape \(\?, 3\)") as caught:
        compile(program)(*arrays)
    assert __file__ in str(caught.value)
    assert_same(arrays[0], x)


def test_a_known_mask_selects_a_known_number(backend: str) -> None:
    x, mask, _, _ = example((4, 3), 1)
    value = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def program(x: Array, v: Array) -> None:
        x[mask] += v

    arrays = [ua.asarray(x), ua.asarray(value)]
    compile(program)(*arrays)
    x[mask] += value
    assert_same(arrays[0], x)
