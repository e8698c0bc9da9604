"""Cross entropy against torch's own function, and against its formula over masked and extreme logits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import unifyarr as ua

from ..gradients import ENGINES, differences, gradient
from ..natives import skip_unless, skip_without_derivatives, values_of
from ..oracle import TOLERANCE, as_numpy, assert_raises, assert_same, few

SHAPES: list[tuple[int, ...]] = [(4, 5), (5,), (2, 5, 3)]


def torchs_own(x: np.ndarray, target: np.ndarray, axis: int, **options: Any) -> np.ndarray:
    """Return torch's, which has the classes second, or first where they are alone."""
    import torch
    from torch.nn import functional

    x = np.moveaxis(x, axis, min(x.ndim - 1, 1)) if x.ndim > 1 else x
    if target.dtype.kind == "f" and x.ndim > 1:
        target = np.moveaxis(target, axis, 1)
    tensors = {key: torch.tensor(each) if isinstance(each, np.ndarray) else each for key, each in options.items()}
    found = functional.cross_entropy(torch.tensor(x), torch.tensor(target), **tensors)
    return values_of(found)


@st.composite
def problems(draw: st.DrawFn, dtype: str) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from(SHAPES if dtype == "float64" else SHAPES[:1]))
    axis = draw(st.sampled_from([-1, 0] if shape != (2, 5, 3) else [1, -1, -2]))
    classes = shape[axis]
    x = (random.uniform(-10, 10, shape)).astype(ua.bfloat16 if dtype == "bfloat16" else dtype)
    rest = np.delete(np.array(shape), axis)
    options: dict[str, Any] = {"reduction": draw(st.sampled_from(["mean", "sum", "none"]))}
    if draw(st.booleans()):
        options["label_smoothing"] = 0.25
    if draw(st.booleans()):
        options["weight"] = random.uniform(0.5, 2, classes)
    if draw(st.booleans()):
        target = random.dirichlet(np.ones(classes), rest)
        return x, np.moveaxis(target, -1, axis).astype(x.dtype), {"axis": axis, **options}
    target = random.integers(0, classes, rest)
    if draw(st.booleans()):
        # One at least is kept: the mean of none is NaN.
        ignored = draw(st.sampled_from([-100, 2]))
        target = np.where(random.random(rest) < 0.3, ignored, np.where(target == 2, 1, target))
        target = np.where(np.arange(target.size).reshape(target.shape) == 0, 0, target)
        options["ignore_index"] = ignored
    return x, np.asarray(target), {"axis": axis, **options}


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@few
@given(data=st.data())
def test_cross_entropy(backend: str, dtype: str, data: st.DataObject) -> None:
    pytest.importorskip("torch")
    x, target, options = data.draw(problems(dtype))
    wide = target.astype("f8") if target.dtype.kind not in "iu" else target
    expected = torchs_own(x.astype("f8"), wide, **options).astype(x.dtype)
    given_options = {key: ua.asarray(each) if isinstance(each, np.ndarray) else each for key, each in options.items()}
    actual = ua.nn.cross_entropy(ua.asarray(x), ua.asarray(target), **given_options)
    assert_same(actual, expected, atol=10 * TOLERANCE[dtype], what=(x, target, options))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_indices_of_every_dtype(backend: str, dtype: str) -> None:
    # More classes than an int8 can count.
    x = np.linspace(-3, 3, 600).reshape(2, 300)
    target = np.array([7, 100]).astype(dtype)
    expected = np.log(np.exp(x).sum(1)) - x[[0, 1], [7, 100]]
    assert_same(ua.nn.cross_entropy(ua.asarray(x), ua.asarray(target), reduction="none"), expected)


def test_integer_logits(backend: str) -> None:
    assert_same(ua.nn.cross_entropy(ua.asarray([[3, 3]]), ua.asarray([0])), np.asarray(np.log(2)))


def test_extremes(backend: str) -> None:
    inf = np.inf
    x = ua.asarray([[1e300, -1e300, 0.0], [0.0, 800.0, -800.0], [-inf, 0.0, 0.0], [0.0, -40.0, -inf]])
    losses = ua.nn.cross_entropy(x, ua.asarray([0, 0, 0, 1]), reduction="none")
    assert_same(losses, np.array([0.0, 800.0, inf, 40 + np.log1p(np.exp(-40.0))]))
    # A masked class that is no target costs nothing.
    target = ua.asarray([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]])
    losses = ua.nn.cross_entropy(x, target, reduction="none")
    assert_same(losses, np.array([0.0, 0.0, np.log(2), 0.0]), atol=1e-15, signed_zeros=False)


