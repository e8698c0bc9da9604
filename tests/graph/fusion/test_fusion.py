"""Fusion: which operations are fused, and where their results are stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.backends.base.samples import samples
from unifyarr.errors import BadOptimization
from unifyarr.graph import FunctionGraph
from unifyarr.graph.core.memory import memory_plan
from unifyarr.graph.fusion import fusedop
from unifyarr.graph.fusion.agreeing import is_same_alone
from unifyarr.graph.fusion.fusedop import FusedOp
from unifyarr.graph.fusion.index_maps import seen
from unifyarr.graph.fusion.machine import is_compiled
from unifyarr.graph.fusion.region import Axis, FusedStep

from ...natives import on_host
from .fused_programs import bits, compare

pytestmark = [
    pytest.mark.usefixtures("numpy_alone"),
    pytest.mark.skipif(not is_compiled(), reason="the compiled part of the package isn't there: nothing is fused"),
]


@pytest.fixture
def numpy_alone() -> Any:
    """Make arrays of NumPy's backend."""
    with ua.use_backend("numpy"):
        yield


def vector(n: int = 6) -> ua.Array:
    return ua.linspace(0.5, 2.0, n)


def matrix(rows: int = 4, columns: int = 6) -> ua.Array:
    return ua.reshape(ua.linspace(0.5, 2.0, rows * columns), (rows, columns))


def names(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the names of a compiled function's operations, views left out."""
    nodes = ua.compile(function).graph(*arguments).toposort()
    return [node.op.name for node in nodes if not node.op.views(node)]


def only(fgraph: FunctionGraph) -> Any:
    """Return the fused node of a graph that has one."""
    (node,) = (each for each in fgraph.apply_nodes if isinstance(each.op, FusedOp))
    return node


def wave(u: ua.Array, before: ua.Array) -> None:
    center = u[1:-1]
    before[1:-1] = 2.0 * center - before[1:-1] + 0.25 * (u[:-2] + u[2:] - 2.0 * center)


SIDES = (slice(0, -2), slice(2, None))


def test_a_chain_is_one_operation_in_one_new_array() -> None:
    fgraph = ua.compile(lambda x, y: ua.sqrt(x * y + 1.0) / 3.0).graph(vector(), vector())
    (node,) = fgraph.apply_nodes
    assert [each.name for each in node.op.parts()] == ["multiply", "add", "sqrt", "divide"]
    assert node.op.name == "fused[multiply, add, sqrt, …]"
    assert node.op.out == {0}
    assert node.op.destroys(node) == {}


def test_a_stencil_is_computed_in_the_array_that_it_is_written_to() -> None:
    fgraph = ua.compile(wave).graph(vector(), vector())
    (node,) = fgraph.apply_nodes
    assert [fgraph.inputs.index(node.inputs[place]) for place in node.op.victims(node)] == [1]


def test_what_reads_its_neighbours_is_written_late() -> None:
    def heat(u: ua.Array) -> None:
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])

    fgraph = ua.compile(heat).graph(vector())
    (node,) = fgraph.apply_nodes
    assert node.op.name.startswith("fused")
    assert node.op.destroys(node)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("shape", [(70_000,), (90, 700), (700, 90), (5, 6, 7), (40, 3, 500), (30, 40, 50), (2000, 9)])
