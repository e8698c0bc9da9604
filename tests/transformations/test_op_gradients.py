"""Derivatives of users' operations whose kernels lose them: the body serves, or an error says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr import Array
from unifyarr.errors import LostDerivativeError
from unifyarr.testing import has

from ..gradients import ENGINES
from ..natives import skip_unless, values_of
from ..oracle import as_numpy
from .through import engines

X = np.array([0.25, 1.0, 2.5])


def _by_torch() -> dict[str, Callable[[Any], Any]]:
    import torch

    return {
        "numpy": lambda x: torch.from_numpy(np.sin(values_of(x))).to(x.device),
        "detach": lambda x: torch.sin(x.detach()),
        "right": torch.sin,
    }


def _by_jax() -> dict[str, Callable[[Any], Any]]:
    import jax

    def callback(x: Any) -> Any:
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")

    return {
        "numpy": lambda x: jax.numpy.asarray(np.sin(np.asarray(x))),
        "callback": callback,
        "detach": lambda x: jax.lax.stop_gradient(jax.numpy.sin(x)),
        "right": jax.numpy.sin,
    }


def _by_tensorflow() -> dict[str, Callable[[Any], Any]]:
    import tensorflow as tf

    def function(x: Any) -> Any:
        return tf.ensure_shape(tf.numpy_function(np.sin, [x], x.dtype), x.shape)

    return {
        "numpy": lambda x: tf.constant(np.sin(x.numpy())),
        "callback": function,
        "detach": lambda x: tf.stop_gradient(tf.sin(x)),
        "right": tf.sin,
    }


KERNELS = {"torch": _by_torch, "jax": _by_jax, "tensorflow": _by_tensorflow}
WAYS = ("numpy", "callback", "detach", "right")


def operation(engine: str, way: str, *, body: bool = True) -> tuple[Any, list[str]]:
    """Return an operation with a kernel that computes in a way, and a list of who computed."""
    calls: list[str] = []

    @ua.op
    def sine(x: Array, /) -> Array:
        """Return the sine."""
        calls.append("body")
        return ua.sin(x) if body else None  # type: ignore[return-value]

    kernels = KERNELS[engine]()
    if way not in kernels:
        pytest.skip(f"{engine} has no functions that call back to NumPy")

    def kernel(x: Any) -> Any:
        calls.append("kernel")
        return kernels[way](x)

    sine.kernel(engine)(kernel)
    return sine, calls


def through(backend: str) -> list[str]:
    """Return the engines whose own derivatives are taken of a kernel."""
    if has(backend, "transformations"):
        return [backend]
    named = [engine for engine in engines(backend) if engine is not None]
    if not named:
        pytest.skip(f"no engine under test takes a derivative of a kernel for {backend}")
    return named


def derivatives(f: Any, engine: str | None) -> dict[str, Callable[[], Any]]:
    """Return what takes the derivative of a function of X in several ways."""
    x = ua.asarray(X)
    gradient = ua.grad(lambda v: ua.sum(f(v)), backend=engine)
    ways: dict[str, Callable[[], Any]] = {
        "grad": lambda: gradient(x),
        "jvp": lambda: ua.jvp(f, (x,), (ua.ones(3),), backend=engine)[1],
        "compiled": lambda: ua.compile(gradient, backend=engine)(x),
        "batch": lambda: ua.vmap(gradient, backend=engine)(ua.stack([x, x]))[0],
        "second": lambda: -ua.grad(lambda v: ua.sum(gradient(v)), backend=engine)(x),
    }
    return ways


@pytest.mark.parametrize("way", WAYS)
def test_the_body_serves_where_a_kernel_loses_the_derivative(backend: str, way: str) -> None:
    for engine in through(backend):
        sine, calls = operation(engine, way)
        given = engine if backend == "numpy" else None
        for name, derivative in derivatives(sine, given).items():
            expected = np.sin(X) if name == "second" else np.cos(X)
            np.testing.assert_allclose(as_numpy(derivative()), expected, rtol=1e-9, err_msg=name)
            if name == "compiled" and way == "right":
                # The trace of the body says what the kernel gives.
                calls[:] = [call for call in calls if call != "body"]
        assert ("body" in calls) == (way != "right")
        if backend != "numpy":
            # Without a derivative the kernel is used.
            calls.clear()
            np.testing.assert_allclose(as_numpy(sine(ua.asarray(X))), np.sin(X))
            assert calls == ["kernel"]


@pytest.mark.parametrize("way", WAYS)
def test_without_a_body_an_error_says_what_to_do(backend: str, way: str) -> None:
    for engine in through(backend):
        sine, _ = operation(engine, way, body=False)
        given = engine if backend == "numpy" else None
        for name, derivative in derivatives(sine, given).items():
            if way == "right":
                np.testing.assert_allclose(as_numpy(derivative()), np.sin(X) if name == "second" else np.cos(X))
            elif name != "compiled":
                with pytest.raises(LostDerivativeError, match="write a body"):
                    derivative()
            else:
                # Where nothing is known yet, the engine itself may have refused before.
                with pytest.raises(Exception, match=r".+"):
                    derivative()
        if (engine, way) == ("torch", "numpy"):
            # Inside its transformations torch gives NumPy no tensor at all.
            continue
        constant = ua.grad(lambda v, sine=sine: ua.sum(v * sine(ua.stop_gradient(v))), backend=given)
        np.testing.assert_allclose(as_numpy(constant(ua.asarray(X))), np.sin(X))


@pytest.mark.parametrize("way", WAYS)
def test_the_engines_own_derivatives_are_those_of_the_body(backend: str, way: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    sine, _ = operation(backend, way)
    for inside in (False, True):
        (found,) = ENGINES[backend](sine, X, weigh=np.ones, inside=inside)
        np.testing.assert_allclose(found, np.cos(X), rtol=1e-9)
    bare, _ = operation(backend, way, body=False)
    if way != "right":
        with pytest.raises(LostDerivativeError):
            ENGINES[backend](bare, X, inside=False)


def test_results_without_a_derivative_are_the_kernels(backend: str) -> None:
    for engine in through(backend):
        used: list[str] = []

        @ua.op
        def greatest(x: Array, /) -> Array:
            """Return the place of the greatest element."""
            used.append("body")
            return ua.argmax(x)

        @greatest.kernel(engine)
        def _(x: Any, engine: str = engine, used: list[str] = used) -> Any:
            used.append("kernel")
            return ua.argmax(ua.asarray(x)).native

        given = engine if backend == "numpy" else None
        gradient = ua.grad(lambda v, greatest=greatest: v[greatest(v)] ** 2, backend=given)
        np.testing.assert_allclose(as_numpy(gradient(ua.asarray(X))), [0, 0, 5])
        assert set(used) == {"kernel"}


def test_an_error_of_a_kernel_is_its_own(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="a kernel that is used")

    @ua.op
    def failing(x: Array, /) -> Array: ...

    @failing.kernel(backend)
    def _(x: Any) -> Any:
        raise ZeroDivisionError("of the kernel")

    with pytest.raises(ZeroDivisionError, match="of the kernel"):
        failing(ua.asarray(X))
    with pytest.raises(LostDerivativeError, match="ZeroDivisionError: of the kernel") as caught:
        ua.grad(lambda v: ua.sum(failing(v)))(ua.asarray(X))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
