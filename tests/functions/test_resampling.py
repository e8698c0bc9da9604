"""Pools to a given number of windows, and images of other sizes, beside torch's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import values_of
from ..oracle import BOOL, COMPLEX, FLOATS, HALVES, INTEGERS, TOLERANCE, as_numpy, assert_raises, assert_same, few
from .test_pooling import torchs as torchs_pool
from .test_pooling import values_for

MAX = {1: ua.nn.adaptive_max_pool1d, 2: ua.nn.adaptive_max_pool2d, 3: ua.nn.adaptive_max_pool3d}
AVG = {1: ua.nn.adaptive_avg_pool1d, 2: ua.nn.adaptive_avg_pool2d, 3: ua.nn.adaptive_avg_pool3d}
# Axes of 7, 6 and 5 elements: divisors, others, more than there are, and the same length.
SIZES: list[tuple[Any, ...]] = [(3, 2, 5), (1, 1, 1), (9, 4, None), (7, 3, 2)]


def torchs(name: str, x: np.ndarray, *arguments: Any, **options: Any) -> np.ndarray:
    """Return torch's own result in double precision."""
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    if x.dtype.kind == "c":
        return torchs(name, x.real, *arguments, **options) + 1j * torchs(name, x.imag, *arguments, **options)
    function = getattr(torch.nn.functional, name)
    return function(torch.from_numpy(x.astype("f8")), *arguments, **options).numpy()  # type: ignore[no-any-return]


@pytest.mark.parametrize("dtype", [*BOOL, "int8", "uint64", *HALVES, *FLOATS])
@pytest.mark.parametrize("axes", MAX)
def test_adaptive_max_pools_are_torchs(backend: str, axes: int, dtype: str) -> None:
    x = values_for(dtype, axes, special=True)
    for sizes in SIZES if dtype == "float64" else SIZES[-1:]:
        wanted = [n or x.shape[place] for place, n in enumerate(sizes[:axes], 1)]
        expected = torchs(f"adaptive_max_pool{axes}d", x, wanted).astype(x.dtype)
        assert_same(MAX[axes](ua.asarray(x), sizes[:axes]), expected, rtol=0, signed_zeros=False, what=sizes)


@pytest.mark.parametrize("dtype", [*BOOL, "int64", "uint8", *HALVES, *FLOATS, *COMPLEX])
@pytest.mark.parametrize("axes", AVG)
def test_adaptive_average_pools_are_torchs(backend: str, axes: int, dtype: str) -> None:
    x = values_for(dtype, axes)
    for sizes in SIZES if dtype == "float64" else SIZES[-1:]:
        wanted = [n or x.shape[place] for place, n in enumerate(sizes[:axes], 1)]
        expected = torchs(f"adaptive_avg_pool{axes}d", x, wanted)
        expected = expected if dtype in BOOL + INTEGERS else expected.astype(x.dtype)
        result = AVG[axes](ua.asarray(x), sizes[:axes])
        assert_same(result, expected, atol=TOLERANCE.get(dtype, 1e-12), signed_zeros=False, what=sizes)


@few
@given(data=st.data())
def test_any_windows(backend: str, data: st.DataObject) -> None:
    lengths = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    sizes = data.draw(st.tuples(st.integers(1, 12), st.integers(1, 12)))
    x = np.random.default_rng(0).standard_normal((2, *lengths))
    for kind, pool in (("max", ua.nn.adaptive_max_pool2d), ("avg", ua.nn.adaptive_avg_pool2d)):
        assert_same(pool(ua.asarray(x), sizes), torchs(f"adaptive_{kind}_pool2d", x, sizes), rtol=1e-11, atol=1e-13)


def test_windows_that_divide_are_those_of_a_pool(backend: str) -> None:
    x = values_for("float64", 2)
    assert_same(ua.nn.adaptive_max_pool2d(ua.asarray(x), (7, 3)), torchs_pool("max", 2, x, (1, 2), {}), rtol=0)
    assert_same(ua.nn.adaptive_avg_pool2d(ua.asarray(x), (1, 2)), torchs_pool("avg", 2, x, (7, 3), {}), rtol=1e-12)


