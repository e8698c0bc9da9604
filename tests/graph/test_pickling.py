"""Compiled functions are copied and pickled, and so is whatever holds one."""

from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array

from ..oracle import assert_same
from ..user_ops import array
from .ops import S, vectors

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {protocol}": lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))  # type: ignore[misc]
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
    "copy of a copy": lambda x: copy.deepcopy(copy.copy(x)),
    "pickle of a copy": lambda x: pickle.loads(pickle.dumps(copy.deepcopy(x))),
}


@ua.compile
def decorated(x: Array) -> Array:
    """Return one more."""
    return x + 1


def plain(x: Array, y: Array) -> Array:
    return x * y + 1


by_options = ua.compile(plain, mode="pure", mutable="x", borrow=True)


class Model:
    """Holds arrays and compiled functions, as models do."""

    def __init__(self) -> None:
        self.weight = array(2, 3)
        self.forward = ua.compile(self.plainly)
        self.shared = decorated
        self.functions = {"a": [decorated], "b": by_options}

    def plainly(self, x: Array) -> Array:
        return x * self.weight

    @ua.compile
    def step(self, x: Array) -> Array:
        return x * 10

    def __call__(self, x: Array) -> Array:
        return x * 4


@pytest.mark.parametrize("way", WAYS)
def test_a_compiled_function_is_copied_and_pickled(backend: str, way: str) -> None:
    x, y = array(1, 2), array(3, 4)
    decorated(x)
    other = WAYS[way](decorated)
    assert (other is decorated) == (way.startswith("pickle ") and way != "pickle of a copy")
    assert other.__doc__ == "Return one more."
    assert_same(other(x), np.array([2.0, 3.0]))
    assert_same(decorated(x), np.array([2.0, 3.0]))
    by_options(x, y)
    other = WAYS[way](by_options)
    assert other is not by_options
    assert not other._programs
    assert other._options == by_options._options  # type: ignore[attr-defined]
    assert_same(other(x, y), np.array([4.0, 9.0]))
    # Each has programs of its own.
    assert len(other._programs) == 1
    assert other._programs is not by_options._programs  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", WAYS)
def test_what_holds_compiled_functions_is_copied_and_pickled(backend: str, way: str) -> None:
    model, x = Model(), array(1, 2)
    model.forward(x)
    other = WAYS[way](model)
    other.weight += 100
    deep = way != "copy"
    assert_same(model.weight, np.array([2.0, 3.0] if deep else [102.0, 103.0]))
    # A method is that of the copy.
    assert_same(other.forward(x), np.array([102.0, 206.0]))
    assert_same(model.forward(x), np.array([2.0, 6.0] if deep else [102.0, 206.0]))
    assert_same(other.step(x), np.array([10.0, 20.0]))
    assert_same(WAYS[way](model.step)(x), np.array([10.0, 20.0]))
    assert_same(other.shared(x), np.array([2.0, 3.0]))
    assert_same(other.functions["b"](x, x), np.array([2.0, 5.0]))
    for holder in (functools.partial(by_options, x), [by_options], {"f": by_options}, (by_options, x)):
        WAYS[way](holder)
    assert_same(WAYS[way](functools.partial(by_options, x))(x), np.array([2.0, 5.0]))


@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_compiled_is_copied_and_pickled(backend: str, way: str) -> None:
    x = array(1, 2)
    for function in (Model(), functools.partial(plain, x)):
        compiled: Any = ua.compile(function)
        assert_same(WAYS[way](compiled)(x), np.asarray(function(x).tolist()))


def test_what_has_no_name_is_copied_and_not_pickled(backend: str) -> None:
    @ua.compile
    def local(x: Array) -> Array:
        return x + 1

    for function in (local, ua.compile(lambda x: x + 1), ua.compile(ua.grad(lambda x: ua.sum(x * x / 2 + x)))):
        for way in (copy.copy, copy.deepcopy):
            if function is local:
                assert_same(way(function)(array(1, 2)), np.array([2.0, 3.0]))
            assert way(function)._function is function._function
        with pytest.raises(pickle.PicklingError, match="define it at the top of a module"):
            pickle.dumps(function)


def test_what_the_package_hands_out_is_copied_and_pickled(backend: str) -> None:
    x = array(1, 2)
    namespace = x.__array_namespace__()
    generator = ua.random.Generator(7)
    for way in WAYS.values():
        assert way(namespace) is namespace
        assert way(ua.float64) == ua.float64
        assert way(ua.sin) is ua.sin
        assert_same(way(x), np.array([1.0, 2.0]))
        assert way(generator).integers(0, 1000, 5).tolist() == copy.deepcopy(generator).integers(0, 1000, 5).tolist()
        assert way(ua.graph.Op("view", view_map={0: [0]})) == ua.graph.Op("view", view_map={0: [0]})
    for transformed in (ua.grad(plain), ua.vmap(plain)):
        assert copy.deepcopy(transformed) is transformed
        with pytest.raises(pickle.PicklingError, match="plain"):
            pickle.dumps(transformed)


def test_a_deep_graph_is_copied() -> None:
    (x,) = vectors("x")
    y = x
    for _ in range(5000):
        y = S(y)
    graph = ua.graph.FunctionGraph([x], [y])
    for other in (copy.copy(graph), copy.deepcopy(graph)):
        assert len(other.apply_nodes) == 5000
        assert not other.apply_nodes.keys() & graph.apply_nodes.keys()
