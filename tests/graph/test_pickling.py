"""Compiled functions are copied and pickled, and so is whatever holds one."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array

from ..natives import skip_without_derivatives
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
        # Python's own errors: the pickler decides whether a function is pickled by value.
        with pytest.raises((pickle.PicklingError, AttributeError), match=r"local|lambda"):
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


def test_a_deep_graph_is_copied() -> None:
    (x,) = vectors("x")
    y = x
    for _ in range(5000):
        y = S(y)
    graph = ua.graph.FunctionGraph([x], [y])
    for other in (copy.copy(graph), copy.deepcopy(graph)):
        assert len(other.apply_nodes) == 5000
        assert not other.apply_nodes.keys() & graph.apply_nodes.keys()


# -- transformed functions ---------------------------------------------------------------------------------------------


def cubed(x: Array, factor: float = 1.0) -> Array:
    return ua.sum(x * x * x) * factor


@ua.grad
def gradient(x: Array) -> Array:
    """Return the gradient of a sum."""
    return cubed(x)


@ua.compile
@ua.value_and_grad
@ua.checkpoint
def several(x: Array) -> Array:
    return cubed(x)


@ua.custom_jvp
def custom(x: Array) -> Array:
    return x * x


# The rule has no name; it isn't needed, since the decorated function is found by its name.
custom.defjvp(lambda primals, tangents: (custom(primals[0]), 7.0 * tangents[0]))


@ua.custom_vjp
def custom_backwards(x: Array) -> Array:
    return x * x


custom_backwards.defvjp(lambda x: (x * x, None), lambda kept, g: (5.0 * g,))

# Each with its value at 2, or the first element of it.
TRANSFORMED: dict[str, tuple[Any, float]] = {
    "grad": (ua.grad(cubed), 12.0),
    "grad by position": (ua.grad(cubed, 0, False), 12.0),
    "value_and_grad": (ua.value_and_grad(cubed), 8.0),
    "jacobian": (ua.jacobian(cubed, mode="forward"), 12.0),
    "hessian": (ua.hessian(cubed), 12.0),
    "checkpoint": (ua.checkpoint(cubed), 8.0),
    "vmap": (ua.vmap(cubed, 0), 8.0),
    "grad of a partial": (ua.grad(functools.partial(cubed, factor=2.0)), 24.0),
    "grad of a decorated function": (ua.jacobian(gradient), 12.0),
    "grad of a compiled function": (ua.grad(ua.compile(cubed)), 12.0),
    "compiled grad": (ua.compile(ua.grad(cubed)), 12.0),
    "grad of custom_jvp": (ua.grad(custom), 7.0),
    "grad of custom_vjp": (ua.grad(custom_backwards), 5.0),
}


def first(found: Any) -> float:
    array = found[0] if isinstance(found, tuple) else found
    return float(ua.reshape(array, (-1,))[0])


def point(name: str) -> Array:
    return ua.asarray([2.0]) if name == "vmap" else ua.asarray(2.0)


@pytest.mark.parametrize("way", WAYS)
def test_decorated_functions_are_pickled_by_their_names(backend: str, way: str) -> None:
    skip_without_derivatives(backend)
    for function, wanted in ((gradient, 12.0), (several, 8.0), (custom, 4.0), (custom_backwards, 4.0)):
        other = WAYS[way](function)
        # A compiled function's copy has programs of its own.
        assert other is function or (function is several and not way.startswith("pickle ")) or "of a" in way
        assert other.__name__ == function.__name__
        assert first(other(ua.asarray(2.0))) == wanted
    assert WAYS[way](gradient).__doc__ == "Return the gradient of a sum."


@pytest.mark.parametrize("name", TRANSFORMED)
@pytest.mark.parametrize("way", WAYS)
def test_transformed_functions_are_copied_and_pickled(name: str, way: str) -> None:
    with ua.use_backend("numpy"):
        function, wanted = TRANSFORMED[name]
        assert first(function(point(name))) == wanted
        other = WAYS[way](function)
        assert first(other(point(name))) == wanted
        assert first(WAYS[way]([other, function])[1](point(name))) == wanted
        assert inspect.signature(other) == inspect.signature(function)


class Sloped:
    """Holds transformed methods."""

    def __init__(self, weight: float) -> None:
        self.weight = weight
        self.slope = ua.grad(self.total)
        self.rate = ua.optim.adam(ua.optim.warmup(0.5, 2))

    def total(self, x: Array) -> Array:
        return ua.sum(x * x) * self.weight

    @ua.checkpoint
    def held(self, x: Array) -> Array:
        return x * self.weight

    @ua.custom_jvp
    def bent(self, x: Array) -> Array:
        return x * self.weight


@pytest.mark.parametrize("way", WAYS)
def test_what_holds_transformed_methods_is_copied_and_pickled(way: str) -> None:
    with ua.use_backend("numpy"):
        model = Sloped(3.0)
        other = WAYS[way](model)
        model.weight = 100.0
        # A shallow copy shares the original's.
        assert float(other.slope(ua.asarray(2.0))) == (400.0 if way == "copy" else 12.0)
        assert float(other.held(ua.asarray(2.0))) == 6.0
        assert float(WAYS[way](other.held)(ua.asarray(2.0))) == 6.0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "optimizer",
    [
        ua.optim.sgd(0.1, weight_decay=0.5),
        ua.optim.sgd(0.1, momentum=0.9, dampening=0.5),
        ua.optim.adam(ua.optim.exponential(0.5, 2, 0.5)),
        ua.optim.adamw(ua.optim.cosine(0.5, 3), amsgrad=True),
        ua.optim.rmsprop(ua.optim.joined([ua.optim.piecewise([0.5, 0.1], [1]), ua.optim.warmup(0.5, 3)], [2])),
        ua.optim.rmsprop(0.5, momentum=0.5, centered=True),
    ],
    ids=lambda each: each.name,
)
def test_optimizers_and_schedules_are_copied_and_pickled(optimizer: Any, way: str) -> None:
    with ua.use_backend("numpy"):
        found = []
        for each in (optimizer, WAYS[way](optimizer)):
            x = ua.asarray([1.0, -2.0])
            state = each.init(x)
            for _ in range(4):
                each.update(x, 2 * x, state)
            found.append(x)
        assert_same(found[1], found[0].to_numpy())
        if callable(optimizer.rate):
            assert_same(WAYS[way](optimizer.rate)(ua.arange(5)), optimizer.rate(ua.arange(5)).to_numpy())
