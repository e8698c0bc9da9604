"""Numbers below the least normal one: JAX and TensorFlow compute with zeros in their place."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua

from ..oracle import as_numpy

FLUSHES = {"jax", "tensorflow"}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_subnormal_numbers_are(backend: str, dtype: str) -> None:
    tiny = float(ua.finfo(dtype).smallest_normal) / 4
    x = ua.asarray([tiny], dtype=dtype)
    # float16 is computed in float32, where these are normal.
    flushed = backend in FLUSHES and dtype != "float16"
    assert bool((x == 0)[0]) is flushed
    assert bool((x > 0)[0]) is not flushed
    assert ua.unique_values(ua.concat([x, ua.zeros(1, dtype=dtype)])).size == 2 - flushed
    assert ua.nonzero(x)[0].size == 1 - flushed
    assert int(ua.argmax(ua.concat([ua.zeros(1, dtype=dtype), x]))) == 1 - flushed
    assert ua.unique_counts(ua.concat([x, ua.zeros(1, dtype=dtype)])).counts.shape == (2 - flushed,)
    assert (float(as_numpy(x + 0)[0]) == 0) is flushed
    assert (float(as_numpy(ua.sum(ua.concat([x, x])))) == 0) is flushed
    # Kernels that move a number keep it, and Python gets the number itself.
    for moved in (x.copy(), ua.concat([x, x])[:1], ua.flip(x), x.to_backend("numpy"), x[::1]):
        assert float(as_numpy(moved)[0]) == tiny
    assert bool(x) is True
    assert x.tolist() == [tiny]
    np.testing.assert_array_equal(as_numpy(x).astype("f8"), [tiny])
