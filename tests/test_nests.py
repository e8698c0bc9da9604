"""Structures of the program's own as nests: dataclasses, attrs classes, and registered ones."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import attrs
import numpy as np
import optree
import pytest

import unifyarr as ua
from unifyarr.errors import LostStateError

from .oracle import assert_same

STATIC = {"static": True}


@dataclass
class State:
    """A structure with static fields, an attribute that no field declares, and a cached one."""

    x: Any
    v: Any
    name: Any = field(default="a", metadata=STATIC)

    def __post_init__(self) -> None:
        self.beside = ua.zeros(2)
        self.scale = 2.0

    @functools.cached_property
    def energy(self) -> Any:
        """A value that is computed when it's read first."""
        return ua.sum(self.v**2)


@dataclass(frozen=True, slots=True)
class Frozen:
    """A structure that can't be changed."""

    x: Any
    v: Any = None


@attrs.frozen
class OfAttrs:
    """A structure of attrs."""

    x: Any
    v: Any = None
    name: Any = attrs.field(default="a", metadata=STATIC)


class Registered:
    """A structure by its registration."""

    def __init__(self, x: Any, v: Any = None) -> None:
        self.x, self.v = x, v


optree.register_pytree_node(
    Registered,
    lambda each: ((each.x, each.v), None, ("x", "v")),
    lambda _, children: Registered(*children),
    namespace="unifyarr",
)


@dataclass
class Mutable:
    """An object with a compiled method, which assigns."""

    x: Any
    scale: int = 2

    @ua.compile
    def step(self, y: Any) -> Any:
        self.x = self.x * self.scale + y
        return self.x


@dataclass(frozen=True)
class Functional:
    """A structure with a compiled method, which returns another one."""

    x: Any

    @ua.compile
    def step(self, y: Any) -> Any:
        return Functional(self.x + y)


KINDS = [State, Frozen, OfAttrs, Registered]


@pytest.mark.parametrize("kind", KINDS)
def test_structures_go_in_and_come_out(backend: str, kind: Any) -> None:
    compiled = ua.compile(lambda s, y: {"s": kind(s.x + y, s.v)})
    y = ua.asarray([1.0, 2.0])
    for number in range(4):
        found = compiled(kind(y * number, y), y)["s"]
        assert type(found) is kind
        assert_same(found.x, np.array([1.0, 2.0]) * (number + 1))
    gradient = ua.grad(lambda s: ua.sum(s.x * s.v))(kind(y, 3 * y))
    assert type(gradient) is kind
    assert_same(gradient.x, np.array([3.0, 6.0]))
    assert_same(gradient.v, np.array([1.0, 2.0]))


def test_structures_in_transformations(backend: str) -> None:
    one, y = Frozen(ua.ones(2), ua.asarray([1.0, 2.0])), ua.asarray([1.0, 2.0])
    mapped = ua.vmap(lambda s: Frozen(s.x + s.v, s.v), in_axes=(Frozen(0, None),))(Frozen(y, ua.asarray(3.0)))
    assert_same(mapped.x, np.array([4.0, 5.0]))
    _, tangent = ua.jvp(lambda s: Frozen(s.x * s.v, s.v), (one,), (one,))
    assert_same(tangent.x, np.array([2.0, 4.0]))
    gradient = ua.grad(ua.checkpoint(lambda s: ua.sum(s.x * s.v)))(one)
    assert_same(gradient.x, np.array([1.0, 2.0]))
    for wrap in (lambda f: f, ua.compile):
        carry, xs = wrap(lambda s: ua.scan(lambda c, x: (Frozen(c.x + x, c.v), c), s, y))(one)
        assert_same(carry.x, np.array([4.0, 4.0]))
        assert_same(xs.x, np.array([[1.0, 1.0], [2.0, 2.0]]))
        chosen = wrap(lambda p, s: ua.cond(p, lambda s: s, lambda s: Frozen(s.v, s.x), s))(ua.asarray(False), one)
        assert_same(chosen.x, np.array([1.0, 2.0]))


def test_writes_reach_the_caller_and_assignments_raise(backend: str) -> None:
    @ua.compile
    def written(s: Any) -> None:
        s.x += s.energy

    @ua.compile
    def assigned(s: Any) -> None:
        s.x = s.x + 1

    state = State(ua.ones(2), ua.ones(2))
    for number in range(3):
        written(state)
        assert_same(state.x, np.full(2, 3.0 + 2 * number))
    with pytest.raises(LostStateError, match=r"structure that it was passed, at s\['x'\]"):
        assigned(state)


def test_undeclared_attributes_are_kept(backend: str) -> None:
    state = State(ua.ones(2), ua.ones(2))
    state.beside[...] = 5.0
    found = ua.compile(lambda s: s)(state)
    assert_same(found.beside, np.full(2, 5.0))
    assert found.scale == 2.0


