"""In-place rewriting: overwritten inputs and others, in graphs and compiled functions, with right numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.graph import DestroyHandler, FunctionGraph, Op, Supervisor, Variable, inplace, merge
from unifyarr.testing import has

from ...oracle import as_numpy, assert_same
from ..ops import ADD, DOT, Code, S, T, constant, evaluate, pair_to, vectors
from .stories import names

OVERWRITES = Op("overwrites", destroy_map={0: (0,)})


def watched(inputs: list[Variable], outputs: list[Variable], *protected: Variable) -> FunctionGraph:
    """Return a graph with a handler and a supervisor."""
    fgraph = FunctionGraph(inputs, outputs, clone=False)
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor(protected))
    return fgraph


def destroyed(fgraph: FunctionGraph, name: str) -> list[tuple[int, ...]]:
    """Return which inputs the nodes whose operation's name starts so overwrite, in their order."""
    return [node.op.victims(node) for node in fgraph.toposort() if node.op.name.startswith(name)]


# Merging


MERGES: dict[str, tuple[Callable[..., list[Variable]], int]] = {
    "equal nodes": (lambda x, y, z: [DOT(DOT(ADD(x, y), ADD(x, y)), ADD(x, z))], 1),
    "equal constants": (lambda x, y, z: [DOT(ADD(x, constant(2)), ADD(x, constant(2)))], 1),
    "other constants": (lambda x, y, z: [DOT(ADD(x, constant(2)), ADD(x, constant(3)))], 0),
    "nodes of equal nodes": (lambda x, y, z: [DOT(DOT(ADD(x, y), z), S(DOT(ADD(x, y), z)))], 2),
    "arguments the other way round": (lambda x, y, z: [DOT(S(ADD(x, y)), S(ADD(y, x)))], 0),
    "both of them destroyed": (lambda x, y, z: [OVERWRITES(ADD(x, y)), OVERWRITES(ADD(x, y))], 0),
    "one of them destroyed": (lambda x, y, z: [OVERWRITES(ADD(x, y)), S(ADD(x, y))], 1),
    "one destroyed and a reader that needs both": (lambda x, y, z: [DOT(ADD(x, y), OVERWRITES(ADD(x, y)))], 0),
    "outputs": (lambda x, y, z: [S(ADD(x, y)), S(ADD(x, y))], 2),
    "both arguments of one node": (lambda x, y, z: [DOT(constant(2), constant(2))], 0),
    "nodes without arguments": (lambda x, y, z: [Op("fill", parameters=each)() for each in (0, 0, 1)], 1),
}


@pytest.mark.parametrize("case", MERGES)
def test_merges(case: str) -> None:
    build, expected = MERGES[case]
    x, y, z = vectors("x y z")
    fgraph = FunctionGraph([x, y, z], build(x, y, z), [DestroyHandler()], clone=False)
    before = str(fgraph)
    assert merge(fgraph) == expected
    assert merge(fgraph) == 0
    if not expected and "both arguments" not in case:
        assert str(fgraph) == before
    fgraph.validate()
    if case == "outputs":
        assert fgraph.outputs[0] is fgraph.outputs[1]
    if "arguments of one node" in case:
        assert len({*fgraph.outputs[0].owner.inputs}) == 1
    if "one of them" in case:
        assert names(fgraph) == ["add", "S", "overwrites"]


# The overwritten argument


def triple(op_name: str, places: tuple[int, ...], twins: tuple[Op, ...] = ()) -> Code:
    """Return an operation of three arguments and as many outputs, some of which are in place."""

    def compute(values: Any) -> list[np.ndarray]:
        made = [value * (place + 2) for place, value in enumerate(values)]
        for place in places:
            values[place][...] = made[place]
            made[place] = values[place]
        return made

    return Code(
        op_name,
        compute,
        destroy_map={place: (place,) for place in places},
        lengths=lambda lengths: lengths,
        nout=3,
        inplace=twins,
    )


PARTS = [(0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)]
TRIPLE = triple("triple", (), tuple(triple(f"triple!{places}", places) for places in PARTS))


