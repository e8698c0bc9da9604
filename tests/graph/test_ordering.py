"""Sums in a compiled function add in the order of eager calls, wherever they're computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from tests.natives import skip_unless
from unifyarr._native import core
from unifyarr.graph.kernels.laidout import LaidOut

Result = tuple[ua.Array, ...]


@pytest.fixture(autouse=True, params=["numpy", "torch"])
def ordered(request: pytest.FixtureRequest) -> Any:
    """Make arrays of a backend that adds up in the order of memory."""
    skip_unless(request.param, *ua.available_backends(), why="it has to be installed")
    with ua.use_backend(request.param):
        yield


def buffers_used_again(x: ua.Array, y: ua.Array) -> Result:
    turned = ua.cumulative_sum(x.T * 2, axis=0)
    return ua.sum(turned), ua.sum(ua.cumulative_sum(y, axis=1))


def products(x: ua.Array, y: ua.Array) -> Result:
    turned = ua.sin(x.T)
    return turned @ turned.T, ua.sum(ua.sin(y))


def overwritten_operands(x: ua.Array, y: ua.Array) -> Result:
    turned = ua.sin(x.T)
    product = turned @ turned.T
    return product, ua.sum(y + turned)


def whole_writes(x: ua.Array, y: ua.Array) -> Result:
    y[...] = ua.sin(x.T)
    z = y * 2
    return ua.sum(y), ua.mean(z, axis=-1), ua.sum(y[1:, 1:]), ua.mean(z.T)


def writes_to_new_arrays(x: ua.Array, y: ua.Array) -> Result:
    z = ua.zeros(y.shape)
    z[1:] = x.T[1:]
    w = ua.zeros(y.shape)
    w[...] = x.T
    return ua.sum(z[1:]), ua.sum(z), ua.std(ua.exp(w)), ua.std(w, axis=-1)


def copies(x: ua.Array, y: ua.Array) -> Result:
    window = ua.asarray(x[1:, 1:], copy=True)
    y[1:-1, 1:-1] = y[1:-1, 1:-1] * 2.0
    return ua.sum(window), ua.sum(ua.asarray(x.T, copy=True)), ua.sum(y[1:-1, 1:-1]), ua.sum(x[:, ::-1] + 1)


def functions_of_copies(x: ua.Array, y: ua.Array) -> Result:
    # The copies are removed, and the results would have the layout of the originals.
    copy = ua.asarray(x.T, copy=True)
    return ua.sum(ua.sin(copy)), ua.sum(copy * 2.0 + y), ua.mean(ua.exp(ua.asarray(x[:, ::-1], copy=True)), axis=0)


def reshapes_of_copies(x: ua.Array, y: ua.Array) -> Result:
    turned = ua.reshape(ua.reshape(x.T, (-1,)), x.T.shape)
    broad = ua.broadcast_to(y, (9, *y.shape))
    flat = ua.reshape(broad, (-1,))
    return (
        ua.sum(ua.sin(turned)),
        ua.sum(ua.sin(ua.reshape(flat, broad.shape))),
        ua.sum(ua.cos(ua.reshape(flat, (9, -1)))),
    )


def writes_of_what_is_read(x: ua.Array, y: ua.Array) -> Result:
    # The write can't be made in place, and the eager one is.
    y[:, 1:] = y[:, :-1]
    return ua.sum(y, axis=1), y + 1


def windows_computed_in(x: ua.Array, y: ua.Array) -> Result:
    # An eager result is in memory without gaps, and isn't in that of the window.
    z, w = ua.cumulative_sum(x, axis=0), ua.cumulative_sum(y, axis=0)
    return ua.sum(ua.atan2(z[:, :-3], 1.5)), ua.mean(ua.exp2(ua.atan2(w[:, 1:], 2.0)), axis=1)


def backwards(x: ua.Array, y: ua.Array) -> Result:
    # NumPy's loops for vectors aren't those that go backwards.
    for each in (x, y):
        row = each[0].astype(ua.float32)
        row[::-1] = ua.minimum(row[::-1], row[::-1])
        row[::-1] = ua.atan2(row[::-1], row[::-1])
        each[0] = row
    return x[0] * 2, y[0] * 2


def powers_of_one_element(x: ua.Array, y: ua.Array) -> Result:
    return tuple([ua.pow(each[0, 0], 3.0) for each in (x, y)])


FUNCTIONS = [
    *(buffers_used_again, products, overwritten_operands, whole_writes, writes_to_new_arrays, copies),
    *(functions_of_copies, reshapes_of_copies, writes_of_what_is_read, windows_computed_in, backwards),
    powers_of_one_element,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_have_the_bits_of_eager_calls(function: Callable[..., Result], order: Any) -> None:
    if function is powers_of_one_element and core is None:
        pytest.skip("without the compiled core a power by a number is one by an array, whose last bit is another")
    rng, compiled = np.random.default_rng(0), ua.compile(function)
    for _ in range(5):
        x, y = rng.normal(size=(140, 250)), rng.normal(size=(250, 140))
        mine, theirs = ([ua.asarray(x.copy()), ua.asarray(y.copy(order=order))] for _ in range(2))
        for result, expected in zip(compiled(*mine), function(*theirs), strict=True):
            np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))


def test_what_lies_as_in_an_eager_call_is_read_as_it_is() -> None:
    """So is a view of an argument, and a result in unshared memory."""

    def means(x: ua.Array, y: ua.Array) -> Result:
        center = x - ua.mean(x, axis=-1, keepdims=True)
        return ua.sum(center @ y.T), ua.mean(y.T, axis=0), ua.sum(x[1:, 1:])

    graph = ua.compile(means).graph(ua.ones((4, 6)), ua.ones((5, 6)))
    assert not any(isinstance(node.op, LaidOut) for node in graph.apply_nodes)


def test_a_written_copy_of_a_broadcast_constant_has_memory_for_each_element() -> None:
    def step(carry: ua.Array, x: ua.Array) -> Result:
        z = ua.broadcast_to(ua.asarray(0.0), (2, 4)).copy()
        z[:, :2] += carry[:, 2:] * x
        z[:, 2:] += carry[:, :2] * x
        return z + carry, ua.sum(z, axis=0)

    def loop(carry: ua.Array, xs: ua.Array) -> Any:
        return ua.scan(step, carry, xs)

    carry, xs = ua.asarray([[1.1, 1.2, 1.3, 1.4]] * 2), ua.asarray(np.arange(8.0).reshape(2, 2, 2))
    for found, expected in zip(ua.compile(loop)(carry, xs), loop(carry, xs), strict=True):
        assert found.tolist() == expected.tolist()
