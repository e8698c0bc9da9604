"""Plain arguments beside an array that was put on a device: they go there, and so does the result."""

from __future__ import annotations

import numpy
import pytest

import unifyarr as ua
import unifyarr.numpy as np

from ...core.mixed_arguments import findings
from ...oracle import assert_same

W = numpy.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("current", ["jax", "numpy"])
def test_random_calls(backend: str, current: str) -> None:
    assert list(findings(60, 3, backend, current, "cpu:5")) == []


@pytest.mark.parametrize("current", ["jax", "numpy"])
def test_the_device_is_that_of_the_array(backend: str, current: str) -> None:
    x = ua.asarray(W, backend=backend, device="cpu:3")
    with ua.use_backend(current):
        for found in (
            np.average(numpy.ones(3), weights=x),
            np.percentile(x, [10.0, 50.0]),
            np.insert([1.0, 2.0], 1, x),
            np.interp(W, x, [1.0, 2.0, 3.0]),
            np.sum(W, where=x > 1),
            np.random.default_rng(0).normal(x, W),
            numpy.nan_to_num(numpy.hypot(x, W)),
        ):
            assert (found.backend, found.device) == (backend, "cpu:3")
        target = ua.zeros(3, backend=backend, device="cpu:3")
        np.place(target, W > 1, x[1:])
        np.copyto(target, [5.0, 5.0, 5.0], where=W == 1)
    assert target.device == "cpu:3"
    assert_same(target, [5.0, 2.0, 3.0])
