"""Cyclic shifts in loops: reads wrap around, and nothing is moved before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua
from tests.graph.fusion.small_chunks import in_threads
from tests.graph.fusion.test_fusion import matrix, names, only, vector
from tests.graph.fusion.test_machine import F8, ufunc, whole
from tests.natives import on_host, skip_unless
from tests.oracle import few
from unifyarr.graph.fusion import machine
from unifyarr.graph.fusion.region import Axis, FusedRegion, Operand

pytestmark = [
    pytest.mark.usefixtures("numpy_alone"),
    pytest.mark.skipif(not machine.is_compiled(), reason="the compiled part isn't there: nothing is fused"),
]

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture
def numpy_alone() -> Iterator[None]:
    """Make arrays of NumPy's backend."""
    with ua.use_backend("numpy"):
        yield


@pytest.fixture(params=["NumPy's loops", "generated"])
def wait(request: pytest.FixtureRequest) -> bool:
    """Whether loops are compiled."""
    return bool(request.param == "generated")


@pytest.fixture(params=[1, 4])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """How many threads there are; several ones have small chunks."""
    with in_threads(request.param) if request.param > 1 else nullcontext():
        yield request.param


def life(xp: Any, cells: Any) -> Any:
    rows = cells + xp.roll(cells, 1, axis=0) + xp.roll(cells, -1, axis=0)
    neighbors = rows + xp.roll(rows, 1, axis=1) + xp.roll(rows, -1, axis=1) - cells
    return (xp.equal(neighbors, 3) | (xp.equal(neighbors, 2) & xp.equal(cells, 1))).astype(cells.dtype)


def check(function: Callable[[Any, Any], Any], *arrays: np.ndarray, wait: bool = False) -> Any:
    """Assert that a function of a namespace and arrays gives NumPy's bits when it's compiled; return its graph."""
    compiled: Any = ua.compile(lambda *given: function(ua, *given), wait=wait)
    given, expected = [ua.asarray(each, copy=False) for each in arrays], function(np, *arrays)
    for _ in range(2):
        found = np.asarray(compiled(*given))
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()
    return compiled.graph(*given)


# -- which operations -------------------------------------------------------------------------------------------------


def test_no_shift_is_a_call_of_its_own() -> None:
    cells = ua.asarray(np.random.default_rng(0).integers(0, 2, (6, 9)))
    assert names(lambda x: life(ua, x), cells) == ["fused[roll, add]", "fused[roll, add, subtract, …]"]


def test_a_shift_alone_is_one_call_anyway() -> None:
    assert names(lambda x: ua.roll(x, 1), vector()) == ["roll"]
    assert names(lambda x: ua.roll(ua.roll(x, 1, axis=0), 1, axis=1), matrix()) == ["roll"]


def test_what_is_shifted_twice_is_read_once() -> None:
    """Shifts of shifts are one, along all of their axes."""

    def function(x: ua.Array) -> ua.Array:
        return x + ua.roll(ua.roll(ua.roll(x, 2, axis=0), 5, axis=1), -1, axis=(0, 1))

    fgraph = ua.compile(function).graph(matrix(4, 7))
    (node,) = fgraph.apply_nodes
    assert {each.axes for each in node.op.plan.reads} == {
        (Axis(0), Axis(1)),
        (Axis(0, wrap=3), Axis(1, wrap=3)),
    }


def test_a_shift_of_the_flat_array_is_fused_where_it_is_one_axis() -> None:
    assert names(lambda x: ua.roll(x, 1) * 2.0, vector()) == ["fused[roll, multiply]"]
    assert "roll" in names(lambda x: ua.roll(x, 1) * 2.0, matrix())


def test_many_short_rows_are_shifted_by_a_call() -> None:
    """It moves them faster than copies of each."""
    for shape, axis, fused in [((200, 5), 1, False), ((100, 5), 1, True), ((200, 40), 1, True), ((200, 5), 0, True)]:
        x = ua.zeros(shape)
        assert ("roll" not in names(lambda x, axis=axis: ua.roll(x, 1, axis=axis) + x, x)) is fused
    x = ua.zeros((200, 8, 5))
    assert "roll" not in names(lambda x: ua.roll(x, 1, axis=1) + x, x)