def test_neighbours_are_read_before_they_are_written(shape: tuple[int, ...], wait: bool, threads: int) -> None:
    """Forwards, backwards, diagonally and across all axes."""
    inner = (slice(1, -1),) * len(shape)
    diagonal = (slice(2, None), *[slice(0, -2)] * (len(shape) - 1))

    def spread(u: Any) -> None:
        shifted = [(*inner[:axis], side, *inner[axis + 1 :]) for axis in range(len(shape)) for side in SIDES]
        total = u[diagonal] - u[diagonal[::-1]] * 3.0
        for each in shifted:
            total = total * 0.25 + u[each]
        u[inner] = total * 0.5 - u[inner]

    values = np.random.default_rng(0).normal(size=shape)
    x, y = ua.asarray(values.copy(), backend="numpy"), values.copy()
    compiled: Any = ua.compile(spread, wait=wait)
    before = ua.get_num_threads()
    ua.set_num_threads(threads)
    try:
        for _ in range(3):
            compiled(x)
            spread(y)
            np.testing.assert_array_equal(np.asarray(x), y)
    finally:
        ua.set_num_threads(before)
    assert len(compiled.graph(x).apply_nodes) == 1


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_results_are_computed_in_arguments_that_are_not_read(mode: str) -> None:
    def both(x: ua.Array, first: ua.Array, second: ua.Array) -> ua.Array:
        first[...] = ua.sqrt(x) * 2.0 - x
        second[...] = first * first + x
        return ua.sum(second * 3.0)

    def single(x: ua.Array, first: ua.Array, second: ua.Array) -> ua.Array:
        ua.exp(x, out=first)
        return ua.cumulative_sum(x, axis=1, out=second)

    for function in (both, single):
        compiled: Any = ua.compile(function, mode=mode)
        arguments, others = ([matrix(), matrix() * 0.0, matrix() * 0.0] for _ in range(2))
        for _ in range(3):
            assert compiled(*arguments).tolist() == function(*others).tolist()
            assert [each.tolist() for each in arguments] == [each.tolist() for each in others]
        graph = compiled.graph(*arguments)
        assert not {"store", "copy"} & {node.op.name for node in graph.apply_nodes}, graph
    # An array that is read elsewhere can't be overwritten meanwhile.
    shifted: Any = ua.compile(lambda x, y: ua.add(x[:, ::-1] * 2.0, x, out=x), mode=mode)
    x, y = matrix(), matrix()
    shifted(x, y)
    assert x.tolist() == (y[:, ::-1] * 2.0 + y).tolist()


def test_several_results_are_written_to_several_arguments() -> None:
    def adam(p: ua.Array, g: ua.Array, m: ua.Array, v: ua.Array) -> None:
        m[...] = 0.9 * m + 0.1 * g
        v[...] = 0.999 * v + 0.001 * g * g
        p -= 0.01 * m / (ua.sqrt(v) + 1e-8)

    fgraph = ua.compile(adam).graph(*(vector() for _ in range(4)))
    (node,) = fgraph.apply_nodes
    assert {fgraph.inputs.index(node.inputs[place]) for place in node.op.victims(node)} == {0, 2, 3}


def test_several_results_take_dead_buffers() -> None:
    def function(y: ua.Array) -> tuple[ua.Array, ua.Array]:
        total = ua.sum(ua.cumulative_sum(ua.cumulative_sum(y) * 2.0))
        x = ua.cumulative_sum(total * y) * y + 1.0
        z = x - y
        return ua.cumulative_sum(x), ua.cumulative_sum(z)

    arguments = (vector(),)
    compiled = ua.compile(function)
    for result, expected in zip(compiled(*arguments), function(*arguments), strict=True):
        assert result.tolist() == expected.tolist()
    fgraph = compiled.graph(*arguments)
    several = next(node for node in fgraph.apply_nodes if len(node.outputs) == 2)
    plan = memory_plan(fgraph)
    assert several.op.victims(several)
    (other,) = (output for key, output in enumerate(several.outputs) if key not in several.op.destroys(several))
    assert other in plan


