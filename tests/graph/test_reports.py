"""Reports of memory and time are right."""

from __future__ import annotations

import random
import tracemalloc
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import pytest

import unifyarr as ua
from unifyarr.backends.numpy._pool import POOL
from unifyarr.errors import TraceError
from unifyarr.graph import DestroyHandler, FunctionGraph, Supervisor, inplace, memory_plan
from unifyarr.graph.compiling import Compiled, compile
from unifyarr.graph.core.lifetimes import lifetimes, peak
from unifyarr.graph.fusion.machine import is_compiled
from unifyarr.graph.kernels.executors import Schedule
from unifyarr.graph.show.tables import bytes_text, seconds_text
from unifyarr.testing import has, needs

from ..engines import default_device
from ..natives import skip_unless
from ..oracle import as_numpy, assert_same
from .random_graphs import random_graph

N = 100_000
# The size of Python's own objects.
SMALL = 20_000


def chain(x: ua.Array) -> ua.Array:
    for _ in range(4):
        x = ua.sin(ua.cos(x) * 2)
    return x


def updates(x: ua.Array, y: ua.Array) -> ua.Array:
    z = x[1:] + y[:-1]
    x += 1
    x[::2] = y[::2]
    z[5:] *= 2
    return z


def several(x: ua.Array) -> tuple[ua.Array, ...]:
    matrix = ua.reshape(x, (-1, 4))
    q, r = ua.linalg.qr(matrix[:3])
    mask = matrix > 0.5
    total = ua.sum(ua.where(mask, matrix, -matrix), axis=0)
    return q @ r, total, matrix * total, x[::-1] * 2


def nothing(x: ua.Array) -> ua.Array:
    return x


PROGRAMS: dict[str, tuple[Callable[..., Any], int]] = {
    each.__name__: (each, count) for each, count in ((chain, 1), (updates, 2), (several, 1), (nothing, 1))
}


def program_of(function: Compiled) -> Any:
    (program,) = function._programs.values()
    return program


def measured(run: Callable[[], Any]) -> int:
    """Return the most bytes that are allocated at one time while something runs."""
    # The second call of a program prepares further ones.
    run()
    run()
    # Memory of earlier calls would be reused.
    POOL.clear()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = run()
        del result
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_peak_is_what_is_measured(backend: str, name: str) -> None:
    skip_unless(backend, "numpy", why="tracemalloc sees its arrays")
    function, count = PROGRAMS[name]
    compiled = compile(function)
    arguments = [ua.linspace(0.0, 1.0, N) for _ in range(count)]
    (report,) = compiled.memory(*arguments).programs
    assert abs(measured(lambda: compiled(*arguments)) - report.peak_after) < SMALL
    made = program_of(compiled).made
    traced = Schedule(FunctionGraph(made.inputs, [*made.updates.values(), *made.computed]), {})
    natives = [x.native for x in arguments]
    assert abs(measured(lambda: traced(*natives)) - report.peak_before) < SMALL
    assert report.inputs == 8 * N * count
    assert (report.peak_after == 0) == (function is nothing)
    if function in (chain, updates):
        assert report.peak_after < report.peak_before


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_report_of_memory(backend: str, name: str) -> None:
    function, count = PROGRAMS[name]
    compiled = compile(function)
    assert "wasn't compiled" in str(compiled.memory())
    arguments = [ua.linspace(0.0, 1.0, 40) for _ in range(count)]
    before = [as_numpy(x).copy() for x in arguments]
    report = compiled.memory(*arguments)
    for x, values in zip(arguments, before, strict=True):
        assert_same(x, values)
    compiled(*arguments)
    compiled(*(x.astype("float32") for x in arguments))
    assert len(compiled.memory().programs) == 2
    assert str(compiled.memory()).startswith(str(report))
    assert str(report) == repr(report)
    (found,) = report.programs
    assert (found.backend, found.inputs, len(found.arguments)) == (backend, 320 * count, count)
    assert str(found).count("\n") == len(found.buffers) + 4 + (found.refusal is not None)
    ET.fromstring(f"<html>{compiled.memory()._repr_html_()}</html>")
    for buffer in found.buffers:
        assert -1 <= buffer.first <= buffer.last <= found.steps
        assert (buffer.kind in ("input", "constant")) == (buffer.first == -1)
        assert buffer.variables
    results = sum(x.bytes for x in found.buffers if x.kind == "result")
    assert results == found.results
    assert found.peak_before >= 0
    if backend == "tensorflow" or not has(backend, "values"):
        assert found.peak_after is None
    else:
        assert found.peak_after >= results


@needs("writes", why="memory that is written")
def test_what_is_written_in_place_is_said(backend: str) -> None:

    @compile
    def function(x: ua.Array) -> None:
        x *= 2
        x += 1

    (report,) = function.memory(ua.ones(3)).programs
    if is_compiled() and default_device(backend).startswith("cpu"):
        # The numbers are part of the fused operation.
        assert [(buffer.kind, buffer.variables) for buffer in report.buffers] == [
            ("input", ("x", "0 fused[multiply, add]"))
        ]
    else:
        assert report.buffers[0].variables == ("x", "0 multiply", "1 add")
        assert [buffer.kind for buffer in report.buffers] == ["input", "constant", "constant"]
    assert report.peak_after == report.results == 0 < report.peak_before


