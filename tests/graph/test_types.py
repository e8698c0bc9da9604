"""A trace knows types: it runs no kernel, compiles nothing, and makes nothing of the size of its arguments."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.kernels.record import KERNELS
from unifyarr._core.kernels.types import ArrayType
from unifyarr.errors import InvalidValueError, TraceError
from unifyarr.graph import trace
from unifyarr.modes.trace import trace as tracing
from unifyarr.modes.trace.crossing import Crossing
from unifyarr.modes.trace.replaying import Replay
from unifyarr.testing import needs

from ..natives import skip_unless
from ..oracle import as_numpy, assert_same


def step(x: ua.Array, y: ua.Array) -> Any:
    z = ua.sin(x) * y + ua.ones(x.shape)
    y[1:] -= z[:-1]
    square = ua.reshape(z, (10, -1))
    narrow = ua.nn.softmax(square.T + 1, axis=0)
    values, _, _ = ua.linalg.svd(ua.matmul(square, ua.matrix_transpose(square)))
    return (
        *(ua.sort(z), ua.concat([y, z]), ua.stack([y, z]), narrow.reshape((-1,)), ua.fft.rfft(z), ua.clip(z, 0, 1)),
        *(ua.cumulative_sum(z), ua.take(z, ua.argsort(y)), ua.where(y > 0, y, z).astype("float32"), values),
        *(ua.linalg.solve(ua.eye(10), square), ua.einsum("ij,kj->ik", square, square), ua.repeat(z, 2)),
        *(ua.searchsorted(ua.arange(9.0), z), ua.diff(z), ua.nn.layer_norm(square), ua.count_nonzero(z), ua.var(z)),
    )


def test_nothing_is_as_large_as_the_arguments() -> None:
    count = 10**7
    x, y = ua.asarray(np.broadcast_to(np.zeros(()), (count,))), ua.asarray(np.zeros(count))

    def large(x: ua.Array, y: ua.Array) -> Any:
        z = ua.sin(x) * y + ua.ones(count)
        y[1:] -= z[:-1]
        square = ua.reshape(z, (1000, -1))
        return (
            ua.sort(z),
            ua.sum(square.T + 1, axis=0).reshape((-1,)),
            ua.concat([y, z]),
            ua.fft.fft(z),
            ua.clip(z, 0, 1),
        )

    trace(large, x, y)
    tracemalloc.start()
    try:
        trace(large, x, y)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**20


@needs("warnings", why="an engine that warns of values")
def test_no_kernel_runs(backend: str) -> None:
    with np.errstate(all="raise"):
        fgraph = trace(lambda x: ua.log(x) / ua.sum(x), ua.asarray([-1.0, 1.0]))
    assert [node.op.name for node in fgraph.toposort()] == ["log", "sum", "divide"]
    # A matrix that isn't regular, either.
    (inverse,) = trace(ua.linalg.inv, ua.zeros((3, 3))).outputs
    assert inverse.type == ArrayType((3, 3), np.dtype("float64"))


# A product of matrices in small chunks has more of them.
@pytest.mark.filterwarnings("ignore:Increasing number of chunks")
def test_types_are_those_of_the_results(backend: str) -> None:
    x, y = (ua.asarray(np.linspace(0.1, 2, 30)) for _ in range(2))
    fgraph = trace(step, x, y)
    found = step(x, y)
    # The first one is the value written to y.
    assert [each.type for each in fgraph.outputs] == [ArrayType(each.shape, each.dtype.dtype) for each in (y, *found)]


def test_jax_compiles_nothing_in_a_trace() -> None:
    jax = pytest.importorskip("jax")
    skip_unless("jax", *ua.available_backends(), why="JAX")
    compiled: list[float] = []

    def count(event: str, seconds: float, **_: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(seconds)

    with ua.use_backend("jax"):
        x, y = (ua.asarray(np.linspace(0.1, 2, 50)) for _ in range(2))

        def function(x: ua.Array, y: ua.Array) -> Any:
            value, gradient = ua.value_and_grad(lambda x: ua.sum(ua.tanh(x[1:]) * ua.nn.softmax(x)[:-1]))(x)
            y[1:] -= x[0] * gradient[:-1]
            return ua.concat([x, y]), ua.clip(y, 0, 1), value

        jax.monitoring.register_event_duration_secs_listener(count)
        run = ua.compile(function)
        run.graph(x, y)
        assert not compiled
        run(x, y)
        # The program, and a copy of the written array.
        assert 1 <= len(compiled) <= 2


def test_jax_traces_a_transformed_function_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    skip_unless("jax", *ua.available_backends(), why="JAX")
    runs, replay = [], Replay.__call__

    def counted(self: Replay, *args: Any, **kwargs: Any) -> Any:
        runs.append(self)
        return replay(self, *args, **kwargs)

    monkeypatch.setattr(Replay, "__call__", counted)
    with ua.use_backend("jax"):
        x = ua.asarray(np.linspace(0.1, 2, 50))
        compiled = ua.compile(lambda x: ua.value_and_grad(lambda x: ua.sum(ua.tanh(x)), backend="jax")(x))
        value, gradient = compiled(x)
    # Its types, and the program that runs.
    assert len(runs) == 1
    assert_same(value, np.tanh(as_numpy(x)).sum(), rtol=1e-12)
    assert_same(gradient, 1 - np.tanh(as_numpy(x)) ** 2, rtol=1e-12)


def reshaped(x: ua.Array) -> list[ua.Array]:
    """Return arrays before and after a write to a reshape, which is a view for some layouts, and a copy for others."""
    turned = ua.permute_dims(x, (2, 0, 1))
    found = [
        *(turned + 1, ua.sum(ua.permute_dims(x, (2, 1, 0)), axis=1), ua.matmul(turned, ua.matrix_transpose(turned))),
        *(ua.sort(turned, axis=0), ua.concat([turned, turned]), turned.copy(), ua.flip(turned, axis=1) * 2),
        *(ua.where(turned > 0, turned, 0.0), turned + ua.ones(3), x[:, ::2] * 2, ua.cumulative_sum(turned, axis=1)),
        *(ua.permute_dims(turned + 1, (1, 2, 0)), ua.fft.fft(turned).real, x + turned.reshape(x.shape)),
    ]
    for each in found:
        ua.reshape(each, (-1,))[...] = 7.0
    return found


def test_layouts_are_those_of_the_results(backend: str) -> None:
    x = ua.asarray(np.linspace(-1, 2, 24).reshape(2, 3, 4))
    for mine, theirs in zip(ua.compile(reshaped)(x), reshaped(x), strict=True):
        assert_same(mine, as_numpy(theirs))


def test_a_constant_index_out_of_bounds_is_an_error_of_the_trace(backend: str) -> None:
    x = ua.zeros((3, 4))

    def writes(x: ua.Array) -> None:
        x[[0, 3]] = 1.0

    functions: list[Callable[[ua.Array], Any]] = [
        lambda x: x[[0, 3]],
        lambda x: ua.take(x, ua.asarray([0, -5]), axis=1),
        lambda x: x[ua.asarray([1]), ua.asarray([0]) + 4],
        writes,
    ]
    for function in functions:
        with pytest.raises(IndexError, match="out of bounds"):
            ua.compile(function)(x)


def test_a_wrong_rule_is_an_error_of_the_debug_modes(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ua.asarray([1.0, 2.0, 3.0])
    wrong = KERNELS["searchsorted"]._replace(types=lambda x1, x2, **_: ArrayType((1, *x2.shape), np.dtype("int64")))
    monkeypatch.setitem(KERNELS, "searchsorted", wrong)
    with ua.debug(), pytest.raises(InvalidValueError, match="searchsorted"):
        ua.searchsorted(x, x)
    with pytest.raises(InvalidValueError, match="searchsorted"):
        ua.compile(lambda x: ua.searchsorted(x, x), mode="debug")(x)


def test_a_value_that_nobody_gave(backend: str) -> None:
    """An input of a type alone is as good as any, unless its value is asked for."""
    handle = ua.zeros(1)._backend
    run = tracing.Trace(Crossing(handle))
    with run.running():
        x = tracing.wrap(run.unknown(ArrayType((), np.dtype("float64")), "rate"), run.handle)
        y = ua.sqrt(x * 2)
        assert (y.shape, y.dtype) == ((), ua.float64)
        with pytest.raises(TraceError, match="rate"):
            run.examples.of(y._native.variable)
        with pytest.raises(TraceError):
            float(y)


def test_an_operation_is_run_once_where_nothing_else_tells(backend: str) -> None:
    calls = []

    @ua.op
    def doubled(x: ua.Array, /) -> ua.Array: ...

    def kernel(x: Any) -> Any:
        calls.append(1)
        return x + x

    doubled.kernel(backend)(kernel)
    run = ua.compile(lambda x: ua.sum(doubled(x * 2)))
    run.graph(ua.ones(3))
    assert len(calls) == 1
    assert float(run(ua.ones(3))) == 12.0
