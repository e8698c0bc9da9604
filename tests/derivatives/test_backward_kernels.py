"""Functions whose derivatives an engine has kernels for: the values, gradients and bends of the same on NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load

from ..oracle import assert_same
from .cases import real

Function = Callable[..., ua.Array]

WEIGHT, BIAS = real(6, seed=1), real(6, seed=2)
FACTOR = real(2, 5, 6, seed=3)


def with_parameters(axis: int | tuple[int, ...]) -> Function:
    def function(x: ua.Array) -> ua.Array:
        shape = (5, 6) if axis == (1, 2) else (6,) if axis == -1 else (5,)
        weight, bias = (
            ua.asarray(np.resize(each, shape).astype(x.dtype), backend=x.backend) for each in (WEIGHT, BIAS)
        )
        return ua.nn.layer_norm(x, weight, bias, axis=axis)

    return function


def of_classes(x: ua.Array) -> ua.Array:
    target = ua.asarray(np.arange(10).reshape(2, 5) % 6, backend=x.backend)
    return ua.nn.cross_entropy(x, target)


FUNCTIONS: dict[str, Function] = {
    "layer_norm": with_parameters(-1),
    "layer_norm of two axes": with_parameters((1, 2)),
    "layer_norm of a middle axis": with_parameters(1),
    "softmax": lambda x: ua.nn.softmax(x, axis=1),
    "log_softmax": ua.nn.log_softmax,
    "cross_entropy": of_classes,
    "gelu": ua.nn.gelu,
}
X = real(2, 5, 6)
LAYOUTS: dict[str, Callable[[ua.Array], ua.Array]] = {
    "C": lambda x: x,
    "reversed": lambda x: x[:, ::-1],
    "steps": lambda x: ua.concat([x, x], axis=1)[:, ::2],
    "order": lambda x: ua.permute_dims(ua.permute_dims(x, (2, 0, 1)).copy(), (1, 2, 0)),
}


@pytest.fixture
def engine(backend: str) -> str:
    """Return a backend that has such kernels; on the others the derivatives are composed, as on NumPy."""
    if "softmax_backward" not in load(backend).kernels:
        pytest.skip(f"{backend} has no kernels of derivatives")
    return backend


def loss(function: Function) -> Function:
    def of(x: ua.Array) -> ua.Array:
        y = function(x)
        factor = ua.asarray(FACTOR.astype(y.dtype), backend=x.backend)
        return ua.sum(y * y * (factor if y.ndim else 1.0))

    return of


def slopes(function: Function) -> Function:
    return ua.grad(loss(function))


def bends(function: Function) -> Function:
    """Return the gradient of the squares of the gradient."""
    return ua.grad(lambda x: ua.sum(ua.square(slopes(function)(x))))


def of_numpy(function: Function, x: np.ndarray) -> np.ndarray:
    return np.asarray(function(ua.asarray(x, backend="numpy")))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_layout_has_the_gradient_of_numpy(engine: str, name: str, layout: str) -> None:
    for of, tolerance in ((slopes, 1e-13), (bends, 1e-11)):
        function = of(lambda x: FUNCTIONS[name](LAYOUTS[layout](x)))
        wanted = of_numpy(function, X)
        for run in (function, ua.compile(function)):
            found = run(ua.asarray(X))
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_ways_have_the_gradient_of_numpy(engine: str, name: str) -> None:
    function, x = FUNCTIONS[name], ua.asarray(X)

    def scaled_twice(x: ua.Array) -> ua.Array:
        return ua.sum(ua.vmap(lambda factor: loss(function)(x * factor))(ua.arange(1.0, 3.0)))

    ways: dict[str, Function] = {
        "value": loss(function),
        "reverse": slopes(function),
        "forward": lambda x: ua.jvp(loss(function), (x,), (ua.asarray(FACTOR, backend=x.backend),))[1],
        "bends": bends(function),
        "batch": lambda x: ua.vmap(slopes(function))(ua.stack([x, 2 * x])),
        "by a batch": ua.grad(scaled_twice),
    }
    for way, run in ways.items():
        with ua.use_backend("numpy"):
            wanted = of_numpy(run, X)
        for each in (run, ua.compile(run)):
            np.testing.assert_allclose(np.asarray(each(x)), wanted, rtol=1e-11, atol=1e-11, err_msg=way)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_dtype_has_its_gradient(engine: str, name: str, dtype: str) -> None:
    function = slopes(FUNCTIONS[name])
    x = ua.astype(ua.asarray(X), getattr(ua, dtype))
    wanted = of_numpy(function, np.asarray(ua.astype(x, ua.float64)))
    tolerance = {"float16": 2e-2, "bfloat16": 2e-1, "float32": 1e-5, "float64": 1e-13}[dtype]
    for run in (function, ua.compile(function)):
        found = run(x)
        assert found.dtype == x.dtype
        found = np.asarray(ua.astype(found, ua.float64))
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


# Where gelu is composed, bounds stop the gradient of NaN.
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "gelu"])
def test_special_values_go_where_they_go_on_numpy(engine: str, name: str) -> None:
    function, values = slopes(FUNCTIONS[name]), X.copy()
    values[0, 1, 2], values[1, 0, 0] = np.nan, np.inf
    with np.errstate(all="ignore"):
        wanted = np.isfinite(of_numpy(function, values))
    assert_same(ua.isfinite(function(ua.asarray(values))), wanted)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "gelu", "layer_norm"])
def test_no_elements_have_no_gradient(engine: str, name: str) -> None:
    function = FUNCTIONS[name]
    for run in (ua.grad(lambda x: ua.sum(function(x))), ua.compile(ua.grad(lambda x: ua.sum(function(x))))):
        assert run(ua.zeros((2, 0, 6))).shape == (2, 0, 6)


@pytest.mark.parametrize("scale", [1e90, 1e170, 1e300])
def test_squares_of_what_is_normalised_do_not_overflow(backend: str, scale: float) -> None:
    def normalised(x: ua.Array, eps: float) -> ua.Array:
        weight, bias = (ua.asarray(each, backend=x.backend) for each in (WEIGHT, BIAS))
        return ua.nn.layer_norm(x, weight, bias, eps=eps)

    # The values are those of smaller numbers, and the gradient is less by as much.
    x = ua.asarray(X, backend="numpy")
    wanted, slope = ua.value_and_grad(loss(lambda x: normalised(x, 0.0)))(x)
    for run in (gradient := ua.value_and_grad(loss(lambda x: normalised(x, 1e-5))), ua.compile(gradient)):
        value, found = run(ua.asarray(scale * X))
        np.testing.assert_allclose(np.asarray(value), np.asarray(wanted), rtol=1e-12)
        np.testing.assert_allclose(scale * np.asarray(found), np.asarray(slope), rtol=1e-12, atol=1e-13)


def test_small_probabilities_keep_their_digits(backend: str) -> None:
    x = np.linspace(-37.0, 37.0, 40_001)
    with ua.use_backend("numpy"):
        wanted, slope = of_numpy(ua.nn.gelu, x), of_numpy(ua.grad(lambda x: ua.sum(ua.nn.gelu(x))), x)
    (_, value), found = ua.value_and_grad(lambda x: (ua.sum(y := ua.nn.gelu(x)), y), has_aux=True)(ua.asarray(x))
    np.testing.assert_allclose(np.asarray(value), wanted, rtol=2e-13)
    np.testing.assert_allclose(np.asarray(found), slope, rtol=1e-11, atol=1e-300)


def test_torch_has_these_kernels() -> None:
    pytest.importorskip("torch")
    x = ua.asarray(X, backend="torch")
    steps = {"layer_norm": "norm", "softmax": "softmax", "log_softmax": "log_softmax"}
    for name, kernel in steps.items():
        backward = str(ua.compile(slopes(FUNCTIONS[name])).graph(x))
        assert f"{kernel}_backward" in backward
        # Without a derivative, residuals aren't needed.
        assert "_with_" not in str(ua.compile(FUNCTIONS[name]).graph(x))
