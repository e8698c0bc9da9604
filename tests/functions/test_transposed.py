"""Transposed convolutions, and windows as columns, beside torch's own and by the operator that they transpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import values_of
from ..oracle import COMPLEX, FLOATS, HALVES, INTEGERS, TOLERANCE, as_numpy, assert_raises, assert_same, twice
from .test_convolution import LENGTHS, of_axes

TRANSPOSED = {1: ua.nn.conv_transpose1d, 2: ua.nn.conv_transpose2d, 3: ua.nn.conv_transpose3d}
CONVOLUTIONS = {1: ua.nn.conv1d, 2: ua.nn.conv2d, 3: ua.nn.conv3d}
# The same for all axes, and differing ones.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1, "output_padding": 1},
    {"groups": 2, "dilation": 2},
    {"stride": (3, 1, 2), "padding": (2, 0, 1), "output_padding": (2, 1, 0), "dilation": (1, 2, 1), "groups": 2},
]


def operands(dtype: str, axes: int, groups: int, seed: int = 0) -> list[np.ndarray]:
    """Return a batch, kernels and a bias."""
    random = np.random.default_rng(seed)
    shapes: list[tuple[int, ...]] = [(2, 4, *LENGTHS[:axes]), (4, 6 // groups, *(3, 2, 2)[:axes]), (6,)]
    if dtype in INTEGERS:
        return [random.integers(0 if dtype.startswith("u") else -9, 9, shape).astype(dtype) for shape in shapes]
    made = [random.standard_normal(shape) for shape in shapes]
    if dtype in COMPLEX:
        made = [x + 1j * random.standard_normal(x.shape) for x in made]
    return [x.astype(ua.bfloat16 if dtype == "bfloat16" else dtype) for x in made]


def torchs(axes: int, *given: np.ndarray, **options: Any) -> np.ndarray:
    """Return torch's own result in double precision."""
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    function = getattr(torch.nn.functional, f"conv_transpose{axes}d")
    tensors = [torch.from_numpy(x.astype("c16" if x.dtype.kind == "c" else "f8")) for x in given]
    return values_of(function(*tensors, **options))


@pytest.mark.parametrize("dtype", [*HALVES, *FLOATS, "int8", "int64", "uint16", "complex64", "complex128"])
@pytest.mark.parametrize("axes", TRANSPOSED)
def test_transposed_convolutions_are_torchs(backend: str, axes: int, dtype: str) -> None:
    for number, each in enumerate(OPTIONS if dtype == "float64" else OPTIONS[-1:]):
        options = of_axes(each, axes)
        arrays = operands(dtype, axes, options.get("groups", 1), number)
        expected = torchs(axes, *arrays, **options)
        scale = np.max(np.abs(expected))
        result = TRANSPOSED[axes](*map(ua.asarray, arrays), **options)
        with np.errstate(all="ignore"):
            wrapped = expected.astype("i8").astype(dtype) if dtype in INTEGERS else expected.astype(arrays[0].dtype)
        assert_same(result, wrapped, atol=TOLERANCE.get(dtype, 0) * scale, signed_zeros=False, what=options)


@twice
@given(data=st.data())
def test_any_parameters(backend: str, data: st.DataObject) -> None:
    axes, groups = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([1, 2]))

    def draw(least: int, most: int) -> tuple[int, ...]:
        return data.draw(st.tuples(*[st.integers(least, most)] * axes))

    lengths, kernel, stride, dilation, padding = draw(1, 4), draw(1, 3), draw(1, 3), draw(1, 3), draw(0, 1)
    more = tuple(min(n, max(pair) - 1) for n, *pair in zip(draw(0, 2), stride, dilation, strict=True))
    options: dict[str, Any] = {"stride": stride, "dilation": dilation, "padding": padding, "output_padding": more}
    random = np.random.default_rng(0)
    x, weight = random.standard_normal((2, 2, *lengths)), random.standard_normal((2, 3, *kernel))
    each = zip(lengths, stride, dilation, kernel, more, padding, strict=True)
    if min((n - 1) * s + d * (k - 1) + 1 + m - 2 * p for n, s, d, k, m, p in each) < 1:
        assert_raises(ua.errors.ShapeError, TRANSPOSED[axes], ua.asarray(x), ua.asarray(weight), **options)
        return
    expected = torchs(axes, x, weight, groups=groups, **options)
    found = TRANSPOSED[axes](ua.asarray(x), ua.asarray(weight), groups=groups, **options)
    assert_same(found, expected, rtol=1e-10, atol=1e-12, signed_zeros=False, what=options)


