"""Convolutions against SciPy's correlations and torch's own functions."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import signal

import unifyarr as ua

from ..natives import skip_unless, values_of
from ..oracle import COMPLEX, FLOATS, HALVES, INTEGERS, TOLERANCE, as_numpy, assert_raises, assert_same, seeded, twice
from .test_native_out import gradient

CONVOLUTIONS = {1: ua.nn.conv1d, 2: ua.nn.conv2d, 3: ua.nn.conv3d}
LENGTHS = (6, 5, 4)
# The same for all axes, and differing ones.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1},
    {"groups": 2, "padding": 2},
    {"dilation": 2, "padding": "same"},
    {"dilation": 2, "padding": ((0, 2), (2, 1), (1, 1)), "groups": 2, "stride": (2, 1, 3)},
    {"stride": (1, 3, 2), "padding": (0, 1, 2)},
]


def of_axes(options: dict[str, Any], axes: int) -> dict[str, Any]:
    """Return the options for the first so many axes."""
    return {name: value[:axes] if isinstance(value, tuple) else value for name, value in options.items()}


def operands(dtype: str, axes: int, groups: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a batch, kernels and a bias."""
    random = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [(2, 4, *LENGTHS[:axes]), (6, 4 // groups, *(3, 2, 2)[:axes]), (6,)]
    low = 0 if dtype.startswith("u") else -5
    if dtype in INTEGERS:
        return tuple(random.integers(low, 6, shape).astype(dtype) for shape in shapes)  # type: ignore[return-value]
    made = (random.standard_normal(shape) for shape in shapes)
    if dtype in COMPLEX:
        made = (x + 1j * random.standard_normal(x.shape) for x in made)
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    return tuple(x.astype(kind) for x in made)  # type: ignore[return-value]


def of_torch(axes: int, x: Any, weight: Any, bias: Any, **options: Any) -> Any:
    """Return torch's own result for tensors of double precision, with its own padding put before."""
    functional = pytest.importorskip("torch", reason="torch is the oracle").nn.functional
    padding, kernel = options.pop("padding", 0), weight.shape[2:]
    if padding == "same":
        padding = tuple((d // 2, d - d // 2) for d in (options["dilation"] * (n - 1) for n in kernel))
    pairs = [
        p if isinstance(p, tuple) else (p, p) for p in (padding if isinstance(padding, tuple) else [padding] * axes)
    ]
    x = functional.pad(x, [length for pair in reversed(pairs) for length in pair])
    return getattr(functional, f"conv{axes}d")(x, weight, bias, **options)


def expected_of(axes: int, *given: np.ndarray, **options: Any) -> np.ndarray:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    wide = "c16" if given[0].dtype.kind == "c" else "f8"
    tensors = [torch.from_numpy(x.astype(wide)) for x in given]
    return values_of(of_torch(axes, *tensors, **options))


@pytest.mark.parametrize("dtype", [*HALVES, *FLOATS, "int8", "int64", "uint16", "complex64", "complex128"])
@pytest.mark.parametrize("axes", CONVOLUTIONS)
def test_convolutions_are_torchs(backend: str, axes: int, dtype: str) -> None:
    # JAX and TensorFlow compile each.
    chosen = OPTIONS if dtype == "float64" else OPTIONS[2::2] if dtype == "int64" else OPTIONS[-1:]
    for number, each in enumerate(chosen):
        options = of_axes(each, axes)
        arrays = operands(dtype, axes, options.get("groups", 1), number)
        expected = expected_of(axes, *arrays, **options)
        # The sums of absolute values, which scale rounding errors.
        scale = np.max(np.abs(expected_of(axes, *map(np.abs, arrays), **options)))
        result = CONVOLUTIONS[axes](*map(ua.asarray, arrays), **options)
        with np.errstate(all="ignore"):
            wrapped = expected.astype("i8").astype(dtype) if dtype in INTEGERS else expected.astype(arrays[0].dtype)
        assert_same(result, wrapped, atol=TOLERANCE.get(dtype, 0) * scale, signed_zeros=False, what=options)


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float64", "complex128"])
@twice
@given(data=st.data())
def test_one_channel_is_scipys_correlation(backend: str, dtype: str, data: st.DataObject) -> None:
    axes = data.draw(st.integers(1, 3))
    x = data.draw(seeded(dtype, LENGTHS[:axes], special=False, low=-9, high=9))
    kernel = data.draw(seeded(dtype, data.draw(st.sampled_from([(1, 1, 1), (3, 2, 2)]))[:axes], special=False, high=9))
    if dtype == "bool":
        expected = signal.correlate(x.astype("i8"), kernel.astype("i8"), "valid") != 0
    else:
        # The correlation conjugates the kernel.
        expected = signal.correlate(x, np.conj(kernel), "valid", method="direct")
    result = CONVOLUTIONS[axes](ua.asarray(x[None]), ua.asarray(kernel[None, None]))
    assert_same(result, expected[None].astype(dtype), atol=1e-9 if dtype[0] in "fc" else 0, signed_zeros=False)


@pytest.mark.chunks(64)
def test_images_of_more_than_a_block_of_windows(backend: str) -> None:
    random = np.random.default_rng(0)
    x, kernels = random.standard_normal((3, 200, 150)), random.standard_normal((2, 3, 3, 4))
    expected = [sum(signal.correlate(*pair, "valid") for pair in zip(x, each, strict=True)) for each in kernels]
    assert_same(ua.nn.conv2d(ua.asarray(x), ua.asarray(kernels)), np.stack(expected), atol=1e-10)


def test_nan_and_infinities_reach_the_windows_that_hold_them_and_no_others(backend: str) -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    x[0, 0, 0, 0], x[0, 0, 3, 3] = np.nan, np.inf
    result = as_numpy(ua.nn.conv2d(ua.asarray(x), ua.ones((2, 1, 2, 2)), ua.asarray([0.0, -np.inf])))
    expected = signal.correlate(np.nan_to_num(x[0, 0], posinf=0), np.ones((2, 2)), "valid")
    expected[0, 0], expected[2, 2] = np.nan, np.inf
    np.testing.assert_allclose(result[0, 0], expected)
    assert np.isnan(result[0, 1, 0, 0])
    assert np.isnan(result[0, 1, 2, 2])
    assert np.sum(result[0, 1] == -np.inf) == 7


@pytest.mark.parametrize("axes", CONVOLUTIONS)
def test_one_image_needs_no_axis_for_the_batch(backend: str, axes: int) -> None:
    x, weight, bias = map(ua.asarray, operands("float64", axes, 1))
    convolve = CONVOLUTIONS[axes]
    batch = as_numpy(convolve(x, weight, bias))
    assert_same(convolve(x[1, ...], weight, bias), batch[1])
    out = ua.zeros(batch.shape[1:])
    assert convolve(x[0, ...], weight, bias, out=out) is out
    assert_same(out, batch[0])


def test_nothing_to_add_up_gives_the_bias(backend: str) -> None:
    bias = ua.asarray([1.0, 2.0])
    for x, weight in [((2, 0, 4), (2, 0, 3)), ((0, 3, 4), (2, 3, 3))]:
        result = ua.nn.conv1d(ua.ones(x), ua.ones(weight), bias)
        assert_same(result, np.broadcast_to([[1.0], [2.0]], (x[0], 2, 2)))
    assert ua.nn.conv1d(ua.ones((2, 3, 4)), ua.ones((0, 3, 3))).shape == (2, 0, 2)


def test_dtypes_promote(backend: str) -> None:
    x, weight = ua.ones((1, 1, 4), dtype="float32"), ua.ones((1, 1, 2), dtype="int64")
    assert ua.nn.conv1d(x, weight).dtype == "float64"
    assert ua.nn.conv1d(x, ua.ones((1, 1, 2), dtype="float32"), ua.ones(1, dtype="complex64")).dtype == "complex64"


X, W = (1, 4, 5, 5), (6, 2, 3, 3)
REFUSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "too few axes": ((5, 5), W, (6,), {}),
    "a kernel of too few axes": (X, (6, 4, 3), (6,), {}),
    "channels that don't fit": (X, W, (6,), {}),
    "groups that don't divide": (X, (5, 2, 3, 3), (5,), {"groups": 2}),
    "no groups": (X, W, (6,), {"groups": 0}),
    "a bias of another length": (X, W, (2,), {"groups": 2}),
    "a bias of no axis": (X, W, (), {"groups": 2}),
    "a kernel that is too large": (X, (6, 2, 6, 3), (6,), {"groups": 2}),
    "a kernel that is too large when dilated": (X, W, (6,), {"groups": 2, "dilation": 3}),
    "an empty kernel": (X, (6, 2, 0, 3), (6,), {"groups": 2}),
    "no stride": (X, W, (6,), {"groups": 2, "stride": 0}),
    "a stride for each of three": (X, W, (6,), {"groups": 2, "stride": (1, 1, 1)}),
    "negative padding": (X, W, (6,), {"groups": 2, "padding": -1}),
    "one pair for two axes": (X, W, (6,), {"groups": 2, "padding": ((1, 1),)}),
    "a triple": (X, W, (6,), {"groups": 2, "padding": ((1, 1, 1), (1, 1, 1))}),
    "another word": (X, W, (6,), {"groups": 2, "padding": "full"}),
    "'same' with a stride": (X, W, (6,), {"groups": 2, "padding": "same", "stride": 2}),
}


@pytest.mark.parametrize(("x", "weight", "bias", "options"), REFUSED.values(), ids=REFUSED.keys())
def test_what_doesnt_fit_is_refused(
    backend: str, x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...], options: dict[str, Any]
) -> None:
    out = ua.ones((1, 6, 3, 3))
    assert_raises(ValueError, ua.nn.conv2d, ua.ones(x), ua.ones(weight), ua.ones(bias), **options, out=out)


@pytest.mark.parametrize("options", [OPTIONS[1], OPTIONS[4]], ids=str)
@pytest.mark.parametrize("axes", CONVOLUTIONS)
def test_gradients_are_torchs(backend: str, axes: int, options: dict[str, Any]) -> None:
    skip_unless(backend, "torch", "jax", "tensorflow", why="an engine that records gradients")
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    options = of_axes(options, axes)
    arrays = operands("float64", axes, options.get("groups", 1))
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
    torch.sum(of_torch(axes, *tensors, **options) ** 2).backward()
    for place, tensor in enumerate(tensors):

        def loss(x: ua.Array, place: int = place) -> ua.Array:
            given = [x if number == place else ua.asarray(each) for number, each in enumerate(arrays)]
            return ua.sum(CONVOLUTIONS[axes](*given, **options) ** 2)

        np.testing.assert_allclose(gradient(backend, loss, arrays[place]), values_of(tensor.grad), rtol=1e-9, atol=1e-9)


def _second(loss: Any, arrays: Any) -> Any:
    """Return derivatives of the first derivatives, which are squares and not only linear."""

    def slopes(*given: ua.Array) -> ua.Array:
        x, weight, bias = (ua.sum(each**3) for each in ua.grad(loss, argnums=(0, 1, 2))(*given))
        found = x + weight + bias
        return ua.real(found) if found.dtype.kind == "c" else found

    return ua.grad(slopes, argnums=(0, 1, 2))(*arrays)


@pytest.mark.parametrize("dtype", ["float64", "float32", *HALVES, "complex128"])
def test_derivatives_of_both_orders_and_modes(backend: str, dtype: str) -> None:
    options, kind = of_axes(OPTIONS[4], 2), ua.bfloat16 if dtype == "bfloat16" else dtype
    given = operands("complex128" if dtype in COMPLEX else "float64", 2, 2)
    exact = [ua.asarray(x.astype(kind)).astype("complex128" if dtype in COMPLEX else "float64") for x in given]
    arrays = [x.astype(dtype) for x in exact]

    def loss(*given: ua.Array) -> ua.Array:
        found = ua.nn.conv2d(*given, **options)
        return ua.sum(ua.real(found * found)) / 64 if dtype in COMPLEX else ua.sum(found**2) / 64

    def composed(*given: ua.Array) -> ua.Array:
        # Windows as columns, of which there are products.
        x, weight, bias = given
        static = {name: options[name] for name in ("stride", "padding", "dilation")}
        columns = ua.nn.unfold(x, weight.shape[2:], **static).reshape((2, 2, 2 * 6, -1))
        found = (weight.reshape((2, 3, -1)) @ columns).reshape((2, 6, -1)) + bias[:, None]
        return ua.sum(ua.real(found * found)) / 64 if dtype in COMPLEX else ua.sum(found**2) / 64

    every, atol = (0, 1, 2), {"float32": 1e-4, "float16": 2e-2, "bfloat16": 2e-1}.get(dtype, 1e-10)
    for found, wanted in (
        (ua.grad(loss, argnums=every)(*arrays), ua.grad(composed, argnums=every)(*exact)),
        (ua.jvp(loss, arrays, arrays), ua.jvp(composed, exact, exact)),
        *(() if dtype in HALVES else [(_second(loss, arrays), _second(composed, exact))]),
    ):
        for one, other in zip(found, wanted, strict=True):
            scale = 1 + np.max(np.abs(as_numpy(other)))
            assert one.dtype == (dtype if one.ndim else one.dtype)
            np.testing.assert_allclose(as_numpy(one.astype(other.dtype)), as_numpy(other), rtol=0, atol=atol * scale)


def test_derivatives_of_batches_and_compiled(backend: str) -> None:
    options, arrays = of_axes(OPTIONS[4], 1), [ua.asarray(x) for x in operands("float64", 1, 2)]
    several = [ua.stack([x, x * 2, x - 1]) for x in arrays]

    def loss(*given: ua.Array) -> ua.Array:
        return ua.sum(ua.nn.conv1d(*given, **options) ** 2)

    slopes = ua.grad(loss, argnums=(0, 1, 2))
    for axes in ((0, None, None), (None, 0, 0), (0, 0, None)):
        given = [many if axis == 0 else one for many, one, axis in zip(several, arrays, axes, strict=True)]
        rows = [slopes(*[x[row] if axis == 0 else x for x, axis in zip(given, axes, strict=True)]) for row in range(3)]
        expected = [np.stack([as_numpy(each) for each in column]) for column in zip(*rows, strict=True)]
        batched = ua.vmap(slopes, in_axes=axes)
        for function in (batched, ua.compile(batched)):
            for found, wanted in zip(function(*given), expected, strict=True):
                np.testing.assert_allclose(as_numpy(found), wanted, rtol=1e-10, atol=1e-10)


def test_compiled_batches_of_what_kernels_decline(backend: str) -> None:
    x, weight = ua.ones((3, 1, 2, 4), dtype="int64"), ua.ones((3, 1, 2, 2), dtype="int64")
    found = ua.compile(ua.vmap(ua.nn.conv1d))(x, weight)
    assert_same(found, np.full((3, 1, 1, 3), 4))


def test_the_derivative_by_images_of_padding_alone(backend: str) -> None:
    slopes = ua.grad(lambda x, w: ua.sum(ua.nn.conv1d(x, w, padding=2)), argnums=(0, 1))
    x, weight = slopes(ua.ones((2, 3, 0)), ua.ones((2, 3, 2)))
    assert x.shape == (2, 3, 0)
    assert_same(weight, np.zeros((2, 3, 2)))


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_inside_a_trace(backend: str, dtype: str) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces")
    arrays = operands(dtype, 2, 2)
    options = of_axes(OPTIONS[4], 2)

    def run(*natives: Any) -> Any:
        return ua.nn.conv2d(*map(ua.asarray, natives), **options).native

    natives = [ua.asarray(x).native for x in arrays]
    if backend == "jax":
        import jax

        traced = jax.jit(run)(*natives)
    else:
        import tensorflow as tf

        traced = tf.function(run)(*natives)
    expected = as_numpy(ua.nn.conv2d(*map(ua.asarray, arrays), **options))
    assert_same(ua.asarray(traced), expected, atol=1e-4 if dtype == "float32" else 0)


def test_the_memory_beside_the_result_is_a_block_of_windows(backend: str) -> None:
    skip_unless(backend, "numpy", why="tracemalloc sees NumPy's memory")
    x, weight, bias = ua.ones((2, 4, 200, 200)), ua.ones((8, 4, 3, 3)), ua.ones(8)
    out = ua.zeros((2, 8, 198, 198))
    ua.nn.conv2d(x, weight, bias, out=out)
    tracemalloc.start()
    ua.nn.conv2d(x, weight, bias, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All windows laid out would take 23 MB.
    assert peak < 1.1 * 2**20
