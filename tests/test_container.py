"""Containers: building and reaching, every function over leaves, writes of all leaves or none, files and pytrees."""

from __future__ import annotations

import copy
import inspect
import io
import json
import operator
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Container
from unifyarr._core.calling import concerns
from unifyarr._core.engines.registry import load
from unifyarr._native import core
from unifyarr.errors import (
    CastingError,
    DtypeError,
    InplaceUpdateError,
    ReadOnlyError,
    ShapeError,
    StructureError,
)
from unifyarr.testing import has, needs

from .functions.calls import CALLS, SEVERAL, UNSET, find, lift
from .kernels import Injected, failing, watched
from .natives import has_one_device, native, skip_unless, values_of
from .oracle import ALL, as_numpy, assert_same


def sample() -> Container:
    return Container(w=ua.asarray([[1.0, 2.0], [3.0, 4.0]]), layers=[{"b": ua.asarray([5.0, 6.0])}, ua.asarray(7.0)])


PATHS = ["layers/0/b", "layers/1", "w"]
VALUES = [np.array([5.0, 6.0]), np.array(7.0), np.array([[1.0, 2.0], [3.0, 4.0]])]


def assert_leaves(container: Any, expected: list[Any]) -> None:
    assert isinstance(container, Container)
    for leaf, values in zip(container.leaves(), expected, strict=True):
        assert_same(leaf, values)


# -- building and reaching --------------------------------------------------------------------------------------------


def test_leaves_are_reached_by_names_keys_paths_and_places(backend: str) -> None:
    c = sample()
    assert c.w is c["w"]
    assert c.layers[0].b is c["layers/0/b"] is c.layers["0/b"] is c.layers[-2]["b"]
    assert c.layers[np.int64(1)] is c.layers[-1]
    assert c.paths() == PATHS
    assert_leaves(c, VALUES)
    assert list(c) == c.keys() == ["w", "layers"]
    assert [name for name, _ in c.items()] == ["w", "layers"]
    assert c.values()[0] is c.w
    assert list(c.layers)[1] is c.layers[1]
    assert len(c) == len(c.layers) == 2
    assert c.layers[1:].paths() == ["0"]
    assert "layers/0/b" in c
    assert "layers/2" not in c
    assert 3 not in c
    assert c.get("x") is None
    assert {**c}.keys() == {"w", "layers"}
    assert "w" in dir(c)


def test_a_nest_is_made_of_whatever_holds_numbers(backend: str) -> None:
    given = native(backend, [1.0, 2.0])
    c = Container({"a": 1, "b": np.float32(2), "c": [True, 1j], "d": (given,), "e/f": np.arange(3), "g": {}}, h=2.5)
    assert c.paths() == ["a", "b", "c/0", "c/1", "d/0", "e/f", "h"]
    assert [x.dtype for x in c.leaves()] == [
        ua.int64, ua.float32, ua.bool, ua.complex128, ua.float64, ua.int64, ua.float64,
    ]  # fmt: skip
    assert c.d[0].native is given or backend == "tensorflow"
    assert len(c.g) == 0
    twin = Container(c)
    assert twin.a is c.a
    assert twin.c is not c.c
    plain = c.to_dict()
    assert type(plain) is dict
    assert type(plain["c"]) is list
    assert type(plain["d"]) is tuple
    assert Container(plain).paths() == c.paths()


def test_names_are_put_changed_and_taken_out(backend: str) -> None:
    c = sample()
    c.w = 1
    c["new/deep"] = [ua.zeros(1)]
    c.layers[0].b *= 2
    c.layers[1] = {"x": 3.0}
    assert c.paths() == ["layers/0/b", "layers/1/x", "new/deep/0", "w"]
    assert_same(c["layers/0/b"], [10.0, 12.0])
    del c.w, c["new/deep"]
    assert c.paths() == ["layers/0/b", "layers/1/x"]
    c["keys"] = 1.0
    assert_same(c["keys"], 1.0)


@pytest.mark.parametrize(
    ("action", "error", "says"),
    [
        (lambda c: c.nothing, AttributeError, "has no 'nothing'"),
        (lambda c: c["w/x"], KeyError, "there is no 'w/x'"),
        (lambda c: c[0], TypeError, "only a list or a tuple"),
        (lambda c: c[1:], TypeError, "only a list or a tuple"),
        (lambda c: c.layers[2], IndexError, "no position 2 in a list of length 2"),
        (lambda c: c[1.5], TypeError, "a name, a path or a position"),
        (lambda c: c["a//b"], KeyError, "empty name"),
        (lambda c: setattr(c, "map", 1), AttributeError, r"c\['map'\]"),
        (lambda c: c.__setitem__("w/x", 1), KeyError, "is an array"),
        (lambda c: c.layers.__setitem__("2", 1), KeyError, "has no position '2'"),
        (lambda c: c.layers.__setitem__("2/x", 1), KeyError, "has no position '2'"),
        (lambda c: c.__delitem__("x"), KeyError, "there is no 'x'"),
        (lambda c: delattr(c, "x"), AttributeError, "there is no 'x'"),
        (lambda c: c.layers.__delitem__("0"), TypeError, "keeps its length"),
        (lambda c: c.__setitem__("x", "text"), TypeError, "an array, a number or a nest"),
        (lambda c: c.__setitem__("x", None), TypeError, "an array, a number or a nest"),
        (lambda c: Container(5), TypeError, "made of a mapping"),
        (lambda c: Container([1], a=1), TypeError, "no names"),
        (lambda c: Container({1: 2}), TypeError, "only a list or a tuple"),
        (bool, TypeError, "neither true nor false"),
        (hash, TypeError, "unhashable"),
        (lambda c: c.prune("x"), KeyError, "there is no 'x'"),
        (lambda c: Container().reduce(), ValueError, "no sum"),
        (lambda c: c.map(lambda x: x.shape), TypeError, None),
        (lambda c: c.save("model.txt"), ValueError, "npz or .safetensors"),
    ],
)
def test_what_cant_be_says_what_was_wanted(
    backend: str, action: Callable[[Container], Any], error: type[Exception], says: str | None
) -> None:
    c = sample()
    if says is None:
        # A tuple of lengths is a nest of numbers.
        assert action(c).paths() == ["layers/0/b/0", "w/0", "w/1"]
        return
    with pytest.raises(error, match=says):
        action(c)
    assert_leaves(c, VALUES)