@pytest.mark.chunks(4)
@pytest.mark.parametrize("axes", TRANSPOSED)
@pytest.mark.parametrize("padding", [0, 1, ((2, 0), (0, 1), (1, 1)), "same"])
def test_they_are_the_transposes_of_convolutions(backend: str, axes: int, padding: Any) -> None:
    # <conv(y), x> = <y, transposed(x)> for all x and y.
    options: dict[str, Any] = {"padding": of_axes({"padding": padding}, axes)["padding"], "groups": 2, "dilation": 2}
    if padding != "same":
        options["stride"] = 2
    random = np.random.default_rng(1)
    weight = ua.asarray(random.standard_normal((6, 2, *(3, 2, 2)[:axes])))
    y = ua.asarray(random.standard_normal((2, 4, *(7, 8, 6)[:axes])))
    forward = CONVOLUTIONS[axes](y, weight, **options)
    x = ua.asarray(random.standard_normal(forward.shape))
    plain = TRANSPOSED[axes](x, weight, **options)
    more = tuple(a - b for a, b in zip(y.shape[2:], plain.shape[2:], strict=True))
    back = TRANSPOSED[axes](x, weight, **options, output_padding=more)
    assert back.shape == y.shape
    np.testing.assert_allclose(float(ua.sum(forward * x)), float(ua.sum(back * y)), rtol=1e-10)


def test_one_image_needs_no_axis_for_the_batch(backend: str) -> None:
    x, weight, bias = map(ua.asarray, operands("float64", 2, 1))
    batch = as_numpy(ua.nn.conv_transpose2d(x, weight, bias, padding=1))
    assert_same(ua.nn.conv_transpose2d(x[1, ...], weight, bias, padding=1), batch[1], rtol=1e-12)
    out = ua.zeros(batch.shape[1:])
    assert ua.nn.conv_transpose2d(x[0, ...], weight, bias, padding=1, out=out) is out
    assert_same(out, batch[0], rtol=1e-12)


def test_infinite_weights_reach_no_further_than_elements(backend: str) -> None:
    # A composition that puts zeros between elements, or around them, would have NaN there.
    x, weight = ua.asarray([[1.0, 2.0]]), ua.asarray([[[np.inf, 1.0]]])
    assert_same(ua.nn.conv_transpose1d(x, weight, stride=3), np.array([[np.inf, 1.0, 0.0, np.inf, 2.0]]))
    image, kernel = ua.ones((1, 3, 3), dtype="float32"), np.ones((1, 1, 2, 2), "f4")
    kernel[0, 0, 0, 0] = np.inf
    expected = np.array(
        [[np.inf, np.inf, np.inf, 1], [np.inf, np.inf, np.inf, 2], [np.inf, np.inf, np.inf, 2], [1, 2, 2, 1]]
    )
    assert_same(ua.nn.conv_transpose2d(image, ua.asarray(kernel)), expected[None].astype("f4"))


def test_nothing_to_add_up_gives_the_bias(backend: str) -> None:
    bias = ua.asarray([1.0, 2.0])
    for x, weight in [((2, 0, 4), (0, 2, 3)), ((0, 3, 4), (3, 2, 3))]:
        result = ua.nn.conv_transpose1d(ua.ones(x), ua.ones(weight), bias)
        assert_same(result, np.broadcast_to([[1.0], [2.0]], (x[0], 2, 6)))
    assert ua.nn.conv_transpose1d(ua.ones((2, 3, 4)), ua.ones((3, 0, 3))).shape == (2, 0, 6)


def test_dtypes_promote(backend: str) -> None:
    x, weight = ua.ones((1, 1, 4), dtype="float32"), ua.ones((1, 1, 2), dtype="int64")
    assert ua.nn.conv_transpose1d(x, weight).dtype == "float64"
    found = ua.nn.conv_transpose1d(ua.ones((1, 1, 3), dtype="bool"), ua.ones((1, 1, 2), dtype="bool"))
    assert_same(found, np.ones((1, 1, 4), dtype=bool))