@pytest.mark.parametrize(
    ("arguments", "protected", "expected"),
    [("xyz", "", (0, 1, 2)), ("xyz", "y", (0, 2)), ("xyx", "", (1,)), ("xyz", "xyz", ()), ("xxx", "", ())],
)
def test_each_argument_that_may_be_overwritten(arguments: str, protected: str, expected: tuple[int, ...]) -> None:
    inputs = dict(zip("xyz", vectors("x y z"), strict=True))
    outputs = TRIPLE(*(T(inputs[each]) for each in arguments))
    fgraph = watched(list(inputs.values()), outputs, *(inputs[each] for each in protected))
    values = [np.arange(4) + place for place in range(3)]
    right = evaluate(fgraph, values, pure=True)
    inplace(fgraph)
    assert destroyed(fgraph, "triple") == [expected]
    for found, wanted in zip(evaluate(fgraph, [each.copy() for each in values]), right, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_views_of_one_input_whose_users_would_overwrite_it() -> None:
    """Among many other nodes, a refused step isn't mended by the next one."""
    (x,) = vectors("x", 6)

    def pair_in(place: int | None) -> Callable[[Any], list[np.ndarray]]:
        return lambda v: pair_to(*(each if place == at else each.copy() for at, each in enumerate(v)), *v)

    twins = [
        Code(f"pair!{place}", pair_in(place), destroy_map={place: (place,)}, lengths=lambda lengths: lengths, nout=2)
        for place in (0, 1)
    ]
    pair = Code("pair", pair_in(None), inplace=twins, lengths=lambda lengths: lengths, nout=2)
    first, second = pair(T(x), T(T(x)))
    others: list[Variable] = [S(T(x)) for _ in range(100)]
    fgraph = watched([x], [DOT(first, second), *others])
    values = [np.arange(6) + 1]
    right = evaluate(fgraph, values, pure=True)
    inplace(fgraph)
    for found, wanted in zip(evaluate(fgraph, [each.copy() for each in values]), right, strict=True):
        np.testing.assert_array_equal(found, wanted)


# Compiled functions


def overwritten(compiled: Any, *arrays: Array) -> list[bool]:
    """Call a function that may use up its arguments; return which of them have other values then."""
    before = [as_numpy(each).copy() for each in arrays]
    compiled(*arrays)
    return [not np.array_equal(as_numpy(each), old) for each, old in zip(arrays, before, strict=True)]


@pytest.fixture
def mutable(backend: str) -> str:
    if not has(backend, "writes"):
        pytest.skip(f"only engines that write in place have memory to use again: not {backend}")
    return backend


def test_a_result_of_another_dtype_is_in_no_argument(mutable: str) -> None:
    def added(x: Array, y: Array) -> Array:
        return x + y

    compiled = ua.compile(added, mutable=("x", "y"))
    for first, second, expected in (
        ("float32", "int32", {"float32": [True, False], "float64": [False, False]}),
        ("float64", "int8", {"float64": [True, False]}),
        ("int32", "int32", {"int32": [True, False]}),
    ):
        x, y = ua.ones(4, dtype=getattr(ua, first)), ua.ones(4, dtype=getattr(ua, second))
        result = added(x, y)
        right = as_numpy(result).copy()
        assert overwritten(compiled, x, y) == expected[str(result.dtype)]
        assert_same(compiled(*(ua.ones(4, dtype=getattr(ua, each)) for each in (first, second))), right)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_bits_in_place(mutable: str, dtype: str) -> None:
    x, y = (ua.asarray(np.array(each, dtype), copy=True) for each in ([0, 0, 1, 1], [0, 1, 0, 1]))
    result = ua.compile(lambda x, y: x ^ y, mutable="x")(x, y)
    assert as_numpy(result).tolist() == as_numpy(x).tolist() == [0, 1, 1, 0]
    assert as_numpy(y).tolist() == [0, 1, 0, 1]


def test_two_results_of_which_one_reads_the_others_argument(mutable: str) -> None:
    def both(x: Array) -> tuple[Array, Array]:
        return x + 1, ua.cos(x + 1) + x

    x = ua.asarray(np.array([0.0, 1.0, 2.0]), copy=True)
    compiled = ua.compile(both, mutable="x")
    first, second = compiled(x)
    assert_same(first, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(as_numpy(second), np.cos(np.array([1.0, 2.0, 3.0])) + np.arange(3.0))
    assert any(node.op.victims(node) for node in compiled.graph(x).toposort())


def test_results_are_written_over_what_is_dead(backend: str) -> None:
    """The sums of a product are in the memory of the product."""
    arrays = [ua.asarray(np.arange(25.0).reshape(5, 5) + each, copy=True) for each in range(3)]
    compiled = ua.compile(lambda x, y, z: x @ y + x + y + z)
    kept = [as_numpy(each).copy() for each in arrays]
    np.testing.assert_allclose(as_numpy(compiled(*arrays)), kept[0] @ kept[1] + kept[0] + kept[1] + kept[2])
    for each, old in zip(arrays, kept, strict=True):
        assert_same(each, old)
    if has(backend, "writes"):
        assert any(destroyed(compiled.graph(*arrays), ""))


def test_an_argument_that_is_read_again_stays(backend: str) -> None:
    def twice(z: Array, b: Array, r: Array, s: Array) -> Array:
        return z * (z + b * (r @ s).T)

    arrays = [ua.asarray(np.arange(9.0).reshape(3, 3) - each, copy=True) for each in range(4)]
    right = as_numpy(twice(*arrays)).copy()
    kept = [as_numpy(each).copy() for each in arrays]
    for mutable in ((), ("z", "b", "r", "s")):
        found = ua.compile(twice, mutable=mutable)(*arrays)
        np.testing.assert_allclose(as_numpy(found), right)
        for each, old in zip(arrays, kept, strict=True):
            if not mutable:
                assert_same(each, old)


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::-1, ::-1], lambda x: x.T], ids=["as it is", "back", "T"])
def test_an_update_by_an_outer_product(backend: str, mode: str, view: Callable[[Array], Array]) -> None:
    base = np.arange(16.0).reshape(4, 4)
    state = view(ua.asarray(base, copy=True))

    @ua.compile(mode=mode)
    def update(x: Array, y: Array) -> None:
        state[...] += 0.1 * x[:, None] * y

    right = as_numpy(state).copy()
    for turn in range(2):
        x, y = np.arange(4.0) + turn, np.arange(4.0) - turn
        update(ua.asarray(x, copy=True), ua.asarray(y, copy=True))
        right += 0.1 * x[:, None] * y
        np.testing.assert_allclose(as_numpy(state), right)


SELECTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "an integer": lambda x, v: written(x, 1, v),
    "an array of integers": lambda x, v: written(x, np.array([0, 2]), v),
    "two arrays of integers": lambda x, v: written(x, (np.array([0, 2]), np.array([1, 1])), v[:2]),
}


def written(x: Array, key: Any, value: Array) -> Array:
    x[key] = value
    return x


@pytest.mark.parametrize("case", SELECTIONS)
def test_a_write_to_what_was_just_computed_copies_nothing(backend: str, case: str) -> None:
    """The twice is dead after the write, so that the write is in its memory."""
    x, v = np.arange(9.0).reshape(3, 3), np.array([-1.0, -2.0, -3.0])
    compiled = ua.compile(lambda x, v: SELECTIONS[case](2 * x, v))
    right = as_numpy(SELECTIONS[case](ua.asarray(2 * x, copy=True), ua.asarray(v))).copy()
    first, second = ua.asarray(x, copy=True), ua.asarray(v, copy=True)
    assert_same(compiled(first, second), right)
    assert_same(first, x)
    if has(backend, "writes"):
        sizes = [each.bytes for each in compiled.memory(first, second).programs[0].buffers if each.kind != "input"]
        assert sum(size == x.nbytes for size in sizes) == 1


def test_two_sums_that_begin_with_the_same_zeros(backend: str) -> None:
    """Each has zeros of its own, since both are overwritten."""
    places = np.array([0, 1, 2, 0, 1, 2])

    def counts(a: Array, b: Array) -> tuple[Array, Array]:
        start = ua.zeros(3, dtype=ua.float64)
        first, second = start.copy(), start.copy()
        for place in range(6):
            first[int(places[place])] += a[place]
            second[int(places[place])] += b[place]
        return first, second

    a = np.arange(6.0)
    compiled = ua.compile(counts)
    first, second = compiled(ua.asarray(a), ua.asarray(10 * a))
    assert_same(first, np.bincount(places, a))
    assert_same(second, np.bincount(places, 10 * a))


@pytest.mark.parametrize("is_batched", [False, True])
def test_a_decomposition_of_what_may_be_overwritten(backend: str, is_batched: bool) -> None:
    base = np.arange(9.0).reshape(3, 3) / 9
    x = base @ base.T + np.eye(3)
    x = np.stack([x, 2 * x]) if is_batched else x
    compiled = ua.compile(lambda x: ua.linalg.cholesky(x), mutable="x")
    np.testing.assert_allclose(as_numpy(compiled(ua.asarray(x, copy=True))), np.linalg.cholesky(x), rtol=1e-6)