def test_a_container_prints_as_a_tree(backend: str) -> None:
    # On the scope's own backend, as arrays print.
    assert repr(sample()).splitlines() == [
        "Container",
        "├── w: float64 (2, 2)",
        "└── layers: list",
        "    ├── 0",
        "    │   └── b: array([5., 6.])",
        "    └── 1: array(7.)",
    ]


def test_the_tools_of_a_tree(backend: str) -> None:
    c = sample()
    assert c.shapes == {"layers/0/b": (2,), "layers/1": (), "w": (2, 2)}
    assert set(c.dtypes.values()) == {ua.float64}
    assert_leaves(c.map(lambda x, y: x - y, c), [x * 0 for x in VALUES])
    assert c.map_with_path(lambda path, x: x if path == "w" else -x).paths() == PATHS
    assert c.filter(lambda path, x: x.ndim > 0).paths() == ["layers/0/b", "w"]
    assert c.prune("layers/0").paths() == ["layers/0", "w"]
    assert c.prune("layers").paths() == ["w"]
    assert Container(a={}, b=[]).prune().paths() == []
    assert_same(ua.sum(c).reduce(), 28.0)
    assert_same(ua.max(c).reduce(ua.maximum, initial=ua.asarray(100.0)), 100.0)
    assert c.at("w", "layers/1").paths() == ["layers/1", "w"]
    changed = c.set_at({"layers/1": 0.0})
    assert_same(changed.layers[1], 0.0)
    assert changed.w is c.w
    assert_same(c.layers[1], 7.0)
    leaves, spec = c.flatten()
    assert_leaves(Container.unflatten(spec, leaves[::-1]), VALUES[::-1])
    assert c.to_backend("numpy").w.backend == "numpy"
    assert c.to_device(c.w.device).w.device == c.w.device


@pytest.mark.parametrize(
    ("patterns", "paths"),
    [
        (("layers/*/w",), ["layers/0/w", "layers/1/w"]),
        (("**/b",), ["b", "layers/0/b"]),
        (("layers/[1-9]",), ["layers/1/w"]),
        (("layers",), ["layers/0/b", "layers/0/w", "layers/1/w"]),
        (("b", "?ayers/0/w"), ["b", "layers/0/w"]),
        (("**",), ["b", "layers/0/b", "layers/0/w", "layers/1/w"]),
        (("**/0/**/w",), ["layers/0/w"]),
    ],
)
def test_leaves_are_selected_by_patterns(backend: str, patterns: tuple[str, ...], paths: list[str]) -> None:
    c = Container(b=ua.ones(1), layers=[{"w": ua.ones(2), "b": ua.ones(3)}, {"w": ua.ones(4)}])
    found = c.select(*patterns)
    assert sorted(x.shape for x in found.leaves()) == sorted(c[path].shape for path in paths)
    found *= 0
    assert {path for path, x in zip(c.paths(), c.leaves(), strict=True) if not ua.any(x)} == set(paths)


def test_a_pattern_that_names_nothing_is_an_error(backend: str) -> None:
    c = Container(layers=[{"w": ua.ones(2)}])
    for wrong, error in {
        "layers/*/v": KeyError,
        "w": KeyError,
        "layers//w": ValueError,
        "layers/0/w/x": KeyError,
    }.items():
        with pytest.raises(error, match=re.escape(wrong)):
            c.select("layers/0/w", wrong)
    with pytest.raises(TypeError, match="a pattern of paths"):
        c.select(0)  # type: ignore[arg-type]
    assert c.select().paths() == []


def test_leaves_are_selected_in_compiled_functions_and_derivatives(backend: str) -> None:
    c = Container(layers=[{"w": ua.ones(2), "b": ua.ones(3)}, {"w": ua.ones(4)}])

    def decayed(c: Container) -> ua.Array:
        return ua.sum(c.select("**/w") ** 2).reduce()  # type: ignore[no-any-return]

    found = ua.grad(decayed)(c)
    assert_leaves(found, [np.zeros(3), np.full(2, 2.0), np.full(4, 2.0)])
    assert_same(ua.compile(decayed)(c), 6.0)

    def shrunk(c: Container) -> None:
        weights = c.select("**/w")
        weights *= 0.5

    ua.compile(shrunk)(c)
    assert_leaves(c, [np.ones(3), np.full(2, 0.5), np.full(4, 0.5)])


def test_diff_structure_names_what_has_another_place_shape_or_dtype(backend: str) -> None:
    c = sample()
    assert c.diff_structure(c * 2) == {}
    other = Container(w=ua.ones((2, 3)), layers=[{"b": ua.ones(2, dtype="float32")}], more={"x": [1, 2.0]})
    assert c.diff_structure(other) == {
        "layers/0/b": ("float64 (2,)", "float32 (2,)"),
        "layers/1": ("float64 ()", "nothing"),
        "more/x/0": ("nothing", "int64 ()"),
        "more/x/1": ("nothing", "float64 ()"),
        "w": ("float64 (2, 2)", "float64 (2, 3)"),
    }
    assert Container(a={}, b=1.0).diff_structure(Container(a=[], b={"c": 1.0})) == {
        "a": ("a container of names", "a list of length 0"),
        "b": ("float64 ()", "a container of names"),
    }
    with pytest.raises(TypeError, match="takes containers"):
        c.diff_structure({})  # type: ignore[arg-type]