X, W = (1, 4, 5, 5), (4, 3, 3, 3)
REFUSED: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], dict[str, Any], str]] = {
    "too few axes": ((5, 5), W, (6,), {}, r"takes x of shape \(N, C, H, W\)"),
    "a kernel of too few axes": (X, (4, 3, 3), (6,), {}, "weight of 4 dimensions"),
    "channels that don't fit": (X, (6, 3, 3, 3), (6,), {"groups": 2}, "has 4 channels"),
    "groups that don't divide": (X, W, (9,), {"groups": 3}, "a multiple of groups"),
    "no groups": (X, W, (6,), {"groups": 0}, "0 groups"),
    "a bias of another length": (X, W, (3,), {"groups": 2}, "6 output channels"),
    "an empty kernel": (X, (4, 3, 0, 3), (6,), {"groups": 2}, "no elements"),
    "no rows": ((1, 4, 0, 5), W, (6,), {"groups": 2}, "no elements"),
    "no stride": (X, W, (6,), {"groups": 2, "stride": 0}, "stride is an integer"),
    "padding that leaves nothing": (X, W, (6,), {"groups": 2, "padding": 4}, "leaves nothing"),
    "negative padding": (X, W, (6,), {"groups": 2, "padding": -1}, "how many elements"),
    "much output_padding": (X, W, (6,), {"groups": 2, "output_padding": 1}, "less than stride or dilation"),
    "negative output_padding": (X, W, (6,), {"groups": 2, "output_padding": -1}, "of at least 0"),
    "'same' with a stride": (X, W, (6,), {"groups": 2, "padding": "same", "stride": 2}, "'same' keeps the lengths"),
}


