"""``unifyarr.numpy.random``: NumPy's numbers in our arrays."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
import unifyarr.numpy as unp

from ..oracle import assert_same
from .tables import assert_alike, ours

LISTS: list[Any] = [np.array([0.2, 0.8]), np.array([1.0, 2.0])]

# Calls of a generator's method, and of the legacy functions.
NEW: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("random", (), {}),
    ("random", ((2, 3),), {"dtype": "float32"}),
    ("integers", (5,), {"size": 4}),
    ("integers", (0, 5, (2, 2), np.int32), {}),
    ("normal", (LISTS[1], 0.5), {"size": (3, 2)}),
    ("normal", ([0.0, 1.0],), {}),
    ("choice", (5, 3), {"replace": False}),
    ("choice", (np.arange(6.0).reshape(3, 2),), {"size": 2}),
    ("choice", ([3, 4],), {"p": LISTS[0], "size": 3}),
    ("permutation", (np.arange(5),), {}),
    ("permutation", (4,), {}),
    ("permuted", (np.arange(6).reshape(2, 3),), {"axis": 1}),
    ("multinomial", (5, LISTS[0]), {}),
    ("multivariate_normal", (LISTS[1], np.eye(2)), {}),
    ("uniform", (-1, 1, 3), {}),
    ("bytes", (3,), {}),
]
OLD: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("rand", (2, 3), {}),
    ("rand", (), {}),
    ("randn", (2,), {}),
    ("randint", (0, 10), {"size": 5}),
    ("randint", (3,), {"size": 2, "dtype": np.uint8}),
    ("uniform", (0, LISTS[1]), {}),
    ("normal", (), {"size": 3}),
    ("choice", (4, 2, False), {}),
    ("permutation", (np.arange(4.0),), {}),
    ("random_sample", (2,), {}),
    ("ranf", (2,), {}),
    ("exponential", (1.0, 3), {}),
]


def ids(table: Any) -> list[str]:
    return [f"{name}-{place}" for place, (name, _, _) in enumerate(table)]


@pytest.mark.parametrize(("name", "args", "kwargs"), NEW, ids=ids(NEW))
def test_a_generator_gives_numpys_numbers(backend: str, name: str, args: Any, kwargs: Any) -> None:
    theirs, own = np.random.default_rng(7), unp.random.default_rng(7)
    expected = getattr(theirs, name)(*args, **kwargs)
    result = getattr(own, name)(*ours(args), **ours(kwargs))
    if isinstance(expected, np.ndarray):
        assert result.backend == backend
        assert_same(result, expected)
    else:
        assert type(result) is type(expected)
        assert result == expected
    assert own.random() == theirs.random()


@pytest.mark.parametrize(("name", "args", "kwargs"), OLD, ids=ids(OLD))
def test_the_old_functions_give_numpys_numbers(backend: str, name: str, args: Any, kwargs: Any) -> None:
    before = np.random.get_state()
    try:
        unp.random.seed(3)
        actual = [getattr(unp.random, name)(*ours(args), **ours(kwargs)) for _ in range(2)]
        np.random.seed(3)
        expected = [getattr(np.random, name)(*args, **kwargs) for _ in range(2)]
        own = getattr(unp.random.RandomState(3), name if name != "ranf" else "random_sample")
    finally:
        np.random.set_state(before)
    for one, other in zip(actual, expected, strict=True):
        assert_alike(one, other)
    assert_alike(own(*ours(args), **ours(kwargs)), expected[0])


def test_shuffle_writes_the_array(backend: str) -> None:
    for make in (lambda space: space.random.default_rng(5), lambda space: space.random.RandomState(5)):
        values = np.arange(12).reshape(4, 3)
        base = ua.asarray(values, copy=True)
        make(np).shuffle(values[1:])
        assert make(unp).shuffle(base[1:]) is None
        assert_same(base, values)
    rows = list(range(5))
    unp.random.default_rng(0).shuffle(rows)
    assert sorted(rows) == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        unp.random.default_rng(0).shuffle(ua.broadcast_to(ua.zeros(1), (3,)))


def test_out_is_written(backend: str) -> None:
    out = ua.zeros((2, 2))
    assert unp.random.default_rng(1).random(out=out) is out
    assert_same(out, np.random.default_rng(1).random((2, 2)))
    plain = np.zeros(3)
    assert unp.random.default_rng(1).random(out=plain) is plain


@pytest.mark.parametrize("name", ["Generator", "RandomState"])
def test_the_methods_have_numpys_signatures(name: str) -> None:
    theirs, own = getattr(np.random, name), getattr(unp.random, name)
    for each in dir(theirs):
        method = getattr(theirs, each)
        if callable(method) and not each.startswith("_"):
            assert inspect.signature(getattr(own, each)) == inspect.signature(method)


@pytest.mark.parametrize("name", np.random.__all__)
def test_every_name_is_there(name: str) -> None:
    theirs, own = getattr(np.random, name), getattr(unp.random, name)
    assert name in unp.random.__all__
    # Two are older names of one that says its parameters.
    if name not in ("Generator", "RandomState", "ranf", "sample"):
        given, wanted = (inspect.signature(each).parameters.values() for each in (own, theirs))
        assert [(each.name, each.default) for each in given] == [(each.name, each.default) for each in wanted]


def test_generators_of_generators(backend: str) -> None:
    own = unp.random.default_rng(unp.random.PCG64(4))
    assert unp.random.default_rng(own) is own
    assert repr(own) == "Generator(PCG64)"
    again, pickled = copy.deepcopy(own), pickle.loads(pickle.dumps(own))
    assert again.random() == pickled.random() == own.random()
    children = unp.random.default_rng(4).spawn(2)
    assert_same(children[1].random(2), np.random.default_rng(4).spawn(2)[1].random(2))
    with pytest.raises(AttributeError, match="nothing"):
        own.nothing


def test_a_trace_is_told_of_generators_that_draw_there(backend: str) -> None:
    def noisy(x: ua.Array) -> ua.Array:
        return x + unp.random.default_rng(0).random(3)

    with pytest.raises(ua.errors.TraceError, match=r"ua\.random\.Generator"):
        ua.compile(noisy)(ua.zeros(3))
