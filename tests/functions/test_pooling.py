"""Pools against torch's own functions and NumPy's windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unifyarr as ua

from ..natives import skip_unless, values_of
from ..oracle import BOOL, COMPLEX, FLOATS, HALVES, INTEGERS, TOLERANCE, as_numpy, assert_raises, assert_same
from .test_native_out import gradient

MAX = {1: ua.nn.max_pool1d, 2: ua.nn.max_pool2d, 3: ua.nn.max_pool3d}
AVG = {1: ua.nn.avg_pool1d, 2: ua.nn.avg_pool2d, 3: ua.nn.avg_pool3d}
SHAPE = (2, 7, 6, 5)
# The window, and the options.
MAXIMA: list[tuple[Any, dict[str, Any]]] = [
    (2, {}),
    ((3, 2, 2), {"stride": 1, "padding": (1, 0, 1)}),
    ((3, 2, 3), {"stride": (2, 1, 3), "padding": 1, "dilation": (2, 1, 1)}),
]
MEANS: list[tuple[Any, dict[str, Any]]] = [
    (2, {}),
    ((3, 2, 2), {"stride": 1, "padding": (1, 0, 1)}),
    ((3, 2, 3), {"stride": (2, 1, 3), "padding": 1, "count_include_pad": False}),
]


def of_axes(value: Any, axes: int) -> Any:
    """Return a window or options for the first so many axes."""
    if isinstance(value, dict):
        return {name: of_axes(each, axes) for name, each in value.items()}
    return value[:axes] if isinstance(value, tuple) else value


def values_for(dtype: str, axes: int, *, special: bool = False) -> np.ndarray:
    """Return an array with ties in it, and with NaN and infinities if wanted."""
    random = np.random.default_rng(axes)
    shape = SHAPE[: axes + 1]
    if dtype in BOOL + INTEGERS:
        return random.integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype)
    x = np.round(random.standard_normal(shape), 1)
    if special:
        x[random.integers(0, 8, shape) == 0] = -np.inf
        x[random.integers(0, 8, shape) == 0] = np.inf
        x[random.integers(0, 16, shape) == 0] = np.nan
    if dtype in COMPLEX:
        x = x - 2j * x
    return x.astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def torchs(name: str, axes: int, x: np.ndarray, window: Any, options: dict[str, Any]) -> np.ndarray:
    """Return the result of torch's own function, of which all numbers here are in double precision."""
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    function = getattr(torch.nn.functional, f"{name}_pool{axes}d")
    if x.dtype.kind == "c":
        return torchs(name, axes, x.real, window, options) + 1j * torchs(name, axes, x.imag, window, options)
    return function(torch.from_numpy(x.astype("f8")), window, **options).numpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", [*BOOL, "int8", "int64", "uint8", "uint32", *HALVES, *FLOATS])
@pytest.mark.parametrize("axes", MAX)
def test_max_pools_are_torchs(backend: str, axes: int, dtype: str) -> None:
    x = values_for(dtype, axes, special=True)
    for window, options in MAXIMA if dtype in ("float64", "int64") else MAXIMA[-1:]:
        window, options = of_axes(window, axes), of_axes(options, axes)
        expected = torchs("max", axes, x, window, options).astype(x.dtype)
        result = MAX[axes](ua.asarray(x), window, **options)
        assert_same(result, expected, rtol=0, signed_zeros=False, what=(window, options))


@pytest.mark.parametrize("dtype", [*BOOL, "int64", "uint8", *HALVES, *FLOATS, *COMPLEX])
@pytest.mark.parametrize("axes", AVG)
def test_average_pools_are_torchs(backend: str, axes: int, dtype: str) -> None:
    x = values_for(dtype, axes)
    for window, options in MEANS if dtype in ("float64", "int64") else MEANS[-1:]:
        window, options = of_axes(window, axes), of_axes(options, axes)
        expected = torchs("avg", axes, x, window, options)
        expected = expected if dtype in BOOL + INTEGERS else expected.astype(x.dtype)
        atol = TOLERANCE.get(dtype, 1e-12)
        result = AVG[axes](ua.asarray(x), window, **options)
        assert_same(result, expected, atol=atol, signed_zeros=False, what=(window, options))


