"""``out=`` and the engine's own memory: it is written where the engine can, natively where the call's path can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.calling import invoke as calls
from unifyarr._core.writing import inplace
from unifyarr.testing.cases.table import A, B, Q

from ..gradients import gradient
from ..kernels import watched
from ..natives import skip_unless, values_of, variable
from ..oracle import as_numpy, assert_same, assert_values
from .calls import CALLS, UNSET, lift, prepared


def memory(native: Any) -> int:
    """Return a key for a native array's memory: its address, or the identity of an engine's mutable holder."""
    if isinstance(native, np.ndarray):
        return native.ctypes.data
    if hasattr(native, "data_ptr"):
        return int(native.data_ptr())
    # The buffers of variables and references are the engine's business.
    return id(getattr(native, "handle", native))


@pytest.mark.parametrize("name", CALLS)
def test_native_memory_is_written(backend: str, name: str) -> None:
    function, arguments, options, expected = prepared(name)
    ones = np.ones((2, *expected.shape), expected.dtype)
    targets: list[tuple[Any, Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = [
        (ones[1, ...], lambda native: native, lambda values: values),
        (ones[1, ...], ua.asarray, lambda values: values),
        (ones, lambda native: ua.asarray(native)[1, ...], lambda values: values[1, ...]),
    ]
    for values, as_out, part in targets:
        native = variable(backend, values)
        before, alias = memory(native), native[...] if backend in ("numpy", "torch") else native
        out = as_out(native)
        assert function(*arguments, **options, out=out) is out
        assert memory(native) == before
        if isinstance(out, ua.Array) and out.base is None:
            assert out.native is native
        if name not in UNSET:
            assert_values(part(values_of(alias)), expected, signed_zeros=False, what=name)


# -- which path a call takes ----------------------------------------------------------------------------------------

M = ("numpy", "torch")
# torch's sort() is slower with an out, and torch's other kernels without are workarounds.
# A call with ``out``, the dtype of ``out``, and the kernel and the backends where that writes to it.
PATHS: dict[str, tuple[Callable[..., Any], str, str, tuple[str, ...]]] = {
    "add": (lambda x, y, out: ua.add(x, y, out=out), "float64", "add", M),
    "add to another dtype": (lambda x, y, out: ua.add(x, y, out=out), "float32", "add", ()),
    "remainder": (lambda x, y, out: ua.remainder(x, y, out=out), "float64", "remainder", ("numpy",)),
    "remainder, truncated": (
        lambda x, y, out: ua.remainder(x, y, modulus=False, out=out),
        "float64",
        "fmod",
        ("numpy",),
    ),
    "remainder, truncated, to another dtype": (
        lambda x, y, out: ua.remainder(x, y, modulus=False, out=out),
        "float32",
        "fmod",
        (),
    ),
    "sum": (lambda x, y, out: ua.sum(x, axis=0, out=out), "float64", "sum", M),
    "sum over no axis": (lambda x, y, out: ua.sum(x, axis=(), out=out), "float64", "sum", ("numpy",)),
    "sum in another dtype": (lambda x, y, out: ua.sum(x, axis=0, dtype="float32", out=out), "float32", "sum", M),
    "sum in a dtype that isn't that of out": (
        lambda x, y, out: ua.sum(x, axis=0, dtype="float32", out=out),
        "float64",
        "sum",
        (),
    ),
    "prod in another dtype": (
        lambda x, y, out: ua.prod(x, axis=0, dtype="float32", out=out),
        "float32",
        "prod",
        ("numpy",),
    ),
    "cumulative_sum in another dtype": (
        lambda x, y, out: ua.cumulative_sum(x, axis=0, dtype="float32", out=out),
        "float32",
        "cumulative_sum",
        ("numpy",),
    ),
    "max": (lambda x, y, out: ua.max(x, axis=0, out=out), "float64", "max", M),
    "mean": (lambda x, y, out: ua.mean(x, axis=0, out=out), "float64", "mean", M),
    "clip from below": (lambda x, y, out: ua.clip(x, min=0, out=out), "float64", "maximum", M),
    "clip from above": (lambda x, y, out: ua.clip(x, max=0, out=out), "float64", "minimum", M),
    "clip to arrays": (lambda x, y, out: ua.clip(x, y - 1, y, out=out), "float64", "minimum", M),
    "where": (lambda x, y, out: ua.where(x > 0, x, y, out=out), "float64", "where", M),
    "where to another dtype": (lambda x, y, out: ua.where(x > 0, x, y, out=out), "float32", "where", ()),
    "concat": (lambda x, y, out: ua.concat([x, y], out=out), "float64", "concat", M),
    "stack": (lambda x, y, out: ua.stack([x, y], out=out), "float64", "stack", M),
    "take": (lambda x, y, out: ua.take(x, ua.asarray([1, 0]), axis=0, out=out), "float64", "take", ("numpy",)),
    "roll": (lambda x, y, out: ua.roll(x, 1, axis=1, out=out), "float64", "roll", ("numpy",)),
    "diff": (lambda x, y, out: ua.diff(x, axis=0, out=out), "float64", "subtract", M),
    "tan": (lambda x, y, out: ua.tan(x, out=out), "float64", "tan", M),
    "tanh": (lambda x, y, out: ua.tanh(x, out=out), "float64", "tanh", M),
    "expm1": (lambda x, y, out: ua.expm1(x, out=out), "float64", "expm1", M),
    "floor_divide": (lambda x, y, out: ua.floor_divide(x, y, out=out), "float64", "floor_divide", ("numpy",)),
    "nextafter": (lambda x, y, out: ua.nextafter(x, y, out=out), "float64", "nextafter", M),
    "sort": (lambda x, y, out: ua.sort(x, out=out), "float64", "sort", ("numpy",)),
    "sort, descending": (lambda x, y, out: ua.sort(x, descending=True, out=out), "float64", "sort", ("numpy",)),
    "sort to another dtype": (lambda x, y, out: ua.sort(x, out=out), "float32", "sort", ()),
    "matmul": (lambda x, y, out: ua.matmul(x, y.T, out=out), "float64", "matmul", M),
    "matmul of stacks": (
        lambda x, y, out: ua.matmul(ua.reshape(x, (1, 2, 3)), ua.reshape(y.T, (1, 3, 2)), out=out),
        "float64",
        "matmul",
        M,
    ),
    # Kernels that may fail depending on values don't get ``out``.
    "linalg.cholesky": (lambda x, y, out: ua.linalg.cholesky(lift("", Q), out=out), "float64", "cholesky", ()),
    "linalg.cholesky, upper": (
        lambda x, y, out: ua.linalg.cholesky(lift("", Q), upper=True, out=out),
        "float64",
        "cholesky",
        (),
    ),
    "pow of floats": (lambda x, y, out: ua.pow(x, x, out=out), "float64", "pow", M),
    "pow of integers": (
        lambda x, y, out: ua.pow(ua.ones((2, 3), dtype="int64"), 2, out=out),
        "int64",
        "pow",
        (),
    ),
}
each_path = pytest.mark.parametrize(("function", "dtype", "kernel", "natively"), PATHS.values(), ids=PATHS.keys())


@each_path
def test_out_is_written_by_the_engine_or_by_one_assignment(
    backend: str,
    function: Callable[..., Any],
    dtype: str,
    kernel: str,
    natively: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = ua.asarray(A, copy=True), ua.asarray(B, copy=True)
    # JAX and torch have one kernel for all of its steps.
    kernel = "diff" if kernel == "subtract" and backend in ("jax", "torch") else kernel
    expected = as_numpy(function(x, y, out=None)).astype(dtype)
    assigned: list[ua.Array] = []

    def assign(target: ua.Array, *rest: Any) -> None:
        assigned.append(target)
        inplace.assign(target, *rest)

    monkeypatch.setattr(calls, "assign", assign)
    out = ua.ones(expected.shape, dtype=dtype)
    with watched(backend) as kernels:
        assert function(x, y, out=out) is out
    assert kernel in dict(kernels)
    written = [name for name, wrote in kernels if wrote]
    if backend in natively:
        assert (written, assigned) == ([kernel], [])
    else:
        assert (written, len(assigned)) == ([], 1)
        assert assigned[0] is out
    assert_same(out, expected, signed_zeros=False)


def test_clip_to_numbers_is_one_kernel(backend: str) -> None:
    skip_unless(backend, *M, why="engines that write into out")
    x, out = ua.asarray(A, copy=True), ua.zeros(A.shape)
    with watched(backend) as kernels:
        assert ua.clip(x, 0, 0.5, out=out) is out
        assert ua.clip(x, 0, 0.5, out=x) is x
    assert kernels == [("clip", True), ("clip", True)]
    assert_same(out, np.clip(A, 0, 0.5), signed_zeros=False)
    assert_same(x, np.clip(A, 0, 0.5), signed_zeros=False)


@pytest.mark.parametrize("name", ["add", "sum", "max", "where", "concat", "take", "sort", "matmul"])
def test_the_engine_never_writes_to_an_out_that_overlaps_what_it_reads(backend: str, name: str) -> None:
    skip_unless(backend, *M, why="engines that write into out")
    function = PATHS[name][0]
    values = np.resize(np.concatenate([A, B]), (5, 5))
    expected = as_numpy(function(ua.asarray(values[:2, :3]), ua.asarray(values[2:4, :3]), out=None))
    base = ua.asarray(values, copy=True)
    out = base[1, 1:4] if expected.ndim == 1 else base[1 : 1 + expected.shape[0], 1 : 1 + expected.shape[1]]
    with watched(backend) as kernels:
        function(base[:2, :3], base[2:4, :3], out=out)
    assert name in dict(kernels)
    assert not any(wrote for _, wrote in kernels)
    assert_same(out, expected)


# -- gradients ------------------------------------------------------------------------------------------------------

ENGINES: dict[str, Callable[..., Any]] = {
    "sin": lambda x, **out: ua.sin(x, **out),
    "add": lambda x, **out: ua.add(x, x, **out),
    "divide": lambda x, **out: ua.divide(x, 3, **out),
    "sum": lambda x, **out: ua.sum(x, axis=0, **out),
    "mean": lambda x, **out: ua.mean(x, axis=1, **out),
    "matmul": lambda x, **out: ua.matmul(x, x, **out),
    "concat": lambda x, **out: ua.concat([x, x], **out),
    "stack": lambda x, **out: ua.stack([x, x], **out),
    "take": lambda x, **out: ua.take(x, ua.asarray([2, 0]), axis=0, **out),
    "where": lambda x, **out: ua.where(x > 1, x, 2 * x, **out),
    "clip": lambda x, **out: ua.clip(x, 0.75, 3.5, **out),
    "sort": lambda x, **out: ua.sort(x, axis=0, **out),
    "cumulative_sum": lambda x, **out: ua.cumulative_sum(x, axis=0, **out),
    "permute_dims": lambda x, **out: ua.permute_dims(x, (1, 0), **out),
    "astype": lambda x, **out: ua.astype(x, "float32", **out),
    "linalg.inv": lambda x, **out: ua.linalg.inv(x, **out),
    "linalg.cholesky": lambda x, **out: ua.linalg.cholesky(x, upper=True, **out),
}


@pytest.mark.parametrize("view", [False, True], ids=["array", "view"])
@pytest.mark.parametrize("function", ENGINES.values(), ids=ENGINES.keys())
def test_gradients_are_recorded_through_out(backend: str, function: Callable[..., ua.Array], view: bool) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")

    def loss(x: ua.Array, into_out: bool) -> ua.Array:
        y = function(x)
        if into_out:
            base = ua.zeros((2, *y.shape), dtype=y.dtype) if view else ua.zeros(y.shape, dtype=y.dtype)
            out = base[1, ...] if view else base
            y = function(x, out=out)
            assert y is out
        return ua.sum(y * ua.reshape(ua.arange(1.0, y.size + 1, dtype=y.dtype), y.shape))

    expected = gradient(backend, lambda x: loss(x, False), Q)
    assert np.any(expected)
    assert_values(gradient(backend, lambda x: loss(x, True), Q), expected)


@pytest.mark.parametrize("special", [-np.inf, np.inf, np.nan, -0.0, 0.0])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "nextafter"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_special_values_are_mended_in_out_too(backend: str, name: str, dtype: str, special: float) -> None:
    left, right = (
        np.array([1.5, -2.0, 0.0, special] * 20, dtype)[order] for order in (slice(None), slice(None, None, -1))
    )
    with np.errstate(all="ignore"):
        x, y = ua.asarray(left, copy=True), ua.asarray(right, copy=True)
        expected, function = as_numpy(getattr(ua, name)(x, y)), getattr(ua, name)
        assert function(x, y, out=x) is x
        assert_same(x, expected)
        x = ua.asarray(left, copy=True)
        assert function(x, y, out=y) is y
        assert_same(y, expected)
