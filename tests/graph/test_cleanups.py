"""What is dropped from a graph because the kernel that reads it does the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.testing import needs

from ..oracle import as_numpy

ROWS = np.linspace(-2.0, 3.0, 12).reshape(3, 4)
BROADCASTS: dict[str, tuple[Callable[[ua.Array, ua.Array], ua.Array], tuple[int, ...], int]] = {
    "a row": (lambda x, y: ua.multiply(x, ua.broadcast_to(y, (3, 4))), (4,), 0),
    "a column": (lambda x, y: ua.divide(ua.broadcast_to(y, (3, 4)), x), (3, 1), 0),
    "both sides": (lambda x, y: ua.add(ua.broadcast_to(x[0], (3, 4)), ua.broadcast_to(y, (3, 4))), (3, 1), 0),
    "nothing else has the shape": (lambda x, y: ua.sin(ua.broadcast_to(y, (3, 4))), (4,), 1),
    "one element": (lambda x, y: ua.pow(ua.exp(x), ua.broadcast_to(y, (3, 4))), (), 1),
    "no elementwise function": (lambda x, y: ua.stack([x, ua.broadcast_to(y, (3, 4))]), (4,), 1),
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_broadcasts_that_elementwise_functions_do(backend: str, name: str) -> None:
    function, shape, left = BROADCASTS[name]
    values = np.resize(ROWS + 0.5, shape)
    x, y = ua.asarray(ROWS), ua.asarray(values)
    compiled = ua.compile(function, exclude=["fuse"])
    expected = as_numpy(function(x, y))
    if backend in ("numpy", "torch"):
        np.testing.assert_array_equal(as_numpy(compiled(x, y)), expected)
    else:
        np.testing.assert_allclose(as_numpy(compiled(x, y)), expected, rtol=1e-15)
    assert [each.op.name for each in compiled.graph(x, y).toposort()].count("broadcast_to") == left


FACTORS: dict[str, tuple[Callable[[ua.Array], ua.Array], int]] = {
    "a number": (lambda x: ua.sin(x * 1.0), 0),
    "an array": (lambda x: ua.sin(ua.asarray([[1.0]] * 3) * x), 0),
    "a large one": (lambda x: ua.sin(x * ua.broadcast_to(ua.asarray(1.0), (3, 4))), 0),
    "a power": (lambda x: ua.sin(ua.pow(x, 1)), 0),
    "a wider result": (lambda x: ua.sin(ua.asarray([[[1.0]]] * 2) * x), 1),
    "another dtype": (lambda x: ua.sin(ua.astype(x, "float32") * ua.asarray([1.0] * 4)), 0),
    "not one": (lambda x: ua.sin(x * ua.asarray([1.0, 1.0, 1.0, 2.0])), 1),
    "complex numbers": (lambda x: ua.sin(ua.sqrt(ua.astype(x, "complex128")) * 1.0), 1),
    "backwards": (lambda x: ua.sin(x[::-1, ::-1] * 1.0), 1),
}


@pytest.mark.parametrize("name", FACTORS)
@needs("writes")
def test_factors_of_one(backend: str, name: str) -> None:
    function, left = FACTORS[name]
    x = ua.asarray(ROWS)
    compiled = ua.compile(function, exclude=["fuse"])
    np.testing.assert_array_equal(as_numpy(compiled(x)), as_numpy(function(x)))
    names = [each.op.name for each in compiled.graph(x).toposort()]
    # The compilers of other engines drop powers by themselves.
    assert names.count("multiply") + names.count("pow") == (1 if name == "a power" and backend != "numpy" else left)


def column(x: ua.Array, w: ua.Array) -> None:
    square = ua.reshape(x, (4, 4))
    square[:, 1] = square[0] * w


def halves(x: ua.Array, w: ua.Array) -> None:
    ua.reshape(x, (8, 2)).T[1] = x[:8] * w[0]


def pairs(x: ua.Array, w: ua.Array) -> None:
    ua.reshape(x, (2, 8))[1:] = ua.reshape(x, (8, 2)).T[:1] * w[0]


def copied(x: ua.Array, w: ua.Array) -> None:
    y = ua.reshape(x + 1, (4, 4)).copy()
    y[:, 1] = y[0] * w
    x[...] = ua.reshape(y, x.shape)


@pytest.mark.parametrize("in_branch", [False, True])
@pytest.mark.parametrize("function", [column, halves, pairs, copied])
def test_windows_of_what_is_reshaped(
    backend: str, function: Callable[[ua.Array, ua.Array], None], in_branch: bool
) -> None:
    # XLA on the CPU (jaxlib 0.10) writes to the memory that the value still reads.
    def step(x: ua.Array, w: ua.Array) -> ua.Array:
        y = x.copy()

        def written() -> ua.Array:
            z = y.copy()
            function(z, w)
            z[1:3] = w[:2] * 0.5
            return z

        return ua.cond(ua.sum(w) < 100, written, lambda: y) if in_branch else written()

    x, w = ua.asarray(np.sin(np.arange(16.0))), ua.asarray([1.5, -0.5, 2.0, 0.25])
    np.testing.assert_allclose(as_numpy(ua.compile(step)(x, w)), as_numpy(step(x, w)), rtol=1e-14)
