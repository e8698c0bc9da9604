"""Kernels that are formulas: their steps are fused, with the bits of the kernel, and without warnings as there."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.fusion.fusedop import FusedOp
from unifyarr.graph.fusion.machine import is_compiled

from .fused_programs import bits
from .small_chunks import in_threads

pytestmark = pytest.mark.skipif(
    not is_compiled(), reason="the compiled part of the package isn't there: nothing is fused"
)
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-310, -5e-324, 27.3, -27.4, 0.5, 1e39, 0.49999]


@pytest.fixture(autouse=True)
def numpy_alone() -> Iterator[None]:
    """Make arrays of NumPy's backend."""
    with ua.use_backend("numpy"):
        yield


def values(n: int, dtype: str) -> np.ndarray:
    found = np.random.default_rng(0).normal(size=n) * 4
    found[: len(SPECIAL)] = SPECIAL[:n]
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def halved(x: ua.Array) -> ua.Array:
    return ua.erfc(x * 0.5) - 1.0


def written(x: ua.Array) -> ua.Array:
    x[...] = ua.erfc(-x)
    return x


FUNCTIONS = [ua.erfc, halved, written, ua.nn.gelu]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_bits_are_the_kernels(function: Callable[..., ua.Array], dtype: str, wait: bool, threads: int) -> None:
    with in_threads(threads), np.errstate(all="ignore"):
        # Kernels compute more than 8,192 elements in blocks.
        for shape in ((0,), (1,), (7,), (1000,), (20_011,), (70, 200)):
            compiled = ua.compile(function, wait=wait)
            for step in (1, 2, -1):
                x = values(int(np.prod(shape)), dtype).reshape(shape)[..., ::step]
                expected = bits(np.asarray(function(ua.asarray(x, copy=True))))
                for _ in range(3):
                    assert bits(np.asarray(compiled(ua.asarray(x, copy=True)))) == expected


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_they_are_fused(function: Callable[..., ua.Array]) -> None:
    for dtype in ("float32", "float64"):
        graph = ua.compile(function).graph(ua.asarray(values(100, dtype)))
        assert [type(node.op) for node in graph.apply_nodes] == [FusedOp]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_flags_of_the_formula_are_told_nobody(dtype: str, wait: bool, threads: int) -> None:
    x = ua.asarray(values(3000, dtype))
    with in_threads(threads), warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = ua.compile(lambda x: ua.maximum(ua.erfc(x), 0.25), wait=wait)
        for setting in ("ignore", "warn", "raise"):
            with np.errstate(all=setting):
                compiled(x)
                compiled(x)
        mixed = ua.compile(lambda x: ua.log(ua.erfc(x)), wait=wait)
        with np.errstate(all="ignore"):
            mixed(x)
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in log"):
            mixed(x)


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
import numpy as np
import unifyarr as ua
from unifyarr.graph.fusion.fusedop import FusedOp

with ua.use_backend("numpy"):
    for dtype in ("float32", "float64"):
        for n in (7, 1000, 20_011):
            x = ua.linspace(-7.0, 7.0, n).astype(getattr(ua, dtype))
            x[:3] = ua.asarray([np.nan, np.inf, -0.0])
            compiled = ua.compile(ua.erf, wait=True)
            assert [type(node.op) for node in compiled.graph(x).apply_nodes] == [FusedOp]
            for _ in range(3):
                assert np.array_equal(np.asarray(compiled(x)), np.asarray(ua.erf(x)), equal_nan=True)
"""


def test_without_scipy_erf_is_a_formula() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_SCIPY], check=True, cwd=Path(__file__).parents[3])
