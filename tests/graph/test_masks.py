"""Constant masks in compiled functions, which work as they do elsewhere; other masks are in ``test_selections.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import TraceError

from ..natives import skip_without_derivatives
from ..oracle import assert_same

ROWS = np.array([True, False, True])
CELLS = np.eye(3, dtype=bool)
NONE = np.zeros(3, bool)


def assign(x: Any) -> None:
    x[ROWS] = 5


def add(x: Any) -> None:
    x[ROWS] += 1


def with_an_index(x: Any) -> None:
    x[ROWS, 1] = 7


def with_a_slice(x: Any) -> None:
    x[1:, ROWS] *= 2


def of_an_array(x: Any) -> None:
    x[ROWS] = x[1:] * 10


def of_cells(x: Any) -> None:
    x[CELLS] = x[0]
    x[~CELLS] += 1


def one_value_for_cells(x: Any) -> None:
    x[CELLS] = -1


def twice(x: Any) -> None:
    x[ROWS][:] = 0
    x[ROWS] -= x[ROWS][::-1]


def nothing(x: Any) -> Any:
    x[NONE] = 3
    return x[NONE]


def by_a_list(x: Any) -> Any:
    return x[[True, False, True]]


def by_one_value(x: Any) -> Any:
    x[np.bool_(True)] = 3
    return x[True], x[False]


def read(x: Any) -> Any:
    return x[ROWS] * 2, x[CELLS], x[:, ROWS], x[ROWS, ROWS], x[1][ROWS]


def of_a_view(x: Any) -> None:
    x.T[::-1][ROWS] = 4


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    assign, add, with_an_index, with_a_slice, of_an_array, of_cells, one_value_for_cells, twice, nothing, by_a_list,
    by_one_value, read, of_a_view,
)  # fmt: skip


def results(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else () if returned is None else (returned,)


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_constant_masks(backend: str, program: Callable[[Any], Any], mode: str) -> None:
    compiled = compile(program, mode=mode)
    for start in (0, 100):
        values = np.arange(9.0).reshape(3, 3) + start
        x = ua.asarray(values, copy=True)
        expected, found = program(values), compiled(x)
        assert_same(x, values)
        for one, other in zip(results(found), results(expected), strict=True):
            assert_same(one, other)
    # It's traced once for all.
    assert len(compiled._programs) == 1  # type: ignore[attr-defined]


def test_masks_that_are_computed_of_constants(backend: str) -> None:
    def causal(x: Array) -> tuple[Array, Array, Array]:
        mask = ua.arange(3) > 0
        both = ua.logical_and(mask, ua.asarray([True, True, False], copy=True))
        return x[mask], x[both, 1], x[ua.triu(ua.ones((3, 3), dtype=ua.bool))]

    values = np.arange(9.0).reshape(3, 3)
    wanted = (values[1:], values[1:2, 1], values[np.triu(np.ones((3, 3), bool))])
    for found, expected in zip(compile(causal)(ua.asarray(values)), wanted, strict=True):
        assert_same(found, expected)


def test_constant_masks_inside_of_transformations(backend: str) -> None:
    skip_without_derivatives(backend)
    x = ua.asarray([1.0, 2.0, 3.0])
    gradient = ua.grad(lambda x: ua.sum(x[ROWS] ** 2))
    assert_same(compile(gradient)(x), np.array([2.0, 0.0, 6.0]))
    rows = ua.asarray(np.arange(6.0).reshape(2, 3))
    assert_same(compile(ua.vmap(lambda x: x[ROWS] * 2))(rows), np.array([[0.0, 4.0], [6.0, 10.0]]))


def test_what_is_written_and_read_by_a_mask_is_independent(backend: str) -> None:
    @compile
    def picked(x: Array) -> Array:
        y = x[ROWS]
        y += 100
        return y

    x = ua.asarray([1.0, 2.0, 3.0])
    assert_same(picked(x), np.array([101.0, 103.0]))
    assert_same(x, np.array([1.0, 2.0, 3.0]))


def test_random_masks_are_not_constant(backend: str) -> None:
    generator = ua.random.Generator(0)
    with pytest.raises(TraceError):
        compile(lambda x: x[ua.asarray(generator.random(3)) > 0.5])(ua.ones(3))
