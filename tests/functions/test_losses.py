"""Losses against torch's own functions, SciPy, and formulas in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import unifyarr as ua

from ..gradients import ENGINES, differences, gradient
from ..natives import skip_unless, values_of
from ..oracle import FLOATS, HALVES, TOLERANCE, as_numpy, assert_raises, assert_same, few

DTYPES = [*FLOATS, *HALVES, "int32", "bool"]
REDUCTIONS = ["none", "sum", "mean"]
# Shapes of predictions and of targets.
PAIRS = [((), ()), ((4,), (4,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0, 3), (3,))]
Formula = Callable[[np.ndarray, np.ndarray], np.ndarray]


def huber(x: np.ndarray, target: np.ndarray, delta: float = 1.0) -> np.ndarray:
    distance = np.abs(x - target)
    return np.where(distance <= delta, distance * distance / 2, delta * (distance - delta / 2))


def bce(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    return -special.xlogy(target, x) - special.xlog1py(1 - target, -x)


def bce_of_logits(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    return target * np.logaddexp(0, -x) + (1 - target) * np.logaddexp(0, x)


def kl(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    return special.xlogy(target, target) - target * x


# The formula, and the ranges of predictions and of targets.
LOSSES: dict[str, tuple[dict[str, Any], Formula, tuple[float, float], tuple[float, float]]] = {
    "binary_cross_entropy": ({}, bce, (0.0, 1.0), (0.0, 1.0)),
    "binary_cross_entropy_with_logits": ({}, bce_of_logits, (-30.0, 30.0), (0.0, 1.0)),
    "huber_loss": ({}, huber, (-3.0, 3.0), (-3.0, 3.0)),
    "huber_loss, wide": ({"delta": 2.5}, lambda x, t: huber(x, t, 2.5), (-3.0, 3.0), (-3.0, 3.0)),
    "kl_divergence": ({}, kl, (-5.0, 0.0), (0.0, 1.0)),
    "kl_divergence, of logarithms": (
        {"log_target": True}, lambda x, t: np.exp(t) * (t - x), (-5.0, 0.0), (-5.0, 0.0),
    ),
    "mae_loss": ({}, lambda x, t: np.abs(x - t), (-5.0, 5.0), (-5.0, 5.0)),
    "mse_loss": ({}, lambda x, t: np.square(x - t), (-5.0, 5.0), (-5.0, 5.0)),
}  # fmt: skip


def of(name: str) -> Callable[..., ua.Array]:
    function, options = getattr(ua.nn, name.split(",")[0]), LOSSES[name][0]
    return lambda *arrays, **more: function(*arrays, **options, **more)  # type: ignore[no-any-return]


def reduced(losses: np.ndarray, reduction: str) -> np.ndarray:
    if reduction == "none":
        return losses
    with np.errstate(all="ignore"):
        return np.asarray(losses.sum() if reduction == "sum" else losses.sum() / losses.size)


@st.composite
def drawn(draw: st.DrawFn, name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = draw(st.sampled_from(PAIRS if dtype == "float64" else PAIRS[2:3]))
    values = [random.uniform(*bounds, shape) for bounds, shape in zip(LOSSES[name][2:], shapes, strict=True)]
    # Ends of the ranges are where the formulas are delicate.
    x, target = (np.where(random.random(each.shape) < 0.3, np.round(each), each) for each in values)
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    return x.astype(kind), target.astype(kind)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LOSSES)
@few
@given(data=st.data())
def test_losses(backend: str, name: str, dtype: str, data: st.DataObject) -> None:
    x, target = data.draw(drawn(name, dtype))
    reduction = data.draw(st.sampled_from(REDUCTIONS))
    with np.errstate(all="ignore"):
        losses = LOSSES[name][1](x.astype("f8"), target.astype("f8"))
        expected = reduced(losses, reduction).astype("f8" if x.dtype.kind in "bi" else x.dtype)
    actual = of(name)(ua.asarray(x), ua.asarray(target), reduction=reduction)
    # Terms of both signs cancel in the divergence.
    atol = 10 * TOLERANCE[expected.dtype.name] if "kl" in name or reduction != "none" else 0.0
    assert_same(actual, expected, atol=atol, signed_zeros=False, what=(x, target, reduction))


TORCHS = {
    "binary_cross_entropy": "binary_cross_entropy",
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "huber_loss": "huber_loss",
    "huber_loss, wide": "huber_loss",
    "kl_divergence": "kl_div",
    "kl_divergence, of logarithms": "kl_div",
    "mae_loss": "l1_loss",
    "mse_loss": "mse_loss",
}


# torch advises against the mean that it computes.
@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides")
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", LOSSES)
def test_torchs_own(backend: str, name: str, reduction: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    random = np.random.default_rng(3)
    values = [random.uniform(*bounds, (4, 5)) for bounds in LOSSES[name][2:]]
    options: dict[str, Any] = {"reduction": reduction}
    if "binary" in name:
        options["weight"] = random.uniform(0, 2, 5)
    theirs = {key: torch.from_numpy(each) if isinstance(each, np.ndarray) else each for key, each in options.items()}
    expected = getattr(functional, TORCHS[name])(*map(torch.from_numpy, values), **theirs, **LOSSES[name][0]).numpy()
    assert_same(of(name)(*map(ua.asarray, values), **options), expected, atol=1e-14)


def test_weights_of_what_occurred(backend: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    random = np.random.default_rng(4)
    x, target, weight = random.uniform(-30, 30, (4, 5)), random.uniform(0, 1, (4, 5)), random.uniform(0, 3, 5)
    expected = functional.binary_cross_entropy_with_logits(
        *map(torch.tensor, (x, target)), pos_weight=torch.tensor(weight)
    )
    actual = ua.nn.binary_cross_entropy_with_logits(ua.asarray(x), ua.asarray(target), pos_weight=weight)
    assert_same(actual, values_of(expected))
    halved = ua.nn.binary_cross_entropy(ua.asarray([0.25, 0.5]), ua.asarray([1.0, 0.0]), 0.5, reduction="none")
    assert_same(halved, np.array([np.log(2), np.log(2) / 2]))


EXTREMES: dict[str, tuple[list[list[float]], list[float]]] = {
    "binary_cross_entropy": (
        [[0, 1, 0, 1, 1e-300, 0.5], [0, 1, 1, 0, 1, np.nan]],
        [0, 0, np.inf, np.inf, 300 * np.log(10), np.nan],
    ),
    "binary_cross_entropy_with_logits": (
        [[-1e300, 1e300, -1e300, 1e300, -40, np.inf, -np.inf, np.inf], [0, 1, 1, 0, 0, 1, 0, 0]],
        [0, 0, 1e300, 1e300, np.log1p(np.exp(-40)), 0, 0, np.inf],
    ),
    "huber_loss": ([[1e300, -1e300, 1e-200, np.inf, 2], [-1, 0, 0, 1, np.nan]], [1e300, 1e300, 0, np.inf, np.nan]),
    "kl_divergence": (
        [[-np.inf, -np.inf, -800, np.nan], [0, 0.5, 0.5, 0.0]],
        [0, np.inf, 400 + np.log(0.5) / 2, np.nan],
    ),
    "kl_divergence, of logarithms": ([[-np.inf, -np.inf, -800], [-np.inf, 0, -np.inf]], [0, np.inf, 0]),
    "mae_loss": ([[1e308, np.inf], [-5e307, 1]], [1.5e308, np.inf]),
    "mse_loss": ([[1e150, 1e-170], [0, 0]], [1e300, 0]),
}


@pytest.mark.parametrize("name", EXTREMES)
def test_extremes(backend: str, name: str) -> None:
    arrays, expected = EXTREMES[name]
    actual = of(name)(*(ua.asarray(each, dtype="float64") for each in arrays), reduction="none")
    assert_same(actual, np.array(expected), rtol=1e-13, signed_zeros=False)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients(backend: str, name: str, place: int) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    random = np.random.default_rng(6)
    low, high = np.array(LOSSES[name][2:]).T
    given = [random.uniform(a + 0.05, b - 0.05, (2, 3)) for a, b in zip(low, high, strict=True)]

    def loss(x: ua.Array) -> ua.Array:
        arrays = [ua.asarray(each, backend=x.backend) for each in given]
        arrays[place] = x
        return of(name)(*arrays, reduction="sum")

    np.testing.assert_allclose(
        gradient(backend, loss, given[place]), differences(loss, given[place]), rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("name", [name for name in EXTREMES if name != "mse_loss"])
def test_gradients_of_what_is_certain_are_finite(backend: str, name: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    arrays, expected = EXTREMES[name]
    certain = np.isfinite(expected) & np.isfinite(arrays[0])
    x, target = (np.array(each, "f8")[certain] for each in arrays)
    assert np.isfinite(gradient(backend, lambda x: of(name)(x, ua.asarray(target), reduction="sum"), x)).all()


def test_the_huber_loss_is_smooth(backend: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    x = np.array([-2.0, -1.0, 0.0, 1.0, 3.0])
    found = gradient(backend, lambda x: ua.nn.huber_loss(x, ua.zeros(5), reduction="sum"), x)
    np.testing.assert_allclose(found, [-1, -1, 0, 1, 1])


def test_dtypes_promote(backend: str) -> None:
    x, target = ua.asarray([1.0, 2.0], dtype="float32"), ua.asarray([3, 4])
    assert ua.nn.mse_loss(x, target).dtype == ua.float64
    assert ua.nn.mse_loss(x, x.astype("float16")).dtype == ua.float32
    # Squares of float16 are summed in float32.
    wide = ua.nn.mse_loss(ua.full(1000, 200.0, dtype="float16"), ua.zeros(1000, dtype="float16"))
    assert_same(wide, np.asarray(40000, "f2"))


def test_the_mean_of_nothing_is_nan(backend: str) -> None:
    assert np.isnan(as_numpy(ua.nn.mae_loss(ua.zeros((0, 3)), ua.zeros(3))))


ERRORS: dict[str, tuple[str, list[Any], dict[str, Any], type[BaseException]]] = {
    "an unknown reduction": ("mse_loss", [np.zeros(2), np.zeros(2)], {"reduction": "batchmean"}, ValueError),
    "shapes that don't broadcast": ("mae_loss", [np.zeros(2), np.zeros(3)], {}, ua.errors.ShapeError),
    "a weight that doesn't broadcast": (
        "binary_cross_entropy",
        [np.full(2, 0.5), np.zeros(2), np.zeros(3)],
        {"reduction": "none"},
        ua.errors.ShapeError,
    ),
    "complex numbers": ("huber_loss", [np.zeros(2), np.zeros(2, complex)], {}, ua.errors.DtypeError),
    "no delta": ("huber_loss", [np.zeros(2), np.zeros(2)], {"delta": 0.0}, ValueError),
    "a delta that is NaN": ("huber_loss", [np.zeros(2), np.zeros(2)], {"delta": np.nan}, ValueError),
    "complex weights": (
        "binary_cross_entropy",
        [np.ones(2), np.ones(2), np.ones(2, complex)],
        {},
        ua.errors.DtypeError,
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    name, arrays, options, error = ERRORS[case]
    out = ua.ones(2 if options.get("reduction") == "none" else ())
    assert_raises(error, getattr(ua.nn, name), *map(ua.asarray, arrays), **options, out=out)