def test_stacked_containers_compile_and_have_derivatives(backend: str) -> None:
    c = Container(a=ua.asarray([1.0, 2.0]), b=[ua.asarray(3.0)])

    def weighted(c: Container) -> ua.Array:
        first, second = ua.unstack(ua.stack([c, 3 * c]))
        return ua.sum(first * second).reduce()  # type: ignore[no-any-return]

    assert_same(ua.compile(weighted)(c), 42.0)
    assert_leaves(ua.grad(weighted)(c), [np.array([6.0, 12.0]), np.array(18.0)])


def test_diff_names_what_differs(backend: str) -> None:
    c = sample()
    assert c.diff(c.copy()) == {}
    other = c.copy()
    other.w[0, 0] = np.nan
    other.layers[1] = 7.0 + 1e-9
    other["more"] = 1
    assert list(c.diff(other)) == ["layers/1", "w", "more"]
    assert list(c.diff(other, atol=1e-6)) == ["w", "more"]
    assert list(other.diff(other)) == []
    assert c.diff(other)["more"][0] is None
    assert list(Container(a=ua.asarray(1)).diff(Container(a=ua.asarray(1.0)))) == ["a"]


def test_copies_share_what_they_say(backend: str) -> None:
    c = sample()
    shallow, deep, independent, loaded = copy.copy(c), copy.deepcopy(c), c.copy(), pickle.loads(pickle.dumps(c))
    c += 1
    assert shallow.w is c.w
    assert shallow.layers is not c.layers
    for each in (deep, independent, loaded):
        assert_leaves(each, VALUES)
        assert each.keys() == c.keys()
    assert type(loaded.layers.to_dict()) is list


# -- every function ---------------------------------------------------------------------------------------------------


def nested(x: Any) -> Any:
    """Return a container of two copies of an array, in different depths."""
    if isinstance(x, list):
        return [nested(each) for each in x]
    return Container(b=lift("", x), a=[{"c": lift("", x)}]) if isinstance(x, np.ndarray) else x


def holds_arrays(name: str) -> bool:
    arguments, _ = (CALLS | SEVERAL)[name]
    return any(isinstance(x, np.ndarray) or (isinstance(x, list) and isinstance(x[0], np.ndarray)) for x in arguments)


@pytest.mark.parametrize("name", [name for name in CALLS if holds_arrays(name)])
def test_every_function_takes_containers(backend: str, name: str) -> None:
    arguments, options = CALLS[name]
    function = find(name)
    expected = as_numpy(function(*(lift("", x) for x in arguments), **options))
    result = function(*map(nested, arguments), **options)
    assert result.paths() == ["a/0/c", "b"]
    targets = Container(b=ua.full(expected.shape, True, dtype=expected.dtype), a=[{"c": ua.empty_like(expected)}])
    leaves = targets.leaves()
    assert function(*map(nested, arguments), **options, out=targets) is targets
    for place, leaf in enumerate(targets.leaves()):
        assert leaf is leaves[place]
        if name not in UNSET:
            assert_same(leaf, expected, signed_zeros=False)
            assert_same(result.leaves()[place], expected, signed_zeros=False)


@pytest.mark.parametrize("name", [name for name in SEVERAL if holds_arrays(name)])
def test_several_results_are_several_containers(backend: str, name: str) -> None:
    arguments, options = SEVERAL[name]
    function = find(name)
    expected = function(*(lift("", x) for x in arguments), **options)
    result = function(*map(nested, arguments), **options)
    assert type(result) is type(expected)
    targets = tuple(nested(np.zeros_like(as_numpy(x))) for x in expected)
    assert function(*map(nested, arguments), **options, out=targets) is targets
    for mine, target, each in zip(result, targets, expected, strict=True):
        for leaf in (*mine.leaves(), *target.leaves()):
            assert_same(leaf, as_numpy(each), signed_zeros=False)


def test_every_function_that_takes_arrays_is_tested_here() -> None:
    taking = {name for name in CALLS | SEVERAL if "x" in inspect.signature(find(name)).parameters}
    assert taking <= {name for name in CALLS | SEVERAL if holds_arrays(name)}


OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]


@pytest.mark.parametrize("combine", OPERATORS)
def test_operators_go_over_leaves(backend: str, combine: Callable[[Any, Any], Any]) -> None:
    c = sample()
    for other, values in ((2, 2), (ua.asarray([2.0, 3.0]), [2.0, 3.0]), (np.float64(2), 2), (np.arange(2.0), [0, 1])):
        assert_leaves(combine(c, other), [combine(x, np.asarray(values, np.float64)) for x in VALUES])
        assert_leaves(combine(other, c), [combine(np.asarray(values, np.float64), x) for x in VALUES])
    assert_leaves(combine(c, c), [combine(x, x) for x in VALUES])


def test_unary_operators_and_bitwise_ones(backend: str) -> None:
    c = sample()
    assert_leaves(-c, [-x for x in VALUES])
    assert_leaves(abs(-c), VALUES)
    k = Container(a=ua.asarray([1, 2]))
    assert_leaves(~k | (k & 1) ^ (k << 1) >> 1, [np.array([~1 | (1 ^ 2 >> 1), ~2 | (0 ^ 4 >> 1)])])
    assert_leaves(Container(a=ua.ones((2, 2))) @ ua.ones(2), [np.full(2, 2.0)])


def test_each_leaf_goes_with_its_own(backend: str) -> None:
    x, y = Container(a=ua.asarray(1), b=ua.asarray([2, 3])), Container(b=ua.asarray(10), a=ua.asarray([20, 30]))
    assert_leaves(x + y, [np.array([21, 31]), np.array([12, 13])])
    assert (x + y).keys() == ["a", "b"]
    assert (y + x).keys() == ["b", "a"]
    assert_leaves(ua.where(Container(a=True, b=False), x, y), [np.array([1, 1]), np.array([10, 10])])


