"""Every public function in a compiled function: its calls of ``unifyarr/testing/cases``, beside eager ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.container.container import flatten, unflatten
from unifyarr.errors import TraceError, UnknownShapeError
from unifyarr.testing.cases import CASES, Case

from ..functions.calls import PUBLIC, UNSET, find
from ..natives import has
from ..oracle import assert_values

# Functions of no arrays, or of their types and memory alone.
WITHOUT_VALUES = frozenset(
    {
        *("broadcast_shapes", "can_cast", "finfo", "iinfo", "isdtype", "may_share_memory", "result_type"),
        "shares_memory",
    }
)
# Values decide how long the result is, and another argument says it where it has to be known.
UNTOLD = frozenset({"bincount", *(f"segment_{name}" for name in ("max", "mean", "min", "prod", "sum"))})
# Python reads lengths or values in the body.
READING = frozenset({"intersect1d", "setxor1d", "trim_zeros"})
# The result has a length that values decide, which engines lack that compile a graph as a whole.
OF_LENGTHS = frozenset(
    {
        *("argwhere", "flatnonzero", "nonzero", "setdiff1d", "union1d"),
        *("unique_all", "unique_counts", "unique_inverse", "unique_values"),
    }
)


def call_of(name: str, case: Case) -> tuple[Any, list[np.ndarray]]:
    """Return a function of arrays, and the arrays."""
    leaves, spec = flatten((list(case.arguments), dict(case.options)))
    places = [place for place, x in enumerate(leaves) if isinstance(x, np.ndarray)]

    def function(*arrays: ua.Array) -> Any:
        given = list(leaves)
        for place, x in zip(places, arrays, strict=True):
            given[place] = x
        arguments, options = unflatten(spec, given)
        return find(name)(*arguments, **options)

    return function, [leaves[place] for place in places]


def refuses(backend: str, name: str) -> bool:
    """Return whether a function can't be compiled on a backend."""
    return name in UNTOLD | READING or (name in OF_LENGTHS and not has(backend, "writes"))


def test_there_are_calls_of_each_function() -> None:
    assert set(PUBLIC) - set(CASES) == WITHOUT_VALUES


@pytest.mark.parametrize("name", sorted(set(PUBLIC) - WITHOUT_VALUES))
def test_a_compiled_call_gives_what_an_eager_one_gives(backend: str, name: str) -> None:
    # Each call is compiled for itself there.
    for case in CASES[name] if has(backend, "writes") else CASES[name][:1]:
        function, arrays = call_of(name, case)
        if refuses(backend, name):
            with pytest.raises((TraceError, UnknownShapeError)):
                ua.compile(function)(*map(ua.asarray, arrays))
            continue
        expected = flatten(function(*[ua.asarray(x, copy=True) for x in arrays]))[0]
        found = flatten(ua.compile(function)(*[ua.asarray(x, copy=True) for x in arrays]))[0]
        for one, other in zip(found, expected, strict=True):
            if name in UNSET:
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
            elif isinstance(one, ua.Array):
                assert_values(np.asarray(one), np.asarray(other), rtol=1e-6, atol=1e-9)
            else:
                assert one == other