def test_what_lies_in_another_order_is_shifted_by_a_call() -> None:
    """Its result would lie in that order, too."""
    for x in (matrix().T, ua.broadcast_to(vector(), (4, 6))):
        assert "roll" in names(lambda x: ua.exp(ua.roll(x, 1, axis=0) + 1.0), x)
    backward = names(lambda x: ua.exp(ua.roll(x[::-1], 1, axis=0) + 1.0), vector())
    assert backward == ["roll", "fused[add, exp]"]


# -- where results are ------------------------------------------------------------------------------------------------


def test_nothing_is_written_where_a_shift_is_read() -> None:
    def function(x: ua.Array, y: ua.Array) -> None:
        x[...] = ua.roll(x, 1) + y

    def other(x: ua.Array, y: ua.Array) -> None:
        y[...] = ua.roll(x, 1) + y

    x, y = vector(), vector()
    node = only(ua.compile(function).graph(x, y))
    assert {each.name for each in node.op.parts()} == {"roll", "add"}
    # It may use the memory of an input that is read at the same index.
    assert node.op.plan.hosts(0) == (1,)
    fgraph = ua.compile(other).graph(x, y)
    node = only(fgraph)
    assert [fgraph.inputs.index(node.inputs[place]) for place in node.op.victims(node)] == [1]
    for each in (function, other):
        for mode in ("fast", "debug"):
            a, b = np.linspace(0.5, 2.0, 6), np.linspace(0.5, 2.0, 6)
            ours = ua.asarray(a, copy=True), ua.asarray(b, copy=True)
            ua.compile(each, mode=mode)(*ours)
            target = a if each is function else b
            target[...] = np.roll(a, 1) + b
            assert [x.tolist() for x in ours] == [a.tolist(), b.tolist()]


def test_a_window_is_not_written_where_a_shift_of_the_array_is_read(wait: bool, threads: int) -> None:
    def function(x: Any, y: Any) -> None:
        x[1:-1] = (xp.roll(x[1:-1], 1) + y[1:-1]) * x[1:-1]
        y[...] = xp.roll(y, -3) * 0.5 + y

    x, y = np.random.default_rng(0).normal(size=(2, 3000))
    ours = ua.asarray(x, copy=True), ua.asarray(y, copy=True)
    compiled: Any = ua.compile(function, wait=wait)
    for _ in range(2):
        xp: Any = ua
        compiled(*ours)
        xp = np
        function(x, y)
        assert [x.tolist(), y.tolist()] == [each.tolist() for each in ours]


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 5), (512, 40), (40, 512), (2, 3000), (3000, 2), (1, 70), (70, 1)])
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_the_game_of_life(shape: tuple[int, ...], dtype: str, wait: bool, threads: int) -> None:
    cells = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    check(life, cells, wait=wait)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes(dtype: str, wait: bool) -> None:
    x = np.random.default_rng(0).integers(0, 2, (7, 300)).astype(dtype)
    fgraph = check(lambda xp, x: xp.equal(xp.roll(x, (1, -2), axis=(0, 1)), x), x, wait=wait)
    assert [node.op.name for node in fgraph.apply_nodes] == ["fused[roll, equal]"]


SHAPES = st.one_of(
    st.sampled_from([(1,), (0,), (3, 0), (1, 1), (2500,), (3, 2500), (90, 50), (7, 6, 40)]),
    st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple),
)


@st.composite
def shifted(draw: Any) -> tuple[tuple[int, ...], list[tuple[Any, Any]]]:
    """Return a shape, and shifts with their axes: any number of them, and an axis may be named twice."""
    shape = draw(SHAPES)
    shifts = st.integers(-3, 3) | st.integers(-(10**6), 10**6)
    axes = st.integers(-len(shape), len(shape) - 1)
    pairs = st.lists(st.tuples(shifts, axes), min_size=1, max_size=3).map(lambda each: tuple(zip(*each, strict=True)))
    several = st.lists(axes, min_size=1, max_size=3).map(tuple)
    call = st.tuples(shifts, st.none()) | st.tuples(shifts, axes) | st.tuples(shifts, several) | pairs
    return shape, draw(st.lists(call, min_size=1, max_size=3))


LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda x: x,
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: np.concatenate([x, x], axis=0)[len(x) :],
    lambda x: x[::-1].copy()[::-1],
    lambda x: x[..., ::-1].copy()[..., ::-1],
    np.asfortranarray,
    lambda x: np.broadcast_to(x[:1], x.shape),
]