def test_sequences_of_containers_and_containers_as_sequences(backend: str) -> None:
    c = sample()
    stacked = ua.stack([c, c, c])
    assert stacked.shapes == {"layers/0/b": (3, 2), "layers/1": (3,), "w": (3, 2, 2)}
    for each in ua.unstack(stacked):
        assert_leaves(each, VALUES)
    # A list in a container is a sequence of arrays.
    assert_same(ua.stack(Container([ua.ones(2), ua.zeros(2)])), [[1.0, 1.0], [0.0, 0.0]])
    with pytest.raises(TypeError, match="sequence of arrays"):
        ua.stack(Container(a=ua.ones(2)))
    with pytest.raises(ValueError, match="1 to 2 results"):
        ua.unstack(Container(a=ua.ones(2), b=ua.ones(1)))


def test_a_bound_namespace_takes_containers(backend: str) -> None:
    xp = ua.zeros(1).__array_namespace__()
    with ua.use_backend("numpy"):
        c = Container(a=ua.ones(2, backend=backend))
        assert xp.add(c, np.ones(2)).a.backend == backend
        assert xp.asarray(Container(b=ua.ones(2, backend=backend))).b.backend == backend


def test_structures_that_differ_name_the_first_path(backend: str) -> None:
    c = sample()
    for other, path in (
        (c.at("w"), "layers"),
        (c.set_at({"layers/1": {"x": 1}}), "layers/1"),
        (c.set_at({"layers": [1]}), "layers"),
        (c.set_at({"layers": (1, 2)}), "layers"),
        (c.set_at({"z": 1}), "z"),
        (Container([1, 2]), "the root"),
    ):
        with pytest.raises(StructureError, match=f"first at '{path}'"):
            c + other
        with pytest.raises(StructureError, match=f"first at '{path}'"):
            ua.negative(c, out=other)
        with pytest.raises(StructureError):
            ua.inplace_update(c, other)
    with pytest.raises(StructureError) as caught:
        ua.add(c, Container(a=1))
    assert "x2" in caught.value.__notes__[0]
    assert_leaves(c, VALUES)


def test_an_error_says_at_which_leaf(backend: str) -> None:
    c = sample()
    with pytest.raises(ShapeError) as caught:
        c + ua.ones((3, 3))
    assert "'layers/0/b'" in caught.value.__notes__[0]


@pytest.mark.filterwarnings("error")
def test_calls_of_leaves_of_all_kinds_come_again(backend: str) -> None:
    x, one = ua.asarray([1.0, 2.0, 4.0]), ua.asarray(0.5)
    leaves = [x, one, x[1:], x[2], ua.broadcast_to(one, (2,)), ua.asarray([1, 2]), ua.asarray([1.0], dtype=ua.float32)]
    leaves += [ua.asarray(np.arange(3.0), backend="numpy"), ua.full((1 << 16,), 2.0)]
    c = Container([*leaves, {"inner": x}])
    leaves.append(x)
    for _ in range(3):
        for function in (ua.sqrt, ua.negative, ua.tanh):
            for found in (function(c), c.map(function)):
                assert found._container_type is list
                assert_leaves(found, [as_numpy(function(leaf)) for leaf in leaves])
                assert [leaf.dtype for leaf in found.leaves()] == [function(leaf).dtype for leaf in leaves]
        for other in (2, 0.5, c):
            others = leaves if other is c else [other] * len(leaves)
            assert_leaves(c * other, [as_numpy(leaf * each) for leaf, each in zip(leaves, others, strict=True)])
        assert_leaves(Container([x, [one]]) * one, [as_numpy(x) * 0.5, 0.25])


def test_a_leaf_that_overflows_is_computed_once() -> None:
    with ua.use_backend("numpy"):
        c = Container(a=ua.asarray([1.0]), b=ua.asarray([1e3]), c=ua.asarray(1e3))
        for _ in range(3):
            with pytest.warns(RuntimeWarning) as warned:
                ua.exp(c)
            assert len(warned) == 2
            with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
                ua.exp(c)


# -- writes: all leaves, or none --------------------------------------------------------------------------------------


def test_in_place_operators_write_the_very_leaves(backend: str) -> None:
    c = sample()
    view, leaves, same = c.w[0], c.leaves(), c
    natives = [x.native for x in leaves]
    c += 1
    c *= c
    assert c is same
    assert all(mine is leaf for mine, leaf in zip(c.leaves(), leaves, strict=True))
    assert_leaves(c, [(x + 1) ** 2 for x in VALUES])
    assert_same(view, [4.0, 9.0])
    if has(backend, "writes"):
        assert all(leaf.native is each for leaf, each in zip(leaves, natives, strict=True))


