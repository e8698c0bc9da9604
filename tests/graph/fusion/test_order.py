"""The results that fusion takes to be in C order are."""

from __future__ import annotations

import numpy as np
import pytest

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.graph.fusion.machine import is_compiled

from ...derivatives.cases import real
from ...natives import skip_unless
from .test_fusion import names

X, WEIGHT = real(3, 4, 5), real(1, 1, 5, seed=1)
MOMENTS = real(3, 4, 1, seed=2), real(3, 4, 1, low=0.5, high=1.5, seed=3)
# Indices with gaps between them.
PLACES = np.arange(24).reshape(3, 8)[:, ::2] % 3

CALLS = [
    *(("take", (X, PLACES), {"axis": axis}) for axis in (0, 1, 2)),
    *(("roll", (PLACES,), {"shift": (3, 1)[: len(axis)], "axis": axis}) for axis in ((0,), (1,), (1, 0), ())),
    ("take_along_axis", (X, np.repeat(PLACES, 5).reshape(3, 4, 5)), {"axis": 1}),
    *(("root_mean_square", (X,), {"axis": axis, "eps": 0.1}) for axis in ((0,), (1,), (2,), (0, 2))),
    *((name, (X,), {"axis": axis}) for name in ("softmax", "log_softmax") for axis in (0, 2)),
    *((f"{name}_backward", (X, X), {"axis": axis}) for name in ("softmax", "log_softmax") for axis in (0, 2)),
    ("gelu_with_slope", (X,), {}),
    *(("norm_with_moments", (scale * X, WEIGHT, WEIGHT), {"axis": (2,), "eps": 0.1}) for scale in (1.0, 1e200)),
    ("norm_backward", (X, X, *MOMENTS, WEIGHT), {"axis": (2,)}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]} {call[2]}")
def test_what_stays_in_c_order_does(backend: str, call: tuple[str, tuple[np.ndarray, ...], dict[str, object]]) -> None:
    skip_unless(backend, "numpy", "torch", why="the engine has no strides")
    name, values, static = call
    handle = load(backend)
    if name not in handle.kernels:
        pytest.skip(f"{backend} has no kernel for {name}")
    # Memory as it is: indices keep their gaps.
    natives = [handle.from_numpy(x) if x is PLACES else handle.from_numpy(x.copy()) for x in values]
    found = handle.kernels[name](*natives, **static)
    for each in found if isinstance(found, tuple) else (found,):
        assert handle.to_numpy(each).flags.c_contiguous


@pytest.mark.skipif(not is_compiled(), reason="the compiled part of the package isn't there: nothing is fused")
def test_what_embeddings_are_computed_into_is_fused() -> None:
    def embedded(table: ua.Array, text: ua.Array) -> ua.Array:
        x = ua.take(table, text[:, :-1], axis=0)
        return ua.nn.layer_norm(x * 2.0 + 1.0)

    with ua.use_backend("numpy"):
        table, text = ua.asarray(real(7, 5)), ua.asarray(PLACES.copy())
        assert names(embedded, table, text) == ["take", "fused[multiply, add, mean, …]", "root_mean_square", "divide"]
        for function in (embedded, ua.grad(lambda table, text: ua.sum(embedded(table, text) ** 3))):
            assert ua.compile(function)(table, text).tolist() == function(table, text).tolist()
