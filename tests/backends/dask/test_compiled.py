"""Compiled functions of lazy arrays are one graph, with one task for a chunk where one chunk is enough."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from .tasks import computed, kernels

CHUNKS = 5


def values(*shape: int) -> np.ndarray:
    return np.random.Generator(np.random.Philox(3)).standard_normal(shape)


def later(array: np.ndarray, chunks: Any) -> ua.Array:
    """Return an array with one task for each chunk."""
    import dask.array as da

    return ua.asarray(da.from_array(array, chunks=chunks).map_blocks(np.copy, dtype=array.dtype))


def tasks(*arrays: ua.Array) -> int:
    """Return how many tasks are left for arrays when dask has optimised their graphs, but for those of their input."""
    import dask

    found = dask.optimize(*(x.native for x in arrays))
    keys = {key for x in found for key in x.__dask_graph__()}
    return len([key for key in keys if not str(key[0] if isinstance(key, tuple) else key).startswith("array-")])


def chain(x: Any) -> Any:
    y = ua.sin(x) * 2.0 + x
    z = ua.exp(y) - ua.sqrt(ua.abs(y))
    return ua.where(z > y, z * z + 1.0, y) / (y * y + 3.0)


def transposed(x: Any) -> Any:
    y = ua.exp(x)
    return y.T * 2 + ua.cos(y).T


def stencil(x: Any) -> Any:
    inner = x[:, 1:-1, 1:-1]
    inner += 0.25 * (x[:, :-2, 1:-1] + x[:, 2:, 1:-1] + x[:, 1:-1, :-2] + x[:, 1:-1, 2:] - 4.0 * inner)
    x[x < -1.0] = -1.0
    x[:, ::-2, 0] *= 2.0
    x[:, :, -1] = 0.5
    return x


def weighted(x: Any) -> Any:
    # Small arrays are computed once, and not for each chunk.
    weights = ua.exp(ua.asarray(np.linspace(0.0, 1.0, x.shape[-1]), backend=x.backend))
    return x * weights - weights


@pytest.mark.parametrize(
    ("function", "shape", "chunks", "expected"),
    [
        (chain, (4 * CHUNKS, 3), (4, 3), CHUNKS),
        (transposed, (4 * CHUNKS, 3), (4, 2), 2 * CHUNKS),
        (stencil, (2 * CHUNKS, 6, 5), (2, 6, 5), CHUNKS),
        (weighted, (4 * CHUNKS, 3), (4, 3), CHUNKS + 1),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_one_chunk_needs_is_one_task(
    function: Callable[..., Any], shape: tuple[int, ...], chunks: tuple[int, ...], expected: int
) -> None:
    array = values(*shape)
    x = later(array, chunks)
    result = ua.compile(function)(x)
    # One task makes each chunk of the input, and is joined with the one that needs it where no other does.
    assert tasks(result) <= expected
    wanted = function(ua.asarray(array.copy(), backend="numpy"))
    np.testing.assert_array_equal(result.to_numpy(), wanted.to_numpy())


def test_several_results_have_their_steps_once() -> None:
    @ua.compile
    def several(x: Any) -> Any:
        y = ua.exp(x) + 1.0
        return y, y * 2.0, ua.sum(y * y, axis=1)

    array = values(4 * CHUNKS, 3)
    found = several(later(array, (4, 3)))
    y = np.exp(array) + 1.0
    for each, wanted in zip(found, (y, y * 2.0, np.sum(y * y, axis=1)), strict=True):
        np.testing.assert_allclose(each.to_numpy(), wanted, rtol=1e-14)
    assert tasks(*found) <= 4 * CHUNKS


def test_what_other_arrays_need_stays() -> None:
    # dask gives equal computations one name: here a step of the compiled function is a part of its argument.
    array = values(4 * CHUNKS, 3)
    x = later(array, (4, 3))
    y = (x + 1.0) * 2.0
    found = ua.compile(lambda x, y: ((x + 1.0) * 3.0 - y) * ((x + 1.0) * 5.0))(x, y)
    wanted = ((array + 1.0) * 3.0 - (array + 1.0) * 2.0) * ((array + 1.0) * 5.0)
    np.testing.assert_array_equal(found.to_numpy(), wanted)


def test_what_was_persisted_has_the_name_of_what_was_not() -> None:
    from unifyarr.backends.dask._fusing import fused

    array = values(11)
    x = later(array, CHUNKS)
    y, persisted = x * 2.0 + 1.0, (x * 2.0 + 1.0).persist()
    assert persisted.native.name == y.native.name
    for results in ([y, persisted - 1.0], [persisted - 1.0, y], [persisted, y * 3.0]):
        found = fused([each.native for each in results], [x.native])
        # Each by itself: together they have the layers that one of them lacks.
        for mine, expected in zip(found, results, strict=True):
            np.testing.assert_array_equal(mine.compute(), expected.to_numpy())


def test_an_array_beside_its_transpose() -> None:
    array = values(4, 4)
    found = ua.compile(lambda x: ua.exp(x) * 2 + ua.exp(x).T)(later(array, (2, 2)))
    np.testing.assert_array_equal(found.to_numpy(), np.exp(array) * 2 + np.exp(array).T)


def test_arguments_are_written_and_nothing_is_computed() -> None:
    import dask

    array = values(2 * CHUNKS, 6, 5)
    x = later(array, (2, 6, 5))
    view = x[1]
    with dask.config.set(scheduler=_refuses):
        step = ua.compile(stencil)
        for _ in range(3):
            step(x)
    wanted = ua.asarray(array.copy(), backend="numpy")
    for _ in range(3):
        stencil(wanted)
    np.testing.assert_array_equal(x.to_numpy(), wanted.to_numpy())
    np.testing.assert_array_equal(view.to_numpy(), wanted.to_numpy()[1])


def _refuses(*arguments: object, **options: object) -> Any:
    raise AssertionError("something was computed")


def test_floats_and_captured_arrays_are_read_at_each_call() -> None:
    total = later(np.zeros(6), 2)

    @ua.compile
    def step(x: Any, rate: float) -> Any:
        total[...] += x * (1 - rate)
        return total[1:3] * 2

    array = values(6)
    found = [step(later(array, 2), rate).to_numpy() for rate in (0.5, 0.25)]
    np.testing.assert_array_equal(found[1], (array * 0.5 + array * 0.75)[1:3] * 2)


def test_a_graph_is_pickled() -> None:
    import cloudpickle

    array = values(4 * CHUNKS, 3)
    native = ua.compile(chain)(later(array, (4, 3))).native
    found = pickle.loads(cloudpickle.dumps(native)).compute(scheduler="synchronous")
    np.testing.assert_array_equal(found, chain(ua.asarray(array, backend="numpy")).to_numpy())


def test_derivatives_and_batches_are_our_own_and_another_engines_if_it_is_asked_for() -> None:
    x = later(values(6), 2)
    for function in (ua.grad(_energy), ua.compile(lambda x: ua.grad(_energy)(x))):
        assert type(function(x).native) is type(x.native)
        np.testing.assert_allclose(function(x).to_numpy(), 2 * values(6), rtol=1e-14)
    rows = later(values(6).reshape(3, 2), (2, 2))
    for batched in (ua.vmap(_energy), ua.compile(ua.vmap(_energy))):
        assert type(batched(rows).native) is type(x.native)
        np.testing.assert_allclose(batched(rows).to_numpy(), (values(6).reshape(3, 2) ** 2).sum(1), rtol=1e-14)
    for engine in {"torch", "jax"} & {*ua.available_backends()}:
        np.testing.assert_allclose(ua.grad(_energy, backend=engine)(x).to_numpy(), 2 * values(6), rtol=1e-14)


def _energy(x: Any) -> Any:
    return ua.sum(x * x)


def test_axes_of_one_chunk_come_and_go() -> None:
    array, column = values(4 * CHUNKS, 3), values(4 * CHUNKS)

    def columns(x: Any, v: Any) -> Any:
        y = ua.exp(x) + v[:, None]
        return y[:, 0] * 2.0 + y[:, 1] - y[:, 2], y[None] * v[:, None, None][:, 0]

    first, second = ua.compile(columns)(later(array, (4, 3)), later(column, 4))
    wanted = columns(ua.asarray(array, backend="numpy"), ua.asarray(column, backend="numpy"))
    np.testing.assert_array_equal(first.to_numpy(), wanted[0].to_numpy())
    np.testing.assert_array_equal(second.to_numpy(), wanted[1].to_numpy())
    # Two tasks make the chunks that both results read.
    assert tasks(first) <= 3 * CHUNKS


def test_quantiles_of_one_chunk() -> None:
    # The places of its chunk aren't known along an axis that is dropped.
    array = values(1, 2, 6, 4)

    def between(x: Any) -> Any:
        zones = ua.mean(x * 2.0, axis=3)
        return ua.quantile(zones, 0.75, axis=2) - ua.quantile(zones, 0.25, axis=2)

    found = ua.compile(between)(later(array, array.shape))
    wanted = between(ua.asarray(array, backend="numpy"))
    np.testing.assert_allclose(found.to_numpy(), wanted.to_numpy(), rtol=1e-14)


def test_no_chunk_is_overwritten_that_something_else_reads() -> None:
    array = values(4 * CHUNKS, 3)
    x = later(array, (4, 3))
    ua.persist(x)

    @ua.compile
    def several(x: Any) -> Any:
        y = x + 1.0
        view = y[:, ::-1]
        z = y * 2.0
        x[:, 0] = 7.0
        return view - 1.0, z * z - view, x - z

    def plain(x: Any) -> Any:
        y = x + 1.0
        z = y * 2.0
        return y[:, ::-1] - 1.0, z * z - y[:, ::-1], np.concatenate([np.full_like(x[:, :1], 7.0), x[:, 1:]], 1) - z

    before = x.copy()
    for found, wanted in zip(several(x), plain(array), strict=True):
        np.testing.assert_array_equal(found.to_numpy(), wanted)
    np.testing.assert_array_equal(before.to_numpy(), array)
    assert (x.to_numpy()[:, 0] == 7.0).all()


def test_new_axes_leave_chunks() -> None:
    with ua.using_chunks({0: 2}):
        x = ua.arange(6.0, backend="dask")
    assert x[:, None, None].chunks == ((2, 2, 2), (1,), (1,))
    assert (x + 1.0)[None, :].chunks == ((1,), (2, 2, 2))


@pytest.mark.parametrize("chunks", [2, (1, 2), (-1, 1)], ids=str)
def test_an_axis_that_no_operand_has_is_left_to_dask(backend: str, chunks: Any) -> None:
    given = values(2, 3)
    for function, expected in ((ua.cov, np.cov), (ua.linalg.pinv, np.linalg.pinv)):
        assert_close(ua.compile(function)(later(given, chunks)), expected(given))


def assert_close(x: ua.Array, expected: np.ndarray) -> None:
    np.testing.assert_allclose(x.to_numpy(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_long_history_is_joined_when_it_is_computed(compiled: bool) -> None:
    # Each step is read by the next one and by the sum: dask nests a task in a task for each.
    def step(x: Any, speed: Any) -> None:
        speed *= 0.9
        speed -= 0.1 * x
        x += speed * speed

    array, speeds = values(4), values(4)
    x, speed = later(array, 2), ua.asarray(speeds.copy(), backend="dask", chunks=2)
    run = ua.compile(step) if compiled else step
    for _ in range(300):
        run(x, speed)
        step(array, speeds)
    both = ua.compute(x.copy(), speed.copy())
    with computed() as names:
        found = [x.to_numpy(), speed.to_numpy()]
    assert len(names) < 20
    for each, wanted in zip([*both, *found], [array, speeds] * 2, strict=True):
        np.testing.assert_array_equal(np.asarray(each), wanted)


def test_mode_debug_computes_no_history_at_each_look() -> None:
    def steps(x: Any) -> Any:
        for _ in range(20):
            x = ua.cos(x)
        return x

    x = ua.asarray(values(3), backend="dask")
    checked = ua.compile(steps, mode="debug")
    with kernels() as names:
        found = checked(x)
    # In the traced graph and in the rewritten one: the number of looks doesn't grow with the history.
    assert names.count("cos") <= 5 * 20
    np.testing.assert_array_equal(found.to_numpy(), steps(ua.asarray(values(3), backend="numpy")).to_numpy())