def test_in_place_operators_compute_each_leaf_once(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_one_device():
        pytest.skip("leaves may lie on several devices")
    if core is None:
        pytest.skip("the compiled core does that")

    def never(*_: Any) -> Any:
        raise AssertionError("a call for each leaf")

    c = sample()
    c += 0
    monkeypatch.setattr(concerns, "map_call", never)
    for other in (sample(), sample(), 2.0, 2):
        values = [as_numpy(x) for x in (other.leaves() if isinstance(other, Container) else [ua.asarray(other)] * 3)]
        expected = [as_numpy(x) * y for x, y in zip(c.leaves(), values, strict=True)]
        c *= other
        assert_leaves(c, expected)


def test_calls_of_containers_are_served_by_the_core(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if core is None:
        pytest.skip("the compiled core does that")

    def never(*_: Any) -> Any:
        raise AssertionError("the call goes the general way")

    monkeypatch.setattr(concerns, "map_call", never)
    c, x = Container(a=ua.asarray([1.0, 2.0]), b=[ua.asarray(3.0), {"c": ua.asarray([4.0])}]), ua.asarray([10.0])
    d = Container(b=c.b, a=c.a)
    for found, expected in (
        (c * 2, [2.0, 4.0, 6.0, 8.0]),
        (2 - c, [1.0, 0.0, -1.0, -2.0]),
        (c + d, [2.0, 4.0, 6.0, 8.0]),
        (c + x, [11.0, 12.0, 13.0, 14.0]),
        (x + c, [11.0, 12.0, 13.0, 14.0]),
        (-c, [-1.0, -2.0, -3.0, -4.0]),
        (c > 2, [False, False, True, True]),
        (ua.square(c), [1.0, 4.0, 9.0, 16.0]),
        (ua.where(c > 2, c, 0.0), [0.0, 0.0, 3.0, 4.0]),
        (ua.sum(c, axis=()), [1.0, 2.0, 3.0, 4.0]),
        (c.map(ua.square), [1.0, 4.0, 9.0, 16.0]),
    ):
        assert found.keys() == ["a", "b"]
        assert [type(each) for each in (found.b, found.b[1])] == [Container, Container]
        assert ua.concat([ua.reshape(leaf, (-1,)) for leaf in found.leaves()]).tolist() == expected


def test_updates_of_containers_are_written_by_the_core(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_unless(backend, "numpy", why="an engine whose natives tell that they hold memory of their own")
    if core is None:
        pytest.skip("the compiled core does that")

    def never(*_: Any) -> Any:
        raise AssertionError("Python writes the leaves")

    monkeypatch.setattr(type(load(backend).engine), "assign_all", never)
    monkeypatch.setattr(load(backend), "assign_all", never)
    c = Container(a=ua.asarray([1.0, 2.0]), b=[ua.asarray(3.0), {"c": ua.asarray([[4, 5]])}])
    natives = [leaf.native for leaf in c.leaves()]
    c += Container(a=ua.asarray([1.0, 1.0]), b=[ua.asarray(1.0), {"c": ua.asarray([[1, 1]])}])
    c *= 2
    assert_leaves(c, [[4.0, 6.0], 8.0, [[10, 12]]])
    assert all(leaf.native is native for leaf, native in zip(c.leaves(), natives, strict=True))


def test_a_trap_leaves_all_leaves_as_they_were() -> None:
    c = Container(a=ua.asarray([1.0, 2.0]), b=ua.asarray([1e300, 2.0]))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        c *= 1e300
    assert_leaves(c, [[1.0, 2.0], [1e300, 2.0]])


def test_in_place_operators_read_before_they_write(backend: str) -> None:
    for _ in range(2):
        x, y = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0])
        c = Container(a=x, b=y)
        c += Container(b=x, a=y)
        assert_leaves(c, [[4.0, 6.0], [4.0, 6.0]])
        c = Container(a=x[:1], b=y, c=x[1:])
        c += c
        assert_same(x, [8.0, 12.0])
        c -= Container(a=x[1:], b=x, c=x[:1])
        assert_leaves(c, [[-4.0], [0.0, 0.0], [4.0]])


@pytest.mark.parametrize(
    ("other", "error"),
    [
        (lambda: Container(a=ua.ones(2), b=ua.ones(2)), StructureError),
        (lambda: Container(a=ua.ones(2), b={"c": ua.ones(2), "d": ua.ones(2)}), StructureError),
        (lambda: Container(a=Container(x=ua.ones(2)), b={"c": ua.ones(2)}), StructureError),
        (lambda: Container(a=ua.ones(2), b=[ua.ones(2)]), StructureError),
        (lambda: Container(a=ua.ones(2), b={"c": ua.ones((2, 2))}), ShapeError),
        (lambda: Container(a=ua.ones(2), b={"c": ua.asarray([1j, 1])}), CastingError),
        (lambda: 1j, CastingError),
    ],
)
def test_an_in_place_operator_writes_all_leaves_or_none(
    backend: str, other: Callable[[], Any], error: type[Exception]
) -> None:
    c = Container(a=ua.asarray([1.0, 2.0]), b={"c": ua.asarray([3.0, 4.0])})
    for _ in range(2):
        with pytest.raises(error):
            c += other()
        assert_leaves(c, [[1.0, 2.0], [3.0, 4.0]])
    one = Container(a=c.a, b=c.a)
    for value in (1.0, c.a, one):
        with pytest.raises(ValueError, match="overlap"):
            one += value
    assert_leaves(c, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize("function", [ua.inplace_update, ua.inplace_increment, ua.inplace_decrement])
def test_inplace_functions_take_containers(backend: str, function: Callable[..., Any]) -> None:
    signs = {ua.inplace_update: (0, 1), ua.inplace_increment: (1, 1), ua.inplace_decrement: (1, -1)}
    kept, sign = signs[function]
    for value, values in ((2.0, [2.0] * 3), (sample(), VALUES), (ua.asarray(3.0), [3.0] * 3)):
        c = sample()
        assert function(c, value) is c
        assert_leaves(c, [kept * x + sign * each for x, each in zip(VALUES, values, strict=True)])
    c = sample()
    if not has(backend, "writes"):
        with pytest.raises(InplaceUpdateError) as caught:
            function(c, 1.0, ensure_in_backend=True)
        assert "layers/0/b" in caught.value.__notes__[0]
        assert_leaves(c, VALUES)
    else:
        assert function(c, 1.0, ensure_in_backend=True) is c


@needs("variables")
def test_what_is_asked_of_arrays_is_asked_of_all_leaves(backend: str) -> None:
    c = sample()
    assert ua.supports_inplace_updates(c) == (has(backend, "writes"))
    made = ua.variable(c)
    assert ua.assert_supports_inplace(made)
    natives = [x.native for x in made.leaves()]
    made += 1
    assert_leaves(made, [x + 1 for x in VALUES])
    assert all(x.native is each for x, each in zip(made.leaves(), natives, strict=True))
    assert ua.current_backend(c) == backend
    with ua.use_backend("numpy"):
        assert ua.current_backend(c, 1.0) == backend
    moved = ua.to_backend([c, {"x": c.w}], "numpy")
    assert {x.backend for x in (*moved[0].leaves(), moved[1]["x"])} == {"numpy"}
    mixed = c.set_at({"w": ua.broadcast_to(ua.ones(()), (2, 2))})
    assert not ua.supports_inplace_updates(mixed)


def bad_targets() -> dict[str, tuple[Callable[[], Any], type[Exception]]]:
    return {
        "shape": (lambda: ua.ones(3), ShapeError),
        "dtype": (lambda: ua.ones((2, 2), dtype="int64"), CastingError),
        "read-only": (lambda: ua.broadcast_to(ua.ones(()), (2, 2)), ReadOnlyError),
        "backend": (lambda: None, TypeError),
    }


@pytest.mark.parametrize("kind", bad_targets())
def test_a_leaf_that_cant_be_written_leaves_all_as_they_were(backend: str, kind: str) -> None:
    make, error = bad_targets()[kind]
    other = "torch" if backend == "numpy" else "numpy"
    skip_unless(other, *ua.available_backends(), why="another engine")
    bad = make() if kind != "backend" else ua.ones((2, 2), backend=other)
    # The last leaf is the bad one.
    c = sample().set_at({"w": bad})
    before = [as_numpy(x) for x in c.leaves()]
    with pytest.raises(error) as caught:
        ua.add(sample(), 1.0, out=c)
    assert "'w'" in caught.value.__notes__[0]
    with pytest.raises(error):
        ua.inplace_update(c, sample() if kind != "dtype" else 1.5)
    assert_leaves(c, before)


@pytest.mark.parametrize("write", [lambda c, d: ua.add(c, d, out=c), ua.inplace_increment, ua.inplace_update])
def test_a_kernel_that_fails_leaves_all_leaves_as_they_were(backend: str, write: Callable[..., Any]) -> None:
    # Another dtype, so that an update casts.
    d = Container(sample().map(lambda x: x.astype("float32")))
    c = sample()
    with watched(backend) as kernels:
        write(c, d)
    assert len(kernels) >= 3
    for number in range(len(kernels)):
        c = sample()
        with failing(backend, number), pytest.raises(Injected):
            write(c, d)
        assert_leaves(c, VALUES)


@needs("values")
def test_a_value_of_a_leaf_that_fails_leaves_all_as_they_were(backend: str) -> None:
    powers = Container(a=ua.asarray([1, 2]), b=ua.asarray([1, -1]))
    c = Container(a=ua.asarray([2, 3]), b=ua.asarray([2, 3]))
    with pytest.raises(ValueError, match="negative") as caught:
        c **= powers
    assert "'b'" in caught.value.__notes__[0]
    assert_leaves(c, [np.array([2, 3])] * 2)


def test_leaves_written_together_may_not_overlap(backend: str) -> None:
    x = ua.asarray(np.arange(4.0), copy=True)
    tied = Container(a=x, b=x)
    for write in (lambda: ua.inplace_update(tied, 1.0), lambda: ua.add(tied, 1.0, out=tied)):
        with pytest.raises(ValueError, match="overlap, 'a' and 'b'"):
            write()
    shifted = Container(a=x[:3], b=x[1:])
    with pytest.raises(ValueError, match="overlap"):
        shifted *= 2
    assert_same(x, np.arange(4.0))
    beside = Container(a=x[::2], b=x[1::2])
    beside *= 2
    assert_same(x, np.arange(4.0) * 2)


def test_values_are_those_before_the_first_write(backend: str) -> None:
    x, y = ua.asarray([1.0, 2.0]), ua.asarray([3.0, 4.0])
    c = Container(a=x, b=y)
    ua.inplace_update(c, Container(a=y, b=x))
    assert_leaves(c, [np.array([3.0, 4.0]), np.array([1.0, 2.0])])
    base = ua.asarray(np.arange(6.0), copy=True)
    halves = Container(a=base[:3], b=base[3:])
    ua.inplace_update(halves, Container(a=base[2:5], b=base[::-1][:3]))
    assert_same(base, [2.0, 3.0, 4.0, 5.0, 4.0, 3.0])
    ua.flip(Container(a=base[:3], b=base[3:]), out=Container(a=base[3:], b=base[:3]))
    assert_same(base, [3.0, 4.0, 5.0, 4.0, 3.0, 2.0])
    # A function that returns its very argument.
    ua.astype(Container(a=x, b=y), "float64", copy=False, out=Container(a=y, b=x))
    assert_leaves(c, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])


def test_many_leaves_are_checked_for_overlap_in_the_order_of_their_addresses(backend: str) -> None:
    x = ua.asarray(np.zeros((64, 4)), copy=True)
    c = Container([x[i, j::2] for i in range(64) for j in range(2)])
    c += 1
    assert_same(x, np.ones((64, 4)))
    with pytest.raises(ValueError, match="overlap, '5' and '128'"):
        ua.inplace_update(Container([*c, x[2, 3:]]), 0.0)


@needs("writes", why="native arrays that are written")
def test_natives_as_leaves_of_out(backend: str) -> None:
    given = native(backend, [1.0, 2.0])
    ua.multiply(Container(a=ua.asarray([1.0, 2.0])), 3.0, out=Container(a=given))
    np.testing.assert_array_equal(values_of(given), [3.0, 6.0])


def test_an_array_is_no_target_of_a_container(backend: str) -> None:
    x = ua.ones(2)
    with pytest.raises(TypeError, match="out is one too"):
        ua.add(Container(a=x), 1, out=x)
    with pytest.raises(TypeError, match="out is one too"):
        x += Container(a=x)
    with pytest.raises(TypeError, match="2 containers for 1 results"):
        ua.add(Container(a=x), 1, out=(Container(a=x), Container(a=x)))
    assert_same(x, [1.0, 1.0])


def test_debug_checks_each_leaf(backend: str) -> None:
    with ua.debug():
        c = sample()
        c += sample()
        assert_leaves(ua.permute_dims(c.at("w"), (1, 0)), [2 * VALUES[2].T])


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_a_container_comes_back_from_a_file(backend: str, tmp_path: Path, ending: str) -> None:
    kinds = [name for name in ALL if ending == "npz" or name != "complex128"]
    c = Container(
        {name: ua.asarray(np.array([[0, 1, 1]]), dtype=name) for name in kinds},
        file=ua.asarray(1.5),
        allow_pickle=ua.zeros((0, 3)),
        nest=[(ua.asarray(1), ua.asarray([[1.0, np.nan]])[:, ::-1].T), {"π/ä": ua.ones(1)}, [], {}],
    )
    path = tmp_path / f"model.{ending}"
    c.save(path)
    c.save(str(path))
    found = Container.load(path)
    assert found.diff(c) == {}
    assert found.keys() == c.keys()
    assert type(found.to_dict()["nest"][0]) is tuple
    assert len(found.nest) == 4
    assert {x.backend for x in found.leaves()} == {backend}
    assert {x.backend for x in Container.load(path, backend="numpy").leaves()} == {"numpy"}
    found["more"] = 1
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_files_of_others_are_read(backend: str, tmp_path: Path) -> None:
    import safetensors.numpy

    np.savez(tmp_path / "a.npz", **{"x/y": np.arange(3), "z": np.ones(2)})
    safetensors.numpy.save_file({"x/y": np.arange(3), "z": np.ones(2)}, tmp_path / "a.safetensors")
    for name in ("a.npz", "a.safetensors"):
        found = Container.load(tmp_path / name)
        assert found.paths() == ["x/y", "z"]
        assert_leaves(found, [np.arange(3), np.ones(2)])
    sample().save(tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as file:
        assert set(PATHS) < set(file.files)
    sample().save(tmp_path / "b.safetensors")
    assert set(safetensors.numpy.load_file(tmp_path / "b.safetensors")) == set(PATHS)


class Malicious:
    def __reduce__(self) -> tuple[Any, ...]:
        return pytest.fail, ("what a file holds was run",)


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([Malicious()], dtype=object))
    with pytest.raises(ValueError, match="Object arrays"):
        Container.load(tmp_path / "a.npz")


def archive(path: Path, structure: bytes, **arrays: Any) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, x in {"__unifyarr__": np.frombuffer(structure, np.uint8), **arrays}.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(x))
            file.writestr(f"{name}.npy", stream.getvalue())