def test_large_offsets_cost_no_digits(backend: str) -> None:
    x = np.array([[0.25, 1.5, -2.0]])
    expected = as_numpy(ua.nn.cross_entropy(ua.asarray(x), ua.asarray([1])))
    assert_same(ua.nn.cross_entropy(ua.asarray(x + 2.0**40), ua.asarray([1])), expected, rtol=1e-14)


def test_the_mean_counts_what_is_kept_by_its_weight(backend: str) -> None:
    x = ua.asarray([[0.0, 0.0], [0.0, np.log(3)], [5.0, 1.0]])
    weight = ua.asarray([1.0, 3.0])
    found = ua.nn.cross_entropy(x, ua.asarray([0, 1, -100]), weight)
    assert_same(found, np.asarray((np.log(2) + 3 * np.log(4 / 3)) / 4))
    assert np.isnan(as_numpy(ua.nn.cross_entropy(x, ua.asarray([-100, -100, -100]))))
    assert_same(ua.nn.cross_entropy(x, ua.asarray([-100, -100, -100]), reduction="none"), np.zeros(3))


@pytest.mark.parametrize("index", [-1, 3])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_an_index_without_a_class(backend: str, index: int, smoothing: float) -> None:
    out = ua.ones(2)
    x, target = ua.asarray([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]), ua.asarray([0, index])
    options: dict[str, Any] = {"label_smoothing": smoothing, "reduction": "none"}
    assert_raises(IndexError, ua.nn.cross_entropy, x, target, **options, out=out)


def test_no_examples(backend: str) -> None:
    x = ua.zeros((0, 3))
    assert_same(ua.nn.cross_entropy(x, ua.zeros(0, dtype="int64"), reduction="none"), np.zeros(0))
    assert_same(ua.nn.cross_entropy(x, ua.zeros((0, 3)), reduction="sum"), np.asarray(0.0))


CASES: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
    "indices": (np.array([2, -100]), {}),
    "smoothed": (np.array([2, 0]), {"label_smoothing": 0.2, "reduction": "sum"}),
    "probabilities": (np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients(backend: str, case: str) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    target, options = CASES[case]

    def loss(x: ua.Array) -> ua.Array:
        weight = ua.asarray([1.0, 2.0, 0.5], backend=x.backend)
        return ua.nn.cross_entropy(x, ua.asarray(target, backend=x.backend), weight, **options)

    values = np.array([[0.3, 1.7, 0.3], [-2.0, 0.0, 2.5]])
    np.testing.assert_allclose(gradient(backend, loss, values), differences(loss, values), rtol=1e-6, atol=1e-9)
    far = np.array([[0.0, -np.inf, 1e300], [-1e300, 0.0, 1e4]])
    if case != "smoothed":
        assert np.isfinite(gradient(backend, loss, far)[:, [0, 2]]).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("compiled", [False, True])
def test_derivatives_in_closed_form(backend: str, case: str, compiled: bool) -> None:
    target, options = CASES[case]
    values = (
        np.array([[0.3, -np.inf, 0.3], [-2.0, 40.0, 2.5]]) if case == "indices" else np.array([[0.3, 0.3, -9.0]] * 2)
    )
    weight = np.array([1.0, 2.0, 0.5])
    if target.dtype.kind == "f":
        shares, rows = target * weight, np.array([0.5, 0.5])
    else:
        spread = options.get("label_smoothing", 0.0)
        shares = (1 - spread) * np.where(np.arange(3) == target[:, None], weight, 0) + spread / 3 * weight
        rows = np.where(target == -100, 0, 1 if case == "smoothed" else 2.0)
    p = special.softmax(values, axis=1)
    totals = (rows * shares.sum(1))[:, None]

    def loss(x: ua.Array) -> ua.Array:
        return ua.nn.cross_entropy(x, ua.asarray(target), ua.asarray(weight), **options)

    first, second = ua.grad(loss), ua.grad(lambda x: ua.grad(loss)(x)[0, 2])
    if compiled:
        first, second = ua.compile(first), ua.compile(second)
    x = ua.asarray(values)
    np.testing.assert_allclose(as_numpy(first(x)), p * totals - shares * rows[:, None], rtol=1e-12, atol=1e-15)
    # For one element of the gradient: probabilities times the unit vector less probabilities.
    expected = np.zeros((2, 3))
    expected[0] = totals[0] * p[0, 2] * (np.arange(3) == 2) - totals[0] * p[0, 2] * p[0]
    np.testing.assert_allclose(as_numpy(second(x)), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("of_target", [True, False])
def test_gradients_of_targets_and_weights(backend: str, of_target: bool) -> None:
    skip_unless(backend, *ENGINES, why="an engine that records gradients")
    logits, given = np.array([[0.3, 1.7, 0.3], [-2.0, 0.0, 2.5]]), np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])

    def loss(x: ua.Array) -> ua.Array:
        of = [ua.asarray(each, backend=x.backend) for each in (logits, given)]
        return ua.nn.cross_entropy(of[0], x) if of_target else ua.nn.cross_entropy(of[0], of[1], x, label_smoothing=0.1)

    values = given if of_target else np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(gradient(backend, loss, values), differences(loss, values), rtol=1e-6, atol=1e-9)


