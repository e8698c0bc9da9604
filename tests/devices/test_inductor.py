"""Torch's compiler as the default off the host: on ``sim:1``, where ``aot_eager`` stands for inductor."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import unifyarr as ua
from unifyarr.backends.torch import inductor

from ..graph.test_inductor import adam, network, regions, wave
from ..oracle import as_numpy, assert_values

THERE = "sim:1"


@pytest.fixture
def compiled_graphs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Have the compiler take arrays on the device, and return the graphs that it gets."""
    found: list[Any] = []

    def compile_graph(module: Any, natives: Any) -> Any:
        found.append(module)
        return torch.compile(module, backend="aot_eager", dynamic=False)

    monkeypatch.setattr(inductor, "_BY_DEFAULT", {"sim"})
    monkeypatch.setattr(inductor, "compile_graph", compile_graph)
    return found


def drawn(*shapes: tuple[int, ...]) -> list[ua.Array]:
    generator = torch.Generator().manual_seed(0)
    return [ua.asarray(torch.rand(shape, generator=generator, device="cpu").to(THERE)) for shape in shapes]


@pytest.mark.parametrize("wait", [False, True])
def test_the_second_call_compiles(backend: str, compiled_graphs: list[Any], wait: bool) -> None:
    compiled = ua.compile(adam, wait=wait)
    mine, theirs = (drawn(*[(5, 4)] * 4) for _ in range(2))
    memory = [x.native.data_ptr() for x in mine]
    for number, rate in enumerate((1e-3, 1e-2, 1e-3)):
        compiled(*mine, rate)
        adam(*theirs, rate)
        assert len(compiled_graphs) == (number > 0 or wait)
    assert [x.native.data_ptr() for x in mine] == memory
    for x, y in zip(mine, theirs, strict=True):
        assert x.device == THERE
        assert_values(as_numpy(x), as_numpy(y), rtol=1e-6, atol=1e-7)
    assert len(regions(compiled, *mine, 1e-3)) == 1


def test_a_step_with_a_derivative_is_one_graph(backend: str, compiled_graphs: list[Any]) -> None:
    def step(w: Any, x: Any, u: Any, v: Any) -> Any:
        wave(u, v)
        loss, slope = ua.value_and_grad(lambda w: ua.mean(network(x, w) ** 2))(w)
        w -= 0.1 * slope
        return loss, x[::-1, 1:]

    compiled, shapes = ua.compile(step), ((6, 5), (7, 6), (8, 8), (8, 8))
    mine, theirs = drawn(*shapes), drawn(*shapes)
    for _ in range(3):
        found, expected = compiled(*mine), step(*theirs)
    for x, y in zip((*found, *mine), (*expected, *theirs), strict=True):
        assert x.device == THERE
        assert_values(as_numpy(x), as_numpy(y), rtol=1e-5, atol=1e-6)
    assert len(compiled_graphs) == 1


def test_what_lies_on_the_host_is_fused_as_before(backend: str, compiled_graphs: list[Any]) -> None:
    compiled = ua.compile(wave)
    x, y = (ua.asarray(torch.rand(5, 5, device="cpu")) for _ in range(2))
    for _ in range(3):
        compiled(x, y)
    assert not compiled_graphs
    assert not regions(compiled, x, y)
    there = drawn((5, 5), (5, 5))
    single = ua.compile(wave, fuse=False)
    for _ in range(3):
        single(*there)
    assert not compiled_graphs


def test_bodies_of_loops_are_compiled_at_the_second_call(backend: str, compiled_graphs: list[Any]) -> None:
    def steps(x: Any, y: Any) -> Any:
        def step(total: Any, row: Any) -> Any:
            return ua.tanh(total @ y + row), total * 2.0 + 1.0

        return ua.scan(step, x[0] * 0.5, x)

    compiled = ua.compile(steps)
    x, y = drawn((6, 5), (5, 5))
    for number in range(3):
        found, expected = compiled(x, y), steps(x, y)
        assert bool(compiled_graphs) == (number > 0)
        for mine, right in zip(found, expected, strict=True):
            assert mine.device == THERE
            assert_values(as_numpy(mine), as_numpy(right), rtol=1e-5, atol=1e-6)
    assert len(compiled_graphs) == 1