@pytest.mark.parametrize("generated", [False, True])
@given(shifted(), st.sampled_from(LAYOUTS), st.sampled_from(["float64", "int32", "bool"]), st.booleans())
@few
def test_random_shifts(
    generated: bool, case: tuple[Any, Any], lay_out: Callable[[np.ndarray], np.ndarray], dtype: str, several: bool
) -> None:
    shape, calls = case
    x = lay_out((np.arange(np.prod(shape)).reshape(shape) % 251).astype(dtype))

    def function(xp: Any, x: Any) -> Any:
        total = x
        for shift, axis in calls:
            total = xp.where(xp.equal(total, x), xp.roll(total, shift, axis=axis), xp.roll(x, shift, axis=axis))
        return total

    with in_threads(3) if several else nullcontext():
        check(function, x, wait=generated)


@given(shifted(), st.sampled_from(LAYOUTS))
@few
def test_views_of_what_is_shifted(case: tuple[Any, Any], lay_out: Callable[[np.ndarray], np.ndarray]) -> None:
    shape, calls = case
    x = lay_out(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))

    def function(xp: Any, x: Any) -> Any:
        shift, axis = calls[0]
        part = xp.roll(x[..., 1:], shift, axis=axis)
        return xp.exp(part[::-1] * 2.0) + xp.roll(part + 1.0, shift, axis=axis)[:1]

    check(function, x)


def test_sums_of_what_is_shifted(wait: bool, threads: int) -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 60, 700))
    check(lambda xp, x, y: xp.sum(xp.roll(x, 3, axis=1) * y, axis=-1), x, y, wait=wait)
    check(lambda xp, x, y: xp.roll(x, (3, 1), axis=(0, 1)) / xp.sum(y * y, axis=-1, keepdims=True), x, y, wait=wait)
    check(lambda xp, x, y: xp.roll(xp.sum(x * y, axis=-1, keepdims=True), 1, axis=0) * x, x, y, wait=wait)


def test_loops_with_several_ways_read_what_lies_apart(wait: bool) -> None:
    x = np.random.default_rng(0).normal(size=(40, 400))[:, ::2]
    check(lambda xp, x: xp.exp(xp.roll(x, (1, 3), axis=(0, 1))) + xp.sin(xp.roll(x, 1, axis=0)), x, wait=wait)


def test_shifts_in_a_loop(wait: bool) -> None:
    def function(x: ua.Array) -> ua.Array:
        return ua.scan(lambda x, _: (ua.roll(x, 1) * 0.5 + ua.roll(x, -1) * 0.25 + x, None), x, None, length=20)[0]

    x = np.random.default_rng(0).normal(size=300)
    found = ua.compile(function, wait=wait)(ua.asarray(x))
    for _ in range(20):
        x = np.roll(x, 1) * 0.5 + np.roll(x, -1) * 0.25 + x
    assert found.tolist() == x.tolist()


@on_host("shifts are fused by NumPy's loops")
def test_shifts_of_torchs_tensors(wait: bool) -> None:
    skip_unless("torch", *ua.available_backends(), why="torch")
    x = np.random.default_rng(0).integers(0, 2, (40, 90))
    with ua.use_backend("torch"):
        given = ua.asarray(x.copy())
        compiled: Any = ua.compile(lambda x: life(ua, x), wait=wait)
        assert compiled(given).tolist() == compiled(given).tolist() == life(np, x).tolist()
        assert names(lambda x: life(ua, x), given) == ["fused[roll, add]", "fused[roll, add, subtract, …]"]


def test_wrong_wraps_are_refused() -> None:
    def region(read: Operand, written: Operand) -> FusedRegion:
        return FusedRegion((4,), (((4,), F8), ((4,), F8)), (read,), (), (ufunc("negative", 0),), ((1, written),))

    for wrap in (-1, 4):
        with pytest.raises(ValueError, match="one of its elements"):
            machine.bind(region(Operand(0, (0,), (Axis(0, 1, wrap),)), whole(1)))
    with pytest.raises(ValueError, match="wraps around"):
        machine.bind(region(whole(0), Operand(1, (0,), (Axis(0, 1, 1),))))
    # Another window of the output can't be read so.
    assert not machine.is_program(machine.bind(region(Operand(1, (0,), (Axis(0, 1, 1),)), whole(1))))