@few
@given(seed=st.integers(0, 2**32 - 1))
def test_inside_an_engines_own_trace(backend: str, seed: int) -> None:
    skip_unless(backend, "jax", "tensorflow", why="an engine that traces")
    values, target = np.random.default_rng(seed).uniform(-3, 3, (4, 3)), np.array([0, 2, -100, 1])

    def loss(native: Any) -> Any:
        return ua.nn.cross_entropy(ua.asarray(native), ua.asarray(target), label_smoothing=0.1).native

    expected = as_numpy(ua.nn.cross_entropy(ua.asarray(values), ua.asarray(target), label_smoothing=0.1))
    if backend == "jax":
        import jax

        found = jax.jit(loss)(values)
    else:
        import tensorflow as tf

        found = tf.function(loss)(tf.constant(values))
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)


ERRORS: dict[str, tuple[list[Any], dict[str, Any], type[BaseException]]] = {
    "indices of another shape": ([np.zeros((4, 3)), np.zeros(3, int)], {}, ua.errors.ShapeError),
    "probabilities of another shape": ([np.zeros((4, 3)), np.zeros(4)], {}, ua.errors.ShapeError),
    "weights of another number": ([np.zeros((4, 3)), np.zeros(4, int), np.ones(4)], {}, ua.errors.ShapeError),
    "a weight of all": ([np.zeros((4, 3)), np.zeros(4, int), 2.0], {}, ua.errors.ShapeError),
    "bools": ([np.zeros((4, 3)), np.zeros(4, bool)], {}, ua.errors.DtypeError),
    "complex logits": ([np.zeros((4, 3), complex), np.zeros(4, int)], {}, ua.errors.DtypeError),
    "no axis": ([np.zeros(()), np.zeros((), int)], {}, ua.errors.AxisError),
    "an axis out of bounds": ([np.zeros((4, 3)), np.zeros(4, int)], {"axis": 2}, ua.errors.AxisError),
    "too much smoothing": ([np.zeros((4, 3)), np.zeros(4, int)], {"label_smoothing": 1.5}, ValueError),
    "an unknown reduction": ([np.zeros((4, 3)), np.zeros(4, int)], {"reduction": "all"}, ValueError),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(backend: str, case: str) -> None:
    arrays, options, error = ERRORS[case]
    arrays = [ua.asarray(each) if isinstance(each, np.ndarray) else each for each in arrays]
    assert_raises(error, ua.nn.cross_entropy, *arrays, **options, out=ua.ones(()))


@pytest.mark.parametrize("wrong", [-0.5, 1.5, 3.0, -np.inf, np.inf])
def test_targets_that_are_no_probabilities(backend: str, wrong: float) -> None:
    skip_without_derivatives(backend)
    truth, logits = ua.asarray([[0.25, 0.75], [1.0, 0.0]]), ua.asarray([[0.5, wrong], [0.25, 0.25]])
    # The truth first, as elsewhere.
    with pytest.raises(ValueError, match="logits come first"):
        ua.nn.cross_entropy(truth, logits)
    with pytest.raises(ValueError, match="logits come first"):
        ua.grad(lambda x: ua.nn.cross_entropy(x, logits))(truth)


def test_targets_that_are_nearly_probabilities(backend: str) -> None:
    x = ua.zeros((2, 2))
    # A row that doesn't count, and one that was rounded up.
    target = ua.asarray([[0.0, 0.0], [1.0000001, 0.0]])
    assert_same(ua.nn.cross_entropy(x, target, reduction="none"), np.array([0.0, 1.0000001 * np.log(2)]))
    assert np.isnan(as_numpy(ua.nn.cross_entropy(x, ua.asarray([[np.nan, 0.0], [1.0, 0.0]]))))
    assert_same(
        ua.compile(lambda t: ua.nn.cross_entropy(x, t, reduction="none"))(target), np.array([0, 1.0000001 * np.log(2)])
    )