def test_rows_are_reduced_among_what_is_computed_of_them() -> None:
    def layer_norm(x: ua.Array, weight: ua.Array) -> ua.Array:
        center = x - ua.mean(x, axis=-1, keepdims=True)
        return center / ua.sqrt(ua.mean(center * center, axis=-1, keepdims=True) + 1e-5) * weight

    assert len(names(layer_norm, matrix(), vector())) == 1
    assert names(lambda x: ua.sum(x * 2.0 + 1.0, axis=0), matrix()) == ["fused[multiply, add]", "sum"]
    # If the array isn't C-contiguous, sums of rows add in another order.
    assert names(lambda x: ua.sum(x[:, 1:], axis=-1) * 2.0 + 1.0, matrix()) == ["sum", "fused[multiply, add]"]
    turned = ua.asarray(np.asfortranarray(np.asarray(matrix())))
    assert all(not name.startswith("fused") for name in names(lambda x: ua.sum(x * 2.0 + 1.0, axis=-1), turned))


def test_values_of_rows_alone_are_no_values_of_elements() -> None:
    def function(x: ua.Array) -> ua.Array:
        total = ua.sum(x * 2.0, axis=-1, keepdims=True)
        return ua.broadcast_to(total, x.shape) + total * 3.0

    assert ua.compile(function)(matrix()).tolist() == function(matrix()).tolist()


def test_axes_of_length_one_are_no_obstacle() -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        return ua.reshape(ua.reshape(x * 2.0, (1, 6, 1)) + ua.reshape(y, (6, 1)), (6,)) * y[None]

    assert len(names(function, vector(), vector())) == 1


def test_kernels_with_corner_cases_of_their_own_stay_alone() -> None:
    assert names(lambda x: ua.floor_divide(x * 2.0 + 1.0, x), vector()) == ["fused[multiply, add]", "floor_divide"]
    assert names(lambda x: ua.nn.sigmoid(x * 2.0 + 1.0), vector()) == ["fused[multiply, add]", "sigmoid"]
    # Some loops give other bits for negative strides.
    assert names(lambda x: ua.exp(x[::-1]) * 2.0 + 1.0, vector()) == ["exp", "fused[multiply, add]"]
    assert len(names(lambda x: x[::-1] * 2.0 + 1.0, vector())) == 1


def copied(x: ua.Array) -> ua.Array:
    return ua.atan2(x, ua.asarray(x[::-1], copy=True))


def assigned(x: ua.Array) -> ua.Array:
    y = ua.zeros(x.shape)
    y[...] = ua.sqrt(x)[::-1]
    return ua.atan2(x, y)


def written_elsewhere(x: ua.Array) -> ua.Array:
    """Read a window by negative steps, after one apart from it was written."""
    y = ua.zeros((len(x) + 5,))
    y[-1:4:-1] = ua.sqrt(x)
    y[:5] = 1.0
    return ua.atan2(x, y[-1:4:-1])


@pytest.mark.parametrize("function", [copied, assigned, written_elsewhere])
def test_what_lies_forwards_or_backwards_does_so_for_loops_whose_bits_differ(function: Callable[..., Any]) -> None:
    x = np.random.default_rng(1).random(3000)
    compiled, expected = ua.compile(function), np.asarray(function(ua.asarray(x)))
    for _ in range(3):
        assert np.asarray(compiled(ua.asarray(x))).tobytes() == expected.tobytes()


def test_regions_need_no_results_of_each_other() -> None:
    def function(x: ua.Array) -> ua.Array:
        y = x * 2.0 + 1.0
        z = ua.cumulative_sum(y) * 3.0
        return y * z - y

    assert names(function, vector()) == ["fused[multiply, add]", "cumulative_sum", "fused[multiply, subtract]"]


def test_other_modes_and_reports_have_single_operations() -> None:
    pure = ua.compile(wave, mode="pure").graph(vector(), vector())
    assert not any(isinstance(node.op, FusedOp) for node in pure.apply_nodes)
    report = ua.compile(wave).profile(vector(), vector())
    assert {"add", "multiply", "subtract"} <= {op.name for op in report.ops}
    assert "fused" in str(report)


