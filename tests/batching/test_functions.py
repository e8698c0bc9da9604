"""Every function in a batch, beside a call for each element: calls that the whole suite shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten
from unifyarr.errors import TraceError, UnknownShapeError
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import UNSET, find
from ..natives import skip_unless
from ..oracle import as_numpy, assert_same

# Lengths of results that values decide, and lengths that must be said where values aren't known.
_LENGTHS = (
    "nonzero argwhere flatnonzero trim_zeros unique_all unique_counts unique_inverse unique_values intersect1d "
    "setdiff1d setxor1d union1d bincount"
)
OF_VALUES = frozenset(_LENGTHS.split())
SEGMENTS = frozenset(f"segment_{name}" for name in ("max", "mean", "min", "prod", "sum"))


class _Slot:
    """Where an array was in the arguments of a call."""

    def __init__(self, place: int) -> None:
        self.place = place


def _parted(value: Any, arrays: list[np.ndarray]) -> Any:
    """Return arguments with slots in the place of arrays, which are added to a list."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return _Slot(len(arrays) - 1)
    if isinstance(value, (list, tuple)):
        return type(value)(_parted(each, arrays) for each in value)
    return {key: _parted(each, arrays) for key, each in value.items()} if isinstance(value, dict) else value


def _filled(value: Any, arrays: Any) -> Any:
    if isinstance(value, _Slot):
        return arrays[value.place]
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(each, arrays) for each in value)
    return {key: _filled(each, arrays) for key, each in value.items()} if isinstance(value, dict) else value


def _leaves(result: Any) -> list[np.ndarray]:
    return [as_numpy(x) if isinstance(x, ua.Array) else np.asarray(x) for x in flatten(result)[0]]


def _calls(name: str, cases: list[Case]) -> Iterator[tuple[Callable[..., Any], list[np.ndarray]]]:
    """Yield functions of arrays, and arrays."""
    for each in cases:
        arrays: list[np.ndarray] = []
        arguments, options = _parted([list(each.arguments), dict(each.options)], arrays)

        def function(*given: Any, arguments: Any = arguments, options: Any = options) -> Any:
            return find(name)(*_filled(arguments, given), **_filled(options, given))

        if arrays:
            yield function, arrays


def _by_rows(function: Callable[..., Any], rows: list[list[np.ndarray]]) -> list[np.ndarray] | None:
    """Return the result of a loop, ``None`` if elements have results of several shapes, or one of them fails."""
    try:
        found = [_leaves(function(*map(ua.asarray, row))) for row in rows]
    except Exception:
        return None
    columns = list(zip(*found, strict=True))
    if any(len({x.shape for x in column}) > 1 for column in columns):
        return None
    return [np.stack(column) for column in columns]


@pytest.mark.parametrize("name", sorted(set(CASES) - UNSET - OF_VALUES - SEGMENTS))
def test_a_batch_gives_what_a_loop_gives(backend: str, name: str) -> None:
    skip_unless(backend, "numpy", "torch", why="the engine batches functions itself")
    for function, arrays in _calls(name, CASES[name][:2]):
        others = [np.roll(x, 1) for x in arrays]
        for count in {1, len(arrays)}:
            # The first array is mapped, or all are.
            second = [*others[:count], *arrays[count:]]
            expected = _by_rows(function, [arrays, second])
            if expected is None:
                continue
            given = [np.stack(pair) for pair in zip(arrays[:count], others, strict=False)] + arrays[count:]
            in_axes = tuple(0 if place < count else None for place in range(len(arrays)))
            found = flatten(ua.vmap(function, in_axes)(*map(ua.asarray, given)))[0]
            for mine, wanted in zip(found, expected, strict=True):
                assert_same(mine, wanted, rtol=1e-6, atol=1e-9, signed_zeros=False)


@pytest.mark.parametrize("name", sorted(OF_VALUES))
def test_results_of_several_lengths_are_refused(name: str) -> None:
    with ua.use_backend("numpy"):
        for function, arrays in _calls(name, CASES[name][:1]):
            given = [ua.asarray(np.stack([x, np.roll(x, 1)])) for x in arrays]
            # trim_zeros needs the values of indices.
            with pytest.raises((TraceError, UnknownShapeError), match=r"length|values"):
                ua.vmap(function)(*given)


def test_a_batch_runs_the_function_once_and_is_part_of_the_graph() -> None:
    calls = []

    def function(x: ua.Array) -> ua.Array:
        calls.append(x.shape)
        return ua.sum(ua.sin(x))

    with ua.use_backend("numpy"):
        x = ua.asarray(np.arange(6.0).reshape(2, 3))
        assert_same(ua.vmap(function)(x), np.sin(np.arange(6.0).reshape(2, 3)).sum(1))
        assert calls == [(3,)]
        compiled = ua.compile(ua.vmap(function))
        assert "vmap" not in str(compiled.graph(x))
        assert_same(compiled(x), np.sin(np.arange(6.0).reshape(2, 3)).sum(1))