@pytest.mark.parametrize(("x", "weight", "bias", "options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_doesnt_fit_is_refused(
    backend: str, x: tuple[int, ...], weight: tuple[int, ...], bias: tuple[int, ...], options: Any, message: str
) -> None:
    out = ua.ones((1, 6, 7, 7))
    with pytest.raises(ValueError, match=message):
        ua.nn.conv_transpose2d(ua.ones(x), ua.ones(weight), ua.ones(bias), **options, out=out)
    assert_same(out, np.ones((1, 6, 7, 7)))


@pytest.mark.parametrize("axes", TRANSPOSED)
def test_gradients_are_torchs(backend: str, axes: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    options = of_axes(OPTIONS[-1], axes)
    arrays = operands("float64", axes, 2)
    tensors = [torch.tensor(x, requires_grad=True) for x in arrays]
    torch.sum(getattr(torch.nn.functional, f"conv_transpose{axes}d")(*tensors, **options) ** 2).backward()

    def loss(*given: ua.Array) -> ua.Array:
        return ua.sum(TRANSPOSED[axes](*given, **options) ** 2)

    found = ua.grad(loss, argnums=(0, 1, 2))(*map(ua.asarray, arrays))
    for one, tensor in zip(found, tensors, strict=True):
        np.testing.assert_allclose(as_numpy(one), values_of(tensor.grad), rtol=1e-9, atol=1e-9)


def test_depthwise_and_separable_convolutions_are_groups(backend: str) -> None:
    x, depthwise, _ = operands("float64", 2, 1)
    depthwise, pointwise = depthwise[0, :4, None], np.random.default_rng(0).standard_normal((5, 8, 1, 1))
    twice = np.repeat(depthwise, 2, axis=0)
    by_channel = np.stack(
        [as_numpy(ua.nn.conv2d(ua.asarray(x[:, k : k + 1]), ua.asarray(depthwise[k : k + 1]))) for k in range(4)], 1
    )[:, :, 0]
    found = ua.nn.conv2d(ua.asarray(x), ua.asarray(twice), groups=4)
    assert_same(found, np.repeat(by_channel, 2, axis=1), rtol=1e-12)
    mixed = np.einsum("oc,nchw->nohw", pointwise[:, :, 0, 0], as_numpy(found))
    assert_same(ua.nn.conv2d(found, ua.asarray(pointwise)), mixed, rtol=1e-10, atol=1e-12)


# -- windows as columns -----------------------------------------------------------------------------------------------

WINDOWS: list[tuple[Any, dict[str, Any]]] = [
    (2, {}),
    ((2, 3), {"stride": (2, 1), "padding": (1, 2), "dilation": (2, 1)}),
    (3, {"stride": 2, "padding": 1}),
]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", *HALVES, *FLOATS, *COMPLEX])
def test_unfold_and_fold_are_torchs(backend: str, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    functional = torch.nn.functional
    x = np.random.default_rng(0).integers(0, 7, (2, 3, 7, 6)).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    for window, options in WINDOWS:
        expected = functional.unfold(torch.from_numpy(x.astype("c16")), window, **options)
        columns = ua.nn.unfold(ua.asarray(x), window, **options)
        with np.errstate(all="ignore"):
            assert_same(columns, values_of(expected).astype("c16").real.astype(x.dtype), rtol=0)
        back = values_of(functional.fold(expected, (7, 6), window, **options)).real
        assert_same(ua.nn.fold(columns, (7, 6), window, **options), back.astype(x.dtype), rtol=0)


def test_columns_of_signals_and_volumes(backend: str) -> None:
    x = np.arange(120.0).reshape(2, 3, 4, 5)
    columns = ua.nn.unfold(ua.asarray(x), (2, 2, 3), stride=(1, 2, 1))
    windows = np.lib.stride_tricks.sliding_window_view(x[None], (2, 2, 3), (2, 3, 4))[0, ..., ::2, :, :, :, :]
    assert_same(columns, np.moveaxis(windows, (4, 5, 6), (1, 2, 3)).reshape(24, 12))
    signal = ua.nn.unfold(ua.asarray(x[0]), (2,), padding=((1, 0),))
    assert signal.shape == (3, 8, 5)
    assert_same(ua.nn.fold(signal, 5, (2,), padding=((1, 0),)), x[0] * np.array([2, 2, 2, 2, 1]))


def test_a_convolution_is_a_product_with_columns(backend: str) -> None:
    x, _, bias = operands("float64", 2, 1)
    weight = np.random.default_rng(2).standard_normal((6, 4, 3, 2))
    columns = ua.nn.unfold(ua.asarray(x), (3, 2), padding=1)
    product = ua.asarray(weight.reshape(6, -1)) @ columns + ua.asarray(bias)[:, None]
    expected = as_numpy(ua.nn.conv2d(*map(ua.asarray, (x, weight, bias)), padding=1))
    assert_same(product.reshape(expected.shape), expected, rtol=1e-10, atol=1e-12)


def test_what_isnt_columns_is_refused(backend: str) -> None:
    for x, size, window in [((2, 5, 4), (3, 3), 2), ((2, 4, 3), (3, 3), 2), ((4,), (3, 3), 2), ((4, 4), (3,), (2, 2))]:
        assert_raises(ua.errors.ShapeError, ua.nn.fold, ua.ones(x), size, window)
    for x, window in [((3, 3), 2), ((1, 3, 3), 4), ((1, 3, 3), ()), ((1, 3, 3), (2, 0))]:
        assert_raises(ua.errors.ShapeError, ua.nn.unfold, ua.ones(x), window)
    assert ua.nn.unfold(ua.ones((0, 2, 3, 3)), 2).shape == (0, 8, 4)
    assert ua.nn.fold(ua.ones((2, 0, 4)), 3, 2).shape == (2, 0, 3, 3)


@pytest.mark.parametrize("window", [2, (3, 2)])
def test_gradients_of_columns_are_those_of_the_other(backend: str, window: Any) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 5, 4))
    weights = np.cos(np.arange(ua.nn.unfold(ua.asarray(x), window, padding=1).size, dtype=float))
    shape = ua.nn.unfold(ua.asarray(x), window, padding=1).shape
    weighed = ua.asarray(weights.reshape(shape))
    found = as_numpy(ua.grad(lambda x: ua.sum(ua.nn.unfold(x, window, padding=1) * weighed))(ua.asarray(x)))
    np.testing.assert_allclose(found, as_numpy(ua.nn.fold(weighed, (5, 4), window, padding=1)), rtol=1e-12)


@pytest.mark.chunks(4)
def test_compiled_and_in_batches(backend: str) -> None:
    x, weight, bias = map(ua.asarray, operands("float64", 2, 1))

    def run(x: ua.Array, weight: ua.Array) -> ua.Array:
        return ua.nn.fold(ua.nn.unfold(ua.nn.conv_transpose2d(x, weight, bias, stride=2), 2), (13, 10), 2)

    expected = as_numpy(run(x, weight))
    assert_same(ua.compile(run)(x, weight), expected, rtol=1e-12)
    kernels = ua.stack([weight, weight * 2])
    found = as_numpy(ua.vmap(run, in_axes=(None, 0))(x, kernels))
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    np.testing.assert_allclose(as_numpy(ua.vmap(run, in_axes=(0, None))(x, weight)), expected, rtol=1e-12)