def test_the_debug_mode_compares_with_the_single_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fusedop.bind

    def wrong(region: Any) -> Callable[..., None]:
        run = real(region)

        def one_more(*arrays: np.ndarray) -> None:
            run(*arrays)
            arrays[-1][...] += 1

        return one_more

    compiled = ua.compile(lambda x: x * 2.0 + 1.0, mode="debug")
    compiled(vector())
    monkeypatch.setattr(fusedop, "bind", wrong)
    monkeypatch.setattr(fusedop, "_RUNS", {})
    with pytest.raises(BadOptimization, match=r"fused\[multiply, add\].*multiply, add"):
        compiled(vector())


def test_without_the_compiled_part_nothing_is_fused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unifyarr.graph.run.pipeline.is_compiled", lambda: False)
    assert names(lambda x: x * 2.0 + 1.0, vector()) == ["multiply", "add"]


def test_views_are_index_maps() -> None:
    def function(x: ua.Array) -> ua.Array:
        return ua.cumulative_sum(ua.broadcast_to(ua.reshape(x[1:, ::-2], (3, 1, 3)), (3, 5, 3)), axis=0)

    (output,) = ua.graph.trace(function, matrix()).outputs
    assert output.owner is not None
    base, start, axes = seen(output.owner.inputs[0])
    assert base.owner is None
    assert start == (1, 5)
    assert axes == (Axis(0), Axis(None), Axis(1, -2))


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_random_programs_have_the_bits_of_eager_calls(mode: str) -> None:
    first = {"fast": 0, "debug": 1000}[mode]
    assert sum(compare(seed, mode) for seed in range(first, first + {"fast": 60, "debug": 12}[mode]))


def test_equal_regions_are_run_by_one_program() -> None:
    def scale(x: ua.Array, y: ua.Array) -> tuple[ua.Array, ua.Array]:
        return ua.sqrt(x) * 2.0 + 1.0, ua.sqrt(y) * 2.0 + 1.0

    before = set(fusedop._RUNS.keys())
    compiled = ua.compile(scale)
    x, y = vector(), vector() + 1.0
    for _ in range(2):
        assert [each.tolist() for each in compiled(x, y)] == [each.tolist() for each in scale(x, y)]
    nodes = [node for node in compiled.graph(x, y).apply_nodes if isinstance(node.op, FusedOp)]  # type: ignore[attr-defined]
    assert len(nodes) == 2
    assert len(set(fusedop._RUNS.keys()) - before) == 1


@on_host("they are fused by NumPy's loops")
@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_operations_of_single_elements_are_one_function(engine: str) -> None:
    if engine not in ua.available_backends():
        pytest.skip(f"{engine} isn't under test")

    def function(x: Any, y: Any) -> Any:
        for _ in range(200):
            x, y = x + 0.01 * y, y - 0.01 * x - 0.001 * y * y
        return x, y, ua.abs(x[None]) < 1

    with ua.use_backend(engine):
        given = ua.asarray(0.5), ua.asarray(0.1)
        compiled = ua.compile(function)
        for _ in range(2):
            for one, other in zip(compiled(*given), function(*given), strict=True):
                assert bits(np.asarray(one)) == bits(np.asarray(other))
        assert [isinstance(node.op, FusedOp) for node in compiled.graph(*given).apply_nodes].count(True) == 1


@pytest.mark.parametrize("name", ["sin", "exp", "log", "tanh", "expm1", "arctan2"])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_bits_of_single_elements_are_asked_for(name: str, dtype: str) -> None:
    count = getattr(np, name).nin
    step = FusedStep(name, tuple(range(count)), (np.dtype(dtype),) * (count + 1))
    values = samples(np.dtype(dtype), 50)
    with np.errstate(all="ignore"):
        whole = getattr(np, name)(*[values] * count)
        alone = [getattr(np, name)(*[np.asarray(x)] * count) for x in values]
    # If they differ, such steps aren't fused.
    assert whole.tobytes() == np.asarray(alone, dtype).tobytes() or not is_same_alone(step)
