"""Plain arguments beside an array: they go to its backend, whichever is current and in whatever order they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np
from unifyarr._core.engines.handle import has_one_device
from unifyarr._core.engines.registry import load
from unifyarr.errors import BackendMismatchError, ReadOnlyError
from unifyarr.testing import needs

from ..natives import native, skip_unless
from ..oracle import as_numpy, assert_same
from .mixed_arguments import findings

W = numpy.array([1.0, 2.0, 3.0])


@pytest.fixture
def other(backend: str) -> str:
    """The name of a backend that isn't the one under test."""
    found = [name for name in ua.available_backends() if name not in (backend, "dask")]
    if not found:
        pytest.skip("needs a second engine: one alone is under test")
    return found[0]


@needs("values", why="the calls are compared at once")
@pytest.mark.parametrize("seed", range(4))
def test_random_calls(backend: str, other: str, seed: int) -> None:
    count = 20 if backend in ("jax", "tensorflow") else 150
    assert list(findings(count, seed, backend, other)) == []


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "average": lambda np, x: np.average(numpy.ones(3), weights=x),
    "percentile": lambda np, x: np.percentile(x, numpy.array([10.0, 50.0])),
    "quantile": lambda np, x: np.quantile([3.0, 1.0, 2.0], x / 4),
    "repeat": lambda np, x: np.repeat(x, numpy.array([1, 0, 2])),
    "histogram": lambda np, x: np.histogram(numpy.ones(3), weights=x)[0],
    "bincount": lambda np, x: np.bincount(numpy.array([0, 1, 1]), x),
    "take_along_axis": lambda np, x: np.take_along_axis(W, x.astype("int64") - 1, 0),
    "insert": lambda np, x: np.insert(numpy.ones(3), 1, x),
    "piecewise": lambda np, x: np.piecewise(numpy.ones(3), [x > 1], [2.0, 3.0]),
    "ediff1d": lambda np, x: np.ediff1d(W, to_end=x),
    "diff": lambda np, x: np.diff(W, prepend=x),
    "polyval": lambda np, x: np.polyval([1.0, 2.0], x),
    "polyadd": lambda np, x: np.polyadd(W, x),
    "polyfit": lambda np, x: np.polyfit(W, numpy.ones(3), 1, w=x),
    "sum with where": lambda np, x: np.sum(W, where=x > 1),
    "var with mean": lambda np, x: np.var(W[None], mean=x[:1]),
    "add with where": lambda np, x: np.add.reduce(W, where=x > 1),
    "interp": lambda np, x: np.interp(W, [0.0, 5.0], x[:2]),
    "a nest of lists": lambda np, x: np.block([[W, x], [x, W]]),
    "fft": lambda np, x: np.fft.fft(x),
    "solve": lambda np, x: np.linalg.solve(numpy.eye(3), x),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("namespace", [np, numpy], ids=["ours", "numpy"])
def test_what_is_plain_goes_to_the_array(backend: str, other: str, name: str, namespace: Any) -> None:
    x, call = ua.asarray(W, copy=True), CALLS[name]
    with ua.use_backend(other):
        found = call(namespace, x)
        assert isinstance(found, ua.Array)
        assert found.backend == backend
    assert_same(found, call(numpy, W), rtol=1e-12, atol=1e-12, signed_zeros=False)


WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "copyto": lambda np, target, x: np.copyto(target, x),
    "copyto with where": lambda np, target, x: np.copyto(target, 5.0, where=x > 1),
    "put": lambda np, target, x: np.put(target, [0, 1], x),
    "put_along_axis": lambda np, target, x: np.put_along_axis(target, x[:1].astype("int64"), 7.0, 0),
    "place": lambda np, target, x: np.place(target, x > 1, [5.0]),
    "putmask": lambda np, target, x: np.putmask(target, numpy.array([True, False, True]), x),
    "fill_diagonal": lambda np, target, x: np.fill_diagonal(target[:, None] * [1.0, 1.0, 1.0], x),
    "at": lambda np, target, x: np.add.at(target, [0, 0, 2], x),
}


@pytest.mark.parametrize("name", WRITES)
def test_either_the_target_or_the_values_may_be_plain(backend: str, other: str, name: str) -> None:
    wanted, call = numpy.zeros(3), WRITES[name]
    call(numpy, wanted, W)
    with ua.use_backend(other):
        target = ua.zeros(3, backend=backend)
        call(np, target, W)
        assert_same(target, wanted)
        host = numpy.zeros(3)
        call(np, host, ua.asarray(W, backend=backend))
        numpy.testing.assert_array_equal(host, wanted)


def test_a_plain_target_that_cant_be_written_is_left_as_it_was(backend: str, other: str) -> None:
    host = numpy.zeros(3)
    host.flags.writeable = False
    x = ua.asarray(W)
    with ua.use_backend(other), pytest.raises((ReadOnlyError, ValueError)):
        np.copyto(host, x)
    numpy.testing.assert_array_equal(host, numpy.zeros(3))


def test_out_decides_for_what_is_plain(backend: str, other: str) -> None:
    with ua.use_backend(other):
        out = ua.zeros((), backend=backend)
        assert np.sum(W, out=out) is out
        assert np.add.reduce(W, out=out) is out
        several = ua.zeros(3, backend=backend)
        assert np.concatenate([W[:1], [2.0, 3.0]], out=several) is several
        assert np.add(W, 1, out=(several,)) is several
    assert_same(out, numpy.array(6.0))
    assert_same(several, W + 1)