@pytest.mark.parametrize("of_a", [False, True])
@pytest.mark.parametrize("of_b", [False, True])
def test_equations_of_what_may_be_overwritten(backend: str, of_a: bool, of_b: bool) -> None:
    a = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    b = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    a, b = np.stack([a, 2 * a]) if of_a else a, np.stack([b, 3 * b]) if of_b else b
    compiled = ua.compile(lambda a, b: ua.linalg.solve(a, b), mutable=("a", "b"))
    found = compiled(ua.asarray(a, copy=True), ua.asarray(b, copy=True))
    np.testing.assert_allclose(as_numpy(found), np.linalg.solve(a, b), rtol=1e-6)


# Loops


def run_of(compiled: Any, *arrays: Array) -> Any:
    (node,) = [node for node in compiled.graph(*arrays).toposort() if node.op.name == "scan"]
    return node.op


def test_a_loop_that_carries_nothing_overwrites_nothing(backend: str) -> None:
    compiled = ua.compile(lambda xs: ua.scan(lambda _, x: (None, (x + 1) / 2 + 1), None, xs)[1])
    xs = ua.asarray(np.arange(4.0), copy=True)
    assert_same(compiled(xs), (np.arange(4.0) + 1) / 2 + 1)
    assert_same(xs, np.arange(4.0))
    assert not run_of(compiled, xs).destroy_map


@pytest.mark.parametrize("mode", ["fast", "pure", "debug"])
def test_a_loop_overwrites_what_it_carries_and_not_what_it_was_passed(backend: str, mode: str) -> None:
    compiled = ua.compile(lambda x: ua.fori_loop(0, 3, lambda i, x: x + 1, x), mode=mode)
    x = ua.zeros(2)
    assert_same(compiled(x), np.full(2, 3.0, as_numpy(x).dtype))
    assert_same(x, np.zeros(2, as_numpy(x).dtype))


@pytest.mark.parametrize("mutable", [(), ("u0", "u1", "u2")])
@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_a_recurrent_network(backend: str, mode: str, mutable: tuple[str, ...]) -> None:
    w, w_in = 0.5, -0.25

    def network(u0: Array, u1: Array, u2: Array, x: Array, y: Array) -> tuple[Array, Array]:
        def step(state: Any, rows: Any) -> Any:
            x, y = state
            a, b, c = rows
            new = a * w_in + x * w + b * c, a * w_in + y * w + b + c
            return new, new

        return ua.scan(step, (x, y), (u0, u1, u2))[1]

    u = [np.linspace(-5, 5, 3), np.linspace(1, 2, 3), np.linspace(0, 3, 3)]
    right: list[tuple[float, float]] = []
    x, y = 0.3, 0.7
    for a, b, c in zip(*u, strict=True):
        x, y = a * w_in + x * w + b * c, a * w_in + y * w + b + c
        right.append((x, y))
    arrays = [ua.asarray(each, copy=True) for each in (*u, np.array(0.3), np.array(0.7))]
    found = ua.compile(network, mode=mode, mutable=mutable)(*arrays)
    for each, wanted in zip(found, np.array(right).T, strict=True):
        np.testing.assert_allclose(as_numpy(each), wanted, rtol=1e-6)
    if not mutable:
        for array, wanted in zip(arrays, u, strict=False):
            assert_same(array, wanted)


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_a_loop_from_a_constant_leaves_the_constant(backend: str, mode: str) -> None:
    start = np.array([1.0, 2.0])

    def loop(x: Array) -> Any:
        return ua.fori_loop(0, 3, lambda i, state: (state[0] + 1, state[1] + 1), (ua.asarray(start), x))

    compiled = ua.compile(loop, mode=mode)
    for _ in range(2):
        first, second = compiled(ua.zeros(2, dtype=ua.float64))
        assert_same(first, start + 3)
        assert_same(second, np.full(2, 3.0))
    assert start.tolist() == [1.0, 2.0]


def test_a_branch_is_chosen_for_arrays_of_any_length(backend: str) -> None:
    long = ua.compile(lambda c, x, y: ua.cond(c > 0, lambda: x, lambda: sum(range(50), start=y)))
    x, y = ua.asarray(np.arange(3.0), copy=True), ua.asarray(np.arange(3.0) * 2, copy=True)
    assert_same(long(ua.asarray(1), x, y), np.arange(3.0))
    assert_same(long(ua.asarray(0), x, y), np.arange(3.0) * 2 + sum(range(50)))
    assert_same(x, np.arange(3.0))
