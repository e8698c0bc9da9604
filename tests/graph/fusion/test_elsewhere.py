"""Fused operations on arrays of other engines than NumPy: torch's tensors on the CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.graph.fusion import agreement
from tests.graph.fusion.fused_programs import compare
from tests.natives import on_host, skip_unless
from unifyarr._core.engines.registry import load
from unifyarr.errors import BadOptimization
from unifyarr.graph.fusion import machine, other_engines
from unifyarr.graph.fusion.fusedop import FusedOp

pytestmark = [
    pytest.mark.skipif(
        not machine.is_compiled(), reason="the compiled part of the package isn't there: nothing is fused"
    ),
    on_host("fused loops run in it"),
]


@pytest.fixture
def torch() -> Any:
    """Make arrays of torch's backend, and return torch."""
    skip_unless("torch", *ua.available_backends(), why="torch")
    with ua.use_backend("torch"):
        yield __import__("torch")


def vector(n: int = 6, dtype: Any = None) -> ua.Array:
    return ua.linspace(0.5, 2.0, n, dtype=dtype or ua.float64)


def names(function: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the names of a compiled function's operations, views left out."""
    nodes = ua.compile(function).graph(*arguments).toposort()
    return [node.op.name for node in nodes if not node.op.views(node)]


def chain(x: ua.Array, y: ua.Array) -> ua.Array:
    return (x * y + 1.0) / y


def update(x: ua.Array, y: ua.Array) -> None:
    x[...] = x * y + 1.0


def is_fused(compiled: Any, *arguments: Any) -> bool:
    return any(isinstance(node.op, FusedOp) for node in compiled.graph(*arguments).apply_nodes)


# -- which operations -------------------------------------------------------------------------------------------------


def test_what_is_said_to_have_numpys_bits_has_them(torch: Any) -> None:
    rng = np.random.default_rng(0)
    found = [line for case in agreement.cases("torch") for line in agreement.differences("torch", case, rng)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_to_some_numbers_are_products(torch: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for exponent in load("torch").host_loops().products:
        assert agreement.power("torch", np.dtype(dtype), exponent, rng)


def test_operations_are_fused_that_have_numpys_bits(torch: Any) -> None:
    x, y = vector(), vector()
    assert names(chain, x, y) == ["fused[multiply, add, divide]"]
    assert names(lambda x: ua.exp2(x * 2.0 + 1.0) * x - 1.0, x) == [
        "fused[multiply, add]",
        "exp2",
        "fused[multiply, subtract]",
    ]
    assert names(lambda x: ua.maximum(x * 2.0 + 1.0, x), x) == ["fused[multiply, add]", "maximum"]
    assert names(lambda x: ua.sum(x * 2.0 + 1.0, axis=-1), ua.reshape(x, (2, 3))) == ["fused[multiply, add]", "sum"]
    assert names(lambda x: x**2 + x**3, x) == ["fused[pow, add]"]
    assert names(lambda x: x**2.5 + x**-2, x) == ["pow", "pow", "add"]
    half = vector(dtype=ua.float16)
    assert names(lambda x: x * x + x, half) == ["multiply", "add"]
    assert names(lambda x, s: x * s + 1.0, vector(dtype=ua.float32), 0.1) == ["fused[multiply, add]"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_that_torch_calls_are_fused(torch: Any, dtype: str) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        t = ua.sqrt(ua.exp(ua.sin(x) * y) + ua.tanh(x))
        y[1:] = ua.log(t[1:]) + y[1:]
        return ua.special.erf(t - y[0])

    if not all(find(np.dtype(dtype)) for find in load("torch").host_loops().dense.values()):
        pytest.skip("this torch doesn't export them, or computes otherwise")
    rng = np.random.default_rng(0)
    x, y = (ua.asarray(agreement.values(rng, np.dtype(dtype), 3001), copy=True) for _ in range(2))
    compiled, again = ua.compile(function), y.copy()
    assert sum(name.startswith("fused") for name in names(function, x, y)) == len(names(function, x, y))
    for _ in range(2):
        assert agreement.bits(np.asarray(compiled(x, y))) == agreement.bits(np.asarray(function(x, again)))
        assert agreement.bits(np.asarray(y)) == agreement.bits(np.asarray(again))


def test_where_torch_computes_by_itself_it_does_so_step_by_step(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = load("torch")
    without = handle.host_loops()._replace(dense=dict.fromkeys(handle.host_loops().dense, lambda dtype: None))
    monkeypatch.setattr(handle, "host_loops", lambda: without)
    assert names(lambda x: ua.exp(x * 2.0 + 1.0) * x - 1.0, vector()) == [
        "fused[multiply, add]",
        "exp",
        "fused[multiply, subtract]",
    ]


def test_windows_are_written_where_they_lie(torch: Any) -> None:
    def wave(u: ua.Array, before: ua.Array) -> None:
        center = u[1:-1]
        before[1:-1] = 2.0 * center - before[1:-1] + 0.25 * (u[:-2] + u[2:] - 2.0 * center)

    fgraph = ua.compile(wave).graph(vector(), vector())
    (node,) = fgraph.apply_nodes
    assert [fgraph.inputs.index(node.inputs[place]) for place in node.op.victims(node)] == [1]


@pytest.mark.parametrize("mode", ["fast", "debug"])
def test_random_programs_have_the_bits_of_eager_calls(torch: Any, mode: str) -> None:
    first = {"fast": 0, "debug": 1000}[mode]
    assert sum(compare(seed, mode) for seed in range(first, first + {"fast": 40, "debug": 8}[mode]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint16", "bool"])
def test_generated_loops_give_the_same_bits(torch: Any, dtype: str) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        if x.dtype.kind == "b":
            return ua.where(ua.logical_xor(x, y), x, ua.logical_not(y)).astype(ua.float32) * 0.1
        return ua.where(x < y, x * y - x, ua.abs(y) + x).astype(ua.float64) / 3.0

    rng = np.random.default_rng(0)
    x, y = (ua.asarray(agreement.values(rng, np.dtype(dtype)), copy=True) for _ in range(2))
    fgraph = ua.compile(function).graph(x, y)
    (node,) = (each for each in fgraph.apply_nodes if isinstance(each.op, FusedOp))
    run = machine.bind(node.op.as_region(), load("torch").host_loops())
    expected = function(x, y)
    result = ua.empty(expected.shape, dtype=expected.dtype)
    natives = [(x, y)[fgraph.inputs.index(each)].native for each in node.inputs]
    for generated in (False, True):
        if generated and not machine.compile_now(run):
            pytest.skip("there's no C compiler")
        assert run(*natives, result.native) is None
        assert agreement.bits(np.asarray(result)) == agreement.bits(np.asarray(expected))


# -- which tensors ----------------------------------------------------------------------------------------------------


def test_without_dlpacks_table_the_memory_is_found_by_numpy(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    handle = load("torch")
    without = handle.host_loops()._replace(exchange=None)
    monkeypatch.setattr(handle, "host_loops", lambda: without)
    x, y = vector(), vector()
    compiled = ua.compile(chain)
    for _ in range(3):
        assert compiled(x, y).tolist() == chain(x, y).tolist()
    meta = ua.asarray(torch.ones(6, dtype=torch.float64, device="meta"))
    assert compiled(meta, meta).native.is_meta


def test_what_is_no_such_tensor_is_left_alone(torch: Any) -> None:
    node = next(iter(ua.compile(chain).graph(vector(), vector()).apply_nodes))
    run = machine.bind(node.op.as_region(), load("torch").host_loops())
    good = [torch.ones(6, dtype=torch.float64) for _ in range(3)]
    assert run(*good) is None
    for wrong in (
        *(3.0, None, np.ones(6), good[0].to(torch.float32), good[0][:5], good[0][None], good[0].to("meta")),
        torch.ones(6, dtype=torch.bfloat16),
    ):
        for place in range(3):
            given = [wrong if other == place else each for other, each in enumerate(good)]
            assert run(*given) is NotImplemented
    assert good[2].tolist() == [2.0] * 6


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_derivatives_go_through_the_single_operations(torch: Any) -> None:
    x, y = vector(), vector()
    compiled = ua.compile(chain)
    compiled(x, y)
    assert is_fused(compiled, x, y)
    ones = torch.ones(6, dtype=torch.float64)

    def of(t: Any) -> Any:
        return compiled(ua.asarray(t), y).native

    leaf = x.native.clone().requires_grad_()
    (slope,) = torch.autograd.grad(of(leaf).sum(), leaf)
    assert torch.equal(slope, ones)
    assert torch.equal(torch.func.grad(lambda t: of(t).sum())(x.native), ones)
    assert torch.equal(torch.func.jvp(of, (x.native,), (ones,))[1], ones)
    assert torch.equal(torch.func.vmap(of)(torch.stack([x.native, x.native]))[1], of(x.native))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.native, ones)
        assert torch.equal(torch.autograd.forward_ad.unpack_dual(of(dual)).tangent, ones)


def test_a_captured_tensor_that_records_gradients_has_its_gradient(torch: Any) -> None:
    w = ua.asarray(torch.linspace(0.5, 2.0, 6, dtype=torch.float64).requires_grad_())
    compiled = ua.compile(lambda x: (x * w + 1.0) / x)
    for _ in range(3):
        (slope,) = torch.autograd.grad(compiled(vector()).native.sum(), w.native)
        assert slope.tolist() == [1.0] * 6
    with torch.no_grad():
        assert not compiled(vector()).native.requires_grad


def test_torch_sees_what_is_written(torch: Any) -> None:
    x, y = vector(), vector()
    compiled = ua.compile(update)
    compiled(x, y)
    assert is_fused(compiled, x, y)
    leaf = torch.ones(6, dtype=torch.float64, requires_grad=True)
    product = (leaf * x.native).sum()
    before = x.native._version
    compiled(x, y)
    assert x.native._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


def test_what_a_batch_writes_goes_through_the_single_operations(torch: Any) -> None:
    x, y = vector(), vector()
    compiled = ua.compile(update)
    compiled(x.copy(), y)

    def written(t: Any) -> Any:
        copy = ua.asarray(t.clone())
        compiled(copy, y)
        return copy.native

    batch = torch.stack([x.native, 2.0 * x.native])
    expected = [(each * y.native + 1.0).tolist() for each in batch]
    assert torch.func.vmap(written)(batch).tolist() == expected


def test_inference_tensors_stay_such(torch: Any) -> None:
    compiled = ua.compile(chain)
    with torch.inference_mode():
        x = ua.asarray(torch.ones(6, dtype=torch.float64))
        for _ in range(3):
            assert compiled(x, x).native.is_inference()
        ua.compile(update)(x, x)
    assert x.tolist() == [2.0] * 6


def test_lazily_negated_and_transposed_tensors(torch: Any) -> None:
    parts = torch.complex(torch.ones(2, 3, dtype=torch.float64), torch.full((2, 3), 2.0, dtype=torch.float64))
    negated = ua.asarray(parts.conj().imag)
    compiled = ua.compile(lambda x: x * 2.0 + 1.0)
    for x in (negated, ua.asarray(torch.arange(6.0, dtype=torch.float64).reshape(2, 3).T)):
        for _ in range(3):
            found, expected = compiled(x), x * 2.0 + 1.0
            assert found.tolist() == expected.tolist()
            assert found.native.stride() == expected.native.stride()


def test_numpys_settings_have_no_say(torch: Any) -> None:
    compiled = ua.compile(lambda x: 1.0 / (x - x) + 1.0)
    with np.errstate(all="raise"):
        for _ in range(3):
            assert compiled(vector()).tolist() == [math.inf] * 6


def test_a_default_device_is_not_that_of_results(torch: Any) -> None:
    x, y = vector(), vector()
    compiled = ua.compile(chain)
    compiled(x, y)
    with torch.device("meta"):
        assert compiled(x, y).native.device.type == "cpu"


def test_as_many_threads_run_as_torch_has(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "GRAIN", 0)
    monkeypatch.setattr(machine, "get_num_threads", lambda: pytest.fail("not NumPy's"))
    programs, real = [], machine.program_of
    monkeypatch.setattr(machine, "program_of", lambda *given: programs.append(real(*given)) or programs[-1])
    x, y = vector(5000), vector(5000)
    compiled, before = ua.compile(chain), torch.get_num_threads()
    try:
        for n in (1, 3):
            torch.set_num_threads(n)
            assert compiled(x, y).tolist() == chain(x, y).tolist()
            assert [program.used for program in programs] == [n]
    finally:
        torch.set_num_threads(before)


# -- modes ------------------------------------------------------------------------------------------------------------


def test_the_debug_mode_compares_with_the_single_operations(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real = other_engines.bind

    def wrong(*given: Any) -> Callable[..., Any]:
        run = real(*given)

        def one_more(*natives: Any) -> Any:
            run(*natives)
            natives[-1].add_(1)

        return one_more

    compiled = ua.compile(lambda x: x * 2.0 + 1.0, mode="debug")
    compiled(vector())
    monkeypatch.setattr(other_engines, "bind", wrong)
    with pytest.raises(BadOptimization, match=r"fused\[multiply, add\].*multiply, add"):
        compiled(vector())


@pytest.mark.parametrize(("length", "fused"), [(26, False), (130, True)])
def test_windows_of_short_rows_are_left_to_the_engine(torch: Any, length: int, fused: bool) -> None:
    def differences(x: ua.Array) -> ua.Array:
        return (x[1:, 1:] - x[:-1, 1:]) * 0.5 + x[1:, :-1]

    x = ua.ones((40, length))
    nodes = ua.compile(differences).graph(x).apply_nodes
    assert any(isinstance(node.op, FusedOp) for node in nodes) is fused
    # Arrays as a whole have no rows.
    nodes = ua.compile(lambda x: (x - 1) * 0.5 + x).graph(x).apply_nodes
    assert any(isinstance(node.op, FusedOp) for node in nodes)