# Windows that reach beyond the end, some by more than the padding, one that is wider than an axis.
CEILED: list[tuple[Any, dict[str, Any]]] = [
    (2, {}),
    (3, {"stride": 2}),
    (4, {"stride": 3, "padding": (1, 2, 0)}),
    ((3, 2, 3), {"stride": (2, 3, 3), "padding": 1}),
    ((2, 3, 2), {"stride": (4, 5, 3)}),
    ((8, 7, 6), {"stride": 2}),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
@pytest.mark.parametrize("axes", MAX)
def test_ceil_mode_is_torchs(backend: str, axes: int, dtype: str) -> None:
    x = values_for(dtype, axes)
    for window, options in CEILED:
        window, options = of_axes(window, axes), {**of_axes(options, axes), "ceil_mode": True}
        for more in ({}, {"dilation": 2}):
            if dtype != "float64" and more:
                continue
            try:
                expected = torchs("max", axes, x, window, options | more).astype(x.dtype)
            except RuntimeError:
                assert_raises(ua.errors.ShapeError, MAX[axes], ua.asarray(x), window, **options, **more)
                continue
            assert_same(MAX[axes](ua.asarray(x), window, **options, **more), expected, what=(window, options, more))
        if axes == 3 and window == (8, 7, 6):
            # torch's own refuses means over windows that are wider than an axis here alone.
            continue
        for include in (False, True):
            expected = torchs("avg", axes, x, window, options | {"count_include_pad": include})
            expected = expected if dtype in BOOL + INTEGERS else expected.astype(x.dtype)
            what, atol = (window, options, include), TOLERANCE.get(dtype, 1e-12)
            result = AVG[axes](ua.asarray(x), window, **options, count_include_pad=include)
            assert_same(result, expected, atol=atol, signed_zeros=False, what=what)


def test_the_number_of_windows_of_ceil_mode_is_torchs(backend: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    random = np.random.default_rng(0)
    for _ in range(60):
        length, window, stride = (int(each) for each in random.integers(1, 8, 3))
        padding = int(random.integers(0, window // 2 + 1))
        x = np.arange(1.0, length + 1)
        options: dict[str, Any] = {"stride": stride, "padding": padding, "ceil_mode": True}
        try:
            expected = torch.nn.functional.max_pool1d(torch.from_numpy(x)[None, None], window, **options)[0, 0].numpy()
        except RuntimeError:
            assert_raises(ua.errors.ShapeError, ua.nn.max_pool1d, ua.asarray(x), window, **options)
            continue
        assert_same(ua.nn.max_pool1d(ua.asarray(x), window, **options), expected, what=(length, window, options))
        means = torch.nn.functional.avg_pool1d(torch.from_numpy(x)[None, None], window, **options)[0, 0].numpy()
        assert_same(
            ua.nn.avg_pool1d(ua.asarray(x), window, **options), means, atol=1e-12, what=(length, window, options)
        )


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_ceil_mode_into_out_and_compiled(backend: str, kind: str) -> None:
    pool = getattr(ua.nn, f"{kind}_pool2d")
    x = ua.asarray(values_for("float64", 2))
    expected = as_numpy(pool(x, 3, stride=2, padding=1, ceil_mode=True))
    out = ua.empty(expected.shape)
    assert pool(x, 3, stride=2, padding=1, ceil_mode=True, out=out) is out
    assert_same(out, expected)
    assert_same(ua.compile(lambda x: pool(x, 3, stride=2, padding=1, ceil_mode=True))(x), expected)


def test_nan_and_infinities_reach_the_means_of_their_windows(backend: str) -> None:
    x = ua.asarray([np.nan, 1.0, 3.0, np.inf, 1.0, -np.inf, np.inf, 2.0])
    assert_same(ua.nn.avg_pool1d(x, 2), np.array([np.nan, np.inf, -np.inf, np.inf]))
    assert_same(ua.nn.max_pool1d(x, 2), np.array([np.nan, np.inf, 1.0, np.inf]))


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_padding_may_differ_before_and_behind(backend: str, kind: str) -> None:
    pool = getattr(ua.nn, f"{kind}_pool2d")
    x = np.random.default_rng(0).standard_normal((2, 4, 5))
    around = np.pad(x, ((0, 0), (1, 0), (0, 2)), constant_values=-np.inf if kind == "max" else 0)
    windows = np.lib.stride_tricks.sliding_window_view(around, (2, 3), (1, 2))[:, :, ::2]
    expected = windows.max((-2, -1)) if kind == "max" else windows.mean((-2, -1))
    assert_same(pool(ua.asarray(x), (2, 3), stride=(1, 2), padding=((1, 0), (0, 2))), expected)
    assert pool(ua.asarray(x), 3, stride=1, padding="same").shape == x.shape
    assert pool(ua.asarray(x), 3, stride=1, padding="valid").shape == (2, 2, 3)


def test_windows_that_dilation_leaves_with_padding_alone(backend: str) -> None:
    for dtype, least in (("float64", -np.inf), ("int16", -(2**15)), ("uint8", 0)):
        result = ua.nn.max_pool1d(ua.ones(1, dtype=dtype), 2, dilation=2, padding=1)
        assert_same(result, np.array([least], dtype))


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_any_leading_axes(backend: str, kind: str) -> None:
    pool = getattr(ua.nn, f"{kind}_pool1d")
    x = np.random.default_rng(0).standard_normal((2, 0, 3, 4))
    assert pool(ua.asarray(x), 2).shape == (2, 0, 3, 2)
    line = np.array([1.0, 5.0, 2.0, 4.0])
    expected = as_numpy(pool(ua.asarray(line), 2))
    assert_same(pool(ua.asarray(line[None, None, None]), 2), expected[None, None, None])


REFUSED: dict[str, tuple[tuple[int, ...], Any, dict[str, Any]]] = {
    "too few axes": ((4,), 2, {}),
    "a window that is too large": ((4, 4), 5, {}),
    "no window": ((4, 4), 0, {}),
    "a window of three axes": ((4, 4), (2, 2, 2), {}),
    "no stride": ((4, 4), 2, {"stride": 0}),
    "padding as wide as the window": ((4, 4), 2, {"padding": 2}),
    "negative padding": ((4, 4), 2, {"padding": -1}),
    "'same' with a stride": ((4, 4), 2, {"padding": "same"}),
    "a window that is too large for ceil_mode": ((4, 4), 6, {"stride": 2, "ceil_mode": True}),
}


@pytest.mark.parametrize(("shape", "window", "options"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_what_doesnt_fit_is_refused(
    backend: str, kind: str, shape: tuple[int, ...], window: Any, options: dict[str, Any]
) -> None:
    pool = getattr(ua.nn, f"{kind}_pool2d")
    assert_raises(ValueError, pool, ua.ones(shape), window, **options, out=ua.ones((2, 2)))


def test_complex_numbers_have_no_greatest(backend: str) -> None:
    assert_raises(ua.errors.DtypeError, ua.nn.max_pool1d, ua.ones(4, dtype="complex128"), 2)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("axes", MAX)
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_gradients_are_torchs(backend: str, kind: str, axes: int, ceil_mode: bool) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    window, options = ((3, 2, 3), {"stride": (2, 1, 3), "padding": 1})
    window, options = of_axes(window, axes), {**of_axes(options, axes), "ceil_mode": ceil_mode}
    # Without ties, whose gradient engines share differently.
    x = np.random.default_rng(0).permutation(np.arange(np.prod(SHAPE[: axes + 1]))).reshape(SHAPE[: axes + 1]) / 7
    leaf = torch.tensor(x, requires_grad=True)
    (getattr(torch.nn.functional, f"{kind}_pool{axes}d")(leaf, window, **options) ** 2).sum().backward()
    pool = (MAX if kind == "max" else AVG)[axes]
    found = gradient(backend, lambda x: ua.sum(pool(x, window, **options) ** 2), x)
    np.testing.assert_allclose(found, values_of(leaf.grad), rtol=1e-10)


def test_inside_a_trace(backend: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces")

    def run(native: Any) -> Any:
        x = ua.asarray(native)
        return (ua.nn.max_pool2d(x, 2, padding=1) + ua.nn.avg_pool2d(x, 2, padding=1, count_include_pad=False)).native

    x = ua.asarray(values_for("float64", 2))
    if backend == "jax":
        import jax

        traced = jax.jit(run)(x.native)
    else:
        import tensorflow as tf

        traced = tf.function(run)(x.native)
    assert_same(ua.asarray(traced), as_numpy(ua.asarray(run(x.native))))


@pytest.mark.parametrize("options", [{}, {"stride": 1, "padding": 1}, {"stride": 3, "ceil_mode": True}], ids=str)
@pytest.mark.parametrize("pools", [MAX, AVG], ids=["max", "avg"])
def test_derivatives_are_torchs(backend: str, pools: Any, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    x = np.random.default_rng(0).permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8) / 7.0
    name = "max_pool2d" if pools is MAX else "avg_pool2d"
    tensor = torch.tensor(x, requires_grad=True)
    torch.sum(getattr(torch.nn.functional, name)(tensor, 2, **options) ** 3).backward()

    def loss(x: ua.Array) -> ua.Array:
        return ua.sum(pools[2](x, 2, **options) ** 3)

    expected, array = values_of(tensor.grad), ua.asarray(x)
    assert_same(ua.grad(loss)(array), expected, rtol=1e-10)
    assert_same(ua.compile(ua.grad(loss))(array), expected, rtol=1e-10)
    both = ua.stack([array, -array])
    found = as_numpy(ua.vmap(ua.grad(loss))(both))
    np.testing.assert_allclose(found[0], expected, rtol=1e-10)
    value, slope = ua.jvp(loss, (array,), (array,))
    assert_same(value, as_numpy(loss(array)), rtol=1e-10)
    np.testing.assert_allclose(float(slope), np.sum(expected * x), rtol=1e-10)
    twice = as_numpy(ua.grad(lambda x: ua.sum(ua.grad(loss)(x)))(array))
    step = 1e-4
    near = [as_numpy(ua.grad(loss)(ua.asarray(x + each))) for each in (step, -step)]
    np.testing.assert_allclose(twice, (near[0] - near[1]) / (2 * step), rtol=1e-6, atol=1e-6)


def test_equal_elements_share_a_gradient(backend: str) -> None:
    x = ua.asarray([[0.0, 2.0, 2.0], [2.0, 1.0, 2.0]])
    found = ua.grad(lambda x: ua.sum(ua.nn.max_pool2d(x, 2, stride=1)))(x)
    assert_same(found, np.array([[0, 1 / 2 + 1 / 3, 1 / 3], [1 / 2, 0, 1 / 3]]))


def test_equal_elements_of_many_windows_share_a_gradient(backend: str) -> None:
    # Most windows have several zeros that are greatest.
    values = np.maximum(np.random.default_rng(4).normal(size=(4, 3, 16, 18)) - 1.0, 0.0)

    def slope(x: ua.Array) -> ua.Array:
        return ua.grad(lambda x: ua.sum(ua.nn.max_pool2d(x, (2, 3)) * 2.0))(x)

    windows = values.reshape(4, 3, 8, 2, 6, 3)
    chosen = windows == windows.max(axis=(3, 5), keepdims=True)
    wanted = (2.0 * chosen / chosen.sum(axis=(3, 5), keepdims=True)).reshape(values.shape)
    for x in (ua.asarray(values), ua.asarray(values.transpose(0, 1, 3, 2).copy()).mT):
        assert_same(slope(x), wanted, rtol=1e-14)
        assert_same(ua.compile(slope)(x), wanted, rtol=1e-14)
