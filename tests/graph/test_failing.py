"""A compiled call that raises leaves its arguments as they were."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten, unflatten
from unifyarr.errors import ShapeError
from unifyarr.testing import needs
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import PUBLIC, UNSET, find

# After one was added: a singular matrix, negative numbers, and indices out of bounds.
REFUSED: dict[str, Sequence[Any]] = {"i": (-1, -3, 98), "f": (-1.0, -3.0, np.nan), "c": (-1.0, np.nan), "b": (False,)}


def _program(name: str, case: Case) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a function of arrays that writes them all before the call, and the arrays."""
    leaves, spec = flatten((list(case.arguments), dict(case.options)))
    places = [place for place, x in enumerate(leaves) if isinstance(x, np.ndarray)]

    def program(*arrays: ua.Array) -> Any:
        given = list(leaves)
        for place, x in zip(places, arrays, strict=True):
            if x.dtype != ua.bool:
                x += 1
            given[place] = x
        arguments, options = unflatten(spec, given)
        return find(name)(*arguments, **options)

    arrays = [leaves[place] for place in places]
    return program, [x if x.dtype == bool else np.asarray(x - 1) for x in arrays]


def _refused(arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    for place, x in enumerate(arrays):
        for value in REFUSED.get(x.dtype.kind, ()):
            changed = [each.copy() for each in arrays]
            changed[place][...] = value
            yield changed


def check(function: Callable[..., Any], good: Sequence[np.ndarray], bad: Iterator[list[np.ndarray]], name: str) -> int:
    """Assert that a compiled function raises where the function does, with its arguments unchanged; count these."""
    compiled, raised = ua.compile(function), 0
    with np.errstate(all="ignore"):
        try:
            compiled(*[ua.asarray(x, copy=True) for x in good])
        except Exception:
            # There is nothing to call again: the trace raises, before anything is written.
            return 0
        for values in bad:
            arrays = [ua.asarray(x, copy=True) for x in values]
            try:
                compiled(*arrays)
            except Exception:
                raised += 1
                for x, before in zip(arrays, values, strict=True):
                    np.testing.assert_array_equal(np.asarray(x), before, err_msg=name)
    return raised


@needs("writes", why="an engine that writes in place, step by step")
@pytest.mark.filterwarnings("ignore")
def test_a_value_that_a_kernel_refuses(backend: str) -> None:
    raised = {}
    for name in PUBLIC:
        for case in CASES.get(name, ()):
            program, good = _program(name, case)
            raised[name] = raised.get(name, 0) + check(program, good, _refused(good), name)
    names = {"linalg.inv", "linalg.solve", "linalg.cholesky", "linalg.solve_triangular", "take", "repeat"}
    assert {name for name in names if raised[name]} == names


def _selected(name: str, case: Case) -> tuple[Callable[..., Any], list[np.ndarray]]:
    """Return a function of arrays that writes them, and calls a function on the rows that aren't NaN."""
    leaves, spec = flatten((list(case.arguments), dict(case.options)))
    places = [place for place, x in enumerate(leaves) if isinstance(x, np.ndarray) and x.ndim and x.dtype != bool]

    def program(*arrays: ua.Array) -> Any:
        given = list(leaves)
        for place, x in zip(places, arrays, strict=True):
            x += 1
            rows = x[(slice(None), *(0,) * (x.ndim - 1))]
            given[place] = x[rows > -50]
        arguments, options = unflatten(spec, given)
        return find(name)(*arguments, **options)

    return program, [leaves[place] - 1 for place in places]


def _fewer(arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    for counts in itertools.product((0, 1), repeat=len(arrays)):
        values = [x.copy() for x in arrays]
        for x, count in zip(values, counts, strict=True):
            x[count:] = -99
        yield values


@needs("writes", why="an engine that knows lengths once values are computed")
@pytest.mark.filterwarnings("ignore")
def test_a_length_that_a_kernel_refuses(backend: str) -> None:
    raised = {}
    for name in PUBLIC:
        for case in CASES.get(name, ())[:1] if name not in UNSET else ():
            program, good = _selected(name, case)
            raised[name] = check(program, good, _fewer(good), name)
    names = {"max", "min", "argmax", "argmin", "stack"}
    assert {name for name in names if raised[name]} == names


UNEQUAL: dict[str, Callable[[ua.Array, ua.Array], Any]] = {
    "add": lambda x, y: x + y,
    "where": lambda x, y: ua.where(x > 0, x, y),
    "stack": lambda x, y: ua.stack([x, y]),
    "matmul": lambda x, y: x @ y,
    "maximum": ua.maximum,
    "power": lambda x, y: x**y,
}


@needs("writes", why="an engine that knows lengths once values are computed")
@pytest.mark.parametrize("name", UNEQUAL)
def test_selections_of_unequal_lengths_are_an_error_about_shapes(backend: str, name: str) -> None:
    def program(x: ua.Array, a: ua.Array, b: ua.Array) -> Any:
        x += 1
        return UNEQUAL[name](x[a], x[b])

    compiled, mask = ua.compile(program), np.arange(5) > 1
    for other in (mask, mask[::-1], np.arange(5) > 2):
        x = ua.asarray(np.arange(5.0))
        if np.sum(other) == np.sum(mask):
            compiled(x, ua.asarray(mask), ua.asarray(other, copy=True))
            assert x.tolist() == [1, 2, 3, 4, 5]
            continue
        wanted = ValueError if name == "matmul" else ShapeError
        with pytest.raises(wanted, match=r"shape|mismatch|size"):
            compiled(x, ua.asarray(mask), ua.asarray(other))
        assert x.tolist() == [0, 1, 2, 3, 4]


@needs("writes", why="an engine that writes in place, step by step")
def test_selections_by_one_mask_are_of_one_length(backend: str) -> None:
    """So a write needn't wait for the values."""

    def program(x: ua.Array, y: ua.Array) -> ua.Array:
        mask = y > 0
        x += 1
        return ua.sum(ua.sin(x[mask]) * y[mask])

    nodes = [node.op for node in ua.compile(program).graph(ua.ones(4), ua.ones(4)).toposort()]
    assert any(op.name == "add" and op.destroy_map for op in nodes)


@needs("writes", why="an engine that writes in place, step by step")
def test_an_operation_of_a_user_that_raises(backend: str) -> None:
    def refuse(x: Any) -> Any:
        raise ValueError("no")

    @ua.op
    def picky(x: ua.Array) -> ua.Array:
        return x * 2

    picky.kernel(backend)(refuse)

    def program(x: ua.Array) -> ua.Array:
        x += 1
        return picky(x)

    x = ua.ones(3)
    compiled = ua.compile(program)
    with pytest.raises(ValueError, match="no"):
        compiled(x)
    assert x.tolist() == [1, 1, 1]
