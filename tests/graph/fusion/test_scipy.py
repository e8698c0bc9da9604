"""SciPy's ``erf`` in fused loops: its bits, and the errors that it tells if it's asked to."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unifyarr as ua
from unifyarr.graph.fusion import warn
from unifyarr.graph.fusion.fusedop import FusedOp
from unifyarr.graph.fusion.machine import is_compiled

from .small_chunks import in_threads

special = pytest.importorskip("scipy.special")
pytestmark = pytest.mark.skipif(
    not is_compiled(), reason="the compiled part of the package isn't there: nothing is fused"
)
# SciPy reports some of these: NaN is out of the domain, and the others overflow or underflow on the way.
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e308, 1e-310, -5e-324, 27.0, -27.0, 0.5]


@pytest.fixture(autouse=True)
def numpy_alone() -> Iterator[None]:
    """Make arrays of NumPy's backend."""
    with ua.use_backend("numpy"):
        yield


def normal(x: ua.Array) -> ua.Array:
    return 0.5 * (1.0 + ua.erf(x * 0.5**0.5))


def in_place(x: ua.Array) -> None:
    x[...] = ua.erf(x * 0.5) - 1.0


def values(n: int, dtype: str) -> np.ndarray:
    found = np.random.default_rng(0).normal(size=n) * 2
    found[: len(SPECIAL)] = SPECIAL[:n]
    with np.errstate(all="ignore"):
        return found.astype(dtype)


def told(function: Callable[..., Any], x: ua.Array) -> tuple[list[str], str]:
    """Return the warnings of a call, and its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        error = ""
        try:
            function(x)
        except special.SpecialFunctionError as raised:
            error = str(raised)
    return [f"{each.category.__name__}: {each.message}" for each in caught], error


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_the_bits_are_those_of_eager_calls(n: int, dtype: str, wait: bool, threads: int) -> None:
    with in_threads(threads):
        compiled, written = ua.compile(normal, wait=wait), ua.compile(in_place, wait=wait)
        for step in (1, -1, 2):
            x = ua.asarray(values(n, dtype))[::step]
            with warnings.catch_warnings(record=True) as eager:
                warnings.simplefilter("always")
                expected = np.asarray(normal(x))
            compiled(x)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                found = np.asarray(compiled(x))
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes()
            assert [str(each.message) for each in caught] == [str(each.message) for each in eager]
            mine, theirs = ua.asarray(values(n, dtype))[::step], ua.asarray(values(n, dtype))[::step]
            written(mine)
            in_place(theirs)
            assert np.asarray(mine).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_fused(dtype: str) -> None:
    graph = ua.compile(normal).graph(ua.asarray(values(5, dtype)))
    assert [type(node.op) for node in graph.apply_nodes] == [FusedOp]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("action", ["warn", "raise"])
@pytest.mark.parametrize("kind", ["all", "domain", "underflow"])
def test_errors_are_told_as_in_eager_calls(kind: str, action: str, dtype: str, wait: bool, threads: int) -> None:
    x = ua.asarray(values(1000, dtype))
    with in_threads(threads):
        compiled = ua.compile(normal, wait=wait)
        compiled(x)
        with special.errstate(**{kind: action}):
            expected = told(normal, x)
            assert (expected[1] != "") == (action == "raise")
            assert told(compiled, x) == expected
        assert told(compiled, x) == ([], "")


def test_what_raises_writes_nothing() -> None:
    compiled = ua.compile(in_place)
    x = ua.asarray(values(1000, "float64"))
    compiled(x[:0])
    before = np.asarray(x).tobytes()
    with special.errstate(all="raise"), pytest.raises(special.SpecialFunctionError, match="domain error"):
        compiled(x)
    assert np.asarray(x).tobytes() == before


def test_errors_are_told_in_loops() -> None:
    def repeated(x: ua.Array) -> ua.Array:
        return ua.fori_loop(0, 5, lambda i, y: normal(y) + 0.25 * y, x)

    compiled = ua.compile(repeated)
    x = ua.asarray(values(50, "float64"))
    assert np.asarray(compiled(x)).tobytes() == np.asarray(repeated(x)).tobytes()
    with special.errstate(domain="warn"):
        warned, _ = told(repeated, x)
        assert len(warned) == 5
        assert told(compiled, x) == (warned, "")
    with special.errstate(domain="raise"):
        assert told(compiled, x) == told(repeated, x) != ([], "")


def test_numpys_settings_hold_too() -> None:
    compiled = ua.compile(lambda x: ua.erf(ua.log(x)))
    x = ua.asarray(np.array([0.0, 1.0]))
    compiled(ua.asarray(np.array([0.5, 1.0])))
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in log"):
        compiled(x)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="log"):
        compiled(x)


def test_others_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(special, "geterr", lambda: asked.append(1) or {"domain": "ignore"})
    x = ua.asarray(values(20, "float64"))
    plain = ua.compile(lambda x: ua.exp(ua.sin(x)) + 1.0)
    with np.errstate(all="ignore"):
        plain(x)
        plain(x)
    assert not asked
    compiled = ua.compile(normal)
    compiled(x)
    compiled(x)
    assert asked == [1, 1]
    monkeypatch.setattr(special, "geterr", lambda: {"domain": "ignore", "memory": "raise"})
    assert warn._scipy_is_quiet()
    monkeypatch.setattr(special, "geterr", lambda: {"domain": "ignore", "of tomorrow": "warn"})
    assert not warn._scipy_is_quiet()


ALONE = """
import sys
{hidden}
import numpy as np
import unifyarr as ua

def normal(x):
    return 0.5 * (1.0 + {function}(x * 0.5**0.5))

with ua.use_backend("numpy"):
    x = ua.linspace(-3.0, 3.0, 1000)
    compiled = ua.compile(normal, wait=True)
    for _ in range(3):
        assert np.asarray(compiled(x)).tobytes() == np.asarray(normal(x)).tobytes()
assert not [name for name, module in sys.modules.items() if name.startswith("scipy") and module], "SciPy is imported"
"""


@pytest.mark.parametrize(("hidden", "function"), [("sys.modules['scipy'] = None", "ua.erf"), ("", "ua.exp")])
def test_scipy_is_optional(hidden: str, function: str) -> None:
    code = ALONE.format(hidden=hidden, function=function)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
