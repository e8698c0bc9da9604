"""einops, through its module for arrays of the standard."""

from __future__ import annotations

import numpy as np
import pytest
from einops import array_api as einops

import unifyarr as ua

from ..oracle import assert_same

IMAGES = np.arange(2 * 4 * 6 * 3.0).reshape(2, 4, 6, 3)


@pytest.mark.parametrize(
    ("pattern", "lengths", "expected"),
    [
        ("b h w c -> b c h w", {}, IMAGES.transpose(0, 3, 1, 2)),
        ("b h w c -> (b h) w c", {}, IMAGES.reshape(8, 6, 3)),
        ("b (h h2) (w w2) c -> b h w (c h2 w2)", {"h2": 2, "w2": 2}, None),
        ("b h w c -> b h w c 1", {}, IMAGES[..., None]),
        ("... c -> c ...", {}, np.moveaxis(IMAGES, -1, 0)),
    ],
)
def test_rearrange(backend: str, pattern: str, lengths: dict[str, int], expected: np.ndarray | None) -> None:
    if expected is None:
        expected = IMAGES.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 5, 2, 4).reshape(2, 2, 3, 12)
    result = einops.rearrange(ua.asarray(IMAGES, copy=True), pattern, **lengths)
    assert result.backend == backend
    assert_same(result, expected)


@pytest.mark.parametrize("reduction", ["mean", "sum", "max", "min", "prod"])
def test_reduce(backend: str, reduction: str) -> None:
    values = IMAGES / 100 + 0.5
    result = einops.reduce(ua.asarray(values, copy=True), "b (h 2) w c -> b h c", reduction)
    expected = getattr(np, reduction)(values.reshape(2, 2, 2, 6, 3), axis=(2, 3))
    assert result.backend == backend
    assert_same(result, expected)


def test_repeat(backend: str) -> None:
    row = ua.asarray([1.0, 2.0, 3.0])
    assert_same(einops.repeat(row, "w -> h (w 2)", h=2), np.repeat([[1.0, 2, 3]] * 2, 2, axis=1))


def test_pack_and_unpack(backend: str) -> None:
    parts = [np.ones((2, 3)), np.zeros((2,)), np.full((2, 2, 2), 5.0)]
    packed, shapes = einops.pack([ua.asarray(each, copy=True) for each in parts], "b *")
    assert packed.backend == backend
    assert_same(packed, np.concatenate([each.reshape(2, -1) for each in parts], axis=1))
    for back, expected in zip(einops.unpack(packed, shapes, "b *"), parts, strict=True):
        assert_same(back, expected)


def test_a_rearranged_view_writes_through(backend: str) -> None:
    values = IMAGES.copy()
    x = ua.asarray(values, copy=True)
    einops.rearrange(x, "b h w c -> b c h w")[:, 0] = -1
    values[..., 0] = -1
    assert_same(x, values)