@pytest.mark.parametrize(
    "structure",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"structure": {"dict": {"y": null}}}',
        b'{"structure": {"dict": {}}}',
        b'{"structure": {"set": []}}',
        b'{"structure": {"dict": [], "list": []}}',
        b'{"structure": {"dict": {"x": null}}, "dtypes": {"x": "bfloat16"}}',
        b'{"structure": {"dict": {"x": null}}, "dtypes": {"x": "object"}}',
        b'{"structure": {"dict": {"x": null}}, "dtypes": []}',
        b'{"structure": null}',
    ],
)
def test_a_damaged_structure_is_an_error(tmp_path: Path, structure: bytes) -> None:
    archive(tmp_path / "a.npz", structure, x=np.arange(2))
    with pytest.raises(ValueError, match=r"damaged|structure"):
        Container.load(tmp_path / "a.npz")


def test_what_files_cant_hold(backend: str, tmp_path: Path) -> None:
    sample().save(tmp_path / "a.safetensors")
    before = (tmp_path / "a.safetensors").read_bytes()
    with pytest.raises(DtypeError, match="complex128"):
        Container(z=ua.asarray(1j)).save(tmp_path / "a.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == before
    with pytest.raises(ValueError, match="taken"):
        Container({"__unifyarr__": 1}).save(tmp_path / "a.npz")
    for name in ("b.npz", "b.safetensors"):
        (tmp_path / name).write_bytes(b"PK nonsense")
        with pytest.raises(ValueError, match=r"damaged|pickle|archive"):
            Container.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        Container.load(tmp_path / "nothing.npz")
    assert json.dumps(sorted(each.name for each in tmp_path.iterdir())) == '["a.safetensors", "b.npz", "b.safetensors"]'


# -- pytrees ----------------------------------------------------------------------------------------------------------


def loss(p: Container) -> Any:
    # Writes inside are to copies of the arguments, or to new arrays.
    q = p * 2
    q.w[0] *= 3
    return ua.sum(ua.sum(q**2).reduce()).native


def expected_gradient() -> list[np.ndarray]:
    return [8 * VALUES[0], 8 * VALUES[1], 8 * VALUES[2] * [[9], [1]]]


def test_optree_takes_containers_by_the_namespace(backend: str) -> None:
    import optree

    c = sample()
    assert optree.tree_paths(c, namespace="unifyarr") == [("layers", "0", "b"), ("layers", "1"), ("w",)]
    assert_leaves(optree.tree_map(lambda x: x + 1, c, namespace="unifyarr"), [x + 1 for x in VALUES])


def test_jax_takes_containers_and_arrays(backend: str) -> None:
    skip_unless(backend, "jax", why="JAX's pytrees")
    import jax

    c = sample()
    before = [x.native for x in c.leaves()]
    gradient = jax.jit(jax.grad(loss))(c)
    assert_leaves(gradient, expected_gradient())
    assert all(x.native is each for x, each in zip(c.leaves(), before, strict=True))
    assert_leaves(jax.tree_util.tree_map(lambda x: x + 1, c), [x + 1 for x in VALUES])
    stacked = ua.stack([c, 2 * c])
    assert_leaves(jax.vmap(lambda p: ua.sum(p))(stacked), [np.array([v.sum(), 2 * v.sum()]) for v in VALUES])
    assert_same(jax.jit(lambda x: x[::-1] + 1)(ua.arange(4)[::2]), [3, 1])
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_flatten_with_path(c)[0]]
    assert paths[0] == "['layers']['0']['b']['native']"
    # Equal names in another order are one structure.
    one, other = Container(a=1.0, b=2.0), Container(b=2.0, a=1.0)
    assert jax.tree_util.tree_structure(one) == jax.tree_util.tree_structure(other)
    # NumPy's arrays go in as they are, and JAX's come out.
    assert jax.jit(lambda p: p * 2)(sample().to_backend("numpy")).w.backend == "jax"


