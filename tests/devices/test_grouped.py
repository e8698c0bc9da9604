"""Equal operations of compiled functions are one launch on a device, with the bits of operations one by one."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import unifyarr as ua
from unifyarr._core.engines.registry import load
from unifyarr.backends.torch._together import ONE_LAUNCH
from unifyarr.graph.kernels import grouped

from .counting import counting
from .launches import THERE
from .test_cases import there

SPECIAL = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 1e-38, 3e38, -7.25]
DTYPES = ["float32", "float64"]


def given(dtype: str, count: int = 4) -> list[np.ndarray]:
    """Arrays of several shapes: special values and random ones."""
    generator = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(dtype)
    shapes = [(3, 4), (12,), (2, 1, 6), (2, 5)]
    rest = [generator.standard_normal(shape).astype(dtype) for shape in shapes[1:]]
    return [special.reshape(3, 4), *rest][:count]


def bits(arrays: Any) -> list[bytes]:
    return [ua.asarray(x).to_numpy().tobytes() for x in arrays]


def both(function: Callable[..., Any], values: list[np.ndarray], **options: Any) -> tuple[int, int]:
    """Call a function eagerly and compiled, compare all bits, and return the launches of both."""
    results, launches = [], []
    for run in (function, ua.compile(function, fuse=False, **options)):
        for _ in range(3):
            arrays = [there(x.copy()) for x in values]
            with counting() as events:
                found = run(*arrays)
        launches.append(events["launch"])
        # Caches are filled, and mode debug reads values.
        assert options.get("mode") == "debug" or not any(events[kind] for kind in ("sync", "to_host", "to_device"))
        results.append(bits([*(found or ()), *arrays]))
    assert results[0] == results[1]
    return launches[0], launches[1]


def columns(dtype: str, device: str) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    pairs = [(x, np.roll(x, 5)) for x in given(dtype)]
    one, two = zip(*pairs, strict=True)
    return [torch.from_numpy(x.copy()).to(device) for x in one], [torch.from_numpy(x.copy()).to(device) for x in two]


@pytest.mark.parametrize("device", ["cpu", THERE])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE_LAUNCH)
def test_lists_have_the_bits_of_single_calls(backend: str, name: str, dtype: str, device: str) -> None:
    way, kernel = ONE_LAUNCH[name], load("torch").kernel(name)
    x, y = columns(dtype, device)
    number, array = 0.3, torch.tensor(0.3, dtype=x[0].dtype, device=device)
    seconds: list[tuple[Any, list[Any]]] = [(None, [])] if way.operands == 1 else [(y, y)]
    if way.operands == 2:
        seconds.append(([number] * len(x), [array] * len(x)))
        if way.takes_arrays:
            seconds.append((array, [array] * len(x)))
    for given, each in seconds:
        right = [kernel(*pair) for pair in zip(x, *([each] if each else []), strict=True)]
        rest = [] if given is None else [given]
        copies = [one.clone() for one in x]
        way.in_place(copies, *rest)
        for found in (way.new(x, *rest), copies):
            for mine, one in zip(found, right, strict=True):
                assert mine.cpu().numpy().tobytes() == one.cpu().numpy().tobytes()


def _chain(*arrays: ua.Array) -> list[ua.Array]:
    return [ua.sqrt(ua.abs(0.3 * x + 1.7)) / 3.1 - x for x in arrays]


def _numbers(*arrays: ua.Array) -> list[ua.Array]:
    return [x * (place + 0.1) for place, x in enumerate(arrays)]


def _pairs(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    return [x / ua.exp(-x) for x in (a, b, c, d)]


def _beside_an_array(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    scale = ua.sum(d)
    return [scale * x / scale + scale for x in (a, b, c)]


def _updates(*arrays: ua.Array) -> None:
    for x in arrays:
        x *= 0.9
        x += ua.sin(x)


def _swapped(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> None:
    one, two = a * 1.0, ua.reshape(b, (3, 4)) + 0.0
    a[...] = two
    b[...] = ua.reshape(one, (12,))
    c -= 1
    d -= 2


def _windows(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    a[1:, 1:] = a[:-1, :-1] * 2.0
    b[::2] += b[1::2] * 2.0
    return [a.T * 0.5, b[::-1] * 0.5, c[..., ::2] * 0.5, ua.broadcast_to(d[:1], (2, 5)) * 0.5]


def _dependent(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    for _ in range(3):
        a = a * 0.5 + ua.reshape(b, (3, 4))
        b = b * 0.5 + ua.reshape(a, (12,))
    return [a, b]


def _same(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    for x in (a, b):
        x *= x
    return [a + a, b + b, c + c, d + d]


def _without_axes(a: ua.Array, b: ua.Array, c: ua.Array, d: ua.Array) -> list[ua.Array]:
    one, two = ua.sum(c), ua.max(d)
    return [one + 1.5, two + one, one * 2.0, two * 3.0]


# How many launches it takes.
CASES: dict[str, tuple[Callable[..., Any], int]] = {
    "a chain": (_chain, 6),
    "numbers": (_numbers, 1),
    "pairs": (_pairs, 3),
    "a 0-d array": (_beside_an_array, 4),
    "updates": (_updates, 3),
    "a swap": (_swapped, 4),
    "windows": (_windows, 8),
    "what needs each other": (_dependent, 11),
    "the same operand twice": (_same, 2),
    "no axes": (_without_axes, 4),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_compiled_bits_are_the_eager_ones(backend: str, name: str, dtype: str) -> None:
    function, launches = CASES[name]
    assert both(function, given(dtype))[1] <= launches
    single = both(function, given(dtype), exclude=("group", "group_stores"))[1]
    assert launches <= single
    with np.errstate(all="ignore"):
        both(function, given(dtype), mode="debug")


def test_other_dtypes_and_lengths_are_computed_one_by_one(backend: str) -> None:
    def function(a: ua.Array, b: ua.Array, mask: ua.Array) -> list[ua.Array]:
        return [a * 2, b * 2, a[mask] * 2, b[mask] * 2]

    values = [np.arange(4), np.arange(4.0), np.array([True, False, True, True])]
    mine = ua.compile(function, fuse=False)
    for _ in range(3):
        found = mine(*map(there, values))
    assert bits(found) == bits(function(*map(ua.asarray, values)))


def test_results_on_many_elements_are_held_one_by_one(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped, "_MOST_ELEMENTS", 11)
    assert both(_numbers, given("float64"))[1] == 4


def test_gradients_go_through(backend: str) -> None:
    def function(x: ua.Array, y: ua.Array) -> ua.Array:
        return ua.sum(ua.exp(x * 2.0)) + ua.sum(ua.exp(y * 2.0))

    compiled = ua.compile(function, fuse=False)
    x, y = np.linspace(0, 1, 6).reshape(2, 3), np.linspace(-1, 1, 4)
    for _ in range(3):
        found = ua.grad(compiled, (0, 1))(there(x), there(y))
        natives = [there(each).native.requires_grad_() for each in (x, y)]
        compiled(*map(ua.asarray, natives)).native.backward()
        for each, slope, native in zip((x, y), found, natives, strict=True):
            np.testing.assert_allclose(slope.to_numpy(), 2 * np.exp(2 * each), rtol=1e-12)
            np.testing.assert_allclose(native.grad.cpu().numpy(), 2 * np.exp(2 * each), rtol=1e-12)


def test_graphs_show_groups_and_are_pickled(backend: str) -> None:
    values = list(map(there, given("float64")))
    graph = ua.compile(_numbers, fuse=False).graph(*values)
    assert "multiply[4 at once]" in str(graph)
    assert bits(pickle.loads(pickle.dumps(graph))(*values)) == bits(_numbers(*values))


def test_on_the_host_nothing_is_grouped(backend: str) -> None:
    values = [ua.asarray(x, device="cpu") for x in given("float64")]
    assert "at once" not in str(ua.compile(_numbers, fuse=False).graph(*values))