def test_nan_and_infinities_stay_in_their_windows(backend: str) -> None:
    x = ua.asarray([np.nan, 1.0, 3.0, np.inf, 5.0, -np.inf, np.inf])
    # Windows of three, three and three elements, which overlap in one.
    assert_same(ua.nn.adaptive_avg_pool1d(x[:5], 3), np.array([np.nan, np.inf, np.inf]))
    assert_same(ua.nn.adaptive_max_pool1d(x, 3), np.array([np.nan, np.inf, np.inf]))
    assert_same(ua.nn.adaptive_avg_pool1d(x, 4), np.array([np.nan, np.inf, np.nan, np.nan]))


def test_any_leading_axes_and_sizes(backend: str) -> None:
    x = np.random.default_rng(0).standard_normal((2, 0, 3, 4))
    assert ua.nn.adaptive_avg_pool2d(ua.asarray(x), 2).shape == (2, 0, 2, 2)
    assert ua.nn.adaptive_max_pool2d(ua.asarray(x), (2, 3)).shape == (2, 0, 2, 3)
    line = ua.asarray([1.0, 5.0, 2.0, 4.0])
    assert_same(ua.nn.adaptive_max_pool1d(line, np.int64(3)), np.array([5.0, 5.0, 4.0]))
    same = ua.nn.adaptive_max_pool1d(line, None)
    same += 1
    assert_same(line, np.array([1.0, 5.0, 2.0, 4.0]))


@pytest.mark.parametrize("pool", [ua.nn.adaptive_avg_pool2d, ua.nn.adaptive_max_pool2d])
@pytest.mark.parametrize(
    ("shape", "size"), [((4,), 2), ((4, 0), 2), ((4, 4), 0), ((4, 4), (2,)), ((4, 4), (2, -1)), ((4, 4), (1, 2, 3))]
)
def test_what_has_no_windows_is_refused(backend: str, pool: Any, shape: tuple[int, ...], size: Any) -> None:
    assert_raises(ua.errors.ShapeError, pool, ua.ones(shape), size, out=ua.ones((2, 2)))


def test_lengths_are_integers(backend: str) -> None:
    assert_raises(TypeError, ua.nn.adaptive_avg_pool1d, ua.ones(4), 2.0)
    assert_raises(ua.errors.DtypeError, ua.nn.adaptive_max_pool1d, ua.ones(4, dtype="complex128"), 2)


@pytest.mark.parametrize("axes", MAX)
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_gradients_of_pools_are_torchs(backend: str, kind: str, axes: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    shape = (2, 7, 6, 5)[: axes + 1]
    x = np.random.default_rng(0).permutation(np.arange(np.prod(shape))).reshape(shape) / 7
    leaf = torch.tensor(x, requires_grad=True)
    (getattr(torch.nn.functional, f"adaptive_{kind}_pool{axes}d")(leaf, (3, 4, 5)[:axes]) ** 2).sum().backward()
    pool = (MAX if kind == "max" else AVG)[axes]
    found = ua.grad(lambda x: ua.sum(pool(x, (3, 4, 5)[:axes]) ** 2))(ua.asarray(x))
    np.testing.assert_allclose(as_numpy(found), values_of(leaf.grad), rtol=1e-10)


# -- images of other sizes --------------------------------------------------------------------------------------------

SHAPES = {1: (2, 3, 7), 2: (2, 3, 7, 5), 3: (1, 2, 4, 5, 3)}
LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}
# Modes, by the number of axes.
MODES: list[tuple[int, dict[str, Any]]] = [
    *((axes, {"mode": mode}) for axes in SHAPES for mode in ("nearest", "nearest-exact", "area")),
    *((axes, {"mode": LINEAR[axes], "align_corners": corners}) for axes in SHAPES for corners in (False, True)),
    *((2, {"mode": "bicubic", "align_corners": corners}) for corners in (False, True)),
    *((2, {"mode": mode, "antialias": True}) for mode in ("bilinear", "bicubic")),
]
RESIZED: list[dict[str, Any]] = [
    {"size": (3, 8, 2)},
    {"size": (13, 2, 9)},
    {"size": (1, 5, 1)},
    {"scale_factor": (1.9, 2.45, 3.3)},
    {"scale_factor": (0.45, 0.63, 0.7)},
    {"scale_factor": 2},
    {"scale_factor": (1.15, 1.35, 2.7)},
]


