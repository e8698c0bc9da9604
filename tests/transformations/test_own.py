"""Derivatives by the rules of the package: where no engine has any, and what they refuse."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.tracing import running
from unifyarr.errors import BackendMismatchError, LostDerivativeError
from unifyarr.modes import rule_kernels as kernels

from ..kernels import skip_without_core
from ..natives import has_one_device, skip_unless, values_of
from ..oracle import assert_same
from .through import fresh

ALONE = """
import sys

for name in ("torch", "jax", "tensorflow", "keras"):
    sys.modules[name] = None
before = set(sys.modules)
import unifyarr as ua

def loss(x, y):
    z = ua.zeros(3)
    z[1:] = x
    z *= y
    return ua.sum(ua.tanh(z) ** 2)

x, y = ua.asarray([0.5, -1.0]), ua.asarray([1.0, 2.0, 3.0])
value, gradients = ua.value_and_grad(loss, (0, 1))(x, y)
compiled, others = ua.compile(ua.value_and_grad(loss, (0, 1)))(x, y)
assert float(value) == float(compiled)
for one, other in zip(gradients, others, strict=True):
    assert ua.allclose(one, other, rtol=1e-15), (one, other)
h = ua.hessian(loss)(x, y)
assert ua.allclose(h, h.T)
assert ua.allclose(ua.jvp(lambda x: loss(x, y), (x,), (x,))[1], ua.sum(gradients[0] * x))
rows = ua.stack([x, 2 * x])
for batched in (ua.vmap(ua.grad(loss), (0, None)), ua.compile(ua.vmap(ua.grad(loss), (0, None)))):
    assert ua.allclose(batched(rows, y), ua.stack([ua.grad(loss)(row, y) for row in rows]), rtol=1e-14)
matrices = ua.reshape(ua.arange(8.0), (2, 2, 2))
assert ua.allclose(ua.vmap(ua.linalg.expm)(matrices), ua.linalg.expm(matrices))
"""


def test_numpy_needs_no_other_engine() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def test_an_engine_is_named_for_the_outer_derivative(backend: str) -> None:
    (x,) = fresh([1, 2])
    with pytest.raises(BackendMismatchError, match="leave it out"):
        ua.grad(lambda x: ua.sum(ua.grad(lambda y: ua.sum(y * y), backend=backend)(x)))(x)


def test_the_engines_array_of_a_derivative_is_refused(backend: str) -> None:
    (x,) = fresh([1, 2])
    with pytest.raises(LostDerivativeError, match="stop_gradient"):
        ua.grad(lambda x: ua.sum(ua.asarray((x * x).native)))(x)
    kept = []
    ua.grad(lambda x: [kept.append(ua.stop_gradient(x * x).native), ua.sum(x)][1])(x)
    np.testing.assert_array_equal(values_of(kept[0]), [1.0, 4.0])


def test_a_pullback_is_differentiated_and_compiled_later(backend: str) -> None:
    (x,) = fresh([1, 2])
    _, pullback = ua.vjp(lambda x: ua.exp(x) * x, x)
    expected = np.exp([1.0, 2.0]) * [2.0, 3.0]
    assert_same(pullback(x)[0], expected * [1.0, 2.0], rtol=1e-12)
    assert_same(ua.grad(lambda u: ua.sum(pullback(u * u)[0]))(x), expected * [2.0, 4.0], rtol=1e-12)
    assert_same(ua.compile(lambda u: pullback(u)[0])(x), expected * [1.0, 2.0], rtol=1e-12)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_a_number_before_an_array_takes_the_short_way(backend: str, name: str) -> None:
    skip_without_core()
    if not has_one_device():
        pytest.skip("a number is beside an array, which may be on any of them")
    (x,) = fresh([1, 2])
    calls = []

    def f(x: ua.Array) -> ua.Array:
        scope = running()
        calls.append(scope.handle.short[name](scope, 2.0, x))
        return ua.sum(calls[-1])

    skip_unless(backend, "numpy", "torch", "jax", why="an engine that takes a number there")
    found = ua.grad(f)(x)
    assert type(calls[0]) is ua.Array
    assert_same(
        found, {"add": [1.0, 1.0], "subtract": [-1.0, -1.0], "multiply": [2.0, 2.0], "divide": [-2.0, -0.5]}[name]
    )


def test_ever_new_numbers_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "MOST_NUMBERS", 8)
    with ua.use_backend("numpy"):
        (x,) = fresh([1, 2])
        remembered = kernels.kernels_of(x._backend)._numbers
        remembered.clear()
        for number in range(50):
            gradient = ua.grad(lambda x, factor=float(number): ua.sum(x * factor))
            assert_same(gradient(x), np.full(2, float(number)))
            assert len(remembered) <= 8