def test_an_array_that_a_pytree_took_is_never_given_away(backend: str) -> None:
    skip_unless(backend, "jax", why="JAX's donated buffers")
    import jax

    c = Container(a=ua.zeros(1 << 17))
    c.a[0] = 1.0
    (taken,) = jax.tree_util.tree_leaves(c)
    c.a[1] = 2.0
    c += 1
    assert taken[1] == 0
    assert not taken.is_deleted()


def test_torch_takes_containers_and_arrays(backend: str) -> None:
    skip_unless(backend, "torch", why="torch's pytrees")
    import torch

    c = sample()
    assert_leaves(torch.func.grad(loss)(c), expected_gradient())
    assert_leaves(c, VALUES)
    stacked = ua.stack([c, 2 * c])
    assert_leaves(torch.func.vmap(lambda p: ua.sum(p))(stacked), [np.array([v.sum(), 2 * v.sum()]) for v in VALUES])
    assert_leaves(torch.utils._pytree.tree_map(lambda x: x + 1, c), [x + 1 for x in VALUES])
    paths = [torch.utils._pytree.keystr(path) for path, _ in torch.utils._pytree.tree_flatten_with_path(c)[0]]
    assert paths[0] == "['layers']['0']['b']['native']"


# -- updates of several leaves in one call ---------------------------------------------------------------------------