def image(dtype: str, axes: int) -> np.ndarray:
    """Return a batch of images."""
    if dtype in BOOL + INTEGERS:
        return np.random.default_rng(axes).integers(0, 2 if dtype == "bool" else 100, SHAPES[axes]).astype(dtype)
    x = np.random.default_rng(axes).standard_normal(SHAPES[axes])
    x = x - 2j * x[::-1] if dtype in COMPLEX else x
    return x.astype(ua.bfloat16 if dtype == "bfloat16" else dtype)


def of_axes(options: dict[str, Any], axes: int) -> dict[str, Any]:
    return {name: value[:axes] if isinstance(value, tuple) else value for name, value in options.items()}


@pytest.mark.parametrize(("axes", "options"), MODES, ids=str)
def test_values_are_torchs(backend: str, axes: int, options: dict[str, Any]) -> None:
    x = image("float64", axes)
    for each in RESIZED:
        resized = of_axes(each, axes)
        expected = torchs("interpolate", x, **resized, **options)
        result = ua.nn.interpolate(ua.asarray(x), **resized, **options)
        assert_same(result, expected, rtol=1e-11, atol=1e-12, signed_zeros=False, what=(resized, options))


@few
@given(data=st.data())
def test_any_sizes(backend: str, data: st.DataObject) -> None:
    lengths = data.draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    options = data.draw(st.sampled_from([each for axes, each in MODES if axes == 2 and "nearest" not in each["mode"]]))
    sizes = st.integers(1, 12) | st.tuples(st.integers(1, 12), st.integers(1, 12))
    scales = st.floats(0.3, 3.5) | st.tuples(st.floats(0.3, 3.5), st.floats(0.3, 3.5))
    x = np.random.default_rng(0).standard_normal((1, 2, *lengths))
    resized = data.draw(st.fixed_dictionaries({"size": sizes}) | st.fixed_dictionaries({"scale_factor": scales}))
    by = np.broadcast_to(resized.get("scale_factor", 1.0), 2)
    if min(int(n * scale) for n, scale in zip(lengths, by, strict=True)) < 1:
        assert_raises(ua.errors.ShapeError, ua.nn.interpolate, ua.asarray(x), **resized, **options)
        return
    expected = torchs("interpolate", x, **resized, **options)
    # With antialias torch repeats the first row of images that are one column wide: the next test is about them.
    assume("antialias" not in options or 1 not in (lengths[1], expected.shape[3]))
    found = ua.nn.interpolate(ua.asarray(x), **resized, **options)
    assert_same(found, expected, rtol=1e-9, atol=1e-11, signed_zeros=False, what=(resized, options))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_one_column_is_scaled_as_it_is_among_others(backend: str, mode: str) -> None:
    x = ua.asarray(np.random.default_rng(0).standard_normal((1, 2, 5, 1)))
    wide = as_numpy(ua.nn.interpolate(ua.repeat(x, 3, axis=3), (2, 3), mode=mode, antialias=True))
    assert_same(ua.nn.interpolate(x, (2, 1), mode=mode, antialias=True), wide[..., :1], rtol=1e-12)


@pytest.mark.parametrize("dtype", [*BOOL, "int16", "uint8", *HALVES, *FLOATS, *COMPLEX])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_dtypes(backend: str, mode: str, dtype: str) -> None:
    x = image(dtype, 2)
    expected = torchs("interpolate", x, (4, 8), mode=mode)
    copied = mode == "nearest" or dtype not in BOOL + INTEGERS
    atol = 4 * TOLERANCE.get(dtype, 1e-12)
    result = ua.nn.interpolate(ua.asarray(x), (4, 8), mode=mode)
    assert_same(result, expected.astype(x.dtype) if copied else expected, atol=atol, signed_zeros=False)


