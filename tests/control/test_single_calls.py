"""Elements that indices pick, and reductions, in loops that the compiled part runs: nothing of Python between steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.fusion import machine
from unifyarr.graph.loops.stages import Stages
from unifyarr.testing import has

from ..graph.fusion.fused_programs import bits
from ..natives import values_of

Function = Callable[..., Any]
pytestmark = pytest.mark.skipif(not machine.is_compiled(), reason="the package was installed without its compiled part")
REDUCED = ["?", "i1", "i8", "u2", "f4", "f8", "F", "D"]


def assert_staged(backend: str, loops: list[Stages], calls: bool = False) -> None:
    """Assert that loops are run by the compiled part, and that Python isn't called between steps, or is.

    On torch, arithmetic with a broadcast operand is a call.
    """
    if backend == "numpy":
        assert loops
        assert calls == any(each.calls for each in loops)


def check(function: Function, *arrays: Any) -> None:
    """Assert that a compiled function gives the bits that it gives by itself, twice.

    Compilers of whole graphs add up in another order.
    """
    compiled, keeps_bits = ua.compile(function), has(ua.current_backend(), "writes")
    for _ in range(2):
        both = [ua.stack([ua.reshape(x, (-1,)) for x in each(*arrays)]) for each in (function, compiled)]
        expected, found = (values_of(each.native) for each in both)
        if keeps_bits or expected.dtype.kind not in "fc":
            assert bits(found) == bits(expected)
        else:
            assert found.dtype == expected.dtype
            largest = np.max(np.abs(expected), where=np.isfinite(expected), initial=0.0)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * largest)


def of_carry(step: Function, count: int = 7) -> Function:
    """Return a loop whose carry is an array, and that has the carry of all steps."""

    def function(x: Any, *rest: Any) -> Any:
        def one(c: Any, row: Any) -> Any:
            c = step(c, row, *rest)
            return c, c * 2

        end, rows = ua.scan(one, x, ua.arange(count) % 3 - 1)
        return end, *rows

    return function


PICKS: dict[str, Function] = {
    "row": lambda c, i: c * 0.5 + c[i],
    "element": lambda c, i: c * 0.5 + c[i, i + 1],
    "column": lambda c, i: c * 0.5 + c[:, i][:, None],
    "rows": lambda c, i: c * 0.5 + c[ua.stack([i, i, -i])][1],
    "of a view": lambda c, i: c * 0.5 + c.T[::-1][i],
    "take": lambda c, i: c * 0.5 + ua.take(c, ua.stack([i, -i, i, i + 1]), axis=1),
    "small indices": lambda c, i: c * 0.5 + c[ua.astype(i, ua.int8)],
    "write": lambda c, i: _written(c * 0.5, i, c[0]),
    "write of a number": lambda c, i: _written(c * 0.5, i, 1.0),
    "write to an element": lambda c, i: _written(c * 0.5, (i, i), c[0, 1]),
    "write to places twice": lambda c, i: _written(c * 0.5, ua.stack([i, i]), c[:2]),
    "write of itself": lambda c, i: _written(c, ua.stack([i, i + 1]), c[1:3]),
}


def _written(x: Any, key: Any, value: Any) -> Any:
    x = x * 1
    x[key] = value
    return x


# These join their indices, which is a call.
STACKED = {name for name, each in PICKS.items() if "stack" in each.__code__.co_names}


@pytest.mark.parametrize("name", PICKS)
def test_picks(name: str, backend: str, loops: list[Stages]) -> None:
    x = np.random.default_rng(0).normal(size=(4, 4))
    for dtype in (np.float64, np.float32, np.complex128):
        check(of_carry(PICKS[name]), ua.asarray(x.astype(dtype)))
    assert_staged(backend, loops, calls=name in STACKED)
    for laid in (x.T, np.repeat(x, 2, axis=1)[:, ::2], x[::-1]):
        check(of_carry(PICKS[name]), ua.asarray(laid, copy=False if backend == "numpy" else None))


def test_of_captured_arrays_in_while_loops(backend: str, loops: list[Stages]) -> None:
    def follow(links: Any) -> Any:
        state = (ua.asarray(0), ua.asarray(0))
        return ua.while_loop(lambda s: links[s[0]] != s[0], lambda s: (links[s[0]], s[1] + 1), state)

    links = np.append(np.random.default_rng(3).integers(5, 20, 20), 20)
    links[5:] = np.minimum(np.arange(5, 21) + 3, 20)
    check(follow, ua.asarray(links))
    assert_staged(backend, loops)


@pytest.mark.parametrize("is_write", [False, True])
def test_out_of_bounds(is_write: bool, backend: str, loops: list[Stages]) -> None:
    def function(x: Any, length: Any) -> Any:
        def step(i: Any, c: Any) -> Any:
            return _written(c, i, 1.0) if is_write else c + x[i]

        return ua.while_loop(lambda s: s[0] < length, lambda s: (s[0] + 1, step(*s)), (ua.asarray(-5), x * 1))[1]

    x, compiled = ua.asarray([1.0, 2.0, 3.0, 4.0, 5.0]), ua.compile(function)
    fits, far = ua.asarray(5), ua.asarray(6)
    expected = values_of(function(x, fits).native)
    assert bits(values_of(compiled(x, fits).native)) == bits(expected)
    for _ in range(2):
        if backend in ("numpy", "torch"):
            with pytest.raises(IndexError, match="out of bounds"):
                compiled(x, far)
    assert bits(values_of(compiled(x, fits).native)) == bits(expected)
    assert_staged(backend, loops)


FOLDS: dict[str, Function] = {
    "sum": lambda x: ua.sum(x, dtype=x.dtype),
    "rows": lambda x: ua.sum(x, axis=0, dtype=x.dtype),
    "prod": lambda x: ua.prod(x, axis=0, dtype=x.dtype),
    "max": ua.max,
    "greatest rows": lambda x: ua.max(x, axis=0, keepdims=True),
    "min": lambda x: ua.min(x, axis=0),
    "argmax": ua.argmax,
    "argmin": lambda x: ua.argmin(x, keepdims=True),
    "any": lambda x: ua.any(x > 0),
    "all": lambda x: ua.all(x > 0, axis=0),
    "totals": lambda x: ua.cumulative_sum(x, axis=0, dtype=x.dtype),
    "products": lambda x: ua.cumulative_prod(x, axis=0, dtype=x.dtype),
}
SHAPES = [(1,), (7,), (8,), (130,), (1, 5), (5, 1), (3, 4), (16, 17), (200, 3), (3, 200), (4, 3, 5)]


@pytest.mark.parametrize("name", FOLDS)
def test_folds(name: str, backend: str, loops: list[Stages]) -> None:
    random, fold = np.random.default_rng(0), FOLDS[name]
    # Compilers of whole graphs have one way for all shapes, and compile each.
    shapes = SHAPES if has(backend, "writes") else [(7,), (3, 4)]
    for dtype, shape in product(REDUCED, shapes):
        if np.dtype(dtype).kind == "c" and name not in ("sum", "rows", "prod", "totals", "products"):
            continue
        if len(shape) > 1 and name in ("totals", "products"):
            continue
        values = random.normal(size=(3, *shape)) * 2.0 ** random.integers(-20, 20, shape)
        if dtype in ("f4", "f8"):
            values.flat[random.integers(values.size)] = random.choice([np.nan, -0.0, np.inf])
        if np.dtype(dtype).kind == "c":
            values = values + 1j * values[::-1]
        if not has(backend, "writes"):
            # Products in another order overflow at other places.
            values = np.clip(values, -2.0, 2.0)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            x = values.astype(dtype)
            if dtype == "?" and name in ("any", "all", "totals", "products"):
                continue
            check(lambda xs, fold=fold: ua.scan(lambda c, x: (c, fold(x)), ua.asarray(0), xs)[1:], ua.asarray(x))
    if backend == "numpy":
        # Some dtypes are summed by a cast, and called.
        assert any(not each.calls for each in loops)


def test_zeros_keep_their_signs(backend: str) -> None:
    xs = ua.asarray(np.full((2, 3, 4), -0.0))
    for fold in (ua.sum, ua.prod, ua.max, lambda x: ua.sum(x, axis=0), lambda x: ua.cumulative_sum(x[0], axis=0)):
        check(lambda xs, fold=fold: ua.scan(lambda c, x: (c, fold(x)), ua.asarray(0), xs)[1:], xs)


def test_warnings_are_those_of_eager_calls(backend: str) -> None:
    if backend != "numpy":
        pytest.skip("NumPy alone warns")
    compiled = ua.compile(lambda x: ua.fori_loop(0, 3, lambda i, c: c + ua.sum(c, axis=0), x))
    for _ in range(2):
        with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            compiled(ua.asarray(np.full((4, 4), 1e308)))
