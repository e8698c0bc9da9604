"""Gated units, cosines, losses of log-probabilities and normalized instances, by formulas and beside torch's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unifyarr as ua

from ..natives import values_of
from ..oracle import FLOATS, assert_same, few, seeded

X = np.random.default_rng(0).normal(size=(4, 6, 5))
CLASSES = np.array([[0, 5, 2, 1, 4]] * 4)
WEIGHT = np.array([0.5, 2.0, 1.0, 0.0, 3.0, 1.5])


def lifted(*arrays: np.ndarray) -> list[ua.Array]:
    return [ua.asarray(each, copy=True) for each in arrays]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [0, 1, -2])
@few
@given(data=st.data())
def test_glu(backend: str, dtype: str, axis: int, data: st.DataObject) -> None:
    values = data.draw(seeded(dtype, (2, 4)))
    first, second = np.split(values.astype(np.float64), 2, axis=axis)
    with np.errstate(all="ignore"):
        expected = (first / (1 + np.exp(-second))).astype(dtype)
    lost = 128 * float(ua.finfo(dtype).smallest_normal)
    assert_same(ua.nn.glu(ua.asarray(values, copy=True), axis=axis), expected, atol=lost, signed_zeros=False)


def test_an_odd_axis_has_no_half(backend: str) -> None:
    with pytest.raises(ua.errors.ShapeError, match=r"axis 1 of shape .* is odd"):
        ua.nn.glu(ua.ones((2, 3)))
    with pytest.raises(ua.errors.AxisError):
        ua.nn.glu(ua.ones(2), axis=1)
    assert ua.nn.glu(ua.ones((0, 4))).shape == (0, 2)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cosines(backend: str, axis: int) -> None:
    x, y = lifted(X, X[::-1].copy())
    expected = (X * X[::-1]).sum(axis) / np.linalg.norm(X, axis=axis) / np.linalg.norm(X[::-1], axis=axis)
    assert_same(ua.nn.cosine_similarity(x, y, axis=axis), expected, rtol=1e-12)
    # Vectors that overflow when squared, zeros, and broadcast vectors.
    far, one = lifted(np.array([[3e200, 4e200], [0.0, 0.0]]), np.array([1.0, 0.0]))
    assert_same(ua.nn.cosine_similarity(far, one), np.array([0.6, 0.0]), rtol=1e-12)
    assert_same(ua.nn.cosine_similarity(one.astype("int32"), one), np.asarray(1.0))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_nll_loss_is_the_rest_of_cross_entropy(backend: str, reduction: str, weight: np.ndarray | None) -> None:
    x, target = lifted(X, CLASSES)
    given = None if weight is None else ua.asarray(weight)
    options: dict[str, Any] = {"axis": 1, "reduction": reduction, "ignore_index": 2}
    found = ua.nn.nll_loss(ua.nn.log_softmax(x, axis=1), target, given, **options)
    assert_same(found, ua.nn.cross_entropy(x, target, given, **options), rtol=1e-12)


def test_what_nll_loss_refuses(backend: str) -> None:
    x = ua.zeros((2, 3))
    with pytest.raises(ua.errors.DtypeError, match="indices of classes, integers, not float64"):
        ua.nn.nll_loss(x, ua.zeros((2, 3)))
    with pytest.raises(ua.errors.ShapeError, match=r"nll_loss\(\): target has"):
        ua.nn.nll_loss(x, ua.asarray([0]))
    with pytest.raises(ValueError, match=r"nll_loss\(\): reduction is"):
        ua.nn.nll_loss(x, ua.asarray([0, 1]), reduction="most")


def test_instances(backend: str) -> None:
    x, weight, bias = lifted(X, WEIGHT, WEIGHT[::-1].copy())
    centred = X - X.mean(2, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(2, keepdims=True) + 1e-5)
    assert_same(ua.nn.instance_norm(x), expected, rtol=1e-12)
    expected = expected * WEIGHT[:, None] + WEIGHT[::-1, None]
    assert_same(ua.nn.instance_norm(x, weight, bias), expected, rtol=1e-12)
    moved = ua.nn.instance_norm(ua.moveaxis(x, 1, -1), weight, bias, axis=-1)
    assert_same(moved, np.moveaxis(expected, 1, -1), rtol=1e-12)
    with pytest.raises(ua.errors.ShapeError):
        ua.nn.instance_norm(x, axis=0)


def test_torchs_own(backend: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    import torch

    x, y, target, weight = lifted(X, X[::-1].copy(), CLASSES, WEIGHT)
    a, b, c, w = (torch.tensor(each) for each in (X, X[::-1].copy(), CLASSES, WEIGHT))
    pairs = [
        (ua.nn.glu(x, axis=1), functional.glu(a, 1)),
        (ua.nn.cosine_similarity(x, y, axis=1), functional.cosine_similarity(a, b, 1)),
        (ua.nn.nll_loss(x, target, weight, axis=1), functional.nll_loss(a, c, w)),
        (ua.nn.instance_norm(x, weight), functional.instance_norm(a, weight=w)),
    ]
    for found, expected in pairs:
        assert_same(found, values_of(expected), rtol=1e-11, signed_zeros=False)