def test_engines_that_compile_say_what_they_hold(backend: str) -> None:
    skip_unless(backend, "jax", why="an engine that tells")
    (report,) = compile(chain).memory(ua.ones(1000)).programs
    # All is one loop, in which nothing but the result is held; as traced each step has two arrays.
    assert 8000 <= report.peak_after < 9000
    assert report.peak_before == 16000
    assert report.results == 8000


def test_tables_of_much_or_nothing(backend: str) -> None:
    many = compile(lambda x: [x + number for number in range(70)])
    (report,) = many.memory(ua.ones(2)).programs
    assert len(report.buffers) > 70
    assert "more, none of them larger" in str(report)
    assert "… " in str(report).splitlines()[-3]
    for function, argument in ((lambda x: x[:0] + 1, ua.ones(3)), (lambda n: n, 3), (lambda x: x, ua.zeros((0, 2)))):
        compiled = compile(function)
        assert compiled.memory(argument).programs[0].peak_before == 0
        assert compiled.profile(argument).seconds >= 0
        ET.fromstring(compiled.profile(argument)._repr_html_())
    assert "no arguments" not in str(compile(lambda: ua.ones(3)).memory())


@pytest.mark.parametrize("seed", range(20))
def test_lifetimes_hold_what_is_used(seed: int) -> None:
    fgraph = random_graph(random.Random(seed), 25)
    fgraph.attach(DestroyHandler())
    fgraph.attach(Supervisor())
    inplace(fgraph)
    nodes = fgraph.toposort()
    memory = lifetimes(fgraph, nodes, memory_plan(fgraph))
    for step, node in enumerate(nodes):
        for variable in (*node.inputs, *node.outputs):
            assert any(variable in each.variables and each.first <= step <= each.last for each in memory)
    assert all(any(v in each.variables and each.last == len(nodes) for each in memory) for v in fgraph.outputs)
    held = [sum(x.bytes for x in memory if x.first <= k <= x.last and not x.is_given) for k in range(len(nodes) + 1)]
    assert peak(memory) == max(held)


def test_a_profile_is_a_call(backend: str) -> None:
    mine, theirs = ([ua.linspace(0.0, 1.0, 40), ua.linspace(1.0, 2.0, 40)] for _ in range(2))
    compiled = compile(updates)
    for _ in range(2):
        report, expected = compiled.profile(*mine), updates(*theirs)
        assert_same(report.result, as_numpy(expected))
        for x, y in zip(mine, theirs, strict=True):
            assert_same(x, as_numpy(y))
    assert_same(compiled(*mine), as_numpy(updates(*theirs)))


@pytest.mark.chunks(N)
def test_a_profile_has_the_time_of_each_operation(backend: str) -> None:
    compiled = compile(chain)
    report = compiled.profile(ua.linspace(0.0, 1.0, N))
    calls = {op.name: op.calls for op in report.ops}
    assert calls == {"sin": 4, "cos": 4, "multiply": 4}
    assert all(op.seconds > 0 for op in report.ops)
    times = [op.seconds for op in report.ops]
    assert times == sorted(times, reverse=True)
    assert report.seconds == pytest.approx(sum(times))
    assert report.seconds <= report.elapsed
    written = {op.name: op.inplace for op in report.ops}
    assert written == ({"sin": 4, "cos": 3, "multiply": 4} if has(backend, "writes") else dict.fromkeys(calls, 0))
    assert {op.name: op.bytes for op in report.ops} == {"sin": 64 * N, "cos": 64 * N, "multiply": 64 * N + 32}
    text = str(report)
    assert ("one by one" in text) == has(backend, "compiling")
    assert all(name in text for name in (*calls, "chain", backend, "/s"))
    ET.fromstring(report._repr_html_())


def test_a_profile_of_views_captured_arrays_and_containers(backend: str) -> None:
    total = ua.zeros(3)

    @compile
    def function(x: ua.Container) -> ua.Container:
        nonlocal total
        total += x.w[::-1]
        return x * 2

    report = function.profile(ua.Container(w=ua.asarray([1.0, 2.0, 3.0])))
    assert_same(report.result.w, [2.0, 4.0, 6.0])
    assert_same(total, [3.0, 2.0, 1.0])
    assert {op.name: op.bytes for op in report.ops}["get_window"] == 0


def test_a_profile_of_what_overlaps_or_runs_in_a_trace(backend: str) -> None:
    x = ua.linspace(0.0, 1.0, 40)
    expected = x.copy()
    result = updates(expected, expected)
    report = compile(updates).profile(x, x)
    assert_same(report.result, as_numpy(result))
    assert_same(x, as_numpy(expected))
    assert report.ops == ()
    assert "overlap" in str(report)
    inner = compile(chain)
    with pytest.raises(TraceError, match="outside"):
        compile(lambda x: inner.profile(x).result)(x)


def test_units() -> None:
    counts = {None: "?", 0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 2**20 - 1: "1.0 MiB", 3 * 2**40: "3.0 TiB"}
    assert {count: bytes_text(count) for count in counts} == counts
    times = {0.0: "0.0 µs", 2e-6: "2.0 µs", 0.0025: "2.50 ms", 1.5: "1.50 s"}
    assert {time: seconds_text(time) for time in times} == times