def test_engines_own_arrays_decide_too(backend: str, other: str) -> None:
    if backend == "numpy":
        pytest.skip("NumPy's own arrays are what is plain")
    x = native(backend, W)
    with ua.use_backend(other):
        assert np.average(numpy.ones(3), weights=x).backend == backend
        assert np.where([True, False, True], 2**40, ua.asarray(x)).backend == backend
        assert np.diag_indices_from(np.ones((2, 2)))[0].backend == other
        assert np.tril_indices_from(ua.ones((2, 2), backend=backend))[0].backend == backend
        assert np.random.default_rng(0).normal(x, W).backend == backend


def test_containers_and_mappings_of_arrays(backend: str, other: str) -> None:
    weights = {"weight_ih_l0": numpy.ones((4, 1)), "weight_hh_l0": numpy.zeros((4, 1))}
    with ua.use_backend(other):
        nest = ua.Container(a=ua.asarray(W, backend=backend))
        assert np.add(W, nest).a.backend == backend
        x = ua.zeros((1, 4, 1), backend=backend)
        assert ua.nn.lstm(x, weights).outputs.backend == backend
        mixed = {**weights, "weight_hh_l0": ua.zeros((4, 1), backend=backend)}
        for parameters in (mixed, ua.Container(mixed | {"weight_ih_l0": ua.ones((4, 1), backend=backend)})):
            assert ua.nn.lstm(numpy.zeros((1, 4, 1)), parameters).outputs.backend == backend
        with pytest.raises(BackendMismatchError):
            ua.nn.lstm(ua.zeros((1, 4, 1)), mixed)


@pytest.mark.parametrize("name", ["average", "insert", "diff", "interp"])
def test_arrays_of_two_backends_dont_meet(backend: str, other: str, name: str) -> None:
    x, y = ua.asarray(W, copy=True), ua.asarray(W, backend=other, copy=True)
    calls = {
        "average": lambda: np.average(x, weights=y),
        "insert": lambda: np.insert(x, 1, y),
        "diff": lambda: np.diff(x, prepend=y),
        "interp": lambda: np.interp(W, x, y),
    }
    for current in (backend, other):
        with (
            ua.use_backend(current),
            pytest.raises(BackendMismatchError, match=rf"{backend}.*{other}|{other}.*{backend}"),
        ):
            calls[name]()
    with pytest.raises(BackendMismatchError):
        np.copyto(x, y)
    assert_same(x, W)


def test_functions_of_the_caller_see_the_backend_that_is_current(backend: str, other: str) -> None:
    seen = []

    def twice(x: Any, *_: Any) -> Any:
        seen.append(ua.current_backend())
        return x * 2

    with ua.use_backend(other):
        x = ua.asarray(W, backend=backend)
        assert np.piecewise(numpy.ones(3), [x > 1], [twice]).backend == backend
        assert np.apply_along_axis(twice, 0, x[None], W).backend == backend
        assert ua.current_backend() == other
    assert set(seen) == {other}


def test_creation_goes_to_the_current_backend(backend: str, other: str) -> None:
    n = ua.asarray(3, backend=backend)
    with ua.use_backend(other):
        assert np.arange(n).backend == np.zeros((n, 2)).backend == np.eye(n).backend == other
        assert np.sum([1.0, 2.0]).backend == other


@needs("values", why="derivatives compute")
def test_in_compiled_functions_and_derivatives(backend: str, other: str) -> None:
    def mean(x: Any) -> Any:
        return np.average(W, weights=x) + np.percentile(x, numpy.array([50.0]))[0]

    x = ua.asarray(W, copy=True)
    wanted = numpy.average(W, weights=W) + numpy.percentile(W, 50.0)
    with ua.use_backend(other):
        assert_same(ua.compile(mean)(x), numpy.array(wanted), rtol=1e-12)
        assert_same(ua.compile(lambda: np.average(W, weights=x))(), numpy.average(W, weights=W))
        slope = ua.grad(mean)(x)
        assert slope.backend == backend
        # Beside an array of the trace, one that is captured and one that is plain.
        assert_same(ua.compile(lambda y: np.interp(W, y, x))(x), W)
        assert_same(ua.grad(lambda y: ua.sum(np.interp(W, x, y)))(x), numpy.ones(3))
    expected = (W - numpy.average(W, weights=W)) / W.sum() + [0, 1, 0]
    numpy.testing.assert_allclose(as_numpy(slope), expected)


def test_several_targets_decide_for_what_is_plain(backend: str, other: str) -> None:
    with ua.use_backend(other):
        whole, part = (ua.zeros(3, backend=backend) for _ in range(2))
        ua.modf(W / 2, out=(part, whole))
    assert_same(whole, [0.0, 1.0, 1.0])
    assert_same(part, [0.5, 0.0, 0.5])


@pytest.mark.parametrize("plain", [numpy.ones(7), [1.0] * 7], ids=["ndarray", "list"])
def test_data_go_to_a_device_that_is_not_the_default_one(
    backend: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, plain: Any
) -> None:
    skip_unless(backend, "torch", why="a device without memory stands for an accelerator")
    # Where there's no accelerator torch counts one device, and plain calls don't look at devices.
    monkeypatch.setattr(load("torch"), "devices", lambda: ["cpu", "meta"])
    # The number of devices is cached after the first question.
    has_one_device.cache_clear()
    request.addfinalizer(has_one_device.cache_clear)
    # No shortcut knows this length from a call on the one device.
    x = ua.ones(7, device="meta")
    for call in (
        lambda: np.average(plain, weights=x),
        lambda: np.percentile(x, plain),
        lambda: np.where(x > 1, plain, x),
        lambda: np.append(plain, x),
        lambda: ua.multiply(plain, x),
    ):
        with ua.use_backend("numpy"):
            assert call().device == "meta"
