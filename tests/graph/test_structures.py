"""The structure of arguments in the cache key: the order of names, and values that only compare equal."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pytest

import unifyarr as ua
from tests.graph.random_nests import compare, same


class Pair(NamedTuple):
    """A nest with names in a fixed order."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Settings:
    """A hashable value with a value inside."""

    scale: Any


class Name(StrEnum):
    """A string that is equal to a plain one."""

    A = "a"


def agree(function: Callable[..., Any], *calls: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    """Raise unless a compiled function gives for each of some calls, in turn, the results of the function itself."""
    compiled = ua.compile(function)
    # The calls after the first two are straight.
    for _ in range(4):
        for args, kwargs in calls:
            same(compiled(*args, **kwargs), function(*args, **kwargs))


def values(tree: Any) -> Any:
    return ua.stack(list(tree.values()))


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda d: defaultdict(list, d), ua.Container])
def test_order_of_names(backend: str, kind: Callable[[Any], Any]) -> None:
    x, y = ua.ones(2), ua.zeros(2)
    calls = [((kind(each),), {}) for each in ({"a": x, "b": y}, {"b": y, "a": x})]
    for function in (values, lambda tree: tree, lambda tree: [tree, {"c": x, **tree}]):
        agree(function, *calls)


def test_order_in_deeper_nests(backend: str) -> None:
    x, y = ua.ones(2), ua.zeros(2)
    inner = {"a": x, "b": y}, {"b": y, "a": x}
    for wrap in (lambda d: [d], lambda d: (1, d), lambda d: {"c": d}, lambda d: Pair(d, x), ua.Container):
        agree(lambda tree: tree, *(((wrap(each),), {}) for each in inner))


def test_order_of_keywords(backend: str) -> None:
    x, y = ua.ones(2), ua.zeros(2)

    def function(*args: Any, **kwargs: Any) -> Any:
        return values(kwargs), kwargs

    agree(function, ((), {"a": x, "b": y}), ((), {"b": y, "a": x}))


def test_default_and_explicit_keywords(backend: str) -> None:
    x = ua.ones(2)

    def function(x: Any, scale: Any = 2, **more: Any) -> Any:
        return x * scale, list(more)

    agree(
        function, ((x,), {}), ((x, 2), {}), ((x,), {"scale": 2}), ((x,), {"scale": 2.0}), ((x,), {"b": 1, "scale": 3})
    )


@pytest.mark.parametrize("transform", [ua.grad, ua.vmap])
def test_order_in_transformations(backend: str, transform: Callable[..., Any]) -> None:
    x, y = ua.ones(2), ua.zeros(2)
    for kind in (dict, ua.Container):
        calls = [((kind(each),), {}) for each in ({"a": x, "b": y}, {"b": y, "a": x})]
        agree(transform(lambda tree: sum(ua.sum(x * n) for n, x in enumerate(tree.values()))), *calls)


def test_order_in_loops(backend: str) -> None:
    def function(carry: Any) -> Any:
        def step(carry: Any, row: Any) -> Any:
            return {name: x + n * row for n, (name, x) in enumerate(carry.items())}, dict(reversed(carry.items()))

        return ua.scan(step, carry, ua.arange(3.0))

    x, y = ua.ones(2), ua.zeros(2)
    agree(function, (({"a": x, "b": y},), {}), (({"b": y, "a": x},), {}))


@pytest.mark.parametrize(
    "equal",
    [
        (1, 1.0, True, np.int64(1), np.float32(1), Decimal(1), Decimal("1.0")),
        (0.0, -0.0),
        (0j, complex(0.0, -0.0)),
        (np.float32(0.0), np.float32(-0.0)),
        (frozenset([1]), frozenset([True]), frozenset([1.0])),
        (range(0), range(1, 1)),
        (Settings(1), Settings(True), Settings(1.0)),
        (Settings(Settings(0.0)), Settings(Settings(-0.0))),
        ("a", Name.A),
    ],
    ids=repr,
)
def test_values_that_compare_equal(backend: str, equal: tuple[Any, ...]) -> None:
    x = ua.ones(2)
    assert all(each == equal[0] for each in equal)
    agree(lambda x, value: (x + 1, repr(value)), *(((x, each), {}) for each in equal))


@pytest.mark.parametrize("kind", [dict, OrderedDict])
@pytest.mark.parametrize(
    "equal", [(1, True, 1.0), (0.0, -0.0), ("a", Name.A), (frozenset([1]), frozenset([True]))], ids=repr
)
def test_names_that_compare_equal(backend: str, equal: tuple[Any, ...], kind: Callable[..., Any]) -> None:
    x = ua.ones(2)
    agree(
        lambda tree: (values(tree) + 1, [repr(name) for name in tree]), *(((kind([(each, x)]),), {}) for each in equal)
    )


@pytest.mark.parametrize("seed", range(8))
def test_random_nests(backend: str, seed: int) -> None:
    compare(backend, seed)