@pytest.mark.parametrize("operator", [operator.iadd, operator.isub, operator.imul, operator.itruediv])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_leaf_is_updated_by_its_own(backend: str, operator: Any, dtype: str) -> None:
    values = {"a": np.array([[1.0, -2.0], [0.5, 4.0]]), "b": np.array([3.0, 0.25, -1.5]), "c": np.array(2.0)}
    x = Container({name: ua.asarray(each, dtype=dtype, copy=True) for name, each in values.items()})
    y = Container({name: ua.asarray(each + 3, dtype=dtype) for name, each in values.items()})
    leaf = x["b"]
    x = operator(x, y)
    assert x["b"] is leaf
    for name, each in values.items():
        expected = operator(each.astype(dtype), (each + 3).astype(dtype))
        np.testing.assert_array_equal(np.asarray(x[name]), expected)


@pytest.mark.parametrize("last", ["in order", "read-only"])
def test_leaves_lie_in_memory_in_all_ways(backend: str, last: str) -> None:
    skip_unless(backend, "numpy", why="arrays by the layout of their memory")
    memory = [
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(2.0),
        np.ones((1, 1)),
        np.empty((0, 3)),
        np.arange(4096.0),
        np.arange(12.0)[::-2].copy(),
        np.arange(3, dtype=np.int64),
    ]
    memory[-1].flags.writeable = last == "in order"
    expected = [x + x if last == "in order" else x.copy() for x in memory]
    c = Container([ua.asarray(x, copy=False) for x in memory])
    if last == "in order":
        c += Container([ua.asarray(x.copy()) for x in memory])
    else:
        with pytest.raises(ReadOnlyError):
            c += Container([ua.asarray(x.copy()) for x in memory])
    for x, each in zip(memory, expected, strict=True):
        np.testing.assert_array_equal(x, each)


def test_leaves_that_read_what_another_one_writes() -> None:
    base = ua.asarray([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    x = Container(a=base[:3], b=base[3:])
    x += Container(a=base[3:], b=base[:3])
    assert base.tolist() == [3.0, 5.0, 7.0, 3.0, 5.0, 7.0]


@pytest.mark.parametrize("last", [[[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0, 3.0]])
def test_no_leaf_is_updated_if_one_has_another_shape(last: Any) -> None:
    x, y = Container(a=ua.ones(3), b=ua.ones(4)), Container(a=ua.ones(3), b=ua.asarray(last))
    with pytest.raises(ValueError, match="shape"):
        x += y
    assert [leaf.tolist() for leaf in x.leaves()] == [[1.0] * 3, [1.0] * 4]


def test_an_inference_tensor_among_the_leaves_is_no_target() -> None:
    torch = pytest.importorskip("torch")
    with torch.inference_mode():
        last = torch.ones(3)
    x = Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(last))
    with pytest.raises(ua.errors.InplaceUpdateError, match="inference"):
        x += Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(torch.ones(3)))
    assert x["a"].tolist() == [1.0] * 3


def test_leaves_through_which_a_gradient_is_taken() -> None:
    torch = pytest.importorskip("torch")
    weight = torch.ones(3, requires_grad=True)
    x = Container(a=ua.asarray(torch.ones(3)), b=ua.asarray(torch.ones(3)))
    x += Container(a=ua.asarray(weight), b=ua.asarray(weight * 2))
    (x["a"] * x["b"]).native.sum().backward()
    # The derivative of (1 + w) * (1 + 2 w).
    assert weight.grad.tolist() == [7.0] * 3