def test_nearest_elements_are_exact(backend: str) -> None:
    # In single precision, in which torch counts, 14 / 22 * 11 is less than 7.
    for length, count in [(14, 22), (49, 14), (3, 7), (100, 41)]:
        x, places = np.arange(float(length)), np.arange(count)
        found = ua.nn.interpolate(ua.asarray(x[None, None]), count)
        assert_same(found, x[places * length // count][None, None])
        exact = ua.nn.interpolate(ua.asarray(x[None, None]), count, mode="nearest-exact")
        assert_same(exact, x[(2 * places + 1) * length // (2 * count)][None, None])


def test_nan_stays_where_its_weight_is(backend: str) -> None:
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    x[0, 0, 0, 0] = np.nan
    for options in ({"mode": "area"}, {"mode": "bilinear", "antialias": True}, {"mode": "nearest"}):
        found = as_numpy(ua.nn.interpolate(ua.asarray(x), 2, **options))  # type: ignore[arg-type]
        np.testing.assert_array_equal(np.isnan(found), np.isnan(torchs("interpolate", x, 2, **options)))


REFUSED: dict[str, tuple[tuple[int, ...], dict[str, Any], str]] = {
    "no axis behind the channels": ((2, 3), {"size": 2}, r"takes x of shape \(N, C, ...\)"),
    "four axes behind them": ((1, 1, 2, 2, 2, 2), {"size": 2}, "one to three axes"),
    "no elements": ((1, 1, 0), {"size": 2}, "one to three axes"),
    "neither": ((1, 1, 4, 4), {}, "either size or scale_factor"),
    "both": ((1, 1, 4, 4), {"size": 2, "scale_factor": 2.0}, "either size or scale_factor"),
    "a size of nothing": ((1, 1, 4, 4), {"size": 0}, "of at least 1"),
    "a size for three": ((1, 1, 4, 4), {"size": (1, 2, 3)}, "or 2 of them"),
    "a scale for three": ((1, 1, 4, 4), {"scale_factor": (1, 2, 3)}, "or 2 of them"),
    "a negative scale": ((1, 1, 4, 4), {"scale_factor": -1.0}, "positive"),
    "a scale of NaN": ((1, 1, 4, 4), {"scale_factor": float("nan")}, "positive"),
    "a scale that leaves nothing": ((1, 1, 4, 4), {"scale_factor": 0.2}, "leaves nothing"),
    "no such mode": ((1, 1, 4, 4), {"size": 2, "mode": "cubic"}, "interpolate..: mode is one"),
    "a mode for two axes": ((1, 1, 4), {"size": 2, "mode": "bicubic"}, "is for 2 axes"),
    "no corners": ((1, 1, 4), {"size": 2, "align_corners": True}, "no corners"),
    "antialias of copies": ((1, 1, 4), {"size": 2, "antialias": True}, "antialias is"),
    "antialias with corners": (
        (1, 1, 4, 4),
        {"size": 2, "mode": "bilinear", "antialias": True, "align_corners": True},
        "without align_corners",
    ),
}


@pytest.mark.parametrize(("shape", "options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cant_be_resized_is_refused(
    backend: str, shape: tuple[int, ...], options: dict[str, Any], message: str
) -> None:
    out = ua.ones((1, 1, 2, 2))
    with pytest.raises(ValueError, match=message):
        ua.nn.interpolate(ua.ones(shape), **options, out=out)
    assert_same(out, np.ones((1, 1, 2, 2)))


def test_a_scale_has_no_derivative(backend: str) -> None:
    x = ua.asarray(image("float64", 2))
    for scales in (lambda scale: scale, lambda scale: (1.5, scale)):
        with pytest.raises(ua.errors.LostDerivativeError, match=r"interpolate\(\): scale_factor"):
            ua.grad(lambda scale, f=scales: ua.sum(ua.nn.interpolate(x, scale_factor=f(scale))))(ua.asarray(1.5))
    assert ua.nn.interpolate(x, scale_factor=(ua.asarray(2), np.float32(0.5))).shape == (2, 3, 14, 2)


def test_no_images(backend: str) -> None:
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        assert ua.nn.interpolate(ua.ones((0, 3, 4, 4)), 2, mode=mode).shape == (0, 3, 2, 2)
        assert ua.nn.interpolate(ua.ones((2, 0, 4, 4)), 6, mode=mode).shape == (2, 0, 6, 6)


@pytest.mark.parametrize(("axes", "options"), [each for each in MODES if each[0] == 2], ids=str)
def test_gradients_of_images_are_torchs(backend: str, axes: int, options: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch", reason="torch is the oracle")
    x = image("float64", axes)
    leaf = torch.tensor(x, requires_grad=True)
    torch.sum(torch.nn.functional.interpolate(leaf, (4, 8), **options) ** 2).backward()
    found = ua.grad(lambda x: ua.sum(ua.nn.interpolate(x, (4, 8), **options) ** 2))(ua.asarray(x))
    np.testing.assert_allclose(as_numpy(found), values_of(leaf.grad), rtol=1e-9, atol=1e-11)


def test_compiled_and_in_batches(backend: str) -> None:
    def run(x: ua.Array) -> ua.Array:
        larger = ua.nn.interpolate(x, scale_factor=1.5, mode="bicubic")
        smaller = ua.nn.interpolate(larger, 4, mode="nearest") + ua.nn.interpolate(larger, 4, mode="area")
        return ua.nn.adaptive_max_pool2d(smaller, (3, 2))

    x = ua.asarray(image("float64", 2))
    expected = as_numpy(run(x))
    assert_same(ua.compile(run)(x), expected, rtol=1e-12)
    batch = ua.stack([x, x * 2])
    np.testing.assert_allclose(as_numpy(ua.vmap(run)(batch))[0], expected, rtol=1e-12)


# -- derivatives ------------------------------------------------------------------------------------------------------

_RESAMPLED: dict[str, Any] = {
    "nearest": lambda x: ua.nn.interpolate(x, (7, 3)),
    "bilinear": lambda x: ua.nn.interpolate(x, (3, 8), mode="bilinear"),
    "bicubic": lambda x: ua.nn.interpolate(x, (5, 7), mode="bicubic", align_corners=True),
    "antialiased": lambda x: ua.nn.interpolate(x, (2, 3), mode="bicubic", antialias=True),
    "means": lambda x: ua.nn.adaptive_avg_pool2d(x, (3, 4)),
    "maxima": lambda x: ua.nn.adaptive_max_pool2d(x, (3, 4)),
    "maxima of windows of one length": lambda x: ua.nn.adaptive_max_pool2d(x, (2, 5)),
}


@pytest.mark.parametrize("name", _RESAMPLED)
def test_derivatives_are_those_of_numpy(backend: str, name: str) -> None:
    function = _RESAMPLED[name]
    # Some elements are equal.
    values = np.round(np.random.default_rng(2).normal(size=(2, 3, 5, 6)) * 2)
    gradient = ua.grad(lambda x: ua.sum(function(x) ** 3))

    def found(backend: str) -> list[ua.Array]:
        x = ua.asarray(values, backend=backend)
        twice = ua.grad(lambda x: ua.sum(gradient(x) ** 2))
        slope = ua.jvp(function, (x,), (x * x,))[1]
        return [gradient(x), twice(x), ua.compile(gradient)(x), ua.vmap(gradient)(ua.stack([x, -x]))[0], slope]

    for ours, wanted in zip(found(backend), found("numpy"), strict=True):
        np.testing.assert_allclose(as_numpy(ours), as_numpy(wanted), rtol=1e-10, atol=1e-11)


def test_torch_has_a_kernel_of_both_directions() -> None:
    torch = pytest.importorskip("torch")
    x = ua.asarray(np.random.default_rng(3).normal(size=(1, 2, 5, 6)), backend="torch")
    for name in ("bilinear", "bicubic", "means"):
        function = _RESAMPLED[name]
        assert str(ua.compile(ua.grad(lambda x: ua.sum(function(x) ** 2))).graph(x)).count("resample") >= 2
    # Through the engine's own derivatives it's composed of functions that have derivatives of all orders.
    leaf = x.native.clone().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda t: (_RESAMPLED["bilinear"](ua.asarray(t)) ** 2).native, leaf)
    both = torch.func.vmap(lambda t: _RESAMPLED["means"](ua.asarray(t)).native)(torch.stack([leaf, -leaf]))
    np.testing.assert_allclose(both[0].detach().cpu().numpy(), as_numpy(_RESAMPLED["means"](x)), rtol=1e-12)
