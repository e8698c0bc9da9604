"""Rotary embedding beside turns of complex numbers."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua

from ..oracle import ALL, COMPLEX, HALVES, as_numpy, assert_raises, assert_same

rotary = ua.nn.rotary_embedding


def turned(x: np.ndarray, positions: np.ndarray, base: float, interleaved: bool) -> np.ndarray:
    """Return the embedding by hand: pairs of features as complex numbers."""
    pairs = x.shape[-1] // 2
    angles = positions[..., None] * base ** (-2 * np.arange(pairs) / x.shape[-1])
    one, other = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :pairs], x[..., pairs:])
    found = (one + 1j * other) * np.exp(1j * angles)
    if not interleaved:
        return np.concatenate([found.real, found.imag], axis=-1)
    return np.stack([found.real, found.imag], axis=-1).reshape(x.shape)


@pytest.mark.parametrize("interleaved", [False, True])
def test_pairs_are_turned(backend: str, interleaved: bool) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 6))
    for positions in (None, np.array([7, 0, 3, 2]), np.array([[[0.5], [2.5], [-1.0]]]), np.array(1000)):
        places = np.arange(4) if positions is None else positions
        given = None if positions is None else ua.asarray(positions)
        for base in (10000.0, 500):
            found = rotary(ua.asarray(x), given, base=base, interleaved=interleaved)
            assert_same(found, turned(x, np.broadcast_to(places, (2, 3, 4)), base, interleaved), atol=1e-12)


@pytest.mark.parametrize("dtype", [each for each in ALL if each not in COMPLEX])
def test_dtypes(backend: str, dtype: str) -> None:
    kind = ua.bfloat16 if dtype == "bfloat16" else dtype
    x = np.abs(np.random.default_rng(0).uniform(0, 3, (3, 4))).astype(kind)
    wanted = kind if dtype in (*HALVES, "float32") else "float64"
    # Positions whose angles float32 can't distinguish.
    positions = np.array([0, 3, 10_000_001])
    expected = turned(x.astype("f8"), positions, 10000.0, False).astype(wanted)
    atol = {"bfloat16": 2e-2, "float16": 2e-3, "float32": 1e-6}.get(dtype, 1e-8)
    assert_same(rotary(ua.asarray(x), ua.asarray(positions)), expected, atol=atol)


@pytest.mark.parametrize("interleaved", [False, True])
def test_products_depend_on_distances(backend: str, interleaved: bool) -> None:
    query, key = ua.asarray(np.random.default_rng(0).standard_normal((2, 5, 8)))
    near = rotary(query, interleaved=interleaved) @ rotary(key, interleaved=interleaved).T
    far = [rotary(x, ua.arange(5) + 11, interleaved=interleaved) for x in (query, key)]
    assert_same(far[0] @ far[1].T, as_numpy(near), atol=1e-12)


def test_empty_compiled_batches_and_out(backend: str) -> None:
    for shape in ((0, 4), (3, 0), (0, 3, 2)):
        assert rotary(ua.ones(shape)).shape == shape
    x = ua.asarray(np.random.default_rng(0).standard_normal((2, 3, 4)))
    expected = as_numpy(rotary(x))
    assert_same(ua.compile(rotary)(x), expected, atol=1e-15)
    assert_same(ua.vmap(rotary)(x), expected, atol=1e-15)
    assert rotary(x, out=x) is x
    assert_same(x, expected)


def test_what_is_refused(backend: str) -> None:
    shape = ua.errors.ShapeError
    with pytest.raises(shape, match=r"an even number of features, not \(2, 3\)"):
        rotary(ua.ones((2, 3)))
    assert_raises(shape, rotary, ua.ones(4))
    with pytest.raises(shape, match=r"positions of shape \(2, 2\) don't broadcast to \(2,\)|don't broadcast"):
        rotary(ua.ones((2, 4)), ua.ones((2, 2)))
    assert_raises(ua.errors.DtypeError, rotary, ua.ones((2, 4), dtype="complex128"))
    assert_raises(ua.errors.DtypeError, rotary, ua.ones((2, 4)), ua.ones(2, dtype="complex128"))
