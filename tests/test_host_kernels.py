"""Kernels of users' operations that take NumPy's arrays serve every backend, and where an engine compiles them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array, compile
from unifyarr.errors import CompileWarning

from .natives import skip_without_derivatives
from .oracle import assert_same

X = np.array([0.5, -2.0, 3.0])


@pytest.fixture(autouse=True)
def _by_steps() -> Iterator[None]:
    with warnings.catch_warnings():
        # TensorFlow runs such a graph without XLA, and says so.
        warnings.simplefilter("ignore", CompileWarning)
        yield


def backwards(backend: str, *, body: bool = False, vjp: bool = False) -> Any:
    """Return an operation that gives the sines, the last one first, by NumPy."""

    @ua.op
    def sines(x: Array, /, *, factor: float = 1.0) -> Array:
        return factor * ua.sin(ua.flip(x)) if body else None  # type: ignore[return-value]

    @sines.kernel(backend, natives="numpy")
    def _(x: Any, *, factor: float = 1.0) -> Any:
        assert type(x) is np.ndarray
        return factor * np.sin(x[::-1])

    if vjp:

        @sines.vjp
        def _(cotangent: Array, result: Array, x: Array, *, factor: float = 1.0) -> tuple[Array]:
            return (factor * ua.flip(cotangent) * ua.cos(x),)

    return sines


@pytest.mark.parametrize("body", [True, False])
@pytest.mark.parametrize("vjp", [True, False])
def test_called_and_compiled(backend: str, body: bool, vjp: bool) -> None:
    op = backwards(backend, body=body, vjp=vjp)
    x = ua.asarray(X)
    ways = [op, compile(op), compile(lambda x: op(x * 1) + 0), compile(op, mode="debug")]
    for run in ways:
        for _ in range(2):
            found = run(x)
            assert found.device == x.device
            assert_same(found, np.sin(X[::-1]))
    assert_same(compile(lambda x: op(op(x, factor=2.0)))(x), np.sin(2 * np.sin(X)))
    assert_same(x, X)


def test_derivatives(backend: str) -> None:
    skip_without_derivatives(backend)
    for options in ({"vjp": True}, {"vjp": True, "body": True}, {"body": True}):
        op = backwards(backend, **options)
        slope = ua.grad(lambda x, op=op: ua.sum(op(x) * ua.asarray([1.0, 2.0, 3.0])))
        for run in (slope, compile(slope)):
            assert_same(run(ua.asarray(X)), np.cos(X) * [3.0, 2.0, 1.0])


def test_several_results_of_several_arrays(backend: str) -> None:
    @ua.op
    def parts(*x: Array) -> tuple[Array, Array]: ...

    @parts.kernel(backend, natives="numpy")
    def _(*x: Any) -> Any:
        return np.concatenate(x), np.asarray(len(x))

    for run in (parts, compile(parts)):
        whole, count = run(ua.asarray(X), ua.asarray(X))
        assert_same(whole, np.concatenate([X, X]))
        assert_same(count, np.asarray(2))


def test_a_kernel_declines(backend: str) -> None:
    @ua.op
    def doubled(x: Array, /) -> Array:
        return x + x

    doubled.kernel(backend, natives="numpy")(lambda x: NotImplemented)
    for run in (doubled, compile(doubled)):
        assert_same(run(ua.asarray(X)), 2 * X)


def test_in_a_loop(backend: str) -> None:
    op = backwards(backend)
    run = compile(lambda x: ua.fori_loop(0, 3, lambda k, x: op(x) + k, x))
    expected = X
    for k in range(3):
        expected = np.sin(expected[::-1]) + k
    assert_same(run(ua.asarray(X)), expected)


def test_other_natives_are_refused() -> None:
    @ua.op
    def f(x: Array, /) -> Array: ...

    with pytest.raises(ValueError, match=r"natives of a kernel of f\(\) is 'numpy', or None for its own, not 'torch'"):
        f.kernel("jax", natives="torch")