def test_static_fields_are_keys_by_value(backend: str) -> None:
    traced = []

    @ua.compile
    def function(s: Any) -> Any:
        traced.append(s.name)
        return s.x * 2 if s.name else s.x

    for name in (1, True, 1.0, (1,), (True,), 1, True):
        function(Functional(State(ua.ones(2), None, name)).x)
    assert [*map(repr, traced)] == ["1", "True", "1.0", "(1,)", "(True,)"]
    with pytest.raises(TypeError, match="'name' of State is a list, which has no hash"):
        function(State(ua.ones(2), None, [1]))
    for value in (ua.ones(()), np.ones(2)):
        with pytest.raises(TypeError, match="'name' of State holds an array"):
            function(State(ua.ones(2), None, value))


def test_a_dataclass_with_compiled_methods_is_an_object(backend: str) -> None:
    model = Mutable(ua.ones(2))
    for expected in (3.0, 7.0, 15.0):
        assert_same(model.step(ua.ones(2)), np.full(2, expected))
        assert_same(model.x, np.full(2, expected))
    model.scale = 0
    assert_same(model.step(ua.ones(2)), np.ones(2))
    with pytest.raises(TypeError, match=r"Mutable has compiled methods.*make it frozen"):
        ua.grad(lambda m: ua.sum(m.x))(model)


def test_a_frozen_one_with_compiled_methods_is_a_nest(backend: str) -> None:
    model = Functional(ua.ones(2))
    for expected in (2.0, 3.0, 4.0):
        model = model.step(ua.ones(2))
        assert_same(model.x, np.full(2, expected))
    assert_same(ua.grad(lambda m: ua.sum(m.step(ua.ones(2)).x))(model).x, np.ones(2))


def test_optimizers_and_containers(backend: str, tmp_path: Any) -> None:
    state = State(ua.ones(2), ua.asarray([1.0, 2.0]))
    found = ua.Container(Frozen({"a": state.x}, [Frozen(state.v, 1.0)]))
    assert found.paths() == ["v/0/v", "v/0/x", "x/a"]
    assert found.x.a is state.x
    params, optimizer = Frozen(state.x, [state.v]), ua.optim.sgd(1.0, momentum=0.5)
    kept = optimizer.init(params)
    gradient = ua.grad(lambda s: ua.sum(s.x * s.v[0]))(params)
    optimizer.update(params, gradient, kept)
    assert_same(state.x, np.array([0.0, -1.0]))
    ua.Container(params).save(tmp_path / "a.npz")
    other = Frozen(ua.zeros(2), [ua.zeros(2)])
    ua.inplace_update(ua.Container(other), ua.Container.load(tmp_path / "a.npz"))
    assert_same(other.x, np.array([0.0, -1.0]))
    moved = ua.to_backend({"s": Frozen(state.x, "a")}, "numpy")["s"]
    assert (moved.x.backend, moved.v) == ("numpy", "a")


class Plain:
    """A class that is no structure, without a hash."""

    __hash__ = None  # type: ignore[assignment]


def test_errors_say_what_is_a_structure(backend: str) -> None:
    calls: list[Any] = [
        lambda: ua.compile(lambda x: x)(Plain()),
        lambda: ua.grad(lambda x: x)(Plain()),
        lambda: ua.scan(lambda c, x: (c, x), Plain(), ua.ones(2)),
        lambda: ua.Container(Plain()),
        lambda: ua.optim.sgd(1.0).init(Plain()),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="registered with optree in the namespace 'unifyarr'"):
            call()


def test_a_list_in_the_place_of_an_object_is_another_call(backend: str) -> None:
    compiled = ua.compile(lambda each, x: x + 1)
    for each in (len, len, len, [ua.ones(1)], Frozen(1)):
        assert_same(compiled(each, ua.ones(2)), np.full(2, 2.0))


def test_nodes_of_jax(backend: str) -> None:
    if backend != "jax":
        pytest.skip("about JAX's registry")
    import jax

    @functools.partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["name"])
    @dataclass
    class Data:
        x: Any
        name: Any

    class Keyed:
        def __init__(self, x: Any) -> None:
            self.x = x

    jax.tree_util.register_pytree_with_keys(
        Keyed, lambda k: (((jax.tree_util.GetAttrKey("x"), k.x),), None), lambda _, children: Keyed(*children)
    )
    compiled = ua.compile(lambda s: Data(s.x.x * 2, s.name))
    for name in ("a", "b", "a", "a"):
        found = compiled(Data(Keyed(ua.ones(2)), name))
        assert_same(found.x, np.full(2, 2.0))
        assert found.name == name
    assert_same(ua.grad(lambda s: ua.sum(s.x.x))(Data(Keyed(ua.ones(2)), "a")).x.x, np.ones(2))
    assert ua.Container(Data(Keyed(ua.ones(2)), "a")).paths() == ["x/x"]
